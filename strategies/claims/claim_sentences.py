"""Sentences of the project's own, into which only templates and action classes are put, never text of a log."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from strategies.claims.action_phrases import command, guess_phrase, look_phrase, plain
from strategies.claims.applicability import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_QUOTE: Final = 100
"""Characters of a template that a line quotes; agents recognise an error by its beginning (a guess)."""

LONGEST_RUN: Final = 60
"""Characters of the name of a run that a line quotes."""
_SEEN_WITH: Final = re.compile(r" \(seen with [^()]*\)$")
RUNS_NAMED: Final = 3
"""Runs that a line names; of more it says how many."""


def do_line(template: str, action: str) -> str:
    """Write what to do next after an error."""
    return f"After {_quoted(template)}, {look_phrase(template, action) or f'{command(action)} next'}."


def avoid_line(template: str, action: str) -> str:
    """Write what not to do next after an error, as a complete sentence."""
    return f"After {_quoted(template)}, do not {guess_phrase(template, action) or f'{command(action)} next'}."


def also_avoid_line(template: str, action: str) -> str:
    """Write what not to do next, behind the line that says what to do."""
    return f"Do not {guess_phrase(template, action) or f'{command(action)} instead'}."


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
    from strategies.claims.error_directives import tells_what_to_do  # noqa: PLC0415 - to look for a moment takes no words

    if tells_what_to_do(run):
        return _digest("run", run)
    name = plain(run).translate(str.maketrans("()", "[]"))
    return name if len(name) <= LONGEST_RUN else f"{name[:LONGEST_RUN]}…"


def _digest(what: str, text: str) -> str:
    return f"{what} {blake2b(text.encode(), digest_size=4).hexdigest()}"


def _quoted(template: str) -> str:
    """Quote the first clause of a template, cut between words; one that tells what to do goes by a name alone."""
    from strategies.claims.error_directives import first_clause, tells_what_to_do  # noqa: PLC0415 - see `_run_name`

    clause = first_clause(template)
    if tells_what_to_do(clause):
        return _digest("error", template)
    text = plain(clause.replace(WILDCARD, "…")).replace('"', "'")
    if len(text) > LONGEST_QUOTE:
        text = f"{text[:LONGEST_QUOTE].rpartition(' ')[0] or text[:LONGEST_QUOTE]} …"
    return f'"{text}"'


def ordinal(number: int) -> str:
    """Say which time it is: 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
