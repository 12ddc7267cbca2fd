"""Events to append in tests: small, distinct, with ids and times that are counted rather than drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.store.envelope import EventDraft
from events.types.gene_events import GeneReleased
from events.types.registry_events import PresetSwitched

if TYPE_CHECKING:
    from events.store.protocol import Receipt
    from events.store.sql_log import EventLog


class Pen:
    """Writes drafts; no two have the same id."""

    def __init__(self, name: str = "pen") -> None:
        self._name = name
        self._written = 0

    def draft(self, stream: str = "registry", text: str = "why not", *, at: str = "") -> EventDraft:
        """Write a `PresetSwitched`, or a `GeneReleased` where the stream is a gene's."""
        self._written += 1
        event = (
            GeneReleased(gene=stream, capsule="sql", reason=text)
            if stream.startswith("gene:")
            else PresetSwitched(preset=f"preset {self._written}", previous="balanced", reason=text)
        )
        moment = at or f"2026-11-21T08:{self._written // 60 % 60:02d}:{self._written % 60:02d}.000000Z"
        return EventDraft(stream, event, f"{self._name}-{self._written:06d}", moment, "germline", "", "turn-1")

    def drafts(self, count: int, stream: str = "registry") -> list[EventDraft]:
        """Write several drafts for one stream."""
        return [self.draft(stream) for _ in range(count)]


def put(log: EventLog, *drafts: EventDraft) -> Receipt:
    """Append drafts, expecting of every stream the version it has."""
    return log.append(drafts, expected=log.stream_versions(sorted({draft.stream for draft in drafts})))
