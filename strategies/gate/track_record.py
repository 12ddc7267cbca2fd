"""What versions of a skill came to: in episodes under each, and how far each is above others on the same runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Final

from events.types.runs import Advantage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


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
    if not every:
        return TrackRecord(0, 0, None, 0, 0)
    from strategies.gate.replay.exposure import first_moment  # noqa: PLC0415 - many versions ran in no episode
    from strategies.signals.survey import truth  # noqa: PLC0415 - the same

    outcomes = [value for record in every if (value := truth(record)) is not None]
    moments = [first[1] for record in every if (first := first_moment(claims, record))]
    return TrackRecord(
        episodes=len(every),
        ended=len(outcomes),
        mean=fmean(outcomes) if outcomes else None,
        exposed=len(moments),
        obeyed=sum(moment.obeyed for moment in moments),
    )


ALIKE: Final = 1e-9
"""A spread below this is rounding: outcomes are means of a few grades."""


def advantages(groups: Iterable[Mapping[str, float | None]]) -> tuple[Advantage, ...]:
    """Compute each version's mean advantage over the groups that it took part in, best first.

    Shapes: a group holds the outcomes of one task in one round by version, None where a run is void.
    In a group where all did alike, or fewer than two ran, nobody has an advantage; the others count in standard
    deviations of their group, so that a hard task weighs no less than an easy one.
    Source: group-relative advantages, Shao et al. 2024 (GRPO).
    """
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for group in groups:
        ran = {version: value for version, value in group.items() if value is not None}
        for version, value in standardised(ran).items():
            sums[version] = sums.get(version, 0.0) + value
            counts[version] = counts.get(version, 0) + 1
    by_version = [Advantage(version=name, value=sums[name] / counts[name], runs=counts[name]) for name in sums]
    return tuple(sorted(by_version, key=lambda row: (-row.value, row.version)))


def standardised(ran: Mapping[str, float]) -> dict[str, float]:
    """Give how far each of a group is above its mean, in standard deviations; nothing for a group of one."""
    if len(ran) < 2:  # noqa: PLR2004 - a group of one competes with nobody
        return {}
    mean = sum(ran.values()) / len(ran)
    spread = sqrt(sum((value - mean) ** 2 for value in ran.values()) / len(ran))
    return {version: (value - mean) / spread if spread > ALIKE else 0.0 for version, value in ran.items()}
