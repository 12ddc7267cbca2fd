"""Which outcomes count: what the world said, and only where it said nothing, what signals suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.logs.episode import EpisodeRecord


class Judged(NamedTuple):
    """Episodes that can be judged, and whether their outcomes are only guessed from signals."""

    records: tuple[EpisodeRecord, ...]
    heuristic: bool


def outcome_of(record: EpisodeRecord) -> float:
    """Give the outcome of an episode that has one."""
    if record.outcome is None:
        raise ValueError(f"episode {record.id} has no outcome")
    return record.outcome.value


def judged(records: Sequence[EpisodeRecord]) -> Judged:
    """Keep the episodes whose outcome the world gave; where there is none at all, the heuristic ones.

    Heuristic outcomes are made of the same signals that claims are mined from, so they never promote; they
    are measured where nothing better exists, for a person to look at.
    """
    with_outcome = tuple(r for r in records if r.outcome is not None)
    firm = tuple(r for r in with_outcome if r.outcome is not None and r.outcome.source != "heuristic")
    return Judged(firm, heuristic=False) if firm else Judged(with_outcome, heuristic=bool(with_outcome))
