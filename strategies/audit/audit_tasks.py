"""Tasks of an audit: a folder for each, with its prompt and its workspace and no grader; or a task set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from events.errors import TaskFileError
from strategies.rollouts.tasks.check_types import Fixture
from strategies.rollouts.tasks.errors import mistake
from strategies.rollouts.tasks.fixture_locker import FixtureLocker, set_name, task_set
from strategies.rollouts.tasks.harbor_tasks import harbor_folders
from strategies.rollouts.tasks.load import load_tasks
from strategies.rollouts.tasks.task import MAX_TASK_FILES, RolloutTask
from strategies.rollouts.tasks.workspace import fixture_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strategies.rollouts.tasks.task import TaskSet

PROMPT_FILE: Final = "task.md"
WORKSPACE: Final = "workspace"
MAX_WORKSPACE_BYTES: Final = 256 * 1024**2
"""What a run may leave (SandboxPolicy): a task that begins with more could never be looked at."""
_MOST_TEXT_BYTES: Final = 256 * 1024
_MOST_TEXTS_BYTES: Final = 4 * 1024**2
"""What evaluators read of a workspace: of one file, and of all (guesses)."""
_HINT: Final = f"a folder of tasks holds FOLDER/<id>/{PROMPT_FILE} and FOLDER/<id>/{WORKSPACE}/; see docs/audit.md"


def load_audit_tasks(path: Path, *, limit_s: float | None = None) -> TaskSet:
    """Read the tasks of a folder, or of a task set whose graders are not looked at.

    `limit_s` replaces the limit of every task. Raises: TaskFileError naming the place, and what to write instead.
    """
    is_harbor = path.is_dir() and bool(harbor_folders(path))
    tasks = _of_folder(path) if path.is_dir() and not is_harbor else load_tasks(path, graded=False)
    if limit_s is None:
        return tasks
    limited = tuple(task.model_copy(update={"limit_s": limit_s}) for task in tasks.tasks)
    return tasks.model_copy(update={"tasks": limited})


def workspace_texts(task: RolloutTask) -> dict[str, str]:
    """Read the text files that a task begins with; what is no UTF-8, and what is very large, is left out."""
    texts, size = {}, 0
    for path, content in workspace_contents(task):
        try:
            text = content.decode()
        except UnicodeDecodeError:
            continue
        if len(content) <= _MOST_TEXT_BYTES and size + len(content) <= _MOST_TEXTS_BYTES and "\0" not in text:
            texts[path], size = text, size + len(content)
    return texts


def workspace_contents(task: RolloutTask) -> Iterator[tuple[str, bytes]]:
    """Yield the files that a task begins with, sorted by path; raises CheckFailedError for one that changed."""
    for path, file in sorted(task.files.items()):
        yield path, fixture_bytes(task.folder, file) if isinstance(file, Fixture) else file.encode()


def _of_folder(path: Path) -> TaskSet:
    folder = path.resolve()
    try:
        places = sorted(place for place in folder.iterdir() if place.is_dir() and (place / PROMPT_FILE).is_file())
    except OSError as error:
        raise TaskFileError(f"cannot read {path}: {error.strerror}", hint=_HINT) from error
    if not places:
        raise TaskFileError(f"{path} holds no task: no folder in it has a {PROMPT_FILE}", hint=_HINT)
    locker = FixtureLocker(folder)
    return task_set(path, set_name(folder), tuple(_task(place, locker) for place in places), folder)


def _task(place: Path, locker: FixtureLocker) -> RolloutTask:
    prompt = locker.text(place / PROMPT_FILE).strip()
    try:
        task = RolloutTask.model_validate({"id": place.name, "prompt": prompt, "files": _files(place, locker)})
    except ValidationError as error:
        what, _ = mistake(error)
        raise TaskFileError(f"{place}: {what}", hint=_HINT) from error
    return task.model_copy(update={"folder": locker.folder})


def _files(place: Path, locker: FixtureLocker) -> dict[str, Fixture]:
    """Lock the files of a workspace; nothing is read before it is known to be small enough."""
    workspace = place / WORKSPACE
    try:
        paths = sorted(path for path in workspace.rglob("*") if path.is_symlink() or not path.is_dir())
        sizes = {path: path.lstat().st_size for path in paths}
    except OSError as error:
        raise TaskFileError(f"cannot read {workspace}: {error.strerror}", hint="check its permissions") from error
    odd = next((path for path in paths if path.is_symlink() or not path.is_file()), None)
    if odd is not None:
        raise TaskFileError(f"{odd} is a link, or no file", hint="put the file itself there: a run gets a copy")
    if len(paths) > MAX_TASK_FILES:
        what = f"{workspace} holds {len(paths):,} files, at most {MAX_TASK_FILES:,} may be"
        raise TaskFileError(what, hint="keep what the task needs")
    if sum(sizes.values()) > MAX_WORKSPACE_BYTES:
        what = f"{workspace} holds {sum(sizes.values()):,} bytes, at most {MAX_WORKSPACE_BYTES:,} may be"
        raise TaskFileError(what, hint="keep a sample of the data: each run gets a copy of its own")
    named = {path: path.relative_to(locker.folder).as_posix() for path in paths}
    return {
        path.relative_to(workspace).as_posix(): Fixture.model_validate(locker.fixture(str(path), name))
        for path, name in named.items()
    }
