"""What a self-test asks of the claims that these logs do show: what came before them, and a run left out."""

from __future__ import annotations

from statistics import median_low
from typing import TYPE_CHECKING, Final

from events.types.claims import AnytimeBefore, FinishWith
from strategies.episodes.episode_records import ended
from strategies.gate.replay.contrast import cases_of, contrast, settings_of
from strategies.gate.replay.decisions import actions_before, decisions_of
from strategies.gate.replay.replicates import scope_of_line
from strategies.gate.replay.run_left_out import answered, shown_by_others, without_each_run
from strategies.gate.selftest import SelfTest, supported, unheard
from strategies.gate.stats.mantel_haenszel import Z95

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord, StepRecord
    from strategies.gate.replay.run_left_out import InTheRunLeftOut
    from strategies.gate.selftest import OnComparison
    from strategies.policy.written_rules import GatePolicy

EARLIER: Final[Mapping[str, Callable[[Sequence[StepRecord]], int]]] = {
    "errors": lambda before: sum(step.error for step in before),
    "actions": len,
    "repeats": lambda before: len(before) - len({step.same_call for step in before}),
}
"""What can be counted before a decision; fewer of each counts as the better outcome."""
UNFORESEEN: Final = 0.05
"""The share of runs that may lie outside a prediction interval of 95 %."""


def shown_claims(records: Sequence[EpisodeRecord], claims: Sequence[Claim], at_most: int) -> list[Claim]:
    """Keep the claims that go with success on these logs (z 1.96), the strongest first: miners propose from these.

    Shapes: all records have an outcome.
    """
    settings = settings_of(records)
    figures = ((claim, contrast(cases_of(claim, records, settings))) for claim in claims)
    shown = [(shown.z, claim) for claim, shown in figures if shown is not None and shown.z >= Z95]
    return [claim for _, claim in sorted(shown, key=lambda pair: -pair[0])[:at_most]]


def on_earlier_outcomes(
    records: Sequence[EpisodeRecord],
    claims: Sequence[Claim],
    *,
    policy: GatePolicy,
    on_comparison: OnComparison = unheard,
) -> SelfTest:
    """Ask the gate whether a decision changes what came before it: each claim with each of EARLIER for outcome."""
    asked = [(claim, earlier) for claim in claims for earlier in EARLIER]
    wrong, judged_claims = [], []
    for number, (claim, earlier) in enumerate(asked):
        on_comparison("earlier", number, len(asked))
        pool = with_earlier_outcome(claim, records, EARLIER[earlier])
        if _rarer(pool) >= policy.least_arm:
            judged_claims.append(claim)
            wrong.append(supported(claim, pool, policy) is not None)
    return SelfTest("earlier", sum(wrong), len(wrong), len(set(judged_claims)))


def with_earlier_outcome(
    claim: Claim, records: Sequence[EpisodeRecord], count: Callable[[Sequence[StepRecord]], int]
) -> list[EpisodeRecord]:
    """Give the episodes that decided, each with few or many of something before its decision for an outcome.

    Nothing for a claim that what came before may itself obey.
    """
    decide = None if isinstance(claim, (AnytimeBefore, FinishWith)) else decisions_of(claim)
    decided = [(record, made[0].at) for record in records if decide and (made := decide(record))]
    counts = [count(actions_before(record, at)) for record, at in decided]
    if not counts:
        return []
    most = min(median_low(counts), max(counts) - 1)
    return [ended(record, float(times <= most)) for (record, _), times in zip(decided, counts, strict=True)]


def _rarer(records: Sequence[EpisodeRecord]) -> float:
    good = sum(record.outcome.value for record in records if record.outcome is not None)
    return min(good, len(records) - good)


def in_runs_left_out(
    records: Sequence[EpisodeRecord],
    claims: Sequence[Claim],
    *,
    policy: GatePolicy,
    on_comparison: OnComparison = unheard,
) -> list[SelfTest]:
    """Ask each run about what the gate supports on all others: the opposite, outside what was predicted, harm.

    Claims that the gate supports for some runs alone say nothing of another one, and are left out. Shapes: all
    records have an outcome.
    """
    asked = [
        (claim, without, there)
        for without in without_each_run(records)
        for claim, _, there in shown_by_others(claims, without)
    ]
    answers: list[InTheRunLeftOut] = []
    sources: set[Claim] = set()
    for number, (claim, without, there) in enumerate(asked):
        on_comparison("opposite_in_new_run", number, len(asked))
        effect = supported(claim, without.rest, policy)
        if effect is None or scope_of_line(effect.replicates):
            continue
        sources.add(claim)
        answers.append(answered(there, effect.replicates.spread if effect.replicates else None))
    predicted = [answer.covered for answer in answers if answer.covered is not None]
    opposite, harmed = sum(not answer.better for answer in answers), sum(answer.harmed for answer in answers)
    return [
        SelfTest("opposite_in_new_run", opposite, len(answers), len(sources), limit=None),
        SelfTest("outside_predicted", predicted.count(False), len(predicted), len(sources), UNFORESEEN),
        SelfTest("harmful_in_new_run", harmed, len(answers), len(sources)),
    ]
