"""History: what happened, newest first, or as it happens."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from events.clock import SystemClock
from events.errors import NotFoundError, UsageError
from events.types.catalogue import EVENT_NAMES
from registry.query.event_summaries import summary
from tui.cli.output.color import width
from tui.cli.output.invocation import invocation, json_text
from tui.cli.output.options import AsJson, moment_since
from tui.documents.events import LogDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.durations import age
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.store.envelope import Envelope
    from events.store.sql_log import EventLog
    from tui.cli.output.color import Paint
    from tui.cli.output.invocation import Invocation

_SAME: Final = "now"
"""The age of what is less than a minute old."""
_TONES: Final = {"Promoted": "good", "Rejected": "bad", "Held": "warn", "Reverted": "warn", "Versioned": "accent"}


def log(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="[SKILL]", help="A skill; all history if left out.")] = "",
    *,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only events of this type; may be repeated.")
    ] = None,
    since: Annotated[
        str, typer.Option(metavar="TIME", help="Only events since 2026-11-01, or 2026-11-01T12:00Z, or 7d ago.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="At most this many events.")] = 2**31,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for events, and print each as it comes; oldest first.")
    ] = False,
    after: Annotated[
        int, typer.Option(min=-1, metavar="POSITION", help="With --follow: begin behind this event.")
    ] = -1,
    as_json: AsJson = False,
) -> None:
    """Show the history, of all or of one skill, newest first.

    With --follow, oldest first what happens from now on, or behind the event that --after names.
    With --json one event a line; `version` is that of its stream, `skill_version` that of the skill where the
    event makes one.
    """
    call = invocation(ctx)
    wanted = tuple(_known_type(name) for name in types or ())
    if follow and since:
        raise UsageError("--follow begins behind an event, not at a time", hint="germline log --follow --after 0")
    if after >= 0 and not follow:
        raise UsageError("--after goes with --follow", hint=f"germline log --follow --after {after}")
    with open_library(find_registry(call.registry)) as library:
        if follow:
            if skill:
                library.outline(skill)  # says so where there is none
            _follow(call, library.log, _Wanted(skill, wanted, limit, as_json=as_json), after)
            return
        now = SystemClock().now()
        events = library.history(skill, types=wanted, since=moment_since(since), limit=limit)
        for envelope, older in pairwise(chain(events, (None,))):
            if envelope:
                before = older.at if older else ""
                call.say(_line(envelope, now, call.paint, as_json=as_json, before=before))


class _Wanted(NamedTuple):
    """Which events are followed, how many of them, and how they are shown."""

    skill: str
    types: tuple[str, ...]
    limit: int
    as_json: bool

    def fits(self, envelope: Envelope) -> bool:
        """Tell whether an event is one of them; what a newer germline wrote belongs to no skill that is known."""
        if self.types and envelope.type not in self.types:
            return False
        return not self.skill or (envelope.is_known and getattr(envelope.event, "capsule", "") == self.skill)


def _follow(call: Invocation, log: EventLog, wanted: _Wanted, after: int) -> None:
    """Print events as they come, each as soon as it is there, until interrupted."""
    reached = after if after >= 0 else log.head().position
    printed, before = 0, ""
    try:
        for envelope in log.subscribe(after=reached):
            line = ""
            if wanted.fits(envelope):
                now = SystemClock().now()
                line = _line(envelope, now, call.paint, as_json=wanted.as_json, before=before)
                before = envelope.at
            with _undisturbed():
                if line:
                    call.say(line)
                    call.flush()
                    printed += 1
                reached = envelope.position
            if printed >= wanted.limit:
                return
    except KeyboardInterrupt:
        call.note(f"stopped    behind event {reached}; go on: germline log --follow --after {reached}")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no Ctrl-C come between what is printed and the note of how far that was: it is heard right after."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


def _known_type(name: str) -> str:
    """Find an event type however it was capitalised; raises NotFoundError with the nearest."""
    same = {known.lower(): known for known in EVENT_NAMES}
    if name.lower() not in same:
        from difflib import get_close_matches  # noqa: PLC0415 - for who mistyped

        near = tuple(same[match] for match in get_close_matches(name.lower(), same, n=1, cutoff=0.6))
        hint = (
            f"did you mean {near[0]}?"
            if near
            else "germline log prints the type of each; docs/events.md lists them"
        )
        raise NotFoundError(f"there is no event type {name}", hint=hint, nearest=near)
    return same[name.lower()]


def _line(envelope: Envelope, now: str, paint: Paint, *, as_json: bool, before: str) -> str:
    return json_text(LogDocument.of(envelope)) if as_json else event_line(envelope, now, paint, before=before)


def event_line(envelope: Envelope, now: str, paint: Paint, *, before: str = "") -> str:
    """Write an event in one line: position, age, type, what it did.

    It is marked where `before`, the time of an earlier event, is later by a minute or more: a clock went back.
    """
    tone = next((tone for end, tone in _TONES.items() if envelope.type.endswith(end)), "")
    at, old, kind = f"{envelope.position:>6}", f"{age(envelope.at, now):>5}", f"{envelope.type:<19}"
    back = age(envelope.at, before) if before else _SAME
    mark = "" if back == _SAME else f"(clock {back} back) "
    words = clip(one_line(f"{mark}{summary(envelope)}"), width() - len(f"{at} {old}  {kind} "))
    return f"{at} {paint(old, 'dim')}  {paint(kind, tone)} {words}"


COMMANDS: Final = {"log": log}
