"""Files of a task set: each read once and locked by its hash, and tasks put together under one name."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from events.errors import TaskFileError
from strategies.rollouts.tasks.task import MAX_FIXTURE_BYTES, MAX_TASKS, RolloutTask, TaskSet
from strategies.rollouts.tasks.workspace import MAX_READ_BYTES, place_below, read_file

UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]+")
"""What no name of a set or a task may hold."""


def task_set(
    path: Path, name: str, tasks: tuple[RolloutTask, ...], folder: Path, notes: tuple[str, ...] = ()
) -> TaskSet:
    """Put tasks together; raises TaskFileError for too many, or an id that is there twice."""
    if len(tasks) > MAX_TASKS:
        raise TaskFileError(f"{path} holds {len(tasks):,} tasks, at most {MAX_TASKS:,} may be", hint="divide it")
    twice = [task for task, times in Counter(task.id for task in tasks).items() if times > 1]
    if twice:
        raise TaskFileError(f"{path}: the id {twice[0]} stands twice", hint="give each task an id of its own")
    return TaskSet(name=name, tasks=tasks, folder=folder, notes=notes)


def set_name(path: Path) -> str:
    """Name the task set of a file or folder that gives itself no name."""
    return UNFIT.sub("-", path.stem).strip("-._") or "tasks"


@dataclass(frozen=True)
class FixtureLocker:
    """Locks the files of a set: reads each once, and remembers its hash."""

    folder: Path
    known: dict[str, dict[str, object]] = field(default_factory=dict)

    def fixture(self, where: str, path: object) -> dict[str, object]:
        """Hash a file of the set; raises TaskFileError if it is none, or lies outside."""
        if not isinstance(path, str):
            raise TaskFileError(f"{where}: {path!r} is no path", hint="name a file beside the task set, as a text")
        if path not in self.known:
            self.known[path] = self._locked(where, path)
        return self.known[path]

    def text(self, file: Path) -> str:
        """Read a text of the set; raises TaskFileError if it is none, or a link takes it from outside."""
        content = read_file(self.folder, file.relative_to(self.folder).as_posix())
        if content is None:
            what = f"it is no file below {self.folder}, or one of more than {MAX_READ_BYTES:,} bytes"
            raise TaskFileError(
                f"cannot read {file}: {what}", hint="keep the files of a task set below its folder"
            )
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise TaskFileError(f"cannot read {file}: {error}", hint="save it as UTF-8 text") from error

    def _locked(self, where: str, path: str) -> dict[str, object]:
        place = None if Path(path).is_absolute() or "\0" in path else place_below(self.folder, path)
        if place is None or ".." in Path(path).parts:
            raise TaskFileError(
                f"{where}: {path!r} leads out of {self.folder}",
                hint="keep the files of a task set below its folder",
            )
        try:
            if place.exists() and not place.is_file():  # a pipe would wait for a writer
                raise TaskFileError(f"{where}: {path} is no file", hint="name a file, not a folder or a pipe")
            size, executable = place.stat().st_size, os.access(place, os.X_OK)
            content = place.read_bytes() if size <= MAX_FIXTURE_BYTES else b""
        except OSError as error:
            raise TaskFileError(
                f"{where}: cannot read {path}: {error.strerror}", hint=f"it is looked for in {self.folder}"
            ) from error
        if size > MAX_FIXTURE_BYTES:
            raise TaskFileError(
                f"{where}: {path} has {size:,} bytes, at most {MAX_FIXTURE_BYTES:,} may be", hint="make it smaller"
            )
        return {"path": path, "sha256": hashlib.sha256(content).hexdigest(), "executable": executable}
