"""Names of instructions: every path has one of its own, a command can be typed with it, and no skill has it."""

from __future__ import annotations

from shlex import quote

import pytest

from registry.state.capsule import is_skill_name
from registry.state.instruction_formats import (
    covers_project,
    instruction_format,
    is_instructions_name,
    name_of_path,
    path_of_name,
)

READ = {
    "CLAUDE.md": "Claude Code",
    "CLAUDE.local.md": "Claude Code",
    ".claude/CLAUDE.md": "Claude Code",
    ".claude/rules/a/b.md": "Claude Code",
    ".claude/agents/reviewer.md": "Claude Code",
    ".claude/commands/git/commit.md": "Claude Code",
    "AGENTS.md": "Codex",
    "AGENTS.override.md": "Codex",
    "packages/@org/web/AGENTS.md": "Codex",
    "GEMINI.md": "Gemini CLI",
    ".cursor/rules/my rule.mdc": "Cursor",
    ".github/copilot-instructions.md": "GitHub Copilot",
    ".github/instructions/api.instructions.md": "GitHub Copilot",
    "/home/ada/.claude/CLAUDE.md": "Claude Code",
    "app/[slug]/(group)/AGENTS.md": "Codex",
    "$(id)/AGENTS.md": "Codex",
    "-o/AGENTS.md": "Codex",
    "größe/100%/CLAUDE.md": "Claude Code",
    ".claude/commands/git:commit@home.md": "Claude Code",
}


@pytest.mark.parametrize("path", READ)
def test_each_path_has_a_name_that_can_be_typed_and_leads_back_to_it(path: str) -> None:
    known, name = instruction_format(path), name_of_path(path)
    assert known is not None
    assert known.tool == READ[path]
    assert is_instructions_name(name)
    assert path_of_name(name) == path
    assert quote(name) == name
    assert not name.startswith("-")
    assert "@" not in name.rpartition("/")[2]
    assert not is_skill_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "claude.md", "CLAUDE.md/", "a//CLAUDE.md", "./CLAUDE.md", "../CLAUDE.md", "a/../CLAUDE.md"),
        *("//CLAUDE.md", "a%2F..%2FCLAUDE.md", "%43LAUDE.md", "CLAUDE.md@2", "x\n/CLAUDE.md", "x%0A/CLAUDE.md"),
        *("%E2%80%AE/CLAUDE.md", "%FF/CLAUDE.md", "a b/CLAUDE.md", "-o/CLAUDE.md", "sql-analyst", "", "%"),
        *(".cursor/rules/a.md", ".claude/rules/.md", ".git/hooks/pre-commit", "a/" * 600 + "CLAUDE.md"),
    ],
)
def test_what_is_no_such_path_or_is_written_in_another_way_is_no_name(name: str) -> None:
    assert not is_instructions_name(name)


def test_only_what_is_read_at_the_root_whatever_an_agent_does_covers_the_project() -> None:
    covering = {
        "CLAUDE.md",
        "CLAUDE.local.md",
        ".claude/CLAUDE.md",
        "AGENTS.md",
        "AGENTS.override.md",
        "GEMINI.md",
    }
    covering |= {".github/copilot-instructions.md"}
    assert {path for path in READ if covers_project(name_of_path(path))} == covering
    assert not covers_project("sql-analyst")
