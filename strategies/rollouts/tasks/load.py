"""Task sets as files: TOML with [[tasks]], or JSONL with one task a line; see docs/rollouts.md.

Without graders, the `evals/evals.json` of a skill is read too: prompts and files, not what it expects in words.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from events.errors import TaskFileError
from strategies.rollouts.tasks.errors import mistake
from strategies.rollouts.tasks.evals_file import EVALS, EVALS_FOLDER, FROM, read_evals
from strategies.rollouts.tasks.fixture_locker import UNFIT, FixtureLocker, set_name, task_set
from strategies.rollouts.tasks.harbor_tasks import load_harbor
from strategies.rollouts.tasks.task import HarborGrader, RolloutTask, TaskSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_MAX_FILE_BYTES: Final = 256 * 1024**2
_HINT: Final = "docs/rollouts.md shows a whole task set"


def load_tasks(path: Path, *, graded: bool = True, containers: Callable[[], str] = str) -> TaskSet:
    """Read a task set, or a folder of Harbor's tasks, hash every file it refers to, and check all of it.

    Where it is not `graded`, no grader is looked at, and tasks need none. `containers` names the program that
    makes containers for tasks that ask for them, "" for none.
    Raises: TaskFileError that names the file, the line and the task, and says what to write instead.
    """
    if path.is_dir():
        return load_harbor(path, graded=graded, containers=containers)
    text = _text(path)
    is_toml, folder = path.suffix == ".toml", path.resolve().parent
    if path.name == EVALS:
        if graded:
            hint = f"germline audit SKILL --tasks {path}    {_HINT}"
            raise TaskFileError(f"{path} says in words what is expected, and has no grader", hint=hint)
        name, entries = _of_evals(path, text)
        folder = folder.parent if folder.name == EVALS_FOLDER else folder
    else:
        name, entries = (_of_toml if is_toml else _of_jsonl)(path, text)
    locker = FixtureLocker(folder)
    tasks = tuple(_task(entry, locker, graded=graded) for entry in entries)
    if not tasks:
        what = "[[tasks]]" if is_toml else "a JSON object on each line"
        raise TaskFileError(f"{path} holds no task", hint=f"write {what}; {_HINT}")
    return task_set(path, name, tasks, folder)


@dataclass(frozen=True)
class _Found:
    """One task as it is in a file; `where` names the place, as in `tasks.toml:12`."""

    where: str
    content: dict[str, object]


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise TaskFileError(
                f"{path} is larger than {_MAX_FILE_BYTES:,} bytes", hint="keep large files beside it, as fixtures"
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TaskFileError(f"cannot read {path}: {error.strerror}", hint=_HINT) from error
    except UnicodeDecodeError as error:
        raise TaskFileError(f"{path} is no UTF-8 text: {error}", hint="save it as UTF-8") from error


def _of_toml(path: Path, text: str) -> tuple[str, Iterator[_Found]]:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TaskFileError(f"{path} is no TOML: {error}", hint=_HINT) from error
    unknown = sorted(table.keys() - {"name", "defaults", "tasks"})
    if unknown:
        raise TaskFileError(f"{path}: unknown {unknown[0]}", hint="it may hold name, [defaults] and [[tasks]]")
    name, defaults, tasks = table.get("name", set_name(path)), table.get("defaults", {}), table.get("tasks", [])
    if not isinstance(name, str) or UNFIT.search(name) or not name:
        raise TaskFileError(
            f"{path}: name is {name!r}", hint="letters, digits, dot, dash and underscore, as in a-b.2"
        )
    if not isinstance(defaults, dict) or {"id", "prompt"} & defaults.keys():
        raise TaskFileError(f"{path}: defaults cannot be these", hint="write [defaults], without id and prompt")
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise TaskFileError(f"{path}: tasks is no array of tables", hint="write each task under [[tasks]]")
    return name, (_Found(_place_of(path, text, task, at), defaults | task) for at, task in enumerate(tasks, 1))


def _place_of(path: Path, text: str, task: dict[str, object], at: int) -> str:
    """Name the line that holds a task's id, the number of the task where there is none."""
    match = re.search(rf"^\s*id\s*=\s*([\"']){re.escape(str(task.get('id')))}\1", text, re.MULTILINE)
    return f"{path}:{text.count(chr(10), 0, match.end()) + 1}" if match else f"{path}, task {at}"


def _of_jsonl(path: Path, text: str) -> tuple[str, Iterator[_Found]]:
    return set_name(path), (_line(path, line, at) for at, line in enumerate(text.split("\n"), 1) if line.strip())


def _of_evals(path: Path, text: str) -> tuple[str, Iterator[_Found]]:
    whole = _line(path, text, 1).content
    name = UNFIT.sub("-", str(whole.get("skill_name") or set_name(path)))
    return name, (_Found(*entry) for entry in read_evals(path, whole))


def _line(path: Path, line: str, at: int) -> _Found:
    where = f"{path}:{at}"
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TaskFileError(f"{where} is no JSON: {error}", hint="write one JSON object on each line") from error
    if not isinstance(content, dict):
        raise TaskFileError(f"{where} is no JSON object", hint=_HINT)
    return _Found(where, content)


def _task(entry: _Found, locker: FixtureLocker, *, graded: bool) -> RolloutTask:
    text = f"{entry.where}: task {entry.content.get('id', 'without id')}"
    if "folder" in entry.content:
        raise TaskFileError(
            f"{text}: folder is not known", hint="the files of a set lie below the folder of its file"
        )
    passed_over = set() if graded else {"graders", "solution"}
    looked_at = ((key, value) for key, value in entry.content.items() if key not in passed_over)
    content = {key: _locked(text, key, value, locker) for key, value in looked_at}
    try:
        task = RolloutTask.model_validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        what, hint = mistake(error)
        raise TaskFileError(f"{text}: {what}", hint=hint) from error
    except (TypeError, ValueError) as error:  # a date of TOML, which no task holds
        raise TaskFileError(f"{text}: {error}", hint=_HINT) from error
    if any(isinstance(grader, HarborGrader) and grader.image for grader in task.graders):
        raise TaskFileError(
            f"{text}: image is not known here", hint=f"folders of Harbor's tasks bring one; {_HINT}"
        )
    if graded and not task.graders:
        what = "graders is []" if "graders" in content else "graders is missing"
        raise TaskFileError(f"{text}: {what}", hint=f"name at least one; {_HINT}")
    return task.model_copy(update={"folder": locker.folder})


def _locked(where: str, key: str, value: object, locker: FixtureLocker) -> object:
    """Put the hash of a file in the place of each name of one: `{from = …}`, a script, the files that are used."""
    if isinstance(value, dict):
        if value.keys() == {FROM}:
            return locker.fixture(where, value[FROM])
        return {name: _locked(where, str(name), inner, locker) for name, inner in value.items()}
    if key == "script":
        return locker.fixture(where, value)
    if isinstance(value, list):
        return [
            locker.fixture(where, inner) if key == "uses" else _locked(where, "", inner, locker) for inner in value
        ]
    return value
