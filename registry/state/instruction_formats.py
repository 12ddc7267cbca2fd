"""Instruction files: which files coding agents read as instructions, and what their tools advise of their length.

Sources: the documentation of Claude Code (memory, sub-agents, commands), Codex (AGENTS.md, project_doc_max_bytes),
Gemini CLI, Cursor (rules) and GitHub Copilot (custom instructions), as of 2026.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class InstructionFormat(NamedTuple):
    """A kind of instruction file: how its path ends, whose it is, the advised most lines or bytes (0: none).

    `everywhere` tells that such a file at the root of a project is read whatever an agent does there. Expressions
    are compiled when the first path is asked about: every command imports this.
    """

    ends: str
    tool: str
    everywhere: bool = False
    lines: int = 0
    size_bytes: int = 0


_SAFE: Final = "/+=:,"
_PLAIN: Final = r"(?a:(?!-)(?:[\w.+=:,@-]*/)*[\w.+=:,-]+)"
MAX_NAME: Final = 1_024
"""Longer paths are no names (a guess: Linux takes 4,096 bytes)."""


FORMATS: Final = (
    InstructionFormat(r"CLAUDE(?:\.local)?\.md", "Claude Code", everywhere=True, lines=200),
    InstructionFormat(r"\.claude/rules/.+\.md", "Claude Code", lines=200),
    InstructionFormat(r"\.claude/(?:agents|commands)/.+\.md", "Claude Code"),
    InstructionFormat(r"AGENTS(?:\.override)?\.md", "Codex", everywhere=True, size_bytes=32 * 1024),
    InstructionFormat(r"GEMINI\.md", "Gemini CLI", everywhere=True),
    InstructionFormat(r"\.cursor/rules/.+\.mdc", "Cursor", lines=500),
    InstructionFormat(r"\.github/copilot-instructions\.md", "GitHub Copilot", everywhere=True, size_bytes=4_000),
    InstructionFormat(r"\.github/instructions/.+\.instructions\.md", "GitHub Copilot", size_bytes=4_000),
)
"""All kinds. What has no advised length is read whole, whatever its length."""


def instruction_format(path: str) -> InstructionFormat | None:
    """Tell what kind of instruction file a path with forward slashes names, None where it is none."""
    if not path.endswith((".md", ".mdc")):
        return None
    return next((known for known in FORMATS if re.fullmatch(rf"(?:.*/)?{known.ends}", path)), None)


def name_of_path(path: str) -> str:
    """Name instructions by a path with forward slashes: what a shell would not take as it is becomes %XX.

    So does an `@` in the file's name, which a version follows. The text need not be a name.
    """
    if re.fullmatch(_PLAIN, path):
        return path
    from urllib.parse import quote  # noqa: PLC0415 - few paths need it

    folders, slash, file = path.rpartition("/")
    name = f"{quote(folders, safe=_SAFE + '@')}{slash}{quote(file, safe=_SAFE)}"
    return f"%2D{name[1:]}" if name.startswith("-") else name


def path_of_name(name: str) -> str:
    """Give the path that a name was made of."""
    if "%" not in name:
        return name
    from urllib.parse import unquote  # noqa: PLC0415 - few names need it

    return unquote(name, errors="replace")


def is_instructions_name(name: str) -> bool:
    """Tell whether a text names instructions, by their path below the project or from the root.

    No name of a skill is one, and each can be typed in a command as it is.
    """
    path = path_of_name(name)
    wrong = {"", ".", ".."}.intersection(path.removeprefix("/").split("/"))
    if len(name) > MAX_NAME or wrong or not path.isprintable() or name_of_path(path) != name:
        return False
    return instruction_format(path) is not None


def covers_project(name: str) -> bool:
    """Tell whether instructions are those of the project as a whole: read at its root, whatever an agent does."""
    known = instruction_format(path_of_name(name)) if is_instructions_name(name) else None
    at_root = "/" not in name or name in {".claude/CLAUDE.md", ".github/copilot-instructions.md"}
    return known is not None and known.everywhere and at_root
