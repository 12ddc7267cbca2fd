"""Which paths belong to a skill folder: contained, capped, and the same for reading, drift and writing."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from events.errors import SkillFormatError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

SKILL_FILE = "SKILL.md"
TEMPORARY = ".germline-writing-"  # how the names of half-written files begin
PASSED_OVER = frozenset({".git", "__pycache__", ".DS_Store"})  # what tools leave behind; no part of a skill

# Guesses with room to spare: the largest of the six real skills measured has 18 files and 0.3 MB.
MAX_FILES = 2_000
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
MAX_SKILL_BYTES = 1024 * 1024  # thirty times the largest measured; cutting the worst of it takes 4 s


@dataclass(frozen=True, slots=True)
class Found:
    """A path found in a skill folder; `refused` says why it cannot be read as a file of the skill, or ""."""

    path: str
    at: Path
    mode: int
    size_bytes: int
    refused: str = ""


def walk(folder: Path) -> list[Found]:
    """List every file of a skill folder, SKILL.md too, sorted by path.

    Raises: SkillFormatError if there are more than MAX_FILES; StorageError if a folder cannot be read.
    """
    root = folder.resolve()
    files = []
    for entry in _entries(root):
        files.append(_examine(root, entry))
        if len(files) > MAX_FILES:
            raise SkillFormatError(
                f"{folder} holds more than {MAX_FILES} files",
                rule="file-count",
                hint="a skill is a small folder: was its parent meant to be searched for skills?",
            )
    return sorted(files, key=lambda file: file.path)


def contained(folder: Path, path: str) -> Path:
    """Resolve a skill path to a place inside the folder.

    Raises: SkillFormatError if the path is absolute, climbs out, passes through a link that leads out, or
    through `.git`, whose hooks are run.
    """
    parts = PurePosixPath(path).parts
    sound = bool(parts) and str(PurePosixPath(path)) == path and "\0" not in path
    sound = sound and ".git" not in map(str.lower, parts)
    root = folder.resolve()
    target = root.joinpath(*parts)
    if not sound or parts[0] == "/" or ".." in parts or not target.parent.resolve().is_relative_to(root):
        raise SkillFormatError(
            f"{path!r} does not lie inside the skill folder {folder}",
            rule="contained-path",
            hint="a skill holds only files below its own folder; remove the link or the .. that leads out",
        )
    return target


def _entries(root: Path) -> Iterator[Path]:
    """Yield what is no folder; links to folders are yielded, not followed."""

    def fail(error: OSError) -> None:
        raise StorageError(f"cannot read {error.filename}: {error.strerror}", hint="check its permissions")

    for place, folders, names in os.walk(root, onerror=fail):
        here = Path(place)
        for name in (*names, *(sub for sub in folders if (here / sub).is_symlink())):
            if name not in PASSED_OVER and not name.startswith(TEMPORARY):
                yield here / name
        folders[:] = [sub for sub in folders if sub not in PASSED_OVER]


def _examine(root: Path, entry: Path) -> Found:
    path = entry.relative_to(root).as_posix()
    refused = "" if path.isprintable() else "its name holds characters that do not print"
    try:
        if not refused and entry.is_symlink() and not entry.resolve(strict=True).is_relative_to(root):
            refused = "it is a link that leads out of the skill"
        status = entry.lstat() if refused else entry.stat()
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, until Python 3.13
        return Found(path, entry, 0, 0, refused or "it is a link that leads nowhere")
    if not refused and not stat.S_ISREG(status.st_mode):
        refused = "it is a link to a folder" if stat.S_ISDIR(status.st_mode) else "it is no regular file"
    return Found(path, entry, stat.S_IMODE(status.st_mode) & 0o777, status.st_size, refused)
