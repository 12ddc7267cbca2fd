"""Evidence by betting: a stake is laid on each coin of a trial, and what it has become is the evidence.

Where a line makes no difference to any session, what a session comes to is fixed before its coin falls, so that no
bet on the coin gains on average: wealth that began at 1 reaches 20 in at most 1 of 20 trials, whenever one looks
(Ville 1939; Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting"). That holds
whatever is staked. How much is decides the power alone: bets here aim at a goal by a deadline, the budget (Browne
1999, "Reaching goals by a deadline"), as a digital option would be hedged. That reaches the power of a single test
at the end, which bets for fastest growth miss by half, and still stops early (figures: docs/trials.md).
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.bisection import halved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PROOF: Final = 20.0
"""The evidence that proves: an error rate of .05 a trial."""
HARM: Final = 10.0
"""The evidence of the opposite that stops: an error here costs a good line, one there costs sessions."""
_GOAL: Final = 1.2
"""How far beyond what is needed bets aim, so that it is reached before the deadline (of .98 to 1.25 the best power
at 400 sessions, simulated; less than .02 between them)."""
_EARLY: Final = 0.375
"""The deadline, as a share of the budget, of half of the stake against harm: it takes a third fewer sessions to
stop a loss of .20 (simulated)."""
_KNOWN: Final = 20
"""Sessions' worth of the spread that was expected (a guess)."""
_LEAST: Final = 1e-9
_STEPS: Final = 12
"""Halvings in the search for the end of an interval: it is then right to .0005."""

_NORMAL: Final = NormalDist()


class Coin(NamedTuple):
    """A coin that fell, and what came after it.

    `value` is the outcome less what was expected: of the session, or of the first block less that of the second,
    by weight. `given` is the coin, `share` its chance to give. `lift` is what a line that adds 1 to an outcome
    added to `value`, as the coin fell.
    """

    value: float
    given: bool
    share: float
    lift: float
    sessions: int


class Stakes(NamedTuple):
    """What bets rest on: the budget in sessions, the spread of a coin's gain, and of its worth, per session."""

    budget: float
    spread: float
    worth: float


def stakes(budget: int, variance: float, *, paired: bool) -> Stakes:
    """Give what bets rest on from the variance of a session's outcome around what was expected of it."""
    return Stakes(budget, variance * (1 if paired else 4), 0.5 if paired else 1.0)


def proof(coins: Sequence[Coin], terms: Stakes, *, effect: float = 0.0) -> float:
    """Give the highest evidence against a difference of at most `effect`; it stays once it proves."""
    return max(_wealth(coins, terms, PROOF, effect, sign=1))


def harm(coins: Sequence[Coin], terms: Stakes) -> float:
    """Give the highest evidence against a difference of at least nothing."""
    return _soon(coins, terms, HARM, 0.0, sign=-1)


def interval(coins: Sequence[Coin], terms: Stakes) -> tuple[float, float]:
    """Give the differences that are not disproved: each end is passed by the truth in at most 1 of 20 trials.

    Half of the stake aims at an early deadline, else the ends would say nothing until the budget is near. Of a
    proven line the lower end is that of its proof.
    """
    low = _end(lambda effect: _soon(coins, terms, PROOF, effect, sign=1) >= PROOF, sign=1)
    high = _end(lambda effect: _soon(coins, terms, PROOF, effect, sign=-1) >= PROOF, sign=-1)
    if proof(coins, terms) >= PROOF:
        low = max(low, _end(lambda effect: proof(coins, terms, effect=effect) >= PROOF, sign=1))
    return low, high


def _soon(coins: Sequence[Coin], terms: Stakes, needed: float, effect: float, *, sign: int) -> float:
    early = terms._replace(budget=terms.budget * _EARLY)
    first, second = (_wealth(coins, by, 2 * needed, effect, sign=sign) for by in (early, terms))
    return max((early_wealth + wealth) / 2 for early_wealth, wealth in zip(first, second, strict=True))


def _end(is_disproved: Callable[[float], bool], *, sign: int) -> float:
    """Search for the last difference that is disproved, coming from below (1) or from above (-1)."""
    return halved(is_disproved, -1.0 * sign, 1.0 * sign, _STEPS)[0]


def chance_of_proof(coins: Sequence[Coin], terms: Stakes, gain: float) -> float:
    """Give the chance that a gain is proven within what is left of the budget; without coins the power."""
    return _chance(coins, terms, PROOF, gain, sign=1)


def chance_of_harm(coins: Sequence[Coin], terms: Stakes, loss: float) -> float:
    """Give the chance that a loss is shown within what is left of the budget."""
    return _chance(coins, terms, 2 * HARM, loss, sign=-1)


def _chance(coins: Sequence[Coin], terms: Stakes, needed: float, size: float, *, sign: int) -> float:
    *_, wealth = _wealth(coins, terms, needed, 0.0, sign=sign)
    if wealth >= needed:
        return 1.0
    left = terms.budget - sum(coin.sessions for coin in coins)
    if left <= 0:
        return 0.0
    drift = size * terms.worth * sqrt(left / _spread(coins, terms))
    return float(_NORMAL.cdf(_NORMAL.inv_cdf(_within(wealth / (_GOAL * needed))) + drift))


def _spread(coins: Sequence[Coin], terms: Stakes) -> float:
    """Estimate the spread per session from what was expected and the coins so far."""
    seen = sum(coin.value**2 / (coin.share * (1 - coin.share)) for coin in coins)
    return (_KNOWN * terms.spread + seen) / (_KNOWN + sum(coin.sessions for coin in coins))


def _wealth(coins: Sequence[Coin], terms: Stakes, needed: float, effect: float, *, sign: int) -> Iterator[float]:
    """Yield the wealth before the first coin and after each one; no more is staked once it is enough.

    With what is left of the way to the goal, and of the spread until the deadline, a normal random walk would
    reach the goal with a certain chance: bets are laid so that wealth follows that chance, whichever way the coin
    falls, and in the mean over both ways stays what it is.
    """
    wealth, sessions, seen = 1.0, 0, 0.0
    goal = _GOAL * needed
    yield wealth
    for coin in coins:
        value = sign * (coin.value - effect * coin.lift)
        left = terms.budget - sessions
        if _LEAST < wealth < needed and left > 0 and value:
            rest = max(left - coin.sessions, 0) * (_KNOWN * terms.spread + seen) / (_KNOWN + sessions)
            gain, loss = value / coin.share, -value / (1 - coin.share)
            way = _NORMAL.inv_cdf(_within(wealth / goal)) * sqrt(rest - gain * loss)
            scale = sqrt(rest) or _LEAST
            had, lacked = _NORMAL.cdf((way + gain) / scale), _NORMAL.cdf((way + loss) / scale)
            wealth *= _within(had if coin.given else lacked) / _within(
                coin.share * had + (1 - coin.share) * lacked
            )
        sessions += coin.sessions
        seen += value**2 / (coin.share * (1 - coin.share))
        yield wealth


def _within(share: float) -> float:
    return min(max(share, 1e-12), 1 - 1e-12)
