"""Track records: what the episodes under one version of a skill came to, and whether they obeyed its claims."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from strategies.gate.exposure import first_moment
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.claims import Claim
    from strategies.logs.episode import EpisodeRecord


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """What became of the episodes that ran under a version.

    `ended` counts those with an outcome, `mean` is its mean, None without any. `exposed` counts the episodes that
    reached the moment of a claim, `obeyed` those that did there what it asks.
    """

    episodes: int
    ended: int
    mean: float | None
    exposed: int
    obeyed: int


def track_record(claims: Sequence[Claim], records: Iterable[EpisodeRecord]) -> TrackRecord:
    """Sum up the episodes under a version with these claims; each is judged by the claim that it reaches first."""
    every = list(records)
    outcomes = [value for record in every if (value := truth(record)) is not None]
    moments = [found[1] for record in every if (found := first_moment(claims, record))]
    return TrackRecord(
        episodes=len(every),
        ended=len(outcomes),
        mean=fmean(outcomes) if outcomes else None,
        exposed=len(moments),
        obeyed=sum(moment.obeyed for moment in moments),
    )
