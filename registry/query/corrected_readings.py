"""Readings of hand-written lines that a person corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.query.versions import event_of

if TYPE_CHECKING:
    from events.types.claims import Claim
    from registry.query.library import Library


def corrected_readings(library: Library, capsule: str) -> dict[tuple[str, int], Claim | None]:
    """Give what a person says that lines of a capsule ask for, by section and line; the last word counts."""
    events = (event_of("ReadingCorrected", envelope) for envelope in library.log.read(types=("ReadingCorrected",)))
    return {(event.gene, event.line): event.claim for event in events if event.capsule == capsule}
