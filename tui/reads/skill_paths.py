"""Places on disk: which skill a path belongs to, and which of its lines a line of the file is."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from events.errors import NotFoundError, RefusedError, StorageError
from registry.query.diffs import line_diff
from registry.skill_md.instructions import is_instruction_file
from registry.skill_md.render import projected_lines
from registry.skill_md.skill_files import SKILL_FILE, main_file, write_place
from registry.state.capsule import is_skill_name
from registry.state.instruction_formats import is_instructions_name

if TYPE_CHECKING:
    from registry.query.library import Library
    from registry.state.capsule import Capsule


class Named(NamedTuple):
    """A file of a skill that a path names: the skill as it is now, and the path within it."""

    capsule: Capsule
    path: str


def find_named(library: Library, path: str) -> Named:
    """Find the skill that a file on disk belongs to, or the instructions of that name or place.

    Raises: NotFoundError where it is none of theirs.
    """
    names = library.names()
    if path in names:
        return Named(library.capsule(path), main_file(path))
    target = Path(path).expanduser()
    target = (target / SKILL_FILE if target.is_dir() else target).resolve()
    for name in sorted(names, key=is_instructions_name, reverse=True):  # a file before the folder around it
        capsule = library.capsule(name)
        place = write_place(name, capsule.source).resolve()
        if target == place or (target.is_relative_to(place) and not capsule.is_instructions):
            return Named(
                capsule, target.relative_to(place.parent if capsule.is_instructions else place).as_posix()
            )
    if is_skill_name(path) and not target.exists():
        return Named(library.capsule(path), main_file(path))  # there is none of that name: the nearest is told
    holder = next((folder for folder in target.parents if (folder / SKILL_FILE).is_file()), None)
    if holder is None and is_instruction_file(target) and target.is_file():
        holder = target
    raise NotFoundError(
        f"{path} belongs to no skill in the registry",
        hint=f"germline import {quote(str(holder))}" if holder else "germline status",
    )


def projected_number(library: Library, named: Named, number: int) -> int:
    """Tell which line of the live version a line of the file on disk is.

    Raises: RefusedError for a line that a person wrote there and nobody adopted; NotFoundError beyond the end.
    """
    capsule, path = named
    folder = Path(capsule.source)
    is_text = path == main_file(capsule.name)
    known = [line.text for line in projected_lines(capsule)] if is_text else file_lines(library, named)
    try:
        raw = (folder / path).read_bytes()
    except FileNotFoundError:
        return number  # not projected at present: the line is meant as the registry has it
    except OSError as error:
        raise StorageError(
            f"cannot read {folder / path}: {error.strerror}", hint="check its permissions"
        ) from error
    on_disk = cut_lines(raw.decode(capsule.encoding if is_text else "utf-8", errors="replace"))
    if on_disk == known:
        return number
    if number > len(on_disk):
        raise NotFoundError(f"{folder / path} has {len(on_disk)} lines; there is no line {number}")
    row = next(row for row in line_diff(known, on_disk) if row.new_no == number)
    if row.old_no is None:
        raise RefusedError(
            f"line {number} of {folder / path} was written by hand since it was projected: no event knows it yet",
            hint=f"germline adopt {capsule.name}",
        )
    return row.old_no


def file_lines(library: Library, named: Named) -> list[str]:
    """Return the lines of a file beside SKILL.md, as the live version has it.

    Raises: NotFoundError for a file that is none of the skill's; RefusedError for one that is no text.
    """
    blob = next((file.entry.blob for file in named.capsule.files if file.entry.path == named.path), None)
    if blob is None:
        files = ", ".join(file.entry.path for file in named.capsule.files) or "no file"
        raise NotFoundError(
            f"{named.path} is no file of {named.capsule.name}@{named.capsule.version}",
            hint=f"beside {SKILL_FILE} it has {files}",
        )
    return lines_of(library, blob, named.path)


def lines_of(library: Library, blob: str, path: str) -> list[str]:
    """Fetch stored content as lines; raises RefusedError where it is no text or was erased."""
    body = library.log.get_blob(blob)
    if body is None:
        raise RefusedError(f"the content of {path} ({blob[:12]}) is not in the registry", hint="germline verify")
    try:
        return cut_lines(body.decode())
    except UnicodeDecodeError as error:
        raise RefusedError(f"{path} is no text: it has no lines", hint="germline log") from error


def cut_lines(text: str) -> list[str]:
    """Cut a text at line feeds alone, as editors count lines."""
    return list(StringIO(text, newline="\n"))
