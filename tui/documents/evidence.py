"""Evidence in documents: pieces of logs that the registry keeps, and what was erased."""

from typing import TYPE_CHECKING, Any, Literal

from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.evidence.record import EvidenceRecord
    from registry.query.library import Raised
    from registry.query.provenance import KeptEvidence
    from registry.query.signals import ErasedEvidence
    from strategies.pool.evidence_context import EvidenceContext


class RedactionRow(Part):
    """A place where a rule removed text."""

    start: int
    end: int
    rule: str


class StepAround(Part):
    """A step around a person's words: how many steps from them, before below zero, and its place in the log."""

    offset: int
    about: str
    text: str
    line: int
    byte_start: int
    byte_end: int


class EvidenceRow(Part):
    """One log record that is kept; `still_there` says whether its bytes are still in their log.

    `around` are the two steps before a person's words and the three after them, where it keeps such.
    """

    id: str
    file: str
    line: int
    byte_start: int
    byte_end: int
    hmac: str
    text: str
    redactions: tuple[RedactionRow, ...]
    episode: str
    around: tuple[StepAround, ...] = ()
    still_there: bool


def evidence_rows(evidence: "Sequence[KeptEvidence]", there: "Sequence[bool]") -> tuple[EvidenceRow, ...]:
    """Describe pieces of evidence; `there` says of each whether its bytes are still in their log."""
    return tuple(
        EvidenceRow(id=kept.id, still_there=still, **_kept_fields(kept.evidence))
        for kept, still in zip(evidence, there, strict=True)
    )


def _kept_fields(kept: "EvidenceRecord") -> dict[str, Any]:
    fields = kept._asdict()
    del fields["salt"]
    return fields


class ErasedRow(Part):
    """A piece of evidence whose text was erased."""

    id: str
    at: str
    reason: str


def erased_rows(erased: "Iterable[ErasedEvidence]") -> tuple[ErasedRow, ...]:
    """Describe erased evidence."""
    return tuple(map(ErasedRow.model_validate, erased))


class Erasure(Part):
    """When and why a text was erased."""

    at: str
    reason: str


class EvidenceContextRow(Part):
    """What is around a record in its log: the request, the call, what came back, the person's next message."""

    asked: str
    action: str
    argument: str
    answer: str
    failed: bool
    replied: str


class EvidenceShowDocument(Document):
    """Show one piece of evidence: its text, its place, what it is for."""

    schema_: Literal["germline/evidence-show/1"] = "germline/evidence-show/1"
    id: str
    erased: Erasure | None
    file: Absent[str] = ABSENT
    line: Absent[int] = ABSENT
    byte_start: Absent[int] = ABSENT
    byte_end: Absent[int] = ABSENT
    hmac: Absent[str] = ABSENT
    text: Absent[str] = ABSENT
    redactions: Absent[tuple[RedactionRow, ...]] = ABSENT
    episode: Absent[str] = ABSENT
    around: Absent[tuple[StepAround, ...]] = ABSENT
    still_there: Absent[bool] = ABSENT
    lies_in: Absent[str | None] = ABSENT
    context: Absent[EvidenceContextRow] = ABSENT
    signals: tuple[str, ...]

    @classmethod
    def of(
        cls,
        name: str,
        *,
        erased: "ErasedEvidence | None",
        kept: "EvidenceRecord | None",
        lies_in: str,
        signals: "Iterable[Raised]",
        context: "EvidenceContext | None",
    ) -> "EvidenceShowDocument":
        """Describe a piece that is kept, or one that was erased; `lies_in` names the log that has it still."""
        fields = _kept_fields(kept) if kept else {}
        if kept:
            fields |= {"still_there": bool(lies_in), "lies_in": lies_in or None}
        if context:
            fields["context"] = EvidenceContextRow(**context._asdict())
        prints = tuple(raised.event.fingerprint for raised in signals)
        return cls(id=name, erased=erased, signals=prints, **fields)


class EvidenceEraseDocument(Document):
    """Erase texts for good, each with the key to its hash; the events stay."""

    schema_: Literal["germline/evidence-erase/1"] = "germline/evidence-erase/1"
    dry_run: Rehearsed = False
    erased: Absent[tuple[str, ...]] = ABSENT
    final: Absent[bool] = ABSENT
    events: tuple[EventRow, ...]
    still_in: Absent[tuple[str, ...]] = ABSENT
    templates: Absent[tuple[str, ...]] = ABSENT
    alike: Absent[tuple[str, ...]] = ABSENT
    quoting: Absent[int] = ABSENT
