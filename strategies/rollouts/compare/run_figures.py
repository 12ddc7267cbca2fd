"""What a contest came to, as scores and figures that events keep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from events.types.runs import Rollouts, TagFigures
from events.types.score import Delta, Measured, Score, Split, Unmeasured
from strategies.gate.aimed_rule import FRESH
from strategies.gate.rollout_rule import figures_of
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.gate.track_record import advantages
from strategies.rollouts.compare.contest import tagged
from strategies.rollouts.compare.run_pairs import values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strategies.gate.replay.measure import MeasurementStamp
    from strategies.rollouts.compare.contest import Contest
    from strategies.rollouts.compare.rounds import ContestEnd
    from strategies.rollouts.compare.run_pairs import Pairing
    from strategies.rollouts.run.runner import Runs, RunSpending
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask


@dataclass(frozen=True)
class RunMeasurement:
    """A candidate measured by runs; the audit is Unmeasured where it was not run."""

    before: Measured
    after: Measured
    delta: Delta | None
    audit_before: Measured
    audit_after: Measured
    audit_delta: Delta | None
    rollouts: Rollouts


@dataclass(frozen=True)
class _Side:
    """The tasks and rounds of one split, and what was paired there for a candidate."""

    split: Split
    tasks: Sequence[RolloutTask]
    span: range
    pairing: Pairing

    def trials(self, runs: Runs, *, after: bool) -> dict[str, list[Trial | None]]:
        """Give the runs of each task by round, with the candidate or without it."""
        made = self.pairing.after if after else self.pairing.before
        return {task.id: made(runs, task, self.span) for task in self.tasks}

    def outcomes(self, runs: Runs, *, after: bool) -> dict[str, list[float | None]]:
        """Give what those runs came to."""
        return {task: values(trials) for task, trials in self.trials(runs, after=after).items()}


def measured(
    contest: Contest,
    runs: Runs,
    ended: ContestEnd,
    stamp: MeasurementStamp,
    comparison: str,
    spent: RunSpending,
) -> RunMeasurement:
    """Write down what the runs of one candidate showed, on the rounds that its verdict rests on."""
    last = ended.last
    sealed = _Side("sealed", last.tasks, last.span, last.pairing)
    audit = _Side("audit", contest.audit if ended.audited else (), ended.audited, last.pairing)
    return RunMeasurement(
        before=_score(runs, sealed, stamp, after=False),
        after=_score(runs, sealed, stamp, after=True),
        delta=_delta(runs, sealed),
        audit_before=_score(runs, audit, stamp, after=False),
        audit_after=_score(runs, audit, stamp, after=True),
        audit_delta=_delta(runs, audit),
        rollouts=_rollouts(contest, runs, ended, sealed, comparison, spent),
    )


def _rollouts(
    contest: Contest, runs: Runs, ended: ContestEnd, sealed: _Side, comparison: str, spent: RunSpending
) -> Rollouts:
    facts, figures = ended.facts, ended.last.looked.figures
    paired = sealed.pairing.pairs(runs, sealed.tasks, sealed.span)
    return Rollouts(
        comparison=comparison,
        rounds=len(sealed.span),
        tasks=figures.tasks,
        pairs=sum(map(len, paired)),
        void=sum(pair is None for task in paired for pair in task),
        evidence=figures.e_value,
        p=figures.p,
        difference=figures.difference,
        low=figures.low,
        high=figures.high,
        detectable=figures.detectable,
        runs=spent.runs,
        reused=spent.reused,
        cost_usd=spent.cost_usd,
        seconds=spent.seconds,
        unpriced=spent.unpriced,
        lenient_before=_lenient(runs, sealed, after=False),
        lenient_after=_lenient(runs, sealed, after=True),
        tags=_by_tag(runs, sealed),
        judges=facts.judges,
        versions=advantages(_groups(contest, runs)),
        no_skill=facts.no_skill,
        lost_anchors=facts.lost_anchors,
        tampered=facts.tampered,
        stopped=facts.stopped,
        aim=ended.last.aim,
    )


def _by_tag(runs: Runs, sealed: _Side) -> tuple[TagFigures, ...]:
    """Break the sealed results down by tag; a task with several tags counts for each."""
    tags = sorted({tag for task in sealed.tasks for tag in task.tags})
    rows = []
    for tag in tags:
        side = replace(sealed, tasks=tagged(sealed.tasks, (tag,)))
        before, after = (_means(side.outcomes(runs, after=holds)) for holds in (False, True))
        both = sorted(before.keys() & after.keys())
        if both:
            rows.append(
                TagFigures(
                    tag=tag,
                    tasks=len(both),
                    before=fmean(before[task] for task in both),
                    after=fmean(after[task] for task in both),
                )
            )
    return tuple(rows)


def _groups(contest: Contest, runs: Runs) -> Iterator[Mapping[str, float | None]]:
    """Give the outcomes of each sealed task and round, of all versions that ran it."""
    arms = (contest.incumbent, *contest.candidates)
    for task in contest.sealed:
        by_arm = {arm.name: values(runs.of(arm, task, range(FRESH.stop))) for arm in arms}
        for at in range(FRESH.stop):
            yield {name: outcomes[at] for name, outcomes in by_arm.items()}


def _means(outcomes: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Give the mean outcome of each task that has any."""
    seen = {task: [value for value in each if value is not None] for task, each in outcomes.items()}
    return {task: fmean(each) for task, each in seen.items() if each}


def _score(runs: Runs, side: _Side, stamp: MeasurementStamp, *, after: bool) -> Measured:
    """Score one side on one split: the mean over tasks, its interval from how tasks vary."""
    outcomes = side.outcomes(runs, after=after)
    means = list(_means(outcomes).values())
    if not means:
        why = "no run was finished" if side.split == "sealed" else "the audit is run only before a promotion"
        return Unmeasured(reason=why)
    made = [value for each in outcomes.values() for value in each]
    valid = sum(value is not None for value in made)
    mean = fmean(means)
    error = stdev(means) / sqrt(len(means)) if len(means) > 1 else 1.0
    return Score(
        value=mean,
        n=valid,
        low=max(mean - Z95 * error, 0.0),
        high=min(mean + Z95 * error, 1.0),
        kind="rollout",
        endpoint="outcome",
        evaluator=stamp.evaluator,
        split=side.split,
        coverage=valid / len(made),
        measured_at=stamp.measured_at,
    )


def _delta(runs: Runs, side: _Side) -> Delta | None:
    figures = figures_of(side.pairing.pairs(runs, side.tasks, side.span), len(side.span))
    if not figures.tasks:
        return None
    return Delta(value=figures.difference, low=figures.low, high=figures.high, tasks=figures.tasks)


def _lenient(runs: Runs, side: _Side, *, after: bool) -> float:
    """Give the share of runs in which three of four layers passed."""
    trials = [trial for of_task in side.trials(runs, after=after).values() for trial in of_task if trial]
    return fmean(trial.lenient for trial in trials) if trials else 0.0
