"""Undo and redo: which change comes next, and the command that takes it back; nothing is ever erased.

A compensating event names the one it takes back as its causation. So the stacks of an editor are a fold of the
log: a change puts itself on top, its undoing takes it away and can be redone, until something else is changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from events.types.capsule_events import AliasMoved, CapsuleVersioned
from events.types.registry_events import PresetSwitched
from registry.decide.commands import MoveAlias, RevertVersion, SwitchPreset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.store.envelope import Envelope
    from registry.query.library import Library

CHANGES: Final = ("CapsuleVersioned", "AliasMoved", "PresetSwitched")
"""The types of events that can be taken back."""

LOOKED_BACK: Final = 256
"""Changes that are looked at, of a skill or of all; older ones are taken back by `revert` (a guess)."""


@dataclass(frozen=True, slots=True)
class UndoableChanges:
    """The change that undo takes back next, and the undoing that redo takes back; None where there is none."""

    undo: Envelope | None = None
    redo: Envelope | None = None


def changes_of(library: Library, skill: str = "") -> UndoableChanges:
    """Tell what can be undone and redone: of one skill, or of the whole registry."""
    stream = f"capsule:{skill}" if skill else None
    newest = islice(library.log.read(stream=stream, types=CHANGES, newest_first=True), LOOKED_BACK)
    return last_changes(reversed(list(newest)))


def last_changes(envelopes: Iterable[Envelope]) -> UndoableChanges:
    """Fold changes, oldest first, into the one to undo and the one to redo."""
    done: list[Envelope] = []
    undone: list[Envelope] = []
    for envelope in envelopes:
        if not envelope.is_known or not _can_be_taken_back(envelope):
            continue
        if (taken_back := _named(done, envelope.causation)) is not None:
            done.remove(taken_back)
            undone.append(envelope)
            continue
        if (brought_back := _named(undone, envelope.causation)) is not None:
            undone.remove(brought_back)
        else:
            undone.clear()
        done.append(envelope)
    return UndoableChanges(done[-1] if done else None, undone[-1] if undone else None)


def _named(envelopes: Iterable[Envelope], event_id: str) -> Envelope | None:
    return next((envelope for envelope in envelopes if envelope.event_id == event_id), None)


def _can_be_taken_back(envelope: Envelope) -> bool:
    event = envelope.event
    return isinstance(event, AliasMoved | PresetSwitched) or (
        isinstance(event, CapsuleVersioned) and event.version > 1
    )


def compensation(envelope: Envelope, reason: str) -> RevertVersion | MoveAlias | SwitchPreset:
    """Return the command that takes a change back; its events must carry the change's id as their causation."""
    event = envelope.event
    if isinstance(event, CapsuleVersioned):
        return RevertVersion(event.capsule, event.version - 1, reason)
    if isinstance(event, AliasMoved):
        return MoveAlias(event.capsule, event.alias, event.previous, reason)
    if isinstance(event, PresetSwitched):
        return SwitchPreset(event.previous, reason)
    raise TypeError(envelope.type)  # `last_changes` names no other
