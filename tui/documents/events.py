"""Events in documents: what a command appends, a line of history, an exported event."""

import json
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from events.types.score import Score
from registry.query.event_summaries import summary
from tui.documents.document import Document, Part
from tui.documents.scores import score_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.store.envelope import Envelope


class EventRow(Part):
    """An event that was appended, or would be; what is only known once it is appended is left out."""

    type: str
    stream: str
    actor: str
    summary: str
    payload: dict[str, JsonValue]

    @classmethod
    def of(cls, envelope: "Envelope") -> "EventRow":
        """Read it from the stored event."""
        return cls(
            type=envelope.type,
            stream=envelope.stream,
            actor=envelope.actor,
            summary=summary(envelope),
            payload=json.loads(envelope.payload),
        )


class HeadRow(Part):
    """The newest event of a log."""

    position: int
    hash: str


def event_rows(envelopes: "Iterable[Envelope]") -> tuple[EventRow, ...]:
    """Describe events, payload included."""
    return tuple(map(EventRow.of, envelopes))


class LogDocument(Document):
    """Show the history, of all or of one skill, newest first."""

    schema_: Literal["germline/log/1"] = "germline/log/1"
    position: int
    type: str
    stream: str
    at: str
    actor: str
    version: int
    skill: str | None
    skill_version: int | None
    before: Score | None
    after: Score | None
    summary: str
    hash: str

    @classmethod
    def of(cls, envelope: "Envelope") -> "LogDocument":
        """Read it from the stored event."""
        event = envelope.event if envelope.is_known else None
        is_version = envelope.type in {"CapsuleVersioned", "CandidatePromoted"}
        return cls.described(
            envelope,
            skill=getattr(event, "capsule", None),
            skill_version=getattr(event, "version", None) if is_version else None,
            before=score_of(getattr(event, "before", None)),
            after=score_of(getattr(event, "after", None)),
            summary=summary(envelope),
        )


class ExportedEventDocument(Document):
    """One event of the log, one a line."""

    schema_: Literal["germline/export-event/1"] = "germline/export-event/1"
    position: int
    event_id: str
    stream: str
    version: int
    type: str
    at: str
    actor: str
    causation: str
    correlation: str
    previous_hash: str
    hash: str
    event_schema: int
    payload: dict[str, JsonValue]

    @classmethod
    def of(cls, envelope: "Envelope") -> "ExportedEventDocument":
        """Read it from the stored event."""
        fields = envelope._asdict()
        return cls(event_schema=fields.pop("schema"), payload=json.loads(fields.pop("payload")), **fields)


class ExportEventsDocument(Document):
    """Write the log as JSON lines, oldest first, with hashes and payloads."""

    schema_: Literal["germline/export-events/1"] = "germline/export-events/1"
    dry_run: bool
    file: str
    skill: str | None
    events: int
    head: str
