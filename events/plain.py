"""Plain events: read as they were written, without pydantic, which took 110 of 195 ms to show an old version.

Nothing is trusted that the log cannot vouch for: an event that has the hash it was sealed with was validated when
it was appended, and with the fields that are written now nothing is missing from it. Any other is read by its
class, which says what is wrong or fills in what is new, and then looked at plainly too. A plain event answers
what a reader asks: fields, equality, `model_dump`. To append, or to decide, takes whole ones. (Measured
2026-11-22; where pydantic is loaded already, it is the faster one: 21 µs an event, against 66.)
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from events.envelope import Envelope, encode, holds
from events.upcasters import schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from events.base import Frozen
    from events.log import EventLog

_MUTATION: Final = "before after candidate scored attribution type"

EVENTS: Final[dict[str, str]] = {
    "GeneBorn": (
        f"{_MUTATION} gene capsule title lines after_gene strategy claims triggers derived_from keeper claimed"
    ),
    "GeneMutated": (
        f"{_MUTATION} gene capsule version edits title strategy claims_added claims_dropped triggers_added"
    ),
    "GeneMoved": f"{_MUTATION} gene capsule after_gene",
    "GeneProtected": "type gene capsule lines reason",
    "GeneReleased": "type gene capsule reason",
    "GeneRetired": f"{_MUTATION} gene capsule reason",
    "CapsuleImported": f"{_MUTATION} capsule source encoding mode front files warnings",
    "CapsuleBorn": f"{_MUTATION} capsule source front strategy",
    "CapsuleVersioned": f"{_MUTATION} capsule version genes cause summary stamped delta",
    "CapsuleReverted": f"{_MUTATION} capsule to_version reason front genes files",
    "CapsuleDescribed": f"{_MUTATION} capsule edits",
    "FileChanged": f"{_MUTATION} capsule path entry",
    "HandEditAdopted": f"{_MUTATION} capsule base_version files dropped_claims",
    "CapsuleMoved": "type capsule source previous",
    "AliasMoved": "type capsule alias version previous reason",
    "VersionRetired": "type capsule version reason",
    "VersionScored": "type capsule version score audit cause",
    "CapsuleRetired": f"{_MUTATION} capsule reason",
    "CandidateProposed": (
        "type candidate capsule base_version strategy preset proposer fingerprint edits claims triggers reason"
        " evaluator removes files born inert skill"
    ),
    "ComparisonFrozen": (
        "type candidate capsule base_version comparison evaluator agent sealed_tasks audit_tasks seed"
    ),
    "CandidateScored": (
        "type candidate capsule base_version before after delta effect audit_before audit_after audit_delta"
        " audit_effect outcome_effect censoring sent heuristic rollouts attributions"
    ),
    "CandidateReviewed": "type candidate capsule decision reason",
    "PromotionReviewed": "type candidate capsule version decision reason",
    "CandidatePromoted": "type candidate capsule version reasons preset",
    "CandidateRejected": "type candidate capsule reasons preset",
    "CandidateHeld": "type candidate capsule reasons preset",
    "SignalRaised": "type fingerprint kind calls_for template action count episodes runs severity evidence",
}
"""The events that are read plainly, with their fields: all that skills, candidates and signals are folded from."""

PARTS: Final[dict[str, str]] = {
    "Score": "value n low high kind endpoint evaluator split coverage measured_at",
    "Unmeasured": "reason",
    "Delta": "value low high tasks",
    "Effect": "risk_difference low high obeyed disobeyed tasks p e_value endpoint scope",
    "Censoring": "obeyed disobeyed",
    "Attribution": "edit delta passenger",
    "AfterError": "kind template do avoid",
    "After": "kind action k failing identical avoid",
    "Before": "kind action do",
    "StartWith": "kind do",
    "FinishWith": "kind do",
    "Output": "kind pattern",
    "PluginClaim": "kind name terms",
    "Trigger": "fingerprint kind template action",
    "Edit": "op gene target text",
    "Pin": "gene version",
    "FileEntry": "path blob mode size_bytes",
    "FileEdit": "path entry",
    "NewGene": "gene title lines after_gene derived_from keeper claimed",
    "NewSkill": "source front sections",
    "NewSection": "title lines claims claimed",
    "KeptLine": "id text origin version",
    "KeptGene": "gene version title lines claims triggers",
    "KeptClaim": "claim origin line",
}
"""What stands in them. The figures of runs do not: a candidate that an agent was run for is read by its class."""

_KNOWN: Final = frozenset(tuple(fields.split()) for fields in (*EVENTS.values(), *PARTS.values()))


class OtherShapeError(ValueError):
    """What was read has other fields than those that are written now."""


class Plain:
    """A recorded shape as its fields: those of the class, lists as tuples; equal by value, never changed."""

    __slots__ = ("__dict__",)

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse, as a frozen value does."""
        raise AttributeError(f"{name} of what was recorded cannot change")

    def __eq__(self, other: object) -> bool:
        """Compare by value."""
        return self.__dict__ == other.__dict__ if isinstance(other, Plain) else NotImplemented

    def __hash__(self) -> int:
        """Hash by value."""
        return hash(tuple(self.__dict__.items()))

    def model_dump(self, *, mode: Literal["json"]) -> dict[str, Any]:
        """Give the fields as JSON has them, as pydantic does."""
        del mode  # the only one that readers ask for
        return {name: _dumped(value) for name, value in self.__dict__.items()}

    def model_copy(self, *, update: Mapping[str, object]) -> Plain:
        """Copy it with some fields changed."""
        return Plain({**self.__dict__, **update})


