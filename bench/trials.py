"""How often trials prove a gain, and nothing: the shipped evidence beside other ways to look at the same coins.

    python bench/trials.py [--trials N] [--budget N]

Rows are worlds: a base rate, a gain, and how the line is switched. Columns are shares of trials in which the line
is proven: by the shipped e-process with its stops (futility, harm), by one z-test at the budget (the most that can
be had at that error), by five looks with the bounds of O'Brien and Fleming, and by a mixture of constant bets,
which grows fastest without a deadline; then the sessions until the shipped one ends, how often it finds harm, and
how often either end of its interval is passed by the truth.
"""

from __future__ import annotations

import argparse
import sys
from math import sqrt
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from strategies.trials.analysis import FUTILE, SUSPECT, Expected, TrialSession
from strategies.trials.e_process import (
    HARM,
    PROOF,
    Coin,
    chance_of_proof,
    harm,
    interval,
    proof,
    stakes,
)

GAIN: Final = 0.1
LOOKS: Final = 5
OBRIEN_FLEMING: Final = 1.71
"""The bound of the last of five looks at one-sided .05, the k-th is sqrt(5 / k) times as high (Jennison & Turnbull
2000, table 2.3)."""
LAMBDAS: Final = tuple(0.04 * at for at in range(1, 16))
TASKS: Final = 40
EVERY: Final = 3
"""Of so many trials one interval is looked at: it takes longer than all else."""


class World(NamedTuple):
    """How sessions come: `block` of them in a row have the same arm, 1 where each tosses its own coin.

    `spread` is how far tasks, which come again, differ in difficulty; `drift` how far days do; `other` what a
    second line on trial adds, switched by a coin of its own.
    """

    base: float
    gain: float
    block: int = 1
    spread: float = 0.0
    drift: float = 0.0
    other: float = 0.0

    @property
    def name(self) -> str:
        """Say what it is."""
        how = f"blocks of {self.block}" if self.block > 1 else "sessions"
        more = f", tasks ±{self.spread:g}" * bool(self.spread) + f", days ±{self.drift:g}" * bool(self.drift)
        return f"base {self.base:g} {self.gain:+.2f}, {how}{more}{', second line' * bool(self.other)}"


def coins_of(world: World, budget: int, draws: Random) -> tuple[list[Coin], float]:
    """Play sessions until the budget is used up; gives the coins, and the variance that history would tell."""
    rates = [min(0.98, max(0.02, world.base + draws.uniform(-world.spread, world.spread))) for _ in range(TASKS)]
    expected, coins, sessions, left = Expected(world.base), [], 0, []

    def play(*, given: bool, day: float) -> tuple[TrialSession, float]:
        task = draws.randrange(TASKS)
        other = world.other * (draws.random() < 0.5)
        rate = rates[task] + day + other + world.gain * given
        value = float(draws.random() < rate)
        session = TrialSession(0.0, 0.0, value, ("", ""), str(task))
        return session, value - expected.of(session)

    for at in range(400):  # history
        session, residual = play(given=False, day=0.0)
        expected.add([session])
        left += [residual**2] if at >= 100 else []
    while sessions < budget:
        given = draws.random() < 0.5
        day = draws.uniform(-world.drift, world.drift)
        if world.block == 1:
            session, residual = play(given=given, day=day)
            coins.append(Coin(residual, given, 0.5, float(given), 1))
            expected.add([session])
            sessions += 1
            continue
        first, second = ([play(given=had, day=day) for _ in range(world.block)] for had in (given, not given))
        weight = world.block / 2
        value = weight * (fmean(residual for _, residual in first) - fmean(residual for _, residual in second))
        coins.append(Coin(value, given, 0.5, weight if given else -weight, 2 * world.block))
        expected.add(session for session, _ in (*first, *second))
        sessions += 2 * world.block
    return coins, fmean(left)


def z_of(coins: list[Coin]) -> float:
    """Give the sum of what coins say, over its spread were there no difference."""
    gains = [coin.value if coin.given else -coin.value for coin in coins]
    return sum(gains) / sqrt(sum(gain * gain for gain in gains) or 1.0)


def grows_fastest(coins: list[Coin]) -> bool:
    """Tell whether a mixture of constant bets reaches what proves."""
    wealth = [1.0] * len(LAMBDAS)
    for coin in coins:
        gain = (coin.value if coin.given else -coin.value) * 2
        wealth = [w * max(1 + by * gain, 0.05) for w, by in zip(wealth, LAMBDAS, strict=True)]
        if fmean(wealth) >= PROOF:
            return True
    return False


def ended(coins: list[Coin], budget: int, variance: float, *, paired: bool) -> tuple[str, list[Coin]]:
    """Look every twentieth of the budget, and stop as a trial does; gives the decision and the coins by then."""
    terms = stakes(budget, variance, paired=paired)
    step = max(1, len(coins) // 20)
    for upto in range(step, len(coins) + step, step):
        seen = coins[:upto]
        lost = harm(seen, terms)
        if proof(seen, terms) >= PROOF:
            return "proven", seen
        if lost >= HARM:
            return "harmful", seen
        if chance_of_proof(seen, terms, GAIN) < FUTILE and lost < SUSPECT:
            return "futile", seen
    return "undecided", coins


def row(world: World, trials: int, budget: int) -> str:
    """Play a world so many times, and write its row."""
    draws = Random(f"{world}{budget}")
    ends, passed, single, looked, fast = [], [], 0, 0, 0
    for _ in range(trials):
        coins, variance = coins_of(world, budget, draws)
        decision, seen = ended(coins, budget, variance, paired=world.block > 1)
        ends.append((decision, sum(coin.sessions for coin in seen)))
        if len(ends) % EVERY == 0:
            low, high = interval(seen, stakes(budget, variance, paired=world.block > 1))
            passed.append(not low <= world.gain <= high)
        single += z_of(coins) > 1.645
        looked += any(
            z_of(coins[: len(coins) * at // LOOKS]) > OBRIEN_FLEMING * sqrt(LOOKS / at)
            for at in range(1, LOOKS + 1)
        )
        fast += grows_fastest(coins)
    proven, harmed = (sum(end[0] == kind for end in ends) / trials for kind in ("proven", "harmful"))
    figures = (proven, single / trials, looked / trials, fast / trials)
    shown = "".join(f"{figure:>9.2f}" for figure in figures)
    return f"{world.name:<44}{shown}{fmean(end[1] for end in ends):>10.0f}{harmed:>8.2f}{fmean(passed):>8.2f}"


def worlds() -> list[World]:
    """List the worlds, null ones beside those with a gain."""
    listed = [World(base, gain) for base in (0.3, 0.5, 0.7, 0.85) for gain in (0.0, GAIN)]
    listed += [World(0.5, 0.2), World(0.5, -0.2)]
    listed += [World(0.5, gain, spread=0.48) for gain in (0.0, GAIN)]
    listed += [World(0.5, gain, block=block, drift=0.2) for block in (3, 10) for gain in (0.0, GAIN, 0.2)]
    listed += [World(0.3, 0.0, other=0.4), World(0.5, 0.0, block=3, drift=0.3)]
    return listed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=30, help="trials of each world")
    parser.add_argument("--budget", type=int, default=400, help="sessions of each trial")
    options = parser.parse_args()
    heads = "".join(f"{head:>9}" for head in ("shipped", "z at end", "5 looks", "mixture"))
    sys.stdout.write(f"{'world':<44}{heads}{'sessions':>10}{'harm':>8}{'passed':>8}\n")
    for world in worlds():
        sys.stdout.write(row(world, options.trials, options.budget) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
