"""A person's word on sessions: which of them may be training data, and which may not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from events.types.judge_events import SessionsReviewed
from registry.decide.commands import RecordFact
from strategies.pool.known_episodes import with_longer_readings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from events.store.protocol import Receipt
    from registry.query.library import Library
    from registry.registry import Registry


def session_decisions(library: Library) -> dict[str, Literal["approve", "reject"]]:
    """Give the last word of a person on each session, by its id.

    A longer reading of one that was rejected is rejected; of one that was approved nobody has read the rest.
    """
    decided: dict[str, Literal["approve", "reject"]] = {}
    for envelope in library.log.read(types=("SessionsReviewed",)):
        event = envelope.event
        if isinstance(event, SessionsReviewed):
            named = json.loads(library.log.get_blob(event.listing) or b"[]")
            known = with_longer_readings(library, named) if event.decision == "reject" else named
            decided |= dict.fromkeys(known, event.decision)
    return decided


def review_sessions(
    registry: Registry, sessions: Iterable[str], decision: Literal["approve", "reject"], reason: str
) -> Receipt:
    """Write down a person's word on sessions, named by their ids."""
    names = sorted(set(sessions))
    with registry.log.transaction():
        listing = registry.log.put_blob(json.dumps(names, separators=(",", ":")).encode(), kind="review")
        event = SessionsReviewed(decision=decision, sessions=len(names), listing=listing, reason=reason)
        return registry.execute(RecordFact((event,)))
