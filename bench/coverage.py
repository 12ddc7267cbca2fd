"""How often the intervals that a verdict prints cover the truth, in worlds whose true effect is known.

Episodes meet two errors, each with an answer that adds a known share of success, whatever was there before: of
those who obey as many more succeed. Counted are the interval of the sealed effect, and that of like decisions,
which is what `why` shows. An interval of 95 % should cover in .93 to .97 of 200 worlds. With `--promoted` only
lines that the gate promotes count; beside the mean of what sealed logs show is that of audit, which chose nothing.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.types.claims import AfterError
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.confounders import confounding
from strategies.gate.replay.measure import effect_on
from strategies.gate.stats.mantel_haenszel import Z95
from tests.worlds import NO_TABLE, division_of, promoted
from tests.worlds.confounded import judgements, with_rules

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
        effect, cause = effect_on(RULE, sealed), confounding(ClaimedEpisodes(RULE, sealed))
        if effect is None or not cause.decisions:
            continue
        covered.worlds += 1
        covered.sealed += effect.low <= lift <= effect.high
        covered.like_decisions += abs(cause.risk_difference - lift) <= Z95 * cause.error
    return covered


@dataclass
class Promoted:
    """Of how many worlds the rule was promoted in how many; what both splits show of it then, summed up."""

    worlds: int = 0
    lines: int = 0
    covered: int = 0
    sealed: float = 0.0
    audit: float = 0.0


def of_promoted(seeds: Iterable[int], *, episodes: int, lift: float, base: float) -> Promoted:
    """Ask for the interval of the sealed effect where the gate promotes the rule, and for the effect on audit."""
    summed = Promoted()
    for seed in seeds:
        summed.worlds += 1
        records = with_rules(seed, episodes=episodes, lift=lift, base=base)
        for judgement in promoted(judgements(records, str(seed), errors_alone=True)):
            shown = judgement.evidence.sealed.effect
            audit = effect_on(RULE, division_of(records, str(seed)).audit)
            if judgement.claim == RULE and shown is not None and audit is not None:
                summed.lines += 1
                summed.covered += shown.low <= lift <= shown.high
                summed.sealed += shown.risk_difference
                summed.audit += audit.risk_difference
    return summed


def main() -> None:
    """Print a row for every size and effect."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--episodes", type=int, nargs="*", default=[600, 2_400])
    parser.add_argument("--lifts", type=float, nargs="*", default=[0.0, 0.1, 0.3], help="what obeying adds")
    parser.add_argument("--base", type=float, default=0.2, help="how many succeed without")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--promoted", action="store_true", help="only lines that the gate promotes")
    asked = parser.parse_args()
    columns = ("lines", "sealed", "mean sealed", "mean audit") if asked.promoted else ("sealed", "like decisions")
    print(f"{'episodes':>8}{'lift':>6}{'worlds':>8}" + "".join(f"{name:>16}" for name in columns))
    for episodes in asked.episodes:
        for lift in asked.lifts:
            seeds = range(asked.first, asked.first + asked.seeds)
            counted = _row(seeds, episodes=episodes, lift=lift, base=asked.base, promoted_alone=asked.promoted)
            print(f"{episodes:>8,}{lift:>+6.2f}" + counted, flush=True)


def _row(seeds: range, *, episodes: int, lift: float, base: float, promoted_alone: bool) -> str:
    """Write what was counted in the worlds of these seeds."""
    if not promoted_alone:
        row = coverage(seeds, episodes=episodes, lift=lift, base=base)
        return f"{row.worlds:>8}{row.sealed / row.worlds:>16.3f}{row.like_decisions / row.worlds:>16.3f}"
    of = of_promoted(seeds, episodes=episodes, lift=lift, base=base)
    shares = [total / max(of.lines, 1) for total in (of.covered, of.sealed, of.audit)]
    return f"{of.worlds:>8}{of.lines:>16}" + "".join(f"{share:>16.3f}" for share in shares)


if __name__ == "__main__":
    main()
