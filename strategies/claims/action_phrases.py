"""Phrases for actions: what a learned line calls a command, a tool or a kind of step, never in words of a log."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from events.types.claims import ANY, CHANGE, CHECK, HAND_IN, LOOK
from registry.skill_md.invisible_chars import hidden_characters
from strategies.episodes.action_class import SHELL_TOOLS, SQL_TOOLS
from strategies.episodes.episode import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOK: Final = {
    "SHOW": "look at the schema (SHOW) before the next query",
    "SHOW table": "list the tables (SHOW TABLES) before the next query",
    "DESC": "look at the columns of the table (DESC) before the next query",
    "EXPLAIN": "look at the query plan (EXPLAIN) before the next query",
    "PRAGMA": "look at the schema (PRAGMA) before the next query",
    "PRAGMA table": "list the tables (PRAGMA table_list) before the next query",
    "PRAGMA column": "look at the columns of the table (PRAGMA table_info) before the next query",
    ".tables": "list the tables (.tables) before the next query",
    ".schema": "look at the schema (.schema) before the next query",
    "git status": "look at the state of the repository (git status) before the next command",
    "git log": "look at the history (git log) before the next command",
    "git branch": "list the branches (git branch) before the next command",
    "ls": "list the files (ls) before the next command",
    "pwd": "find out where you are (pwd) before the next command",
    "look": "look at what is there before the next step",
    "look table": "look at the tables before the next query",
    "look column": "look at the columns before the next query",
}
"""Nicer words for well-known heads; "HEAD topic" is for errors that speak of the topic."""

_GUESS: Final = {
    "SELECT table": "guess another table name with SELECT",
    "SELECT column": "guess another column name with SELECT",
}

_MEANT: Final = {
    ANY: "act",
    LOOK: "look at what is there",
    CHANGE: "change something",
    CHECK: "check your work",
    HAND_IN: "finish",
}
"""Words for meanings, behind which examples stand in brackets."""
_LOOKS: Final = (_MEANT[LOOK], "look at the tables", "look at the columns")


def look_phrase(template: str, action: str) -> str | None:
    """Say an action that looks, as a whole step; None for any other, see `command`."""
    return _phrase(_LOOK, template, action)


def guess_phrase(template: str, action: str) -> str | None:
    """Say an action that guesses once more; None for any other, see `command`."""
    return _phrase(_GUESS, template, action)


def _phrase(table: dict[str, str], template: str, action: str) -> str | None:
    """Look up the words for a head, those for the error's topic first."""
    head = action.partition(":")[2] or action
    topics = [word for word in ("table", "column") if word in template.casefold()]
    return next((table[key] for key in (*(f"{head} {t}" for t in topics), head) if key in table), None)


def command(action: str) -> str:
    """Say an action class as something to do: run git rebase, call book_reservation, check your work."""
    if action == MESSAGE:
        return "write to the user"
    if action in _MEANT:
        return _MEANT[action]
    tool, _, head = action.partition(":")
    if not head:
        return f"call {plain(tool)}"
    known = tool.lower() in SHELL_TOOLS | SQL_TOOLS  # of these the head says enough
    return f"run {plain(head)}" if known else f"call {plain(tool)} {plain(head)}"


def with_examples(line: str, meaning: str, actions: Sequence[str]) -> str:
    """Name, behind the words for a meaning in a line, actions that have it."""
    names = ", ".join(plain(action.partition(":")[2] or action) for action in actions)
    words = _LOOKS if meaning == LOOK else (_MEANT[meaning],)
    here = next((text for text in words if text in line), "")
    return line.replace(here, f"{here} ({names})", 1) if here and names else line


def plain(text: str) -> str:
    """Make text of a log harmless within a line: no hidden or control characters, no markup, one space each."""
    visible = "".join(" " if unicodedata.category(c)[0] in "CZ" or hidden_characters(c) else c for c in text)
    return " ".join(visible.translate({ord("<"): "‹", ord(">"): "›", ord("`"): "'"}).split())
