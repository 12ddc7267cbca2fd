"""Folders that commands work in: written from a task, copied with caps, read without following links out."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from events.errors import CheckFailedError
from strategies.rollouts.tasks.check_types import Fixture
from strategies.rollouts.tasks.task import MAX_FIXTURE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MAX_READ_BYTES: Final = 16 * 1024**2
"""What a declarative check reads of one file; a larger one needs a script (guess)."""

_MOST_PATH_CHARS: Final = 1_000
"""Beyond this, a copy below another folder could fail where the path itself did not (Linux: 4,096)."""


def place_below(folder: Path, path: str) -> Path | None:
    """Resolve a path below a folder, None where links lead out of it, or in a circle."""
    root = folder.resolve()
    try:
        place = (root / path).resolve()
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, until Python 3.13
        return None
    return place if place.is_relative_to(root) else None


def files_below(folder: Path) -> list[Path]:
    """List the files below a folder, in order; links are passed over."""
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def fixture_bytes(folder: Path, fixture: Fixture) -> bytes:
    """Read a file of a task set; raises CheckFailedError if it is not what it was when the set was loaded."""
    place = place_below(folder, fixture.path)
    hint = "load the task set again: what was measured with it before stands beside, not below, what comes"
    if place is None or not place.is_file() or place.stat().st_size > MAX_FIXTURE_BYTES:
        raise CheckFailedError(f"{folder / fixture.path}: the file of the task set is gone", hint=hint)
    content = place.read_bytes()
    if hashlib.sha256(content).hexdigest() != fixture.sha256:
        raise CheckFailedError(f"{folder / fixture.path} is not the file that was loaded: it changed", hint=hint)
    return content


def changed_fixtures(folder: Path, fixtures: Iterable[Fixture]) -> tuple[str, ...]:
    """Name the files of a task set that are not what they were when it was loaded."""
    changed = []
    for fixture in fixtures:
        try:
            fixture_bytes(folder, fixture)
        except (CheckFailedError, OSError):
            changed.append(fixture.path)
    return tuple(changed)


def write_files(folder: Path, files: Mapping[str, str | Fixture], source: Path) -> None:
    """Write files into a folder, texts as they are and fixtures from `source`.

    Raises: CheckFailedError if a fixture is not what was loaded.
    """
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Fixture):
            place.write_bytes(fixture_bytes(source, content))
            place.chmod(0o700 if content.executable else 0o600)
        else:
            place.write_text(content, encoding="utf-8", newline="")


def state_of(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Tell of each entry of a folder its size, its time of change in nanoseconds and its mode."""
    return {path: (status.st_size, status.st_mtime_ns, status.st_mode) for path, status in _entries(folder)}


def overfull(folder: Path, *, most_files: int, most_bytes: int) -> str:
    """Say why a folder is too large to be copied, "" if it is not."""
    size = 0
    for files, (path, status) in enumerate(_entries(folder), 1):
        size += status.st_size
        if len(path) > _MOST_PATH_CHARS:
            return f"the workspace holds a path of more than {_MOST_PATH_CHARS:,} characters"
        if files > most_files:
            return f"the workspace holds more than {most_files:,} files"
        if size > most_bytes:
            return f"the workspace holds more than {most_bytes:,} bytes"
    return ""


def copy_workspace(source: Path, target: Path, *, any_link: bool = False) -> None:
    """Copy a workspace that nobody works in any more: files, folders, and links that stay inside, or `any_link`.

    Left out: what is none of these, and what its owner may not read.
    """
    target.mkdir(exist_ok=True)
    root = source.resolve()
    for path, status in _entries(source):
        place, copy = source / path, target / path
        with suppress(PermissionError):
            if stat.S_ISDIR(status.st_mode):
                copy.mkdir(exist_ok=True)
            elif stat.S_ISREG(status.st_mode):
                shutil.copyfile(place, copy)
                copy.chmod(0o700 if status.st_mode & 0o100 else 0o600)
            elif stat.S_ISLNK(status.st_mode) and (any_link or _stays(root, place)):
                copy.symlink_to(place.readlink())


def open_to_all(folder: Path) -> None:
    """Let every user read and write what a folder holds: whom a container runs as is not known."""
    for path, status in _entries(folder):
        if not stat.S_ISLNK(status.st_mode):
            runs = stat.S_ISDIR(status.st_mode) or status.st_mode & 0o100
            with suppress(PermissionError):  # who made it in a container opened it there
                (folder / path).chmod(status.st_mode & 0o777 | (0o777 if runs else 0o666))


def read_text(folder: Path, path: str) -> str | None:
    """Read a text file below a folder, None as `read_file`; bytes that are no text are replaced."""
    content = read_file(folder, path)
    return None if content is None else content.decode(errors="replace")


def read_file(folder: Path, path: str) -> bytes | None:
    """Read a file below a folder; None where there is no such regular file, or one too large to check."""
    place = place_below(folder, path)
    if place is None:
        return None
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait for a writer
    except (OSError, ValueError):
        return None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_READ_BYTES:
        os.close(descriptor)  # a folder cannot even be opened as a stream
        return None
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
        return stream.read()


def _entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every entry below a folder, folders before what they hold; links are not followed.

    Left out: what a path is too long for, and what lies in folders that its owner may not search.
    """
    left = [""]  # os.walk calls itself for each level, and an agent can make more levels than Python has calls
    while left:
        above = left.pop()
        with suppress(OSError), os.scandir(folder / above) as entries:
            for entry in entries:
                path = f"{above}{entry.name}"
                with suppress(OSError):
                    yield path, entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(f"{path}/")


def _stays(root: Path, link: Path) -> bool:
    """Tell whether a link is relative and leads to a place inside."""
    try:
        return not link.readlink().is_absolute() and link.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, until Python 3.13
        return False
