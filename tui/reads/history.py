"""What the History screen shows, read from a library in pieces; runs in the reading thread."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import NotFoundError
from events.store.pages import PAGE
from events.types.capsule_events import CapsuleBorn, CapsuleImported, CapsuleVersioned, FileChanged
from events.types.registry_events import CycleFinished
from registry.projection import time_travel
from registry.projection.fold import changes_capsule
from registry.query.diffs import line_diff
from registry.query.event_summaries import summary
from registry.skill_md.render import projected_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from events.store.envelope import Envelope
    from events.types.frozen import Frozen
    from events.types.score import Measured
    from registry.query.diffs import DiffLine
    from registry.query.library import Library
    from registry.query.versions import VersionRow
    from registry.state.capsule import Capsule

CHUNK: Final = 4_096
"""Positions read in one go: about 10 ms, so that other reads come in between (measured)."""

TREND: Final = 24
"""Versions whose scores a detail looks back on."""


_TURN: Final = frozenset(
    (
        *("CandidateProposed", "ComparisonFrozen", "CandidateScored", "CandidatePromoted", "CandidateRejected"),
        *("CandidateHeld", "GeneBorn", "GeneMutated", "GeneRetired", "CapsuleVersioned"),
    )
)
"""The events of a turn of evolution, which begins with the first of them and ends with CycleFinished."""

_LEADS: Final = {"CapsuleVersioned": 0, "CandidateHeld": 1, "CandidateRejected": 1}
"""Which event of a change says best what was done; of others the first one does."""


class EventHeader(NamedTuple):
    """What tells which events belong to one change."""

    position: int
    type: str
    at: str


class ChangeSpan(NamedTuple):
    """A change by the positions of its first, last and most telling event, and how many events it has."""

    lead: int
    newest: int
    oldest: int
    events: int


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event as the list shows it; `version` and `verdict` are those it made, if it did."""

    position: int
    event_id: str
    at: str
    type: str
    stream: str
    summary: str
    version: int = 0
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class EventDetail:
    """An event with what it did to the skill it names.

    `event` is None where a newer germline wrote it. `version` is the skill's right after it, `newest` that of now,
    `row` the version's, `trend` the scores up to it, oldest first. `diff` is the whole text; empty where the event
    left the skill as it was.
    """

    envelope: Envelope
    event: Frozen | None
    skill: str
    version: int
    row: VersionRow | None
    trend: tuple[Measured, ...]
    diff: tuple[DiffLine, ...]
    newest: int = 0

    @property
    def is_version(self) -> bool:
        """Whether this is the event that made the version."""
        return isinstance(self.event, CapsuleVersioned)

    @property
    def grounds(self) -> tuple[str, str]:
        """The candidate and the signal that the event names, "" where it names none."""
        candidate = self.row.candidate if self.is_version and self.row else getattr(self.event, "candidate", "")
        return candidate or "", getattr(self.event, "fingerprint", "")


def read_positions(library: Library, skill: str, *, below: int) -> array[int]:
    """Read where the next older events of a skill stand, newest first: at most a chunk, below a position."""
    if not skill:
        return array("q", range(below - 1, max(below - 1 - CHUNK, 0), -1))
    rows = library.log.documents("mention", skill, upto=below - 1, limit=CHUNK, newest_first=True)
    return array("q", [row.seq for row in rows])


def read_newer(library: Library, skill: str, *, after: int, upto: int) -> array[int]:
    """Read where the events of a skill stand that came after one position and up to another, newest first."""
    if not skill:
        return array("q", range(upto, after, -1))
    rows = library.log.documents("mention", skill, after=after, upto=upto, newest_first=True)
    return array("q", [row.seq for row in rows])


def read_headers(library: Library, positions: Sequence[int]) -> list[EventHeader]:
    """Read when the events at some positions happened, newest first, as they are given; of few at once."""
    pages = (library.log.at(positions[at : at + PAGE]) for at in range(0, len(positions), PAGE))
    return [EventHeader(e.position, e.type, e.at) for page in pages for e in reversed(page)]


def changes_of(headers: Iterable[EventHeader]) -> list[list[EventHeader]]:
    """Put the events of one command together, which have one time, and those of a turn; newest first, as given."""
    changes: list[list[EventHeader]] = []
    for header in headers:
        if changes and _belongs(header, changes[-1]):
            changes[-1].append(header)
        else:
            changes.append([header])
    return changes


def _belongs(header: EventHeader, newer: Sequence[EventHeader]) -> bool:
    if header.at == newer[-1].at:
        return True
    is_turn = newer[0].type == "CycleFinished" and newer[-1].type != "CandidateProposed"
    return is_turn and header.type in _TURN


def span_of(change: Sequence[EventHeader]) -> ChangeSpan:
    """Sum up a change."""
    lead = min(change, key=lambda header: (_LEADS.get(header.type, len(_LEADS)), header.position))
    return ChangeSpan(lead.position, change[0].position, change[-1].position, len(change))


