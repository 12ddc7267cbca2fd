"""Sentences of the project's own, into which only templates and action classes are put, never text of a log."""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from events.types.claims import ANY, CHANGE, CHECK, HAND_IN, LOOK
from registry.skill_md.invisible_chars import hidden_characters
from strategies.claims.applicability import WILDCARD
from strategies.episodes.action_class import SHELL_TOOLS, SQL_TOOLS
from strategies.episodes.episode import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_QUOTE: Final = 100
"""Characters of a template that a line quotes; agents recognise an error by its beginning (a guess)."""

LONGEST_RUN: Final = 60
"""Characters of the name of a run that a line quotes."""
_SEEN_WITH: Final = re.compile(r" \(seen with [^()]*\)$")
RUNS_NAMED: Final = 3
"""Runs that a line names; of more it says how many."""

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


def do_line(template: str, action: str) -> str:
    """Write what to do next after an error."""
    return f"After {_quoted(template)}, {_phrase(_LOOK, template, action) or f'{command(action)} next'}."


def avoid_line(template: str, action: str) -> str:
    """Write what not to do next after an error, as a complete sentence."""
    return f"After {_quoted(template)}, do not {_phrase(_GUESS, template, action) or f'{command(action)} next'}."


def also_avoid_line(template: str, action: str) -> str:
    """Write what not to do next, behind the line that says what to do."""
    return f"Do not {_phrase(_GUESS, template, action) or f'{command(action)} instead'}."


def seen_with(text: str, runs: Sequence[str]) -> str:
    """Write behind a line which runs show it, where it is about no others; the line's ending stays.

    What a line that was copied says of runs elsewhere goes.
    """
    words = text.rstrip()
    ending, full_stop = text[len(words) :], "." if words.endswith(".") else ""
    begun = _SEEN_WITH.sub("", words.removesuffix("."))
    names = ", ".join(map(_run_name, runs[:RUNS_NAMED]))
    more = f" and {len(runs) - RUNS_NAMED} more" if len(runs) > RUNS_NAMED else ""
    return f"{begun} (seen with {names}{more}){full_stop}{ending}" if runs else f"{begun}{full_stop}{ending}"


def _run_name(run: str) -> str:
    """Name a run as its log does, harmless within a line; by a hash where the name tells what to do."""
    from strategies.claims.directives import tells_what_to_do  # noqa: PLC0415 - to look for a moment takes no words

    if tells_what_to_do(run):
        return _digest("run", run)
    name = plain(run).translate(str.maketrans("()", "[]"))
    return name if len(name) <= LONGEST_RUN else f"{name[:LONGEST_RUN]}…"


def _digest(what: str, text: str) -> str:
    return f"{what} {blake2b(text.encode(), digest_size=4).hexdigest()}"


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


def _quoted(template: str) -> str:
    """Quote the first clause of a template, cut between words; one that tells what to do goes by a name alone."""
    from strategies.claims.directives import first_clause, tells_what_to_do  # noqa: PLC0415 - see `_run_name`

    clause = first_clause(template)
    if tells_what_to_do(clause):
        return _digest("error", template)
    text = plain(clause.replace(WILDCARD, "…")).replace('"', "'")
    if len(text) > LONGEST_QUOTE:
        text = f"{text[:LONGEST_QUOTE].rpartition(' ')[0] or text[:LONGEST_QUOTE]} …"
    return f'"{text}"'


def plain(text: str) -> str:
    """Make text of a log harmless within a line: no hidden or control characters, no markup, one space each."""
    visible = "".join(" " if unicodedata.category(c)[0] in "CZ" or hidden_characters(c) else c for c in text)
    return " ".join(visible.translate({ord("<"): "‹", ord(">"): "›", ord("`"): "'"}).split())


def ordinal(number: int) -> str:
    """Say which time it is: 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