def _dumped(value: object) -> object:
    if isinstance(value, tuple):
        return [_dumped(one) for one in value]
    return value.model_dump(mode="json") if isinstance(value, Plain) else value


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Read a value of JSON plainly; raises OtherShapeError for an object that has not the fields written now."""
    kind = type(value)
    if kind is dict:
        if tuple(value) not in _KNOWN:
            raise OtherShapeError(" ".join(value))
        return Plain({name: plain(one) for name, one in value.items()})
    return tuple([plain(one) for one in value]) if kind is list else value


def _plain_again(value: Any) -> Any:  # noqa: ANN401 - the same
    """Read plainly what a class has just written: its fields are those of now, listed here or not."""
    if isinstance(value, dict):
        return Plain({name: _plain_again(one) for name, one in value.items()})
    return tuple([_plain_again(one) for one in value]) if isinstance(value, list) else value


class PlainEnvelope(Envelope):
    """A stored event that is read plainly, once: every line that came with it asks it anew."""

    @cached_property
    def event(self) -> Frozen:
        """Read the payload; raises CorruptLogError where it is no event. Of types not in EVENTS, by the class."""
        if self.type not in EVENTS:
            return super().event
        if self.schema == schema_of(self.type) and holds(self):
            try:
                return cast("Frozen", plain(json.loads(self.payload)))
            except OtherShapeError:
                pass  # written before one of its fields was, or with a part that is not listed
        return cast("Frozen", _plain_again(json.loads(encode(super().event))))


class PlainLog:
    """A log as readers see it whose events are read plainly; all else is that log's own."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the log has under that name
        """Hand everything else on."""
        return getattr(self._log, name)

    def read(self, **asked: Any) -> Iterator[Envelope]:  # noqa: ANN401 - what EventLog.read takes
        """Yield events as EventLog.read does."""
        return map(_plainly, self._log.read(**asked))

    def at(self, positions: Sequence[int]) -> list[Envelope]:
        """Return events as EventLog.at does."""
        return [_plainly(envelope) for envelope in self._log.at(positions)]

    def origins(self, positions: Sequence[int]) -> list[Envelope]:
        """Return events as EventLog.origins does, whole: the hash tells whether one can be read plainly."""
        return self.at(positions)


def _plainly(envelope: Envelope) -> Envelope:
    return tuple.__new__(PlainEnvelope, envelope)


def plainly(log: EventLog) -> EventLog:
    """Give a log, for reading alone, whose events are read plainly."""
    return cast("EventLog", PlainLog(log))


def is_plain(log: EventLog) -> bool:
    """Tell whether the events of a log are read plainly."""
    return isinstance(log, PlainLog)