def read_lines(library: Library, positions: Sequence[int]) -> list[EventLine]:
    """Read the events at some positions, newest first."""
    return [_line(envelope) for envelope in reversed(library.log.at(positions))]


def read_around(
    library: Library, position: int, pages: Mapping[int, Sequence[int]]
) -> tuple[EventDetail, Mapping[int, list[EventLine]]]:
    """Read what the cursor moved to, in one go: the event, and the pages around it that are lacking."""
    return read_event(library, position), {page: read_lines(library, at) for page, at in pages.items()}


def read_matching(library: Library, positions: Sequence[int], needle: str) -> array[int]:
    """Tell which of some positions hold an event whose line holds a text, whatever its case."""
    wanted = needle.casefold()
    lines = read_lines(library, positions)
    return array("q", [x.position for x in lines if wanted in f"{x.type} {x.stream} {x.summary}".casefold()])


def _line(envelope: Envelope) -> EventLine:
    event = envelope.event if envelope.is_known else None
    return EventLine(
        position=envelope.position,
        event_id=envelope.event_id,
        at=envelope.at,
        type=envelope.type,
        stream=envelope.stream,
        summary=summary(envelope),
        version=event.version if isinstance(event, CapsuleVersioned) else 0,
        verdict=event.verdict if isinstance(event, CycleFinished) else "",
    )


def read_event(library: Library, position: int) -> EventDetail:
    """Read one event and the change that it made; raises NotFoundError where there is none."""
    envelopes = library.log.at([position])
    if not envelopes:
        raise NotFoundError(f"there is no event {position}", hint="germline log")
    envelope = envelopes[0]
    if not envelope.is_known:
        return EventDetail(envelope, None, "", 0, None, (), ())
    event = envelope.event
    skill: str = getattr(event, "capsule", "")
    after = time_travel.at_position(library.log, skill, position) if skill else None
    version = after.version if after else 0
    return EventDetail(
        envelope=envelope,
        event=event,
        skill=skill,
        version=version,
        row=library.version(skill, version) if version else None,
        trend=tuple(_trend(library, skill, version, position)),
        diff=_change(library, event, position, after),
        newest=library.outline(skill).version if after else 0,
    )


def _trend(library: Library, skill: str, version: int, position: int) -> Iterator[Measured]:
    """Yield the scores of the last versions as they were known right after an event, oldest first."""
    for row in library.version_rows(skill, range(max(version - TREND, 0) + 1, version + 1)).values():
        yield from row.scores if row.rescored_at <= position else (row.after,)


def _change(library: Library, event: Frozen, position: int, after: Capsule | None) -> tuple[DiffLine, ...]:
    """Compare a skill before and after an event; a version is compared with the version before it."""
    if after is None or not changes_capsule(type(event).__name__):
        return ()
    if isinstance(event, FileChanged):
        return _file_change(library, event, time_travel.at_position(library.log, after.name, position - 1))
    if isinstance(event, CapsuleVersioned):
        before = time_travel.at_version(library.log, after.name, event.version - 1)
    elif isinstance(event, CapsuleImported | CapsuleBorn):
        before = None
    else:
        before = time_travel.at_position(library.log, after.name, position - 1)
    diff = line_diff(_texts(before), _texts(after))
    return tuple(diff) if any(row.kind != " " for row in diff) else ()


def _texts(capsule: Capsule | None) -> list[str]:
    return [line.text for line in projected_lines(capsule)] if capsule else []


def _file_change(library: Library, event: FileChanged, before: Capsule | None) -> tuple[DiffLine, ...]:
    """Compare a file beside SKILL.md; what is no text has no lines to compare."""
    old = next((f.entry.blob for f in before.files if f.entry.path == event.path), "") if before else ""
    new = event.entry.blob if event.entry else ""
    bodies = [library.log.get_blob(name) or b"" if name else b"" for name in (old, new)]
    if any(b"\0" in body for body in bodies):
        return ()
    left, right = (list(StringIO(body.decode("utf-8", "replace"), newline="\n")) for body in bodies)
    return tuple(line_diff(left, right))


def read_diff(library: Library, skill: str, old: int, new: int) -> tuple[DiffLine, ...]:
    """Compare two versions of a skill; version 0 is the empty text."""
    before = library.capsule(skill, str(old)) if old else None
    return tuple(line_diff(_texts(before), _texts(library.capsule(skill, str(new)))))


def read_version_at(library: Library, skill: str, position: int, step: int) -> int:
    """Find the event that made the next older (step -1) or newer (+1) version; 0 where there is none."""
    now = time_travel.at_position(library.log, skill, position)
    version = now.version if now else 0
    made_here = now is not None and now.position == position
    wanted = version + step if step > 0 or made_here else version
    newest = library.capsule(skill).version
    return library.version(skill, wanted).position if 1 <= wanted <= newest else 0


def read_place(library: Library, skill: str, ref: str) -> int:
    """Find the event that made a version; the newest one that names the skill where `ref` is empty."""
    if ref:
        return library.capsule(skill, ref).position
    library.capsule(skill)
    (mention,) = library.log.documents("mention", skill, limit=1, newest_first=True)
    return mention.seq
