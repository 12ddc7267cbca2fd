"""Skill folders on disk: written atomically and contained, compared without changing anything."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from events.errors import OvertakenError, StorageError
from events.fsync import sync
from registry.skill_md.skill_files import SKILL_FILE, TEMPORARY, Found, contained, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file is to hold, and its permission bits."""

    body: bytes
    mode: int


PERMISSIONS: Final = 0o777
"""The bits of a mode that are projected: set-user, set-group and sticky bits of an event never reach a file."""


_EXECUTABLE: Final = 0o111


@dataclass(frozen=True, slots=True)
class Drift:
    """A file on disk that is not what was projected.

    A `minor` one changes nothing that a skill holds: permissions that git does not keep, and what is no file of a
    skill, as a link that leads out: `refused` says why. It may have been there when the skill was imported.
    """

    path: str
    kind: Literal["changed", "missing", "added", "mode"]
    refused: str = ""
    minor: bool = False


class FileSnapshot(NamedTuple):
    """A file as it was when it was looked at: saving it, in place or by a rename, leaves another."""

    inode: int
    size_bytes: int
    changed_ns: int
    mode: int


def look(folder: Path, only: str = "") -> dict[str, FileSnapshot]:
    """Note the state of every file of a skill folder, or `only` of one, by path; raises StorageError."""
    if not folder.is_dir():
        return {}
    looked = ((file.path, _seen(file.at)) for file in walk(folder, only))
    return {path: seen for path, seen in looked if seen is not None}


def write_skill(
    folder: Path,
    files: Mapping[str, FileContent],
    *,
    remove: tuple[str, ...] = (),
    seen: Mapping[str, FileSnapshot] | None = None,
    durable: bool = True,
) -> tuple[str, ...]:
    """Bring the named files of a skill folder to their content, and take away those to `remove`.

    Each file appears whole or not at all; SKILL.md comes last, when all it may refer to is there, and tells that
    the rest was done. Files that are right already, and files that are not named, are left alone. Returns the
    paths that changed. What need not survive a power cut is not `durable`: it does not wait for the disk.

    Raises: SkillFormatError if a path leads out of the folder, before anything is written; StorageError if
    the disk refuses; OvertakenError at the first file that does not stand as it was `seen`.
    """
    wanted = sorted(files.keys() | set(remove), key=lambda path: (path == SKILL_FILE, path not in files, path))
    targets = {path: contained(folder, path) for path in wanted}
    changed = []
    with _named_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for place in {target.parent for target in targets.values()}:
            _sweep(place)
        for path in wanted:
            target, content = targets[path], files.get(path)
            right = _is(folder, target, content) if content else not os.path.lexists(target)
            if right:
                continue
            known = () if seen is None else (seen.get(path),)
            if content:
                _write(target, content, known, durable=durable)
            else:
                _require_seen(target, known)
                _remove(folder, target)
            changed.append(path)
    return tuple(changed)


def drift(folder: Path, expected: Mapping[str, tuple[str, int]], only: str = "") -> list[Drift]:
    """Compare a folder with what was projected to it, path by path: (SHA-256 in hexadecimal, mode bits).

    `only` names the one file there that counts, of a capsule that is no folder.

    Raises: StorageError if the disk refuses.
    """
    there = {file.path: file for file in walk(folder, only)} if folder.is_dir() else {}
    drifts = [
        Drift(path, "added", file.refused, minor=bool(file.refused))
        for path, file in there.items()
        if path not in expected
    ]
    for path, (digest, mode) in expected.items():
        file = there.get(path)
        if file is None:
            drifts.append(Drift(path, "missing"))
        elif file.refused or _digest(file) != digest:
            drifts.append(Drift(path, "changed", file.refused))
        elif file.mode != mode:
            drifts.append(Drift(path, "mode", minor=not (file.mode ^ mode) & _EXECUTABLE))
    return sorted(drifts, key=lambda file: file.path)


def _digest(file: Found) -> str:
    with _named_errors(file.at), file.at.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is(folder: Path, target: Path, content: FileContent) -> bool:
    """Tell whether a file is already what it should be; a link that leads out never is."""
    if not target.is_file() or not target.resolve().is_relative_to(folder.resolve()):
        return False
    status = target.stat()
    same = status.st_mode & PERMISSIONS == content.mode and status.st_size == len(content.body)
    return same and target.read_bytes() == content.body


def _seen(place: Path) -> FileSnapshot | None:
    try:
        status = place.lstat()
    except FileNotFoundError:
        return None
    return FileSnapshot(status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode)


def _require_seen(target: Path, known: tuple[FileSnapshot | None, ...]) -> None:
    """Raise OvertakenError where a file is not as it is known to be."""
    if known and _seen(target) not in known:
        raise OvertakenError(f"{target} was changed meanwhile, and is left as it is", hint="germline status")


def _write(target: Path, content: FileContent, known: tuple[FileSnapshot | None, ...], *, durable: bool) -> None:
    """Write a file beside its place, make it durable, then rename it over what is known to be there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{TEMPORARY}{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
            stream.write(content.body)
            stream.flush()
            os.fchmod(stream.fileno(), content.mode)
            if durable:
                os.fsync(stream.fileno())
        _require_seen(target, known)  # as late as can be: between this and the rename are microseconds
        temporary.replace(target)
    except BaseException:  # Ctrl-C as well: nothing half-written stays behind
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync(target.parent)


def _sweep(place: Path) -> None:
    """Take away what a process left half-written when it was killed."""
    for leftover in place.glob(TEMPORARY + "*"):
        try:
            os.kill(int(leftover.name.removeprefix(TEMPORARY)), 0)
        except (ProcessLookupError, ValueError):
            leftover.unlink(missing_ok=True)
        except PermissionError:  # it lives, and is another user's
            continue


def _remove(folder: Path, target: Path) -> None:
    """Take a file away, and the folders that it leaves empty."""
    target.unlink()
    place = target.parent
    root = folder.resolve()
    with contextlib.suppress(OSError):  # a folder that is not empty stays
        while place != root:
            place.rmdir()
            place = place.parent
    sync(place)


@contextlib.contextmanager
def _named_errors(place: Path) -> Iterator[None]:
    """Say in our own words what the disk refused."""
    try:
        yield
    except OSError as error:
        where = error.filename or place
        in_the_way = isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError)
        mended = "move what is there out of the way" if in_the_way else "free space or mend permissions"
        raise StorageError(
            f"cannot read or write {where}: {error.strerror}",
            hint=f"{mended}, then: germline project",
        ) from error
