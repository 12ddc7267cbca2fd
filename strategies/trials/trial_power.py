"""What a trial could find, before it begins: played through on the sessions that the registry has."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.trials.analysis import residuals
from strategies.trials.e_process import PROOF, Coin, proof, stakes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from strategies.trials.analysis import TrialSession

PLAYED: Final = 100
"""How often a trial is played through: the power is then known within .1."""
LEAST_HISTORY: Final = 20
"""Sessions with an outcome from which something can be said of those to come (a guess)."""
_WEEK_S: Final = 7 * 86_400
_LEAST_SPREAD: Final = 0.01
"""Variance that is expected of outcomes where all that were seen were alike."""
_MOST_PASSES: Final = 400
"""How often the times of the known sessions come again, at most, before a budget is out of reach."""


class History(NamedTuple):
    """What is known of sessions before a trial: mean outcome, variance around what was expected, and pace."""

    sessions: tuple[TrialSession, ...]
    base_rate: float
    spread: float
    a_week: float


class Power(NamedTuple):
    """How often a gain would be proven, and a loss as large stopped; the weeks until the budget is used up.

    `crossing` is the share of sessions that would cross the border of a block, and count for neither.
    """

    proven: float
    weeks: float
    crossing: float


def history_of(sessions: Sequence[TrialSession]) -> History:
    """Sum up sessions with an outcome."""
    ended = tuple(sorted(session for session in sessions if session.value is not None))
    base_rate = fmean(session.value or 0.0 for session in ended) if ended else 0.5
    left = residuals(ended, base_rate)
    spread = fmean(residual**2 for residual in left) if left else base_rate * (1 - base_rate)
    weeks = max((ended[-1].began_s - ended[0].began_s) / _WEEK_S, 1 / 7) if ended else 1.0
    return History(ended, base_rate, max(spread, _LEAST_SPREAD), len(ended) / weeks)


def power_of(history: History, *, block_s: int, budget: int, gain: float, draws: Random) -> Power:
    """Play a trial through, with sessions as they were before and a gain added to those that are given the line.

    With blocks (block_s > 0) sessions come at the times they came before, in their clusters.
    """
    left = residuals(history.sessions, history.base_rate)
    pairs = _sessions_in_pairs(history, block_s, budget) if block_s else []
    terms = stakes(budget, history.spread, paired=bool(block_s))
    proven = 0
    for _ in range(PLAYED):
        coins = (
            [_played_pair(counts, left, history, gain, draws) for counts in pairs]
            if block_s
            else [_played_session(left, history, gain, draws) for _ in range(budget)]
        )
        proven += proof(coins, terms) >= PROOF
    return Power(proven / PLAYED, budget / history.a_week, _crossing(history, block_s) if block_s else 0.0)


def _crossing(history: History, block_s: int) -> float:
    """Give the share of sessions that would cross a border, wherever the borders fall."""
    return fmean(min(1.0, (session.ended_s - session.began_s) / block_s) for session in history.sessions)


def _sessions_in_pairs(history: History, block_s: int, budget: int) -> list[tuple[int, int]]:
    """Count the sessions in the two blocks of pairs, as they would have come, until the budget is used up."""
    first_s = history.sessions[0].began_s
    span = int((history.sessions[-1].began_s - first_s) // (2 * block_s)) + 1
    counts = [[0, 0] for _ in range(span)]
    for session in history.sessions:
        block = int((session.began_s - first_s) // block_s)
        if int((session.ended_s - first_s) // block_s) == block:
            counts[block // 2][block % 2] += 1
    whole = [(first, second) for first, second in counts if first and second]
    pairs: list[tuple[int, int]] = []
    for at in range(_MOST_PASSES * len(whole)):
        if sum(map(sum, pairs)) >= budget:
            break
        pairs.append(whole[at % len(whole)])
    return pairs


def _played_session(left: Sequence[float], history: History, gain: float, draws: Random) -> Coin:
    given = draws.random() < 0.5  # noqa: PLR2004 - a fair coin
    return Coin(_value(left, history, gain if given else 0.0, draws), given, 0.5, float(given), 1)


def _played_pair(
    counts: tuple[int, int], left: Sequence[float], history: History, gain: float, draws: Random
) -> Coin:
    given = draws.random() < 0.5  # noqa: PLR2004 - a fair coin
    first, second = (
        fmean(_value(left, history, gain if has else 0.0, draws) for _ in range(count))
        for count, has in zip(counts, (given, not given), strict=True)
    )
    weight = counts[0] * counts[1] / sum(counts)
    return Coin(weight * (first - second), given, 0.5, weight if given else -weight, sum(counts))


def _value(left: Sequence[float], history: History, gain: float, draws: Random) -> float:
    """Draw what a session comes to less what was expected; a gain lets some that failed succeed."""
    at = int(draws.random() * len(left))
    outcome = history.sessions[at].value or 0.0
    room = 1 - history.base_rate
    return left[at] + ((1 - outcome) if gain and draws.random() < gain / max(room, gain) else 0.0)
