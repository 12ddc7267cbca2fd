"""The gate on data where nothing changed: how often it promotes all the same."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from strategies.episodes.episode_records import ended
from strategies.gate.replay.contrast import cases_of, contrast, judged, outcome_of, settings_of
from strategies.gate.replay.measure import MeasurementStamp, measure
from strategies.gate.replay.recovery_endpoint import attempts, recoverable
from strategies.gate.rollout_rule import decide
from strategies.gate.stats.mantel_haenszel import Z95, one_sided_p
from strategies.gate.verdict import judge
from strategies.policy.written_rules import ROLLOUT_RULE, WRITTEN_RULE
from strategies.pool.splits import Division
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Case
    from strategies.policy.written_rules import GatePolicy, RolloutPolicy

COMPARISONS: Final = 200
"""How many comparisons one self-test makes: enough to tell 3.5 % from 10 %."""
LEAST_TRIALS: Final = 4
"""Trials of a task by one run configuration: two against two."""

ALLOWED: Final = 0.035
"""The share of false promotions that the gate states: above it a self-test fails."""

Trials = dict[tuple[str, str], list[float]]
Kind = Literal["trials", "shuffled", "recovered"]
"""What was compared: trials of the same tasks, or claims on outcomes, or on `recovered`, that were shuffled."""
OnComparison = Callable[[int], None]
"""Hears how many comparisons are done, before each."""


@dataclass(frozen=True)
class SelfTest:
    """How often the gate promoted where nothing had changed, with a 95 % interval (Wilson).

    `mean_rises` is the share of the same comparisons that "keep it where the mean rose" accepts; `sources` counts
    what was compared: the tasks whose trials were split, or the claims that were sent.
    """

    kind: Kind
    false_promotion_rate: float
    n: int
    low: float
    high: float
    mean_rises: float
    sources: int


def trials_of(records: Sequence[EpisodeRecord]) -> Trials:
    """Collect the outcomes of tasks that one run configuration repeats often enough, in the order of episodes."""
    outcomes_of: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for record in sorted(judged(records).records, key=lambda record: record.id):
        outcomes_of[record.run, record.task].append(outcome_of(record))
    return {key: outcomes for key, outcomes in sorted(outcomes_of.items()) if len(outcomes) >= LEAST_TRIALS}


def against_itself(
    trials: Trials,
    *,
    seed: int,
    comparisons: int = COMPARISONS,
    policy: RolloutPolicy = ROLLOUT_RULE,
    on_comparison: OnComparison = lambda _: None,
) -> SelfTest:
    """Compare a skill with itself: each comparison splits every task's trials in two halves at random.

    All tasks count as sealed: there is no proposer from whom anything would have to be kept.
    Raises: ValueError without any trials.
    """
    if not trials:
        raise ValueError(f"no task was run {LEAST_TRIALS} times by one run configuration")
    draws = random.Random(seed)  # noqa: S311 - a seeded split, not a secret
    promoted = rose = 0
    for number in range(comparisons):
        on_comparison(number)
        pairs = [_halved(outcomes, draws) for outcomes in trials.values()]
        promoted += decide(pairs, policy).decision == "promote"
        rose += sum(sum(task) for task in pairs) > 0
    return _summed("trials", promoted, rose, comparisons, len(trials))


def on_shuffled(
    records: Sequence[EpisodeRecord],
    claims: Sequence[Claim],
    *,
    seed: int,
    comparisons: int = COMPARISONS,
    policy: GatePolicy = WRITTEN_RULE,
    on_comparison: OnComparison = lambda _: None,
) -> SelfTest:
    """Send claims straight to the gate, past explore, on logs whose outcomes are shuffled again each time.

    Where no outcome is known it is `recovered` that is shuffled, for claims about a failure. Shapes: claims take
    turns; those without 20 episodes on either side are left out, since they could never pass.
    Raises: ValueError where no claim is left.
    """
    firm = judged(records).records
    settings = settings_of(firm) if firm else None
    pools = ((claim, firm or _attempts(claim, records)) for claim in claims)
    able = [(claim, pool) for claim, pool in pools if _large_enough(cases_of(claim, pool, settings), policy)]
    if not able:
        raise ValueError("no claim has enough episodes on both sides")
    promoted = rose = 0
    for number in range(comparisons):
        on_comparison(number)
        claim, pool = able[number % len(able)]
        accepted = _accepted(claim, shuffled(pool, seed + number), policy)
        promoted += accepted.by_gate
        rose += accepted.by_mean
    return _summed("shuffled" if firm else "recovered", promoted, rose, comparisons, len(able))


def _attempts(claim: Claim, records: Sequence[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Give the episodes that `recovered` can judge a claim by, each with it for an outcome."""
    return attempts(claim, records) if recoverable(claim) else ()


def shuffled(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Shuffle outcomes among the episodes of one run configuration and difficulty."""
    pools: defaultdict[tuple[str, str], list[EpisodeRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.id):
        pools[record.run, record.difficulty].append(record)
    draws = random.Random(seed)  # noqa: S311 - a seeded shuffle, not a secret
    dealt = []
    for _, members in sorted(pools.items()):
        outcomes = [outcome_of(record) for record in members]
        draws.shuffle(outcomes)
        dealt += [ended(record, outcome) for record, outcome in zip(members, outcomes, strict=True)]
    return dealt


def _summed(kind: Kind, promoted: int, rose: int, comparisons: int, sources: int) -> SelfTest:
    low, high = wilson(promoted, comparisons, Z95)
    return SelfTest(kind, promoted / comparisons, comparisons, low, high, rose / comparisons, sources)


def _halved(outcomes: Sequence[float], draws: random.Random) -> list[float]:
    """Split the trials of a task at random, and pair the halves: one half plays the candidate."""
    drawn = draws.sample(outcomes, len(outcomes))
    half = len(drawn) // 2
    return [left - other for left, other in zip(drawn[:half], drawn[half : 2 * half], strict=True)]


def _large_enough(cases: Sequence[Case], policy: GatePolicy) -> bool:
    figures = contrast(cases)
    return figures is not None and min(figures.obeyed, figures.disobeyed) >= policy.least_arm


class _Accepted(NamedTuple):
    """Who would keep a claim: the gate, and "the obedient did better on average"."""

    by_gate: bool
    by_mean: bool


def _accepted(claim: Claim, records: Sequence[EpisodeRecord], policy: GatePolicy) -> _Accepted:
    """Tell who would keep a claim; the costly replay is left out where p alone forbids it."""
    figures = contrast(cases_of(claim, records))
    if figures is None:
        return _Accepted(by_gate=False, by_mean=False)
    better = figures.difference.value > 0
    if one_sided_p(figures.z) > policy.alpha:
        return _Accepted(by_gate=False, by_mean=better)
    evidence = measure([claim], (), Division((), tuple(records), ()), MeasurementStamp("self-test", ""), seed=0)
    return _Accepted(judge(evidence.figures, policy, 1).decision == "promote", better)
