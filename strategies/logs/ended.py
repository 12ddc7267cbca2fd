"""An episode as if it had ended otherwise: how an endpoint of its own takes the place of the outcome."""

from __future__ import annotations

import msgspec

from strategies.logs.episode import EpisodeRecord, Outcome


def ended(record: EpisodeRecord, value: float) -> EpisodeRecord:
    """Give the record with this outcome; it keeps its id, and is never stored."""
    return msgspec.structs.replace(record, outcome=Outcome(value, "tests"))
