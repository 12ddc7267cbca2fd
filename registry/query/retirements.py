"""Retirements that a person was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.capsule_events import RetirementProposed

if TYPE_CHECKING:
    from registry.query.library import Library


def open_proposal(library: Library, name: str) -> RetirementProposed | None:
    """Give the last event that asked whether to retire a skill, None where a person answered since, or none asked.

    A person answers by retiring it, by restoring it, and by another version.
    """
    types = ("RetirementProposed", "CapsuleRetired", "CapsuleRestored", "CapsuleVersioned")
    newest = library.log.read(stream=f"capsule:{name}", types=types, newest_first=True, limit=1)
    event = next((envelope.event for envelope in newest), None)
    return event if isinstance(event, RetirementProposed) else None
