"""The library: everything that can be read from a registry without changing it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from itertools import islice, takewhile, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from events.clock import first_moment, last_moment
from events.errors import NotFoundError, UsageError
from events.store.envelope import require_whole
from events.store.subscriptions import taken_in
from registry.projection import time_travel
from registry.projection.candidate_cache import FoldedCandidates
from registry.projection.fold import scored
from registry.projection.stored_documents import (
    FORMAT,
    PROJECTION,
    about_in,
    damaged,
    event_in,
    event_missing,
    events_in,
    format_in,
    read_back,
)
from registry.query.versions import event_of, under_one_evaluator, version_row
from registry.skill_md.write_places import ANYWHERE, place_here, project_of
from registry.state.candidate import Candidate, CandidateOutline, fold_candidates, outline_of
from registry.state.capsule import is_capsule_name, unborn
from registry.state.version_outline import Outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from events.store.envelope import Envelope
    from events.store.sql_log import EventLog
    from events.types.candidate_events import CandidateProposed
    from events.types.registry_events import CycleFinished, EvaluatorRegistered, SignalRaised
    from registry.projection.stored_documents import About
    from registry.query.versions import VersionRow
from registry.state.capsule import Capsule

CandidateT = TypeVar("CandidateT", Candidate, CandidateOutline)

_MOST_DIGITS: Final = 9
"""Longer numbers are no versions, and Python refuses to read the longest."""
_MOST_SEEN: Final = 4_096
"""Events to remember, of about a kilobyte each; beyond it the memory is emptied."""
_PAGE: Final = 256
"""Events read in one go by the history of one skill."""


class Raised(NamedTuple):
    """A signal that was raised, with where and when."""

    position: int
    at: str
    event: SignalRaised


class Library:
    """Reads a registry: skills at any version, candidates, signals, history."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.places = ANYWHERE
        self._seen: dict[int, Envelope] = {}
        self._latest = time_travel.LatestCapsule()

    def about(self) -> About:
        """Return what the registry says of itself; raises NotFoundError where it was never created."""
        document = self.log.document("registry", "")
        if document is None:
            raise NotFoundError(f"{self.log.location} holds no registry yet", hint="germline init")
        return read_back(self.log, document, about_in)

    def is_projected(self) -> bool:
        """Tell whether there is a projection of this format, of all events; an empty log needs none."""
        head = self.log.head().position  # looked at first: what is appended meanwhile is folded too
        document = self.log.document("registry", "")
        if format_in(document) != FORMAT:
            return document is None and head == 0
        taken = taken_in(self.log, PROJECTION)
        return taken == head or head < taken <= self.log.head().position

    # -- skills ----------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """List the skills, and the instructions, by name."""
        listed = self.log.documents("capsule")
        for document in listed:
            if not is_capsule_name(document.key):  # it would become a folder, and a word of commands
                raise damaged(self.log, document)
        return [document.key for document in listed]

    def retired_names(self) -> frozenset[str]:
        """Name the skills that are retired: no agent is offered them."""
        moved = self.log.read(types=("CapsuleRetired", "CapsuleRestored"))
        last = {str(envelope.fields["capsule"]): envelope.type for envelope in moved}
        return frozenset(name for name, kind in last.items() if kind == "CapsuleRetired")

    def live_names(self) -> list[str]:
        """List the skills that agents are offered, and the instructions, by name."""
        retired = self.retired_names()
        return [name for name in self.names() if name not in retired]

    def capsule(self, name: str, ref: str = "") -> Capsule:
        """Return a skill now, or at a version: `12`, `production`, `best`, `2026-11-01`.

        Its `source` is where it lies on this machine. Raises: NotFoundError with the nearest names, or with the
        versions that there are.
        """
        if not ref:
            capsule = self._latest.of(self.log, name)
        elif capsule := time_travel.at_version(self.log, name, self.version_of(name, ref)):
            last = self.version(name, capsule.version).rescored
            capsule = scored(capsule, last) if last else capsule
        if capsule is None:
            raise self._unknown_skill(name)
        return replace(capsule, source=self.place_here(capsule.source))

    def place_here(self, recorded: str) -> str:
        """Give a place that events keep as it is on this machine: a copy of a project has places of its own."""
        return place_here(recorded, self._project)

    @cached_property
    def _project(self) -> Path | None:
        return project_of(self.log.beside)

    def version_of(self, name: str, ref: str) -> int:
        """Resolve a version as people write it: a number, an alias, `best`, or a date (the last one up to it)."""
        outline = self.outline(name)
        version = self._aliased(name, ref) if ref in dict(outline.aliases) else 0
        if ref.isdecimal() and len(ref) <= _MOST_DIGITS:
            version = int(ref)
        elif ref == "best":
            version = self.best(name).version
        elif ref[:4].isdecimal() and ref[4:5] == "-":
            version = time_travel.last_version(self.log, name, until=last_moment(ref))
        if not 1 <= version <= outline.version:
            raise self._unknown_version(name, ref, outline)
        return version

    def _aliased(self, name: str, alias: str) -> int:
        """Return the version that an alias points at, by the event that moved it last."""
        moved = self.log.read(stream=f"capsule:{name}", types=("AliasMoved",), newest_first=True)
        events = (event_of("AliasMoved", envelope) for envelope in moved)
        return next((event.version for event in events if event.alias == alias), 0)

    def outline(self, name: str) -> Outline:
        """Return a skill's latest version, aliases and reverts, without its whole state."""
        document = self.log.document("capsule", name)
        if document is None:
            raise self._unknown_skill(name)
        return read_back(self.log, document, Outline.from_bytes)

    def best(self, name: str) -> VersionRow:
        """Pick the highest score among the versions measured by the evaluator that measured last.

        The latest of equals; `under_one_evaluator` tells the scores, and they say which evaluator that was.
        """
        rows = {row.version: row for row in self.versions(name)}
        measured = under_one_evaluator(rows.values())
        if not measured:
            raise NotFoundError(f"no version of {name} was measured yet", hint=f"germline score {name}")
        return rows[max(measured, key=lambda version: (measured[version].value, version))]

    def versions(self, name: str) -> list[VersionRow]:
        """List the versions of a skill, oldest first."""
        scored = events_in(self.log, self.log.documents("scored", name), "VersionScored")
        made = list(self.log.read(stream=f"capsule:{name}", types=("CapsuleVersioned",)))
        rows = [
            version_row(envelope, scored.get(at), following)
            for at, (envelope, following) in enumerate(zip_longest(made, made[1:]), 1)
        ]
        if not rows:
            raise self._unknown_skill(name)
        return rows

    def version(self, name: str, version: int) -> VersionRow:
        """Return one version of a skill; raises NotFoundError where there is none."""
        if row := self.version_rows(name, (version,)).get(version):
            return row
        raise self._unknown_version(name, str(version), self.outline(name))

    def version_rows(self, name: str, versions: Iterable[int]) -> dict[int, VersionRow]:
        """Read several versions of a skill at once, by number; those that there are none of are left out."""
        asked = dict.fromkeys(versions)
        places = [(name, version) for version in asked]
        further = [(name, version + 1) for version in asked if version + 1 not in asked]
        made = time_travel.events_of_versions(self.log, self.log.documents_at("version", [*places, *further]))
        scored = events_in(self.log, self.log.documents_at("scored", places), "VersionScored")
        return {
            version: version_row(envelope, scored.get(version), made.get(version + 1))
            for version, envelope in made.items()
            if version in asked
        }

    def _unknown_skill(self, name: str) -> NotFoundError:
        names = self.names()
        near = _nearest(name, names, at_most=3, cutoff=0.6)
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        else:
            hint = "germline status lists the skills" if names else "germline import PATH"
        return NotFoundError(f"no skill named {name or '(empty)'} is in the registry", hint=hint, nearest=near)

    def _unknown_version(self, name: str, ref: str, outline: Outline) -> NotFoundError:
        aliases = [alias for alias, _ in outline.aliases]
        near = _nearest(ref, [*aliases, "best"], at_most=1, cutoff=0.6)
        there = f"1 to {outline.version}" if outline.version > 1 else "version 1 alone"
        also = f" and the names {', '.join(aliases)}" if aliases else ""
        begun = self._begins_after(name, ref)
        return NotFoundError(
            begun or f"{name} has no version {ref[:80]}; it has {there}{also}",
            hint=f"did you mean {name}@{near[0]}?" if near else f"germline log {name}",
            nearest=near,
        )

    def _begins_after(self, name: str, ref: str) -> str:
        """Say that a skill begins after a date that was asked for; "" where that is no date."""
        with suppress(UsageError):
            if last_moment(ref) < (first := self.version(name, 1).at):
                return f"{name} had no version at {ref[:80]}: it begins {first[:16]}"
        return ""

    # -- what was found and tried ----------------------------------------------------------------------

    @cached_property
    def _folded(self) -> FoldedCandidates[Candidate]:
        return FoldedCandidates(lambda candidate: candidate)

    @cached_property
    def _outlined(self) -> FoldedCandidates[CandidateOutline]:
        return FoldedCandidates(outline_of)

    def candidates(self, capsule: str = "") -> list[Candidate]:
        """List the candidates, of one capsule or of all, in the order they were proposed."""
        every = self._folded.of(self.log)
        return self._marked([candidate for candidate in every if capsule in {"", candidate.capsule}])

    def candidate_outlines(self) -> list[CandidateOutline]:
        """List all candidates in outline, in the order they were proposed: to be counted."""
        return self._marked(list(self._outlined.of(self.log)))

    def candidate(self, candidate_id: str) -> Candidate | None:
        """Return a candidate by its whole id, None where there is none."""
        return self.candidates_of([candidate_id]).get(candidate_id)

    def candidates_of(
        self, ids: Iterable[str], *, outlines: Mapping[str, Outline] | None = None
    ) -> dict[str, Candidate]:
        """Read several candidates at once, by their whole ids; those that there are none of are left out.

        `outlines` are those of skills that were read already, by name.
        """
        asked = dict.fromkeys(ids)
        events = self.log.of_streams(f"candidate:{candidate_id}" for candidate_id in asked if candidate_id)
        every = self._marked(fold_candidates(events), outlines or {})
        known = {candidate.id: candidate for candidate in every}
        return {candidate_id: known[candidate_id] for candidate_id in asked if candidate_id in known}

    def held(self) -> list[Candidate]:
        """List the candidates that wait for more logs or for a person, in the order they were first held."""
        names = (
            event_of("CandidateHeld", envelope).candidate for envelope in self.log.read(types=("CandidateHeld",))
        )
        return [candidate for candidate in self.candidates_of(names).values() if candidate.verdict == "hold"]

    def answers(
        self, fingerprint: str, *, outlines: Mapping[str, Outline] | None = None, read: Sequence[Candidate] = ()
    ) -> list[Candidate]:
        """List the candidates that answer a signal, in the order they were proposed; `read` need no reading."""
        documents = self.log.documents("proposed", fingerprint)
        named = [(document, read_back(self.log, document, bytes.decode)) for document in documents]
        known = {candidate.id: candidate for candidate in read}
        known |= self.candidates_of((name for _, name in named if name not in known), outlines=outlines)
        for document, candidate in named:
            if candidate not in known:
                raise damaged(self.log, document)
        return [known[candidate] for _, candidate in named]

    def _marked(
        self, candidates: Sequence[CandidateT], known: Mapping[str, Outline] = MappingProxyType({})
    ) -> list[CandidateT]:
        """Mark those whose promotion was taken back since."""
        names = {candidate.capsule for candidate in candidates if candidate.version}
        outlines = {name: known.get(name) or self.outline(name) for name in sorted(names)}
        return [
            replace(candidate, reverted=True)
            if candidate.version and not outlines[candidate.capsule].is_live(candidate.version)
            else candidate
            for candidate in candidates
        ]

    def signals(self) -> list[Raised]:
        """List the signals that were raised, oldest first."""
        return [_raised(envelope) for envelope in self.log.read(types=("SignalRaised",))]

    def signal(self, fingerprint: str) -> Raised | None:
        """Return the signal of a fingerprint, None where none was raised."""
        document = self.log.document("signal", fingerprint)
        return _raised(event_in(self.log, document, "SignalRaised")) if document else None

    def cycles(self) -> list[CycleFinished]:
        """List the finished cycles, oldest first."""
        return [event_of("CycleFinished", envelope) for envelope in self.log.read(types=("CycleFinished",))]

    def evaluators(self) -> list[EvaluatorRegistered]:
        """List the registered evaluators, oldest first."""
        return [
            event_of("EvaluatorRegistered", envelope) for envelope in self.log.read(types=("EvaluatorRegistered",))
        ]

    def registration(self, evaluator: str) -> Envelope | None:
        """Return the event that registered an evaluator, None where none did."""
        document = self.log.document("evaluator", evaluator)
        return event_in(self.log, document, "EvaluatorRegistered") if document else None

    # -- history ---------------------------------------------------------------------------------------

    def history(
        self,
        capsule: str = "",
        *,
        types: Sequence[str] = (),
        since: str = "",
        limit: int = -1,
    ) -> Iterator[Envelope]:
        """Yield events newest first: of one skill or of all, of some types, since a time (RFC 3339).

        Since a time is from the first event at that time on, in the order of the log: a clock that went back hides
        nothing. Raises: CorruptLogError for one that is not what was hashed when it was appended.
        """
        if capsule:
            self.outline(capsule)
        first = self.log.first_since(first_moment(since)) if since else 1
        newest = map(require_whole, self._newest(capsule, types))
        envelopes = (envelope for envelope in newest if not types or envelope.type in types)
        recent = takewhile(lambda envelope: 0 < first <= envelope.position, envelopes)
        return islice(recent, limit if limit >= 0 else None)

    def event(self, position: int) -> Envelope:
        """Return the event at a position that something names; raises CorruptLogError where it is missing."""
        if envelopes := self.log.at([position]):
            return envelopes[0]
        raise event_missing(position)

    def origins(self, positions: AbstractSet[int]) -> Mapping[int, Envelope]:
        """Return the origins at these positions, and others: they never change, so what was read is remembered."""
        if positions - self._seen.keys():
            kept = self._seen if len(self._seen) < _MOST_SEEN else {}
            missing = sorted(positions - kept.keys())
            self._seen = kept | {envelope.position: envelope for envelope in self.log.at(missing)}
            if lost := positions - self._seen.keys():
                raise event_missing(min(lost))
        return self._seen

    def _newest(self, capsule: str, types: Sequence[str]) -> Iterator[Envelope]:
        if not capsule:
            yield from self.log.read(types=types, newest_first=True)
            return
        upto: int | None = None
        while page := self.log.documents("mention", capsule, upto=upto, limit=_PAGE, newest_first=True):
            yield from reversed(self.log.at([document.seq for document in page]))
            upto = page[-1].seq - 1


def base_of(library: Library, proposed: CandidateProposed, ref: str = "") -> Capsule:
    """Return what a candidate changes: its skill at a version, now where none is named, or one not there yet."""
    if proposed.skill is not None:
        return unborn(proposed.capsule, proposed.skill)
    return library.capsule(proposed.capsule, ref)


def _nearest(typed: str, known: list[str], *, at_most: int, cutoff: float) -> tuple[str, ...]:
    return tuple(get_close_matches(typed, known, n=at_most, cutoff=cutoff))


def _raised(envelope: Envelope) -> Raised:
    return Raised(envelope.position, envelope.at, event_of("SignalRaised", envelope))
