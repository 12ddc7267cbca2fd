"""Searching: every place that holds a text, in the present and in the past."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from registry.query.search import KINDS, Query, search
from tui.cli.output.color import column, width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.skills import MatchRow, SearchDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.durations import age
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import count
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from registry.query.search import Match
    from tui.cli.output.invocation import Invocation

_PLACE: Final = 26
"""Columns of a place: "sql-analyst@12:117" with some room; a longer one gets more that `_BESIDE` does not need."""
_KIND_AND_AGE: Final = 18
_BESIDE: Final = 60
"""Columns of what stands around a place, and of that with some words of the text."""


class _Kind(StrEnum):
    """What a text may stand in."""

    LINES = "lines"
    PROPOSALS = "proposals"
    REASONS = "reasons"
    SIGNALS = "signals"
    CLAIMS = "claims"


_OF: Final = dict(zip(_Kind, KINDS, strict=True))


def search_registry(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for, whatever its case.")],
    *,
    kinds: Annotated[
        list[_Kind] | None,
        typer.Option(
            "--in", metavar="KIND", help="Only in lines, proposals, reasons, signals or claims; repeatable."
        ),
    ] = None,
    skill: Annotated[str, typer.Option("--skill", metavar="SKILL", help="Only what is of this skill.")] = "",
    regex: Annotated[bool, typer.Option("--regex", help="TEXT is a regular expression.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="At most this many places.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Find a text in skills, past and present, and in reasons.

    Lines that stand now come first, then what the log holds, newest first: lines that are gone, proposals that
    never became lines, reasons, signals and claims.
    """
    call = invocation(ctx)
    query = Query(text, regex=regex, kinds=tuple(_OF[kind] for kind in kinds or _Kind), skill=skill)
    with open_library(find_registry(call.registry)) as library:
        matches = search(library, query, limit + 1)
    more, matches = len(matches) > limit, matches[:limit]
    if as_json:
        rows = tuple(MatchRow.of(match, _next(match)) for match in matches)
        call.answer(SearchDocument(text=text, matches=rows, more=more))
        return
    if not matches:
        where = skill or "lines, reasons and templates"
        call.say(f'nothing    "{one_line(text)}" is nowhere in {where}')
        call.say("next       germline log    germline signals")
        return
    now = SystemClock().now()
    room = column(map(_place, matches), _PLACE, _BESIDE)
    for match in matches:
        _print(call, match, room, now)
    call.say(
        f"found      {'more than ' if more else ''}{count(len(matches), 'place')}{': --limit N' if more else ''}"
    )
    call.say(f"next       {_next(matches[0])}")


def _print(call: Invocation, match: Match, room: int, now: str) -> None:
    """Print where it is, whether it is still there, how old it is, and the text."""
    lives = match.kind == "line" and not match.gone_since
    mark = call.paint("●", "good") if lives else call.paint("○", "dim")
    gone = f"gone since @{match.gone_since}: " if match.gone_since else ""
    head = f"{match.kind:<8} {clip(_place(match), room):<{room}} {age(match.at, now):>4} "
    text = clip(gone + one_line(match.text).strip(), width() - room - _KIND_AND_AGE)
    call.say(f"{mark} {head} {text}".rstrip())


def _place(match: Match) -> str:
    """Name the place of a match, as it may be typed behind `why`, `candidate show` or `show`."""
    if match.kind == "signal":
        return f"event {match.position}"
    if match.candidate:
        became = f" {match.skill}@{match.version}" if match.version else f" {match.skill}"
        return f"{match.candidate[:SHOWN_CHARS]}{became}"
    if match.kind == "line":
        return (
            f"{match.skill}@{match.version}:{match.line}"
            if match.line
            else f"{match.skill}, event {match.position}"
        )
    return f"{match.skill}, event {match.position}" if match.skill else f"event {match.position}"


def _next(match: Match) -> str:
    if match.kind == "line" and match.line:
        return f"germline why {match.skill}@{match.version}:{match.line}"
    if match.candidate:
        return f"germline candidate show {match.candidate[:SHOWN_CHARS]}"
    return "germline signals" if match.kind == "signal" else f"germline log {match.skill}".rstrip()


COMMANDS: Final = {"search": search_registry}
