"""The promise of a version: what it will project, hashed into the event that makes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from events.store.envelope import GENESIS, Envelope
from events.types.capsule_events import CapsuleVersioned
from registry.projection.fold import apply, changes_capsule
from registry.skill_md.render import projected_hash

if TYPE_CHECKING:
    from events.types.frozen import Frozen
    from registry.decide.dispatch import Decided
    from registry.state.capsule import Capsule

_BEHIND_ALL: Final = 2**62
"""A position that no log reaches."""


def with_projected_hash(decided: list[Decided], capsule: Capsule | None) -> list[Decided]:
    """Return the events of a command on one capsule, each that makes a version with the hash of what it projects.

    Shapes: capsule is the one that was decided on, None where the events bring it.
    Raises: SkillFormatError where the front matter has no place for the stamp.
    """
    if not any(isinstance(item.event, CapsuleVersioned) for item in decided):
        return decided
    promised = []
    for at, item in enumerate(decided):
        event = item.event
        if changes_capsule(type(event).__name__):
            capsule = apply(capsule, event, _unplaced(event, at))
        if isinstance(event, CapsuleVersioned) and capsule is not None:
            event = event.model_copy(update={"projected_hash": projected_hash(capsule)})
        promised.append(replace(item, event=event))
    return promised


def _unplaced(event: Frozen, at: int) -> Envelope:
    """Give an event that has no place yet one behind all others: what is projected does not depend on it."""
    return Envelope(_BEHIND_ALL + at, "", "", 0, type(event).__name__, 0, "", "", "", "", GENESIS, "", b"")
