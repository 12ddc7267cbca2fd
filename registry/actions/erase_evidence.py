"""Erasing evidence: a person's text goes for good, the event that says so stays; so does what damage took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import UsageError
from events.store.protocol import Receipt
from events.types.registry_events import EvidenceErased
from registry.decide.commands import RecordFact
from registry.query.model_prompts import blobs_quoting
from registry.query.signals import erasures_of, kept_evidence, lost_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.registry import Registry


def erase(
    registry: Registry, names: Sequence[str], reason: str, records: Mapping[str, str] | None = None
) -> Receipt:
    """Erase evidence, text and salt, all of it or none; what was erased before is passed over.

    What quotes it goes with it: prompts to models and what came back, transcripts and finished runs.
    `records` names the record of a log that a piece keeps, by the id of the piece. `EventLog.scrub` then clears
    the files. Shapes: names are whole ids. Raises: UsageError without a reason.
    """
    if not reason.strip():
        raise UsageError("erasing needs a reason: it is all that will be left", hint="--reason TEXT")
    with registry.log.transaction():
        erased_before = erasures_of(registry, names)
        left = [name for name in names if name not in erased_before]
        quoted = blobs_quoting(registry, left, (record.text for record in kept_evidence(registry, left).values()))
        for name in (*left, *quoted):
            registry.log.erase_blob(name)
        if not left:
            return Receipt(())
        kept_of = (records or {}).get
        erased = (EvidenceErased(evidence=name, reason=reason, record=kept_of(name, "")) for name in left)
        return registry.execute(RecordFact(tuple(erased)))


def record_lost_evidence(registry: Registry, reason: str) -> tuple[str, ...]:
    """Say of evidence that damage took that it is gone, and why; returns its ids."""
    lost = lost_evidence(registry)
    if lost:
        registry.execute(RecordFact(tuple(EvidenceErased(evidence=name, reason=reason) for name in lost)))
    return lost
