"""What is known of the tools of Claude Code by their names: which calls are worth a look."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Final, NamedTuple

from strategies.logs.actions import SHELL_TOOLS, SQL_TOOLS, plain_tool, writes
from strategies.logs.marks import edits_files
from strategies.logs.skill_use import SKILL_TOOLS

_READ: Final = "read"
"""The tool by which an agent reads a skill's file by itself, in lower case."""


class Tool(NamedTuple):
    """A tool by its plain name, whether the argument of its calls is looked at, and what they are known to do."""

    name: str
    telling: bool
    loads: bool
    edits: bool
    takes_command: bool


@lru_cache(maxsize=1024)
def tool_of(name: str) -> Tool:
    """Give what is known of a tool by its name."""
    name = plain_tool(name)
    lower = name.lower()
    loads, edits = lower in SKILL_TOOLS, edits_files(name)
    takes_command = lower in SHELL_TOOLS or lower in SQL_TOOLS
    return Tool(name, loads or edits or takes_command or lower == _READ, loads, edits, takes_command)


@lru_cache(maxsize=4096)
def action_of(tool: str, head: str) -> tuple[str, bool]:
    """Give the action class of a call, and whether it may change something."""
    return sys.intern(f"{tool}:{head}" if head else tool), writes(tool, head)
