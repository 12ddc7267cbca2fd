"""History: what happened, newest first, or as it happens."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from events.clock import SystemClock, rfc3339
from events.errors import NotFoundError, UsageError
from events.kinds import MODULES
from registry.summaries import summary
from tui.bootstrap import find_registry, open_library
from tui.cli.invocation import as_json as json_line
from tui.cli.paint import clip, one_line, width
from tui.cli.shapes import score_json
from tui.figures import age

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.envelope import Envelope
    from events.log import EventLog
    from tui.cli.invocation import Invocation
    from tui.cli.paint import Paint

_TONES: Final = {"Promoted": "good", "Rejected": "bad", "Held": "warn", "Reverted": "warn", "Versioned": "accent"}


def tell_history(  # noqa: PLR0913 - the options of the command are its contract
    call: Invocation,
    skill: str = "",
    *,
    types: Sequence[str] | None = None,
    since: str = "",
    limit: int = 2**31,
    follow: bool = False,
    after: int = -1,
    as_json: bool = False,
) -> None:
    """Answer `germline log`."""
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
        for envelope in library.history(skill, types=wanted, since=_moment(since), limit=limit):
            call.say(json_line(event_json(envelope)) if as_json else event_line(envelope, now, call.paint))


class _Wanted(NamedTuple):
    """Which events are followed, how many of them, and how they are told."""

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
    told = 0
    try:
        for envelope in log.subscribe(after=reached):
            line = ""
            if wanted.fits(envelope):
                now = SystemClock().now()
                line = json_line(event_json(envelope)) if wanted.as_json else event_line(envelope, now, call.paint)
            with _undisturbed():
                if line:
                    call.say(line)
                    call.flush()
                    told += 1
                reached = envelope.position
            if told >= wanted.limit:
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


def _moment(text: str) -> str:
    """Read a time as people write it, UTC where no zone is named, or an age: 7d, 24h; "" stays ""."""
    if not text:
        return ""
    if text[-1] in "smhd" and text[0].isdecimal():
        from tui.cli.durations import seconds_of  # noqa: PLC0415 - for who names an age

        return rfc3339(
            datetime.fromisoformat(SystemClock().now()) - timedelta(seconds=seconds_of(text, "--since"))
        )
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time", hint="write it as 2026-11-01, 2026-11-01T12:00:00Z or 7d"
        ) from error
    return rfc3339(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _known_type(name: str) -> str:
    """Find an event type however it was capitalised; raises NotFoundError with the nearest."""
    same = {known.lower(): known for known in MODULES}
    if name.lower() not in same:
        from difflib import get_close_matches  # noqa: PLC0415 - for who mistyped

        near = tuple(same[found] for found in get_close_matches(name.lower(), same, n=1, cutoff=0.4))
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(MODULES)}"
        raise NotFoundError(f"there is no event type {name}", hint=hint, nearest=near)
    return same[name.lower()]


def event_json(envelope: Envelope) -> dict[str, Any]:
    """Give an event as the line of JSON that `germline log` prints for it."""
    event = envelope.event if envelope.is_known else None
    is_version = envelope.type in {"CapsuleVersioned", "CandidatePromoted"}
    return {
        "schema": "germline/log/1",
        "position": envelope.position,
        "type": envelope.type,
        "stream": envelope.stream,
        "at": envelope.at,
        "actor": envelope.actor,
        "version": envelope.version,
        "skill": getattr(event, "capsule", None),
        "skill_version": getattr(event, "version", None) if is_version else None,
        "before": score_json(getattr(event, "before", None)),
        "after": score_json(getattr(event, "after", None)),
        "summary": summary(envelope),
        "hash": envelope.hash,
    }


def event_line(envelope: Envelope, now: str, paint: Paint) -> str:
    """Write an event in one line: position, age, type, what it did."""
    tone = next((tone for end, tone in _TONES.items() if envelope.type.endswith(end)), "")
    at, old, kind = f"{envelope.position:>6}", f"{age(envelope.at, now):>5}", f"{envelope.type:<19}"
    said = clip(one_line(summary(envelope)), width() - len(f"{at} {old}  {kind} "))
    return f"{at} {paint(old, 'dim')}  {paint(kind, tone)} {said}"
