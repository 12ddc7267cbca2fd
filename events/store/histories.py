"""Histories: the logs that clones went on with apart, found again among their events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError
from events.store.envelope import GENESIS, Envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_HISTORIES: Final = 100
"""Registries that one log may hold: each is read whole (a guess, ten times a large team)."""


def histories(events: Mapping[str, Envelope]) -> list[list[Envelope]]:
    """Follow the hashes from each last event back to the first one: whole histories, by the hash of their end.

    Shapes: events by their hash. Raises: CorruptLogError where one misses an event, or there are too many.
    """
    followed = {envelope.previous_hash for envelope in events.values()}
    ends = sorted(events.keys() - followed)
    if len(ends) > MOST_HISTORIES:
        raise CorruptLogError(f"{len(ends):,} histories in one log; at most {MOST_HISTORIES} are read")
    return [_history(events, events[end]) for end in ends]


def _history(events: Mapping[str, Envelope], last: Envelope) -> list[Envelope]:
    history = [last]
    while history[-1].previous_hash != GENESIS:
        event = history[-1]
        before = events.get(event.previous_hash)
        if before is None or before.position != event.position - 1:
            raise CorruptLogError(
                f"event {event.position - 1} of a history is missing, which event {event.position} "
                f"({event.hash[:12]}) follows",
                position=event.position - 1,
                hint="let who wrote it run again: germline export log",
            )
        history.append(before)
    history.reverse()
    if history[0].position != 1:
        raise CorruptLogError(f"a history begins with event {history[0].position}", position=history[0].position)
    return history
