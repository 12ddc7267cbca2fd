"""Which paths belong to a skill folder: contained, capped, and the same for reading, drift and writing."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from events.errors import SkillFormatError, StorageError
from registry.state.capsule import is_skill_name
from registry.state.instruction_formats import path_of_name

if TYPE_CHECKING:
    from collections.abc import Iterator

SKILL_FILE = "SKILL.md"
KNOWLEDGE_FOLDER = "references/knowledge/"
KNOWLEDGE_INDEX = f"{KNOWLEDGE_FOLDER}INDEX.md"
KNOWLEDGE_LOOKUP = "scripts/knowledge_lookup.py"  # what looks a question up in that folder
TEMPORARY = ".germline-writing-"  # how the names of half-written files begin
PASSED_OVER = frozenset({".git", "__pycache__", ".DS_Store"})  # what tools leave behind; no part of a skill
_PASSED_OVER = frozenset(map(str.casefold, PASSED_OVER))

# Guesses with room to spare: the largest of the six real skills measured has 18 files and 0.3 MB.
MAX_FILES = 2_000
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
MAX_SKILL_BYTES = 1024 * 1024  # thirty times the largest measured; cutting the worst of it takes 4 s


@dataclass(frozen=True, slots=True)
class Found:
    """A path found in a skill folder; `refused` says why it cannot be read as a file of the skill, or "".

    `links` counts the names that the file has on its disk: more than one may lead to a file of somebody else.
    """

    path: str
    at: Path
    mode: int
    size_bytes: int
    refused: str = ""
    links: int = 1


def main_file(name: str) -> str:
    """Name the file that holds the text of a capsule: SKILL.md, or the file of instructions itself."""
    return SKILL_FILE if is_skill_name(name) else path_of_name(name).rpartition("/")[2]


def is_knowledge(path: str) -> bool:
    """Tell whether a file of a skill belongs to its knowledge, which `germline knowledge` packs."""
    return path.startswith(KNOWLEDGE_FOLDER) or path == KNOWLEDGE_LOOKUP


def write_place(name: str, source: str) -> Path:
    """Name what a capsule may write: the whole folder of a skill, the one file of instructions."""
    return Path(source) if is_skill_name(name) else Path(source) / main_file(name)


def copy_place(name: str, below: Path) -> Path:
    """Name the folder below another that a copy of a capsule goes to: instructions keep their path."""
    if is_skill_name(name):
        return below / name
    return below.joinpath(path_of_name(name).removeprefix("/")).parent


def walk(folder: Path, only: str = "") -> list[Found]:
    """List every file of a skill folder, SKILL.md too, sorted by path; or `only` the file of that name in it.

    Instructions lie among files that are not theirs, and a link to them may lead to those of another capsule.
    Raises: SkillFormatError if there are more than MAX_FILES; StorageError if a folder cannot be read.
    """
    root = folder.resolve()
    if only:
        at = root / only
        linked = "it is a link" if at.is_symlink() else ""
        return [Found(only, at, 0, 0, linked) if linked else _examine(root, at)] if os.path.lexists(at) else []
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

    Raises: SkillFormatError if no file of a skill may have that path, or it passes through a link that leads out.
    """
    require_path(path)
    root = folder.resolve()
    target = root / path
    if target.parent != root and not target.parent.resolve().is_relative_to(root):
        raise _outside(f"{path!r} does not lie inside the skill folder {folder}")
    return target


def require_path(path: str) -> None:
    """Raise SkillFormatError for a path that no file of a skill may have, as importing one leaves it out."""
    parts = PurePosixPath(path).parts
    if not parts or str(PurePosixPath(path)) != path or parts[0] == "/" or ".." in parts:
        raise _outside(f"{path[:200]!r} does not lie inside the skill folder")
    if refused := _refused(path):
        raise _outside(f"{path[:200]!r} is no file of a skill: {refused}")


def _outside(what: str) -> SkillFormatError:
    hint = "a skill holds only files below its own folder; remove the link or the .. that leads out"
    return SkillFormatError(what, rule="contained-path", hint=hint)


def _refused(path: str) -> str:
    """Say why no file of a skill may have this name, "" where one may."""
    if not path.isprintable():
        return "its name holds characters that do not print"
    parts = path.casefold().split("/")  # some disks take .GIT, whose hooks are run, for .git
    if any(part in _PASSED_OVER or part.startswith(TEMPORARY) for part in parts):
        return "its name is one that tools leave behind"
    if path != SKILL_FILE and path.casefold() == SKILL_FILE.casefold():
        return f"some disks take it for {SKILL_FILE}"
    return ""


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
    refused = _refused(path)
    try:
        if not refused and entry.is_symlink() and not entry.resolve(strict=True).is_relative_to(root):
            refused = "it is a link that leads out of the skill"
        status = entry.lstat() if refused else entry.stat()
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, until Python 3.13
        return Found(path, entry, 0, 0, refused or "it is a link that leads nowhere")
    if not refused and not stat.S_ISREG(status.st_mode):
        refused = "it is a link to a folder" if stat.S_ISDIR(status.st_mode) else "it is no regular file"
    if not refused and status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        refused = "it runs with the rights of its owner"
    return Found(path, entry, stat.S_IMODE(status.st_mode) & 0o777, status.st_size, refused, status.st_nlink)
