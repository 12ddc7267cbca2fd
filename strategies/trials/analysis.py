"""What a trial shows: sessions as the coins that they were given by, and the decision that follows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.trial_events import CountedUnit, TrialArm, TrialFigures
from strategies.gate.stats.thompson import EpisodeEnd, chances_of_being_best, posteriors
from strategies.trials.e_process import (
    HARM,
    PROOF,
    Coin,
    chance_of_harm,
    chance_of_proof,
    harm,
    interval,
    proof,
    stakes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.trial_events import TrialDecision, TrialStarted
    from registry.state.trial import SkillTrial
    from strategies.trials.e_process import Stakes

FUTILE: Final = 0.1
"""The chance of proof under which a trial ends: it would most likely be for nothing."""
SUSPECT: Final = 2.0
"""Evidence of harm with which a trial goes on though it will prove nothing: harm is worth knowing."""
_LABELS_COME_S: Final = 7 * 86_400
"""How long a pair of blocks waits for the labels of its last sessions (a guess: reviews and merges take days)."""
_PRIOR: Final = (10.0, 10.0, 4.0)
"""Sessions' worth of what is expected in general, of a run and difficulty, and of a task, before one is seen."""
_LEAST_SHARE: Final = 0.1
"""No arm gets less, else its outcomes would weigh too much in what is learned (a guess)."""
_GIVEN, _DENIED = 1, 0


class TrialSession(NamedTuple):
    """A session as far as a trial looks at it: when it was, in seconds since 1970, and what it came to.

    `value` is in [0, 1], more is better; None where that is not known, or not yet. `unit` is what it was assigned
    by where sessions are.
    """

    began_s: float
    ended_s: float
    value: float | None
    stratum: tuple[str, str]
    task: str
    unit: str = ""


@dataclass
class Expected:
    """What a session is expected to come to by those before: in general, in a run and difficulty, at a task."""

    base_rate: float
    _seen: dict[object, tuple[float, int]] = field(default_factory=lambda: defaultdict(lambda: (0.0, 0)))

    def of(self, session: TrialSession) -> float:
        """Give the mean of what is like it, each shrunk towards the mean of more."""
        mean = self.base_rate
        for key, prior in zip(("", session.stratum, (session.stratum, session.task)), _PRIOR, strict=True):
            total, count = self._seen[key]
            mean = (mean * prior + total) / (prior + count)
        return mean

    def add(self, sessions: Iterable[TrialSession]) -> None:
        """Learn from sessions that are over."""
        for session in sessions:
            for key in ("", session.stratum, (session.stratum, session.task)):
                total, count = self._seen[key]
                self._seen[key] = total + (session.value or 0.0), count + 1


def residuals(history: Sequence[TrialSession], base_rate: float) -> list[float]:
    """Give what each session came to less what was expected of it by those before it, in time."""
    expected, left = Expected(base_rate), []
    for session in sorted(history, key=_in_time):
        if session.value is not None:
            left.append(session.value - expected.of(session))
            expected.add([session])
    return left


def _in_time(session: TrialSession) -> tuple[float, float, str, str]:
    """Order sessions by time; of two at the very same time neither needs a value."""
    return session.began_s, session.ended_s, session.unit, session.task


def newly_counted(
    trial: SkillTrial, sessions: Sequence[TrialSession], history: Sequence[TrialSession], now_s: float
) -> tuple[CountedUnit, ...]:
    """List the units that enter the figures now: sessions that are over, or pairs of blocks.

    A pair waits until a session began a block after its end: a clock that jumped ahead, or logs that are read
    late, would leave its last sessions out for ever. It waits for labels, and both its blocks need a session.
    `history` are the sessions before the trial. What was counted is never counted again, and never otherwise.
    """
    known = {unit.unit for unit in trial.counted}
    expected = Expected(trial.started.base_rate)
    expected.add(session for session in history if session.value is not None)
    counted = []
    for unit, parts in _units(trial, sessions, now_s):
        whole = [session for part in parts for session in part]
        if unit not in known:
            given, shares = _assigned(trial, unit)
            counted.append(
                CountedUnit(
                    unit=unit,
                    given=given,
                    shares=shares,
                    sessions=tuple(map(len, parts)),
                    outcomes=tuple(fmean(session.value or 0.0 for session in part) for part in parts),
                    expected=tuple(fmean(map(expected.of, part)) for part in parts),
                )
            )
        expected.add(whole)
    return tuple(counted)


