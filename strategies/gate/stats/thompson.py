"""Thompson sampling: which version to give an agent, drawn by the chance of being the best one.

Source: Thompson 1933; the discounting is that of Raj & Kalyani 2017, "Taming non-stationary bandits": every
episode makes all earlier ones count a little less, so that a world which changes is learned again.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from math import exp, log
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.policy.written_rules import WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

DISCOUNT: Final = 0.99
"""What is left of an episode's weight after each later one."""
KEPT_WEIGHT: Final = 0.5
"""What is left of it when a run configuration comes up that was never met before, another model (the same)."""
LEAST_CHANCE: Final = 0.01
"""The chance of being best under which a version is offered no longer (the same)."""
LEAST_EPISODES: Final = WRITTEN_RULE.least_arm
"""With fewer episodes a version is not retired, whatever the others do."""
_CELLS: Final = 4_096
"""Into how many cells [0, 1] is cut to integrate; the chances are then right to five digits (measured)."""


class EpisodeEnd(NamedTuple):
    """An episode that ended under a version, with its outcome in [0, 1] and its run configuration."""

    version: int
    outcome: float
    run: str


class Posterior(NamedTuple):
    """What is known of a version's chance to win: a Beta distribution over a flat prior.

    `won` and `lost` are weights, what time has left of episodes; `episodes` counts them, undiscounted.
    """

    won: float = 0.0
    lost: float = 0.0
    episodes: int = 0

    @property
    def mean(self) -> float:
        """The chance to win that is expected."""
        return (self.won + 1) / (self.won + self.lost + 2)


def posteriors(
    ended: Iterable[EpisodeEnd], versions: Iterable[int], *, discount: float = DISCOUNT
) -> dict[int, Posterior]:
    """Learn what is known of each version from episodes in time; those of other versions are passed over."""
    known = dict.fromkeys(versions, Posterior())
    runs: set[str] = set()
    for end in ended:
        if end.version not in known:
            continue
        weight = discount * (KEPT_WEIGHT if runs and end.run not in runs else 1.0)
        runs.add(end.run)
        known = {version: _faded(posterior, weight) for version, posterior in known.items()}
        won, lost, episodes = known[end.version]
        known[end.version] = Posterior(won + end.outcome, lost + 1 - end.outcome, episodes + 1)
    return known


def _faded(posterior: Posterior, weight: float) -> Posterior:
    return Posterior(posterior.won * weight, posterior.lost * weight, posterior.episodes)


def draw(known: Mapping[int, Posterior], draws: Random) -> int:
    """Draw a chance to win for each version, and give the version of the highest; there must be one."""
    drawn = {
        version: draws.betavariate(posterior.won + 1, posterior.lost + 1)
        for version, posterior in sorted(known.items())
    }
    return max(drawn, key=lambda version: (drawn[version], version))


def chances_of_being_best(known: Mapping[int, Posterior]) -> dict[int, float]:
    """Tell how likely each version is the one that wins most; they sum to 1. Exact but for the cells."""
    masses = {version: _mass(posterior) for version, posterior in known.items()}
    below = {version: _below(mass) for version, mass in masses.items()}
    chances = dict[int, float]()
    for version, mass in masses.items():
        best: Iterable[float] = mass
        for other in known:
            if other != version:
                best = map(mul, best, below[other])
        chances[version] = sum(best)
    whole = sum(chances.values())
    return {version: chance / whole for version, chance in chances.items()}


def _mass(posterior: Posterior) -> list[float]:
    """Cut a Beta distribution into cells."""
    won, lost = posterior.won, posterior.lost
    logs = [won * of_won + lost * of_lost for of_won, of_lost in _logs()]
    highest = max(logs)
    densities = [exp(value - highest) for value in logs]
    whole = sum(densities)
    return [density / whole for density in densities]


@cache
def _logs() -> list[tuple[float, float]]:
    """Give the logarithms of the chance to win, and to lose, in the middle of each cell."""
    middles = [(cell + 0.5) / _CELLS for cell in range(_CELLS)]
    return [(log(middle), log(1 - middle)) for middle in middles]


def _below(mass: Sequence[float]) -> list[float]:
    """Give the share below the middle of each cell."""
    return [upto - here / 2 for upto, here in zip(accumulate(mass), mass, strict=True)]


def dominated(known: Mapping[int, Posterior]) -> dict[int, float]:
    """Find the versions that are surely not the best, with their chance of it; never all of them."""
    return {
        version: chance
        for version, chance in chances_of_being_best(known).items()
        if chance < LEAST_CHANCE and known[version].episodes >= LEAST_EPISODES
    }
