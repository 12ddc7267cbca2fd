"""The gate where it must not promote: how often it does all the same.

Nothing changed between trials of one task, or in logs of which something was dealt out again at random; nor can a
decision change what came before it. And what holds for all runs but one should hold in the one.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from strategies.gate.placebos import shuffled
from strategies.gate.replay.contrast import cases_of, contrast, judged, outcome_of, settings_of
from strategies.gate.replay.measure import MeasurementStamp, measure
from strategies.gate.replay.recovery_endpoint import attempts, recoverable
from strategies.gate.rollout_rule import decide
from strategies.gate.stats.clopper_pearson import clopper_pearson
from strategies.gate.stats.mantel_haenszel import one_sided_p
from strategies.gate.verdict import judge
from strategies.policy.written_rules import ROLLOUT_RULE, WRITTEN_RULE
from strategies.pool.splits import Division

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from events.types.score import Effect
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Case
    from strategies.policy.written_rules import GatePolicy, RolloutPolicy

COMPARISONS: Final = 200
"""How many comparisons one self-test makes: enough to tell 3.5 % from 10 %."""
LEAST_TRIALS: Final = 4
"""Trials of a task by one run configuration: two against two."""

ALLOWED: Final = 0.035
"""The share of false promotions that the gate states: where it is surely above, a self-test fails."""

Trials = dict[tuple[str, str], list[float]]
Kind = Literal[
    "trials",
    "shuffled",
    "recovered",
    "permuted",
    "placebo_actions",
    "placebo_templates",
    "earlier",
    "opposite_in_new_run",
    "outside_predicted",
    "harmful_in_new_run",
]
"""What was compared, by what was done to the logs."""
Deal = Callable[["Sequence[EpisodeRecord]", int], "list[EpisodeRecord]"]
"""Deals something of the logs out again, by a seed."""
OnComparison = Callable[[Kind, int, int], None]
"""Hears the kind, how many comparisons are done, and of how many, before each."""


def unheard(kind: Kind, done: int, total: int) -> None:
    """Take how far a self-test is, for nobody."""


@dataclass(frozen=True)
class SelfTest:
    """How often the gate was wrong, with an exact 95 % interval (Clopper and Pearson).

    `mean_rises` counts of the same comparisons those that "keep it where the mean rose" accepts, None where that
    would say nothing; `sources` counts what was compared: the tasks whose trials were split, else claims. `limit`
    is the rate that the gate states, None where it states none.
    """

    kind: Kind
    wrong: int
    n: int
    sources: int
    limit: float | None = ALLOWED
    mean_rises: int | None = None

    @property
    def rate(self) -> float:
        """The share that was wrong; 0 of 0 is 0."""
        return self.wrong / max(self.n, 1)

    @property
    def interval(self) -> tuple[float, float]:
        """The exact limits of the rate."""
        return clopper_pearson(self.wrong, self.n)

    @property
    def fails(self) -> bool:
        """Tell whether the rate is surely above the one that the gate states."""
        return self.limit is not None and self.interval[0] > self.limit


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
    on_comparison: OnComparison = unheard,
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
        on_comparison("trials", number, comparisons)
        pairs = [_halved(outcomes, draws) for outcomes in trials.values()]
        promoted += decide(pairs, policy).decision == "promote"
        rose += sum(sum(task) for task in pairs) > 0
    return SelfTest("trials", promoted, comparisons, len(trials), mean_rises=rose)


def on_shuffled(  # noqa: PLR0913 - what is dealt out, of what, and how often
    records: Sequence[EpisodeRecord],
    claims: Sequence[Claim],
    *,
    seed: int,
    deal: Deal = shuffled,
    kind: Kind = "shuffled",
    comparisons: int = COMPARISONS,
    policy: GatePolicy = WRITTEN_RULE,
    on_comparison: OnComparison = unheard,
) -> SelfTest:
    """Send claims straight to the gate, past explore, on logs of which something is dealt out again each time.

    Where no outcome is known it is `recovered` that is shuffled, for claims about a failure. Shapes: claims take
    turns; those without 20 episodes on either side are left out, since they could never pass.
    Raises: ValueError where no claim is left.
    """
    firm = judged(records).records
    kind = kind if firm else "recovered"
    able = able_claims(records, claims, policy, comparisons)
    if not able:
        raise ValueError("no claim has enough episodes on both sides")
    turns = [(claim, firm or _attempts(claim, records)) for claim in able]
    promoted = rose = 0
    for number in range(comparisons):
        on_comparison(kind, number, comparisons)
        claim, pool = turns[number % len(turns)]
        accepted = _accepted(claim, deal(pool, seed + number), policy)
        promoted += accepted.by_gate
        rose += accepted.by_mean
    return SelfTest(kind, promoted, comparisons, len(able), mean_rises=rose)


def able_claims(
    records: Sequence[EpisodeRecord], claims: Sequence[Claim], policy: GatePolicy, at_most: int | None = None
) -> list[Claim]:
    """Keep the claims that have enough episodes on either side to pass; the first ones, `at_most` so many."""
    firm = judged(records).records
    settings = settings_of(firm) if firm else None
    able = (
        claim
        for claim in claims
        if _large_enough(cases_of(claim, firm or _attempts(claim, records), settings), policy)
    )
    return list(islice(able, at_most))


def _attempts(claim: Claim, records: Sequence[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Give the episodes that `recovered` can judge a claim by, each with it for an outcome."""
    return attempts(claim, records) if recoverable(claim) else ()


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
    return _Accepted(by_gate=supported(claim, records, policy) is not None, by_mean=better)


def supported(claim: Claim, records: Sequence[EpisodeRecord], policy: GatePolicy) -> Effect | None:
    """Give the effect of a claim that the gate would promote, all tasks sealed; None where it would not."""
    evidence = measure([claim], (), Division((), tuple(records), ()), MeasurementStamp("self-test", ""), seed=0)
    return evidence.sealed.effect if judge(evidence.figures, policy, 1).decision == "promote" else None