def _units(
    trial: SkillTrial, sessions: Sequence[TrialSession], now_s: float
) -> Iterator[tuple[str, tuple[Sequence[TrialSession], ...]]]:
    """Yield the units that are over, in time, each with its sessions: one, or those of the blocks of a pair."""
    if not trial.by_block:
        yield from (
            (session.unit, ((session,),))
            for session in sorted(sessions, key=_in_time)
            if session.value is not None
        )
        return
    inside = [session for session in sorted(sessions, key=_in_time) if trial.block_at(session.began_s) >= 0]
    now_s = min(now_s, inside[-1].began_s) if inside else now_s
    within = (session for session in inside if trial.block_at(session.began_s) == trial.block_at(session.ended_s))
    for pair, group in groupby(within, lambda session: trial.block_at(session.began_s) // 2):
        of_pair = list(group)
        over_s = trial.block_start(2 * pair + 2)
        waits = any(session.value is None for session in of_pair) and now_s < over_s + _LABELS_COME_S
        if now_s < over_s + trial.started.block_s or waits:
            continue
        valued = [session for session in of_pair if session.value is not None]
        parts = tuple(
            [session for session in valued if trial.block_at(session.began_s) == 2 * pair + at] for at in (0, 1)
        )
        if all(parts):
            yield f"pair {pair}", parts


def _assigned(trial: SkillTrial, unit: str) -> tuple[tuple[bool, ...], tuple[float, ...]]:
    """Give what the coin gave a unit: for a pair, of its first block."""
    if trial.by_block:
        return trial.meant(2 * int(unit.removeprefix("pair "))), (0.5,) * len(trial.started.factors)
    return trial.assigned[unit].given, trial.assigned[unit].shares


def coins_of(counted: Iterable[CountedUnit], factor: int) -> list[Coin]:
    """Give the counted units as the coins of one factor."""
    return [_coin(unit, unit.given[factor], min(max(unit.shares[factor], 0.01), 0.99)) for unit in counted]


def _coin(unit: CountedUnit, given: bool, share: float) -> Coin:  # noqa: FBT001 - the coin itself
    left = [outcome - expected for outcome, expected in zip(unit.outcomes, unit.expected, strict=True)]
    if len(left) == 1:
        return Coin(left[0], given, share, float(given), 1)
    first, second = unit.sessions
    weight = first * second / (first + second)
    return Coin(weight * (left[0] - left[1]), given, share, weight if given else -weight, first + second)


def terms_of(started: TrialStarted) -> Stakes:
    """Give what the bets of a trial rest on, as it was written down at its start."""
    return stakes(started.budget, started.spread, paired=started.unit == "block")


def results(
    started: TrialStarted, counted: Sequence[CountedUnit], before: Sequence[TrialFigures]
) -> tuple[TrialFigures, ...]:
    """Say what the counted units show of each factor; one that was decided before keeps its figures."""
    decided = {at: result for at, result in enumerate(before) if result.decision != "running"}
    return tuple(
        decided.get(at) or _result(started, counted, at, factor.name) for at, factor in enumerate(started.factors)
    )


def _result(started: TrialStarted, counted: Sequence[CountedUnit], factor: int, name: str) -> TrialFigures:
    coins, terms = coins_of(counted, factor), terms_of(started)
    gained, lost = proof(coins, terms), harm(coins, terms)
    chance = chance_of_proof(coins, terms, started.gain)
    low, high = interval(coins, terms)
    decision: TrialDecision = "running"
    if gained >= PROOF:
        decision = "proven"
    elif lost >= HARM:
        decision = "harmful"
    elif sum(coin.sessions for coin in coins) >= started.budget:
        decision = "undecided"
    elif chance < FUTILE and lost < SUSPECT and not _may_harm(started, factor, coins, terms):
        decision = "futile"
    return TrialFigures(
        factor=name,
        decision=decision,
        given=_arm(counted, factor, given=True),
        denied=_arm(counted, factor, given=False),
        difference=_difference(coins),
        low=low,
        high=high,
        proof=gained,
        harm=lost,
        chance=chance,
    )


def _may_harm(started: TrialStarted, factor: int, coins: Sequence[Coin], terms: Stakes) -> bool:
    """Tell whether a line that is live would be left there though its harm may still be shown."""
    switched = started.factors[factor]
    is_live = switched.live or switched.given == started.base_version
    return is_live and chance_of_harm(coins, terms, started.gain) >= FUTILE


def _arm(counted: Iterable[CountedUnit], factor: int, *, given: bool) -> TrialArm:
    """Sum up the sessions that had a factor, or had it not; of a pair each in one of its blocks."""
    parts = [
        (sessions, outcome)
        for unit in counted
        for at, (sessions, outcome) in enumerate(zip(unit.sessions, unit.outcomes, strict=True))
        if (unit.given[factor] != bool(at)) == given
    ]
    sessions = sum(part[0] for part in parts)
    return TrialArm(sessions=sessions, mean=sum(n * mean for n, mean in parts) / sessions if sessions else None)


def _difference(coins: Sequence[Coin]) -> float | None:
    """Estimate what a line adds to the outcome of a session."""
    if any(coin.lift < 0 for coin in coins):
        return sum(coin.value if coin.given else -coin.value for coin in coins) / sum(abs(c.lift) for c in coins)
    had = [coin.value for coin in coins if coin.given]
    lacked = [coin.value for coin in coins if not coin.given]
    return fmean(had) - fmean(lacked) if had and lacked else None


def shares(trial: SkillTrial) -> tuple[float, ...]:
    """Give the chance of each factor to be given to the next session.

    Even ones; in an adaptive trial the chance that sessions with it end better, by Thompson sampling with
    discounting over what was counted, and never less than a tenth for either arm.
    """
    started = trial.started
    if not started.adaptive:
        return (0.5,) * len(started.factors)
    drawn = []
    for at in range(len(started.factors)):
        ends = (EpisodeEnd(_GIVEN if unit.given[at] else _DENIED, unit.outcomes[0], "") for unit in trial.counted)
        best = chances_of_being_best(posteriors(ends, (_DENIED, _GIVEN)))[_GIVEN]
        drawn.append(min(max(best, _LEAST_SHARE), 1 - _LEAST_SHARE))
    return tuple(drawn)
