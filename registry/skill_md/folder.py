"""A skill folder as it is on disk, read without losing a byte."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from events.errors import NotFoundError, SkillFormatError, StorageError
from events.types.parts import FileEntry
from registry.skill_md.rules import advise, check_skill
from registry.skill_md.skill_files import MAX_FILE_BYTES, MAX_SKILL_BYTES, MAX_TOTAL_BYTES, SKILL_FILE, Found, walk
from registry.skill_md.text import Section, cut
from registry.state.capsule import is_skill_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Encoding = Literal["utf-8", "utf-8-sig", "latin-1"]
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file of a skill beside SKILL.md, with its bytes; `entry.blob` is their SHA-256 in hexadecimal."""

    entry: FileEntry
    content: bytes


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A skill as read from disk: front matter, sections and files together are the folder, byte for byte.

    `name` is what front matter calls the skill if that is a valid name, else made from the folder's name.
    Instructions are one file, named by its path. Empty folders and what tools leave behind (`PASSED_OVER`) are no
    part of it. `warnings` say which rules the folder breaks, and how to mend it.
    """

    name: str
    source: str
    encoding: Encoding
    mode: int
    front: tuple[str, ...]
    sections: tuple[Section, ...]
    files: tuple[SkillFile, ...]
    warnings: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text of SKILL.md, decoded."""
        return "".join([*self.front, *(line for section in self.sections for line in section.lines)])


def read_skill(folder: Path) -> SkillFolder:
    """Read a skill folder; `folder` may also name its SKILL.md.

    Raises: NotFoundError if there is no SKILL.md; SkillFormatError if it has no front matter, holds U+0000,
    leads out of the folder, or something is larger than the caps; StorageError if the disk refuses.
    """
    if folder.name == SKILL_FILE and folder.is_file():
        folder = folder.parent
    if not folder.is_dir():
        raise NotFoundError(f"there is no skill folder {folder}", hint="name the folder that holds SKILL.md")
    refuse_odd_path(folder)
    files = walk(folder)
    skill = _skill_file(folder, files)
    raw = content_of(skill, MAX_SKILL_BYTES)
    text, encoding = decode(raw, skill.at)
    pieces = cut(text)
    if not pieces.front:
        raise SkillFormatError(
            f"{skill.at} has no front matter",
            rule="front-matter",
            hint="begin the file with a line ---, then name: and description:, then a line ---",
        )
    name = _name(folder, pieces.front)
    others = [file for file in files if file is not skill]
    breaches = [*check_skill(text, folder.resolve().name, encoding=encoding), *advise(text)]
    warnings = [f"{breach.rule}: {breach.message} ({breach.mend})" for breach in breaches]
    left_out = [other for other in others if other.refused]
    warnings += [f"contained-path: {_shown(other.path)} is left out: {other.refused}" for other in left_out]
    linked = [file.path for file in files if file.links > 1 and not file.refused]
    if linked:
        named = f"{linked[0]}{f' and {len(linked) - 1} more' if linked[1:] else ''}"
        warnings.append(f"hard-link: {named} has another name on this disk (copy it, if that is not wanted)")
    return SkillFolder(
        name=name,
        source=str(folder),
        encoding=encoding,
        mode=skill.mode,
        front=pieces.front,
        sections=pieces.sections,
        files=_files([other for other in others if not other.refused]),
        warnings=tuple(warnings),
    )


def refuse_odd_path(folder: Path) -> None:
    """Raise SkillFormatError for a folder whose path is not UTF-8."""
    if any("\ud800" <= char <= "\udfff" for char in str(folder)):
        raise SkillFormatError(
            f"the path of {folder} is not UTF-8, and no event can hold it",
            rule="encoding",
            hint="rename the folder",
        )


def decode(raw: bytes, named: Path | str = SKILL_FILE) -> tuple[str, Encoding]:
    """Decode a SKILL.md so that encoding the text again gives the same bytes.

    Raises: SkillFormatError if it holds U+0000, which no text does.
    """
    if b"\0" in raw:
        raise SkillFormatError(
            f"{named} holds a NUL byte at offset {raw.index(0)}: it is no text, or UTF-16",
            rule="encoding",
            hint="save it as UTF-8",
        )
    encoding: Encoding = "utf-8-sig" if raw.startswith(_BOM) else "utf-8"
    try:
        return raw.decode(encoding), encoding
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "latin-1"


def _shown(path: str) -> str:
    """Write a path as an event can hold it: a name may be no UTF-8."""
    return path if path.isprintable() else ascii(path)[1:-1]


def _skill_file(folder: Path, files: Sequence[Found]) -> Found:
    skill = next((file for file in files if file.path == SKILL_FILE), None)
    if skill is None:
        near = tuple(file.path for file in files if file.path.lower().endswith("skill.md"))
        hint = f"did you mean {near[0]}?" if near else "name the folder that holds SKILL.md"
        raise NotFoundError(f"{folder} holds no {SKILL_FILE}", nearest=near, hint=hint)
    if skill.refused:
        raise SkillFormatError(
            f"{skill.at} cannot be read: {skill.refused}",
            rule="contained-path",
            hint=f"put a regular file {SKILL_FILE} in the folder",
        )
    return skill


def content_of(file: Found, cap_bytes: int) -> bytes:
    """Read a file, at most one byte past its cap: a file may grow while it is read."""
    try:
        with file.at.open("rb") as stream:
            content = stream.read(cap_bytes + 1)
    except OSError as error:
        raise StorageError(f"cannot read {file.at}: {error.strerror}", hint="check its permissions") from error
    if len(content) > cap_bytes:
        raise _too_large(f"{file.at} is larger than {cap_bytes:,} bytes")
    return content


def _files(listed: Sequence[Found]) -> tuple[SkillFile, ...]:
    files = []
    total_bytes = 0
    for file in listed:
        content = content_of(file, MAX_FILE_BYTES)
        total_bytes += len(content)
        if total_bytes > MAX_TOTAL_BYTES:
            raise _too_large(f"the files of the skill are larger than {MAX_TOTAL_BYTES:,} bytes together")
        blob = hashlib.sha256(content).hexdigest()
        entry = FileEntry(path=file.path, blob=blob, mode=file.mode, size_bytes=len(content))
        files.append(SkillFile(entry, content))
    return tuple(files)


def _too_large(what: str) -> SkillFormatError:
    return SkillFormatError(what, rule="size", hint="keep large material outside the skill and refer to it")


def _name(folder: Path, front: tuple[str, ...]) -> str:
    """Name a skill as its front matter does, else after its folder."""
    stated = re.search(r"""^name:[ \t]*["']?([^"'\s#]+)["']?[ \t]*\r?$""", "".join(front), re.MULTILINE)
    if stated and is_skill_name(stated[1]):
        return stated[1]
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")[:64].strip("-")
    if not name:
        raise SkillFormatError(
            f"neither the front matter nor the folder {folder} gives the skill a valid name",
            rule="name",
            hint="write `name:` with lowercase letters, digits and single hyphens",
        )
    return name
