"""Instruction files on disk: found, named, read without losing a byte, and held against their tool's advice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from events.errors import NotFoundError, SkillFormatError
from registry.skill_md.folder import SkillFolder, content_of, decode, refuse_odd_path
from registry.skill_md.rules import Breach, hidden_advice
from registry.skill_md.skill_files import MAX_SKILL_BYTES, SKILL_FILE, main_file, walk
from registry.skill_md.text import Section, cut, split_lines
from registry.state.instruction_formats import (
    instruction_format,
    is_instructions_name,
    name_of_path,
    path_of_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOLDERS: Final = {".claude": ("agents", "commands", "rules"), ".cursor": ("rules",), ".github": ("instructions",)}
"""Hidden folders of a project that hold instructions, and in which folders; work trees may lie beside them."""
_NOT_SEARCHED: Final = frozenset({"node_modules", "vendor", "venv", "target", "dist", "build", "__pycache__"})
MAX_DEPTH: Final = 6
"""How deep below a project its nested AGENTS.md are looked for (a guess: packages/GROUP/NAME/src)."""


def is_instruction_file(path: Path) -> bool:
    """Tell whether a path is that of a file which agents read as instructions, whether or not it is there."""
    return instruction_format(path.absolute().as_posix()) is not None


def instructions_name(file: Path, project: Path) -> str:
    """Name an instruction file by its path below the project, else from the root.

    Raises: SkillFormatError where that is no name: it holds what does not print, say.
    """
    refuse_odd_path(file)
    place, base = file.parent.resolve() / file.name, project.resolve()
    name = name_of_path((place.relative_to(base) if place.is_relative_to(base) else place).as_posix())
    if not is_instructions_name(name):
        what = f"{str(file)!a} has no name that instructions can have"
        raise SkillFormatError(what, rule="name", hint="rename it, or the folder: names are short, and print")
    return name


def read_instructions(file: Path, name: str) -> SkillFolder:
    """Read an instruction file as a capsule of that name; front matter is kept, and never asked for.

    Raises: NotFoundError if it is not there; SkillFormatError if it is a link, too large, or not UTF-8 text;
    StorageError if the disk refuses.
    """
    folder = file.parent.resolve()
    there = walk(folder, main_file(name)) if folder.is_dir() else []
    if not there:
        raise NotFoundError(f"{file}: no such file", hint="name a CLAUDE.md, an AGENTS.md, or a folder with one")
    if there[0].refused:
        leads = f" to {file.readlink()}" if file.is_symlink() else ""
        raise SkillFormatError(
            f"{file} cannot be read: {there[0].refused}{leads}",
            rule="contained-path",
            hint="import the file that the link leads to, where that is one of instructions",
        )
    text, encoding = decode(content_of(there[0], MAX_SKILL_BYTES), file)
    if encoding == "latin-1":
        raise SkillFormatError(f"{file} is not UTF-8", rule="encoding", hint="save it as UTF-8, then import it")
    pieces = cut(text)
    is_open = not pieces.front or pieces.front[-1].endswith("\n")
    return SkillFolder(
        name=name,
        source=str(folder),
        encoding=encoding,
        mode=there[0].mode,
        front=pieces.front,
        sections=pieces.sections or ((Section("", ()),) if is_open else ()),  # a place for what is learned
        files=(),
        warnings=tuple(
            f"{it.rule}: {it.message} ({it.mend})" for it in (*length_advice(name, text), *hidden_advice(text))
        ),
    )


def length_advice(name: str, text: str) -> list[Breach]:
    """Say where instructions are longer than their tool advises or reads."""
    known = instruction_format(path_of_name(name))
    advice = []
    lines, size = len(split_lines(text)), len(text.encode())
    if known and known.lines and lines > known.lines:
        what = f"{lines:,} lines; {known.tool} advises at most {known.lines:,}"
        advice.append(Breach("length", what, "move detail to files or skills that are read when they are needed"))
    if known and known.size_bytes and size > known.size_bytes:
        what = f"{size:,} bytes; {known.tool} reads {known.size_bytes:,} by default"
        advice.append(Breach("length", what, "move detail to files that are read when they are needed"))
    return advice


def find_instructions(folder: Path, depth: int = MAX_DEPTH) -> list[Path]:
    """List the instruction files at or below a folder, nearest first; links and skills are passed over.

    So are repositories and work trees of git below it, which are projects of their own.
    """
    return sorted(_found(folder.resolve(), depth), key=lambda file: (len(file.parts), file))


def _found(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = {entry.name: entry for entry in os.scandir(folder)}
    except OSError:  # not ours to look into
        return
    if SKILL_FILE in entries:
        return
    yield from (
        folder / name
        for name, entry in entries.items()
        if entry.is_file(follow_symlinks=False) and is_instruction_file(folder / name)
    )
    for name, entry in entries.items():
        if not entry.is_dir(follow_symlinks=False) or (folder / name / ".git").exists():
            continue
        if folder.name in _HOLDERS:
            if name in _HOLDERS[folder.name]:
                yield from _found(folder / name, MAX_DEPTH)
        elif name in _HOLDERS or (depth and not name.startswith(".") and name not in _NOT_SEARCHED):
            yield from _found(folder / name, depth - 1)
