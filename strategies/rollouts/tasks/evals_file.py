"""The `evals/evals.json` of a skill, read and written: prompts, files, and in words what is expected.

Sources: agentskills/agentskills, docs/skill-creation/evaluating-skills.mdx; anthropics/skills,
skill-creator/references/schemas.md.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from events.errors import StorageError, TaskFileError, UsageError
from strategies.rollouts.tasks.check_types import CommandExits, FileExists, FirstLine, JsonShape, Matches
from strategies.rollouts.tasks.task import ChecksGrader, CommandGrader, HarborGrader, PythonGrader
from strategies.rollouts.tasks.workspace import write_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from strategies.rollouts.tasks.check_types import Check
    from strategies.rollouts.tasks.task import GraderSpec, RolloutTask

EVALS: Final = "evals.json"
EVALS_FOLDER: Final = "evals"
FROM: Final = "from"
_FILES: Final = f"{EVALS_FOLDER}/files"
"""Where the files of evals lie, relative to the skill."""


def read_evals(path: Path, whole: Mapping[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the tasks of an evals.json with the place of each: id, prompt and files, not what is expected.

    A file below `evals/files/ID/` keeps its path below that, as it was written; any other one its name alone.
    Raises: TaskFileError.
    """
    evals = whole.get("evals")
    if not isinstance(evals, list) or not all(isinstance(each, dict) for each in evals):
        raise TaskFileError(f"{path} has no list of evals", hint='{"skill_name": "…", "evals": [{"id": 1, …}]}')
    return (_read_eval(f"{path}, eval {at}", each, at) for at, each in enumerate(evals, 1))


def _read_eval(where: str, entry: dict[str, object], at: int) -> tuple[str, dict[str, object]]:
    files, name = entry.get("files") or [], str(entry.get("id", at))
    if not isinstance(files, list):
        raise TaskFileError(f"{where}: files is no list", hint="name files below the skill, as texts")
    workspace: dict[str, object] = {}
    for file in files:
        path = PurePosixPath(str(file))
        own = path.is_relative_to(f"{_FILES}/{name}")
        inside = str(path.relative_to(f"{_FILES}/{name}")) if own else path.name
        if inside in workspace:
            raise TaskFileError(
                f"{where}: two files are called {inside}", hint=f"keep apart what has one name: {_FILES}/{name}/…"
            )
        workspace[inside] = {FROM: file}
    return where, {"id": name, "prompt": entry.get("prompt", ""), "files": workspace}


def evals_place(folder: Path) -> Path:
    """Name where the evals of a folder go; raises UsageError where something is there."""
    place = folder / EVALS_FOLDER
    if place.exists() or place.is_symlink():
        raise UsageError(f"{place} is there already, and is not overwritten", hint="-o ANOTHER-FOLDER")
    return place / EVALS


def write_evals(folder: Path, skill: str, tasks: Iterable[RolloutTask]) -> Path:
    """Write tasks as `evals/evals.json` below a folder, with their files, and return its place.

    What graders ask for becomes sentences: programs and references stay where they are.
    Raises: UsageError where the folder has evals, StorageError where it cannot be written, CheckFailedError for a
    file that is not what was loaded. Nothing is left half-written.
    """
    place, entries = evals_place(folder), []
    half: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        half = Path(tempfile.mkdtemp(dir=folder, prefix=".evals.germline-writing-"))
        for task in tasks:
            entries.append(_entry(task))
            write_files(half / "files" / task.id, task.files, task.folder)
        text = json.dumps({"skill_name": skill, "evals": entries}, ensure_ascii=False, indent=2)
        (half / EVALS).write_text(f"{text}\n", encoding="utf-8")
        half.rename(place.parent)
    except OSError as error:
        raise StorageError(f"{place} cannot be written: {error.strerror}", hint="-o ANOTHER-FOLDER") from error
    finally:
        if half:
            shutil.rmtree(half, ignore_errors=True)
    return place


def _entry(task: RolloutTask) -> dict[str, object]:
    expected = list(dict.fromkeys([*map(expectation, task.anchors), *_expected(task.graders)]))
    entry: dict[str, object] = {
        "id": int(task.id) if task.id.isdecimal() and str(int(task.id)) == task.id else task.id,
        "prompt": task.prompt,
        "expected_output": (task.solution.answer if task.solution else "") or " ".join(expected),
        "expectations": expected,
    }
    if task.files:
        entry["files"] = [f"{_FILES}/{task.id}/{path}" for path in task.files]
    return entry


def _expected(graders: Iterable[GraderSpec]) -> Iterator[str]:
    for grader in graders:
        if isinstance(grader, ChecksGrader):
            yield from map(expectation, grader.checks)
        elif isinstance(grader, PythonGrader | HarborGrader | CommandGrader):
            what = " ".join(grader.argv) if isinstance(grader, CommandGrader) else grader.script.path
            yield f"The check `{grader.name}` ({what}) passes."
        else:
            by = "is like" if grader.kind == "similarity" else "is at least as good as"
            at = grader.reference if isinstance(grader.reference, str) else f"the file {grader.reference.path}"
            yield f"{_subject(grader.path)} {by} the reference: {at}"


def expectation(check: Check) -> str:
    """Say what a check asks for, as a sentence that a person or a model can judge by."""
    if isinstance(check, CommandExits):
        return f"The command `{' '.join(check.argv)}` ends with exit code {check.exit_code}."
    subject = _subject(check.path)
    if isinstance(check, FileExists):
        return f"{subject} is there."
    if isinstance(check, Matches):
        return f"{subject} matches the pattern `{check.pattern}`."
    if isinstance(check, FirstLine):
        return f"{subject} begins with the line `{check.line}`."
    if isinstance(check, JsonShape):
        keys = ", ".join(f"{key} ({kind})" for key, kind in check.required.items())
        return f"{subject} is JSON{f' with {keys}' if keys else ''}."
    what = f"The value of {check.key} in {subject[0].lower()}{subject[1:]}" if check.key else subject
    values = ", ".join(f"`{value}`" for value in check.values)
    return f"{what} is {values}." if len(check.values) == 1 else f"{what} is one of {values}."


def _subject(path: str) -> str:
    return f"The file {path}" if path else "The answer"
