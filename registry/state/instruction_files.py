"""Instruction files: which files coding agents read as instructions, and what their tools advise of their length.

Sources: the documentation of Claude Code (memory, sub-agents, commands), Codex (AGENTS.md, project_doc_max_bytes),
Gemini CLI, Cursor (rules) and GitHub Copilot (custom instructions), as of 2026.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class InstructionFormat(NamedTuple):
    """A kind of instruction file: how its path ends, whose it is, and the advised most lines or bytes (0: none).

    `everywhere` tells that such a file at the root of a project is read whatever an agent does there.
    """

    pattern: re.Pattern[str]
    tool: str
    everywhere: bool = False
    lines: int = 0
    size_bytes: int = 0


MAX_NAME: Final = 1_024
"""Longer paths are no names (a guess: Linux takes 4,096 bytes)."""


def _format(ends: str, tool: str, *, everywhere: bool = False, lines: int = 0, size: int = 0) -> InstructionFormat:
    return InstructionFormat(re.compile(rf"(?:.*/)?{ends}"), tool, everywhere, lines, size)


FORMATS: Final = (
    _format(r"(?:\.claude/)?CLAUDE(?:\.local)?\.md", "Claude Code", everywhere=True, lines=200),
    _format(r"\.claude/rules/.+\.md", "Claude Code", lines=200),
    _format(r"\.claude/(?:agents|commands)/.+\.md", "Claude Code"),
    _format(r"AGENTS(?:\.override)?\.md", "Codex", everywhere=True, size=32 * 1024),
    _format(r"GEMINI\.md", "Gemini CLI", everywhere=True),
    _format(r"\.cursor/rules/.+\.mdc", "Cursor", lines=500),
    _format(r"\.github/copilot-instructions\.md", "GitHub Copilot", everywhere=True, size=4_000),
    _format(r"\.github/instructions/.+\.instructions\.md", "GitHub Copilot", size=4_000),
)
"""All kinds. What has no advised length is read whole, whatever its length."""


def instruction_format(path: str) -> InstructionFormat | None:
    """Tell what kind of instruction file a path with forward slashes names, None where it is none."""
    return next((known for known in FORMATS if known.pattern.fullmatch(path)), None)


def is_instructions_name(name: str) -> bool:
    """Tell whether a text names instructions: their path, below the project, below `~`, or from the root.

    No name of a skill is one, and the file name holds no `@`, which a version follows.
    """
    parts = name.removeprefix("/").split("/")
    if len(name) > MAX_NAME or not name.isprintable() or {"", ".", ".."} & {*parts} or "@" in parts[-1]:
        return False
    return instruction_format(name) is not None


def covers_project(name: str) -> bool:
    """Tell whether instructions are those of the project as a whole: read at its root, whatever an agent does."""
    known = instruction_format(name) if is_instructions_name(name) else None
    at_root = "/" not in name or name in {".claude/CLAUDE.md", ".github/copilot-instructions.md"}
    return known is not None and known.everywhere and at_root
