"""The library: everything that can be read from a registry without changing it."""

from __future__ import annotations

from functools import cached_property
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import NotFoundError
from events.subscriptions import taken_in
from registry import travel
from registry.documents import about_in, damaged, event_in, event_missing, events_in, format_in, read_back
from registry.outline import Outline
from registry.times import first_moment, last_moment
from registry.versions import event_of, scored_by, under_one_evaluator, version_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from events.envelope import Envelope, Origin
    from events.log import Document, EventLog
    from events.registry_events import CycleFinished, EvaluatorRegistered, SignalRaised
    from registry.candidate import Candidate
    from registry.capsule import Capsule
    from registry.documents import About
    from registry.folded import FoldedCandidates
    from registry.sheet import Sheet
    from registry.versions import VersionRow


_MOST_DIGITS: Final = 9
"""Longer numbers are no versions, and Python refuses to read the longest."""
FORMAT: Final = 6
"""The shape of the documents; with a higher one, every registry is folded anew when it is next opened."""
PROJECTION: Final = "projection"
"""The subscriber that the documents are made by (events.subscriptions)."""

_MOST_SEEN: Final = 4_096
"""Events to remember, of about a kilobyte each; beyond it remembering begins anew."""
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
        self._seen: dict[int, Origin] = {}

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
        """List the skills by name."""
        return [document.key for document in self.log.documents("capsule")]

    def capsule(self, name: str, ref: str = "") -> Capsule:
        """Return a skill now, or at a version: `12`, `production`, `best`, `2026-11-01`.

        Raises: NotFoundError with the nearest names, or with the versions that there are.
        """
        if not ref:
            capsule = travel.latest(self.log, name)
        elif capsule := travel.at_version(self.log, name, self.version_of(name, ref)):
            from registry.apply import scored  # noqa: PLC0415 - the fold, which the latest version is read without

            last = self._scored(name, capsule.version)
            capsule = scored(capsule, scored_by(last).score) if last else capsule
        if capsule is None:
            raise self._unknown_skill(name)
        return capsule

    def sheet(self, name: str) -> Sheet:
        """Return what a skill is written from, as it is now; raises NotFoundError as `capsule` does."""
        if found := travel.latest_sheet(self.log, name):
            return found
        raise self._unknown_skill(name)

    def version_of(self, name: str, ref: str) -> int:
        """Resolve a version as people write it: a number, an alias, `best`, or a date (the last one up to it)."""
        outline = self.outline(name)
        version = dict(outline.aliases).get(ref, 0)
        if ref.isdecimal() and len(ref) <= _MOST_DIGITS:
            version = int(ref)
        elif ref == "best":
            version = self.best(name).version
        elif ref[:4].isdecimal() and ref[4:5] == "-":
            version = travel.last_version(self.log, name, until=last_moment(ref))
        if not 1 <= version <= outline.version:
            raise self._unknown_version(name, ref, outline)
        return version

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
        found = events_in(self.log, self.log.documents("scored", name), "VersionScored")
        made = self.log.read(stream=f"capsule:{name}", types=("CapsuleVersioned",))
        rows = [version_row(envelope, found.get(at)) for at, envelope in enumerate(made, 1)]
        if not rows:
            raise self._unknown_skill(name)
        return rows

    def version(self, name: str, version: int) -> VersionRow:
        """Return one version of a skill; raises NotFoundError where there is none."""
        made = travel.event_of_version(self.log, name, version)
        if made is None:
            raise self._unknown_version(name, str(version), self.outline(name))
        return version_row(made, self._scored(name, version))

    def _scored(self, name: str, version: int) -> Envelope | None:
        """Find what measured a version last since it came."""
        document = self.log.document("scored", name, at=version)
        return event_in(self.log, document, "VersionScored") if document and document.seq == version else None

    def _unknown_skill(self, name: str) -> NotFoundError:
        names = self.names()
        near = _nearest(name, names, at_most=3, cutoff=0.5)
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        else:
            hint = "germline status lists the skills" if names else "germline import PATH"
        return NotFoundError(f"no skill named {name} is in the registry", hint=hint, nearest=near)

    def _unknown_version(self, name: str, ref: str, outline: Outline) -> NotFoundError:
        aliases = [alias for alias, _ in outline.aliases]
        near = _nearest(ref, [*aliases, "best"], at_most=1, cutoff=0.6)
        there = f"1 to {outline.version}" if outline.version > 1 else "version 1 alone"
        also = f" and the names {', '.join(aliases)}" if aliases else ""
        return NotFoundError(
            f"{name} has no version {ref[:80]}; it has {there}{also}",
            hint=f"did you mean {name}@{near[0]}?" if near else f"germline log {name}",
            nearest=near,
        )

    # -- what was found and tried ----------------------------------------------------------------------

    @cached_property
    def _folded(self) -> FoldedCandidates:
        from registry.folded import FoldedCandidates  # noqa: PLC0415 - as below

        return FoldedCandidates()

    def candidates(self, capsule: str = "") -> list[Candidate]:
        """List the candidates, of one capsule or of all, in the order they were proposed."""
        every = self._folded.of(self.log)
        return self._marked([one for one in every if capsule in {"", one.proposed.capsule}])

    def candidate(self, candidate_id: str) -> Candidate | None:
        """Return a candidate by its whole id, None where there is none."""
        from registry.candidate import fold_candidates  # noqa: PLC0415 - their events, which history does without

        return next(iter(self._marked(fold_candidates(self.log.read(stream=f"candidate:{candidate_id}")))), None)

    def held(self) -> list[Candidate]:
        """List the candidates that wait for more logs or for a person, in the order they were first held."""
        names = (event_of("CandidateHeld", found).candidate for found in self.log.read(types=("CandidateHeld",)))
        every = (self.candidate(name) for name in dict.fromkeys(names))
        return [one for one in every if one and one.verdict == "hold"]

    def answers(self, fingerprint: str) -> list[Candidate]:
        """List the candidates that answer a signal, in the order they were proposed."""
        return [self._answer(document) for document in self.log.documents("proposed", fingerprint)]

    def _answer(self, document: Document) -> Candidate:
        candidate = self.candidate(read_back(self.log, document, bytes.decode))
        if candidate is None:
            raise damaged(self.log, document)
        return candidate

    def _marked(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Mark those whose promotion was taken back since."""
        from dataclasses import replace  # noqa: PLC0415 - with `inspect`, which it loads, a tenth of `germline log`

        names = {one.proposed.capsule for one in candidates if one.version}
        outlines = {name: self.outline(name) for name in names}
        return [
            replace(one, reverted=True)
            if one.version and not outlines[one.proposed.capsule].is_live(one.version)
            else one
            for one in candidates
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
        return [event_of("CycleFinished", found) for found in self.log.read(types=("CycleFinished",))]

    def evaluators(self) -> list[EvaluatorRegistered]:
        """List the registered evaluators, oldest first."""
        return [event_of("EvaluatorRegistered", found) for found in self.log.read(types=("EvaluatorRegistered",))]

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
        """Yield events newest first: of one skill or of all, of some types, since a time (RFC 3339)."""
        if capsule:
            self.outline(capsule)
        earliest = first_moment(since) if since else ""
        found = (one for one in self._newest(capsule, types) if not types or one.type in types)
        recent = takewhile(lambda one: one.at >= earliest, found)
        return islice(recent, limit if limit >= 0 else None)

    def event(self, position: int) -> Envelope:
        """Return the event at a position that something names; raises CorruptLogError where it is missing."""
        if found := self.log.at([position]):
            return found[0]
        raise event_missing(position)

    def origins(self, positions: AbstractSet[int]) -> Mapping[int, Origin]:
        """Return the origins at these positions, and others: they never change, so what was read is remembered."""
        if positions - self._seen.keys():
            kept = self._seen if len(self._seen) < _MOST_SEEN else {}
            missing = sorted(positions - kept.keys())
            self._seen = kept | {origin.position: origin for origin in self.log.origins(missing)}
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


def _nearest(typed: str, known: list[str], *, at_most: int, cutoff: float) -> tuple[str, ...]:
    from difflib import get_close_matches  # noqa: PLC0415 - for who mistyped

    return tuple(get_close_matches(typed, known, n=at_most, cutoff=cutoff))


def _raised(envelope: Envelope) -> Raised:
    return Raised(envelope.position, envelope.at, event_of("SignalRaised", envelope))
