"""Mending: what damage took is told in the log, so that the registry is whole again without pretending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.registry_events import EvidenceErased
from registry.commands import Record
from registry.erasing import erasure_of

if TYPE_CHECKING:
    from registry.library import Library
    from registry.registry import Registry


def lost_evidence(library: Library) -> tuple[str, ...]:
    """Name the evidence that signals refer to, that is gone, and that no event erased."""
    named = dict.fromkeys(name for raised in library.signals() for name in raised.event.evidence)
    return tuple(
        name for name in named if library.log.get_blob(name) is None and erasure_of(library, name) is None
    )


def record_lost_evidence(registry: Registry, reason: str) -> tuple[str, ...]:
    """Say of evidence that damage took that it is gone, and why; returns its ids."""
    lost = lost_evidence(registry)
    if lost:
        registry.execute(Record(tuple(EvidenceErased(evidence=name, reason=reason) for name in lost)))
    return lost
