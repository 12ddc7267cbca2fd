"""A contest: candidates against the incumbent on sealed tasks, round by round, until the gate has its verdicts."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strategies.gate.rollout_rule import LOOKS, RolloutVerdict, figures_of, look
from strategies.gate.vetoes import (
    CONFIRMING_ROUNDS,
    AnchoredTask,
    RunFacts,
    against_no_skill,
    counted,
    judge_figures,
    lost_anchors,
    rollout_verdict,
)
from strategies.rollouts.run.arms import NO_SKILL
from strategies.rollouts.run.runner import CapReachedError
from strategies.rollouts.run.store import PlannedRun
from strategies.rollouts.tasks.task import judge_layers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.runs import JudgeFigures
    from strategies.gate.verdict import Verdict
    from strategies.policy.written_rules import RolloutPolicy
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs
    from strategies.rollouts.run.trial import LayerResult, Trial
    from strategies.rollouts.tasks.task import RolloutTask


@dataclass(frozen=True)
class Contest:
    """What is compared on what; fixed before the first run.

    `sealed` tasks decide, `audit` tasks are run for those that would be promoted, and only reported. With
    `against_nothing` those are also run against no skill at all, which may veto. With `side_by_side` the arms of a
    task start together, and nothing else runs beside them.
    """

    incumbent: Arm
    candidates: tuple[Arm, ...]
    sealed: tuple[RolloutTask, ...]
    audit: tuple[RolloutTask, ...]
    policy: RolloutPolicy
    seed: int
    against_nothing: bool = True
    side_by_side: bool = False


@dataclass(frozen=True)
class ContestEnd:
    """How a contest ended for one candidate: the last look, and what is reported beside it.

    `audited` says whether the audit was run.
    """

    verdict: Verdict
    looked: RolloutVerdict
    facts: RunFacts
    audited: bool

    @property
    def rounds(self) -> int:
        """The rounds that the verdict rests on."""
        return self.looked.figures.rounds


def hold_contest(contest: Contest, runs: Runs) -> dict[str, ContestEnd]:
    """Make runs until the gate has a verdict on each candidate, by its name.

    A round runs the candidates once on every sealed task, each paired with the incumbent's run of that round. The
    order of tasks is drawn from the seed; the verdicts do not depend on it.

    Raises: what `Runs.make` raises, but for a cap: reaching one holds.
    """
    looked, stopped = _looked(contest, runs)
    return {arm.name: _ended(contest, runs, arm, looked[arm.name], stopped) for arm in contest.candidates}


def _looked(contest: Contest, runs: Runs) -> tuple[dict[str, RolloutVerdict], str]:
    """Run round after round, and look where the gate looks; a candidate with a verdict runs no more."""
    nothing = RolloutVerdict(None, "no round is complete", figures_of((), 0))
    looked = {arm.name: nothing for arm in contest.candidates}
    going, made = list(contest.candidates), 0
    for rounds in LOOKS:
        arms = (contest.incumbent, *going)
        try:
            jobs = in_random_order(arms, contest.sealed, range(made, rounds), contest.seed)
            for together in batched(jobs, len(arms)) if contest.side_by_side else (jobs,):
                runs.make(together)
        except CapReachedError as reached:
            return looked, reached.what
        for arm in going:
            paired = pairs(runs, arm, contest.incumbent, contest.sealed, rounds)
            looked[arm.name] = look(paired, rounds, contest.policy)
        open_still = [arm for arm in going if looked[arm.name].decision is None]
        going = [arm for arm in open_still if not _notes(contest, runs, (contest.incumbent, arm))]
        made = rounds
        if not going:
            break
    return looked, ""


def _ended(contest: Contest, runs: Runs, arm: Arm, looked: RolloutVerdict, stopped: str) -> ContestEnd:
    """Ask of a candidate that the rule would promote all that may still stop it, and measure its audit."""
    facts = RunFacts(
        tampered=_notes(contest, runs, (contest.incumbent, arm)),
        stopped="" if looked.decision else stopped,
        void=_void(contest, runs, arm, looked.figures.rounds),
        judges=_judges(contest, runs, arm, looked.figures.rounds),
    )
    verdict, audited = rollout_verdict(looked, facts, contest.policy), False
    if verdict.decision == "promote":
        facts = _questioned(contest, runs, arm, looked.figures.rounds, facts)
        verdict = rollout_verdict(looked, facts, contest.policy)
    if verdict.decision == "promote":
        audited = _audited(contest, runs, arm, looked.figures.rounds)
    return ContestEnd(verdict, looked, facts, audited)


def _questioned(contest: Contest, runs: Runs, arm: Arm, rounds: int, facts: RunFacts) -> RunFacts:
    """Confirm what looks like a lost anchor, and compare with no skill."""
    both, last = (contest.incumbent, arm), max(rounds, CONFIRMING_ROUNDS)
    suspected = [task for task in contest.sealed if _anchored(contest, runs, arm, task, rounds).suspects]
    audit = None
    try:
        runs.make(in_random_order(both, suspected, range(rounds, last), contest.seed))
        if contest.against_nothing:
            runs.make(in_random_order((NO_SKILL,), contest.sealed, range(rounds), contest.seed))
            audit = against_no_skill(pairs(runs, arm, NO_SKILL, contest.sealed, rounds), rounds)
    except CapReachedError as reached:
        return replace(facts, stopped=reached.what)
    return replace(
        facts,
        tampered=_notes(contest, runs, (*both, NO_SKILL)),
        lost_anchors=lost_anchors([_anchored(contest, runs, arm, task, last) for task in contest.sealed]),
        no_skill=audit,
    )


def _audited(contest: Contest, runs: Runs, arm: Arm, rounds: int) -> bool:
    """Run the audit split, which decides nothing: a cap only leaves it unmeasured."""
    try:
        runs.make(in_random_order((contest.incumbent, arm), contest.audit, range(rounds), contest.seed))
    except CapReachedError:
        return False
    return bool(contest.audit)


def in_random_order(
    arms: Sequence[Arm], tasks: Iterable[RolloutTask], rounds: Iterable[int], seed: int
) -> list[PlannedRun]:
    """List the runs round by round, tasks and arms in random order; the arms of a task run side by side."""
    jobs = []
    for at in rounds:
        draws = random.Random(f"{seed}:{at}")  # noqa: S311 - an order, no secret
        order = list(tasks)
        draws.shuffle(order)
        for task in order:
            jobs += [PlannedRun(arm, task, at) for arm in draws.sample(arms, len(arms))]
    return jobs


def batched(jobs: Sequence[PlannedRun], size: int) -> list[Sequence[PlannedRun]]:
    """Divide jobs, which come task by task, into those of one task and round each."""
    return [jobs[at : at + size] for at in range(0, len(jobs), size)]


def values(trials: Iterable[Trial | None]) -> list[float | None]:
    """Give the outcomes of runs; None for those that are void, or worth nothing because of tampering."""
    return [None if trial is None or trial.tampered else trial.value for trial in trials]


def pairs(runs: Runs, arm: Arm, other: Arm, tasks: Sequence[RolloutTask], rounds: int) -> list[list[float | None]]:
    """Pair the runs of two arms: arm minus other, for each task and round; None where either is void."""
    return [
        [
            None if outcome is None or beside is None else outcome - beside
            for outcome, beside in zip(
                values(runs.of(arm, task, rounds)), values(runs.of(other, task, rounds)), strict=True
            )
        ]
        for task in tasks
    ]


def _void(contest: Contest, runs: Runs, arm: Arm, rounds: int) -> float:
    paired = [pair for task in pairs(runs, arm, contest.incumbent, contest.sealed, rounds) for pair in task]
    return sum(pair is None for pair in paired) / len(paired) if paired else 0.0


def _judges(contest: Contest, runs: Runs, arm: Arm, rounds: int) -> tuple[JudgeFigures, ...]:
    """Tell what judges made of both versions, layer by layer."""
    layers = sorted({layer.name for task in contest.sealed for layer in judge_layers(task)})
    figures = []
    for name in layers:
        results = {
            version.name: [_said(runs.of(version, task, rounds), name) for task in contest.sealed]
            for version in (contest.incumbent, arm)
        }
        both = [
            [None if a is None or b is None else (a.value, b.value) for a, b in zip(before, after, strict=True)]
            for before, after in zip(results[contest.incumbent.name], results[arm.name], strict=True)
        ]
        counts = all(layer.counts for task in results[arm.name] for layer in task if layer)
        figures.append(judge_figures(name, both, counts=counts))
    return tuple(layer for layer in figures if layer is not None)


def _said(trials: Iterable[Trial | None], layer: str) -> list[LayerResult | None]:
    """Give what a layer found in runs; None for those that it saw nothing of."""
    return [
        next((result for result in trial.layers if result.name == layer), None)
        if trial and not trial.tampered
        else None
        for trial in trials
    ]


def _notes(contest: Contest, runs: Runs, arms: Sequence[Arm]) -> tuple[str, ...]:
    """Say what was tried in the runs of some arms, in whichever round."""
    trials = (trial for arm in arms for task in contest.sealed for trial in runs.of(arm, task, LOOKS[-1]) if trial)
    return counted(note for trial in trials for note in trial.tampering)


def _anchored(contest: Contest, runs: Runs, arm: Arm, task: RolloutTask, rounds: int) -> AnchoredTask:
    both = zip(runs.of(contest.incumbent, task, rounds), runs.of(arm, task, rounds), strict=True)
    failed = tuple(
        (frozenset(before.failed_anchors), frozenset(after.failed_anchors))
        for before, after in both
        if before is not None and after is not None
    )
    return AnchoredTask(task.id, len(task.anchors), failed)
