"""What a contest came to, as scores and figures that events keep."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from events.types.runs import Rollouts, TagFigures
from events.types.score import Delta, Measured, Score, Split, Unmeasured
from strategies.gate.aimed_rule import FRESH
from strategies.gate.rollout_rule import figures_of
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.gate.track_record import advantages
from strategies.rollouts.compare.rounds import pairs, values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strategies.gate.replay.measure import MeasurementStamp
    from strategies.rollouts.compare.rounds import Contest, ContestEnd, LastLook
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs, RunSpending
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
    """The tasks and rounds of one split."""

    split: Split
    tasks: Sequence[RolloutTask]
    span: range


def measured(
    contest: Contest,
    runs: Runs,
    arm: Arm,
    ended: ContestEnd,
    stamp: MeasurementStamp,
    comparison: str,
    spent: RunSpending,
) -> RunMeasurement:
    """Write down what the runs of one candidate showed, on the rounds that its verdict rests on."""
    sealed = _Side("sealed", ended.last.tasks, ended.last.span)
    audit = _Side("audit", contest.audit if ended.audited else (), ended.last.span)
    return RunMeasurement(
        before=_score(runs, contest.incumbent, sealed, stamp),
        after=_score(runs, arm, sealed, stamp),
        delta=_delta(runs, contest, arm, sealed),
        audit_before=_score(runs, contest.incumbent, audit, stamp),
        audit_after=_score(runs, arm, audit, stamp),
        audit_delta=_delta(runs, contest, arm, audit),
        rollouts=_rollouts(contest, runs, arm, ended, comparison, spent),
    )


def _rollouts(
    contest: Contest, runs: Runs, arm: Arm, ended: ContestEnd, comparison: str, spent: RunSpending
) -> Rollouts:
    last, facts, figures = ended.last, ended.facts, ended.last.looked.figures
    paired = pairs(runs, arm, contest.incumbent, last.tasks, last.span)
    return Rollouts(
        comparison=comparison,
        rounds=len(last.span),
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
        lenient_before=_lenient(runs, contest.incumbent, last),
        lenient_after=_lenient(runs, arm, last),
        tags=by_tag(contest, runs, arm, last),
        judges=facts.judges,
        versions=advantages(_groups(contest, runs)),
        no_skill=facts.no_skill,
        lost_anchors=facts.lost_anchors,
        tampered=facts.tampered,
        stopped=facts.stopped,
        aim=last.aim,
    )


def by_tag(contest: Contest, runs: Runs, arm: Arm, last: LastLook) -> tuple[TagFigures, ...]:
    """Break the sealed results down by tag; a task with several tags counts for each."""
    tags = sorted({tag for task in last.tasks for tag in task.tags})
    rows = []
    for tag in tags:
        side = _Side("sealed", [task for task in last.tasks if tag in task.tags], last.span)
        before, after = (_task_means(runs, version, side) for version in (contest.incumbent, arm))
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


def _task_means(runs: Runs, arm: Arm, side: _Side) -> dict[str, float]:
    """Give the mean outcome of each task that has any."""
    outcomes = {task.id: values(runs.of(arm, task, side.span)) for task in side.tasks}
    seen = {task: [value for value in each if value is not None] for task, each in outcomes.items()}
    return {task: fmean(each) for task, each in seen.items() if each}


def _score(runs: Runs, arm: Arm, side: _Side, stamp: MeasurementStamp) -> Measured:
    """Score an arm on one split: the mean over tasks, its interval from how tasks vary."""
    means = list(_task_means(runs, arm, side).values())
    if not means:
        why = "no run was finished" if side.split == "sealed" else "the audit is run only before a promotion"
        return Unmeasured(reason=why)
    made = [value for task in side.tasks for value in values(runs.of(arm, task, side.span))]
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


def _delta(runs: Runs, contest: Contest, arm: Arm, side: _Side) -> Delta | None:
    figures = figures_of(pairs(runs, arm, contest.incumbent, side.tasks, side.span), len(side.span))
    if not figures.tasks:
        return None
    return Delta(value=figures.difference, low=figures.low, high=figures.high, tasks=figures.tasks)


def _lenient(runs: Runs, arm: Arm, last: LastLook) -> float:
    """Give the share of runs in which three of four layers passed."""
    trials = [trial for task in last.tasks for trial in runs.of(arm, task, last.span) if trial is not None]
    return fmean(trial.lenient for trial in trials) if trials else 0.0
