"""Searching: every place that holds a text, in the present and in the past."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from registry.searching import KINDS, Query, search
from tui.bootstrap import find_registry, open_library
from tui.cli.invocation import invocation
from tui.cli.names import SHOWN_CHARS
from tui.cli.options import AsJson
from tui.cli.paint import clip, column, one_line, width
from tui.figures import age, count

if TYPE_CHECKING:
    from registry.searching import Match
    from tui.cli.invocation import Invocation

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
    """Find a text in what skills say and said, and in reasons.

    Lines that stand now come first, then what the log holds, newest first: lines that are gone, proposals that
    never became lines, reasons, signals and claims.
    """
    call = invocation(ctx)
    query = Query(text, regex=regex, kinds=tuple(_OF[kind] for kind in kinds or _Kind), skill=skill)
    with open_library(find_registry(call.registry)) as library:
        found = search(library, query, limit + 1)
    more, found = len(found) > limit, found[:limit]
    if as_json:
        call.answer("search", {"text": text, "matches": [_json(one) for one in found], "more": more})
        return
    if not found:
        call.say(f'nothing    "{one_line(text)}" stands nowhere{f" in {skill}" if skill else ""}')
        call.say("next       germline log    germline signals")
        return
    now = SystemClock().now()
    room = column(map(_place, found), _PLACE, _BESIDE)
    for match in found:
        _print(call, match, room, now)
    call.say(
        f"found      {'more than ' if more else ''}{count(len(found), 'place')}{': --limit N' if more else ''}"
    )
    call.say(f"next       {_next(found[0])}")


def _print(call: Invocation, match: Match, room: int, now: str) -> None:
    """Print where it stands, whether it still does, how old it is, and the text."""
    lives = match.kind == "line" and not match.gone_since
    mark = call.paint("●", "good") if lives else call.paint("○", "dim")
    gone = f"gone since @{match.gone_since}: " if match.gone_since else ""
    head = f"{match.kind:<8} {clip(_place(match), room):<{room}} {age(match.at, now):>4} "
    text = clip(gone + one_line(match.text).strip(), width() - room - _KIND_AND_AGE)
    call.say(f"{mark} {head} {text}".rstrip())


def _place(match: Match) -> str:
    """Name where a match stands, as it may be typed behind `why`, `candidate show` or `show`."""
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


def _json(match: Match) -> dict[str, object]:
    return {
        "kind": match.kind,
        "text": match.text,
        "event": match.position,
        "at": match.at,
        "skill": match.skill or None,
        "version": match.version or None,
        "line": match.line or None,
        "live": match.kind == "line" and not match.gone_since,
        "gone_since": match.gone_since or None,
        "candidate": match.candidate or None,
        "fingerprint": match.fingerprint or None,
        "next": _next(match),
    }


COMMANDS: Final = {"search": search_registry}
