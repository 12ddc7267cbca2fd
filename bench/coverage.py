"""How often the intervals that a verdict prints cover the truth, in worlds whose true effect is known.

Episodes meet two errors, each with an answer that adds a known share of success, whatever was there before: of
those who obey as many more succeed. Counted are the interval of the sealed effect, and that of like decisions,
which is what `why` shows. An interval of 95 % should cover in .93 to .97 of 200 worlds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.types.claims import AfterError
from strategies.gate.replay.confounders import confounding
from strategies.gate.replay.measure import effect_on
from strategies.gate.stats.mantel_haenszel import Z95
from tests.worlds import NO_TABLE, division_of
from tests.worlds.confounded import with_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

RULE: Final = AfterError(template=NO_TABLE, do="sql:SHOW")


@dataclass
class Covered:
    """How many worlds there were, and in how many each interval covered the true effect."""

    worlds: int = 0
    sealed: int = 0
    like_decisions: int = 0


def coverage(seeds: Iterable[int], *, episodes: int, lift: float, base: float) -> Covered:
    """Ask for both intervals in a world for every seed."""
    covered = Covered()
    for seed in seeds:
        sealed = division_of(with_rules(seed, episodes=episodes, lift=lift, base=base), str(seed)).sealed
        effect, cause = effect_on(RULE, sealed), confounding(RULE, sealed)
        if effect is None or not cause.decisions:
            continue
        covered.worlds += 1
        covered.sealed += effect.low <= lift <= effect.high
        covered.like_decisions += abs(cause.risk_difference - lift) <= Z95 * cause.error
    return covered


def main() -> None:
    """Print a row for every size and effect."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--episodes", type=int, nargs="*", default=[600, 2_400])
    parser.add_argument("--lifts", type=float, nargs="*", default=[0.0, 0.1, 0.3], help="what obeying adds")
    parser.add_argument("--base", type=float, default=0.2, help="how many succeed without")
    asked = parser.parse_args()
    print(f"{'episodes':>8}{'lift':>6}{'worlds':>8}{'sealed':>8}{'like decisions':>16}")
    for episodes in asked.episodes:
        for lift in asked.lifts:
            row = coverage(range(asked.seeds), episodes=episodes, lift=lift, base=asked.base)
            shares = row.sealed / row.worlds, row.like_decisions / row.worlds
            print(f"{episodes:>8,}{lift:>+6.2f}{row.worlds:>8}{shares[0]:>8.3f}{shares[1]:>16.3f}", flush=True)


if __name__ == "__main__":
    main()
