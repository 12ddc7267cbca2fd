"""A contest: candidates against the incumbent on sealed tasks, round by round, until the gate has its verdicts."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from strategies.gate.aimed_rule import FRESH, LEAST_AIMED, look_at_aim, look_at_fresh
from strategies.gate.rollout_rule import LOOKS, RolloutVerdict, figures_of, look
from strategies.gate.verdict import Verdict
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
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.runs import AimFigures, JudgeFigures
    from strategies.policy.written_rules import RolloutPolicy
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs
    from strategies.rollouts.run.trial import LayerResult, Trial
    from strategies.rollouts.tasks.task import RolloutTask

WAITS: Final = "its own tasks show it; it is tested on the version that holds candidate"
"""How the reason begins of one that waits for another of its group."""


@dataclass(frozen=True)
class Contest:
    """What is compared on what; fixed before the first run.

    `sealed` tasks decide, `audit` tasks are run for those that would be promoted, and only reported. `tags` are
    those of the tasks that candidates are for, by their names: they are run there first; `removals` only take
    lines away. With `against_nothing` those that would be promoted are run against no skill too, which may veto.
    With `side_by_side` the arms of a task start together, and nothing else runs beside them.
    """

    incumbent: Arm
    candidates: tuple[Arm, ...]
    sealed: tuple[RolloutTask, ...]
    audit: tuple[RolloutTask, ...]
    policy: RolloutPolicy
    seed: int
    against_nothing: bool = True
    side_by_side: bool = False
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    removals: frozenset[str] = frozenset()

    def aim(self, arm: Arm) -> tuple[RolloutTask, ...]:
        """Give the sealed tasks that a candidate is for; none where there are too few, or all are, to aim at."""
        own = () if arm.name in self.removals else tagged(self.sealed, self.tags.get(arm.name, ()))
        return own if LEAST_AIMED <= len(own) < len(self.sealed) and not self.side_by_side else ()


@dataclass(frozen=True)
class LastLook:
    """The last look at the runs of a candidate, and the tasks and rounds that were looked at."""

    looked: RolloutVerdict
    tasks: tuple[RolloutTask, ...]
    span: range
    aim: AimFigures | None = None


@dataclass(frozen=True)
class ContestEnd:
    """How a contest ended for one candidate: the last look, and what is reported beside it.

    `audited` says whether the audit was run.
    """

    verdict: Verdict
    last: LastLook
    facts: RunFacts
    audited: bool


def hold_contest(contest: Contest, runs: Runs) -> dict[str, ContestEnd]:
    """Make runs until the gate has a verdict on each candidate, by its name.

    A round runs the candidates once on every sealed task, each paired with the incumbent's run of that round.
    The order of tasks is drawn from the seed; the verdicts do not depend on it. Those that say which tasks they
    are for are run there first; of several that are shown there the best is confirmed, and the others wait for it.

    Raises: what `Runs.make` raises, but for a cap: reaching one holds.
    """
    aimed = [arm for arm in contest.candidates if contest.aim(arm)]
    whole = [arm for arm in contest.candidates if arm not in aimed]
    looked, stopped = _looked(contest, runs, whole)
    ends = {arm.name: _ended(contest, runs, arm, looked[arm.name], stopped) for arm in whole}
    first, stopped = _looked_at_aims(contest, runs, aimed)
    shown = [arm for arm in aimed if first[arm.name].looked.decision == "promote"]
    ends |= {arm.name: _ended(contest, runs, arm, first[arm.name], stopped) for arm in aimed if arm not in shown}
    for arm in sorted(shown, key=lambda arm: -_evidence(first[arm.name])):
        better = next((name for name, end in ends.items() if end.verdict.decision == "promote"), "")
        ends[arm.name] = (
            _waiting(contest, runs, arm, first[arm.name], better)
            if better
            else _confirmed(contest, runs, arm, first[arm.name])
        )
    return ends


def _looked(contest: Contest, runs: Runs, arms: Sequence[Arm]) -> tuple[dict[str, LastLook], str]:
    """Run round after round, and look where the gate looks; a candidate with a verdict runs no more."""
    looked, going, made = {arm.name: _before_looks(contest.sealed) for arm in arms}, list(arms), 0
    for rounds in LOOKS:
        if not going:
            break
        jobs = in_random_order((contest.incumbent, *going), contest.sealed, range(made, rounds), contest.seed)
        together = batched(jobs, 1 + len(going)) if contest.side_by_side else (jobs,)
        if stopped := _stopped(runs, together):
            return looked, stopped
        for arm in going:
            paired = pairs(runs, arm, contest.incumbent, contest.sealed, range(rounds))
            verdict = look(paired, rounds, contest.policy, removal=arm.name in contest.removals)
            looked[arm.name] = LastLook(verdict, contest.sealed, range(rounds))
        going, made = _undecided(contest, runs, going, looked), rounds
    return looked, ""


def _looked_at_aims(contest: Contest, runs: Runs, arms: Sequence[Arm]) -> tuple[dict[str, LastLook], str]:
    """Run candidates on the tasks that each is for, and look after every round."""
    looked, going = {arm.name: _before_looks(contest.aim(arm)) for arm in arms}, list(arms)
    for at in range(LOOKS[-1]):
        if not going:
            break
        jobs = [
            job
            for arm in going
            for job in in_random_order((contest.incumbent, arm), contest.aim(arm), (at,), contest.seed)
        ]
        if stopped := _stopped(runs, (list({job.place: job for job in jobs}.values()),)):
            return looked, stopped
        for arm in going:
            own, span = contest.aim(arm), range(at + 1)
            paired = pairs(runs, arm, contest.incumbent, own, span)
            tags = contest.tags[arm.name]
            verdict, aim = look_at_aim(paired, len(span), tags, len(contest.sealed), contest.policy)
            looked[arm.name] = LastLook(verdict, own, span, aim)
        going = _undecided(contest, runs, going, looked)
    return looked, ""


def _before_looks(tasks: tuple[RolloutTask, ...]) -> LastLook:
    return LastLook(RolloutVerdict(None, "no round is complete", figures_of((), 0)), tasks, range(0))


def _stopped(runs: Runs, batches: Iterable[Sequence[PlannedRun]]) -> str:
    """Make runs, and say which cap ended that, "" where none did."""
    try:
        for jobs in batches:
            runs.make(jobs)
    except CapReachedError as reached:
        return reached.what
    return ""


def _undecided(contest: Contest, runs: Runs, arms: Sequence[Arm], looked: Mapping[str, LastLook]) -> list[Arm]:
    """List the candidates that go on: those without a verdict, in whose runs nothing was tampered with."""
    still = [arm for arm in arms if looked[arm.name].looked.decision is None]
    return [arm for arm in still if not _notes(contest, runs, (contest.incumbent, arm))]


def _evidence(last: LastLook) -> float:
    return last.aim.evidence if last.aim else 0.0


def _confirmed(contest: Contest, runs: Runs, arm: Arm, last: LastLook) -> ContestEnd:
    """Run a candidate that its own tasks show, and the incumbent, afresh on all sealed tasks."""
    own = contest.aim(arm)
    rest = tuple(task for task in contest.sealed if task not in own)
    stopped = ""
    for at in FRESH:
        jobs = in_random_order((contest.incumbent, arm), contest.sealed, (at,), contest.seed)
        if stopped := _stopped(runs, (jobs,)):
            last = replace(last, looked=replace(last.looked, decision=None))
            break
        span = range(FRESH[0], at + 1)
        aimed, others = (pairs(runs, arm, contest.incumbent, tasks, span) for tasks in (own, rest))
        if last.aim is not None:
            verdict, aim = look_at_fresh(last.aim, aimed, others, len(span), contest.policy)
            last = LastLook(verdict, (*own, *rest), span, aim)
        if last.looked.decision or _notes(contest, runs, (contest.incumbent, arm)):
            break
    return _ended(contest, runs, arm, last, stopped)


def _waiting(contest: Contest, runs: Runs, arm: Arm, last: LastLook, better: str) -> ContestEnd:
    """Let a candidate wait that its own tasks show, while another one becomes the version it is tested on."""
    facts = _facts(contest, runs, arm, last, "")
    return ContestEnd(Verdict("hold", (f"{WAITS} {better[:12]}", last.looked.reason)), last, facts, audited=False)


def _facts(contest: Contest, runs: Runs, arm: Arm, last: LastLook, stopped: str) -> RunFacts:
    return RunFacts(
        tampered=_notes(contest, runs, (contest.incumbent, arm)),
        stopped=stopped,
        void=_void(contest, runs, arm, last),
        judges=_judges(contest, runs, arm, last),
    )


def _ended(contest: Contest, runs: Runs, arm: Arm, last: LastLook, stopped: str) -> ContestEnd:
    """Ask of a candidate that the rule would promote all that may still stop it, and measure its audit."""
    facts = _facts(contest, runs, arm, last, "" if last.looked.decision else stopped)
    removal, audited = arm.name in contest.removals, False
    verdict = rollout_verdict(last.looked, facts, contest.policy, last.aim, removal=removal)
    if verdict.decision == "promote":
        facts = _questioned(contest, runs, arm, last, facts)
        verdict = rollout_verdict(last.looked, facts, contest.policy, last.aim, removal=removal)
    if verdict.decision == "promote":
        audited = _audited(contest, runs, arm, last.span)
    return ContestEnd(verdict, last, facts, audited)


def _questioned(contest: Contest, runs: Runs, arm: Arm, last: LastLook, facts: RunFacts) -> RunFacts:
    """Confirm what looks like a lost anchor, and compare with no skill."""
    both, span = (contest.incumbent, arm), last.span
    further = range(span.start, max(span.stop, span.start + CONFIRMING_ROUNDS))
    suspected = [task for task in contest.sealed if _anchored(contest, runs, arm, task, span).suspects]
    audit = None
    try:
        runs.make(in_random_order(both, suspected, further[len(span) :], contest.seed))
        if contest.against_nothing:
            runs.make(in_random_order((NO_SKILL,), contest.sealed, span, contest.seed))
            audit = against_no_skill(pairs(runs, arm, NO_SKILL, contest.sealed, span), len(span))
    except CapReachedError as reached:
        return replace(facts, stopped=reached.what)
    return replace(
        facts,
        tampered=_notes(contest, runs, (*both, NO_SKILL)),
        lost_anchors=lost_anchors([_anchored(contest, runs, arm, task, further) for task in contest.sealed]),
        no_skill=audit,
    )


def _audited(contest: Contest, runs: Runs, arm: Arm, span: range) -> bool:
    """Run the audit split, which decides nothing: a cap only leaves it unmeasured."""
    jobs = in_random_order((contest.incumbent, arm), contest.audit, span, contest.seed)
    return not _stopped(runs, (jobs,)) and bool(contest.audit)


def tagged(tasks: Iterable[RolloutTask], tags: Iterable[str]) -> tuple[RolloutTask, ...]:
    """Give the tasks that have one of some tags."""
    wanted = frozenset(tags)
    return tuple(task for task in tasks if not wanted.isdisjoint(task.tags))


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


def pairs(runs: Runs, arm: Arm, other: Arm, tasks: Sequence[RolloutTask], span: range) -> list[list[float | None]]:
    """Pair the runs of two arms: arm minus other, for each task and round; None where either is void."""
    return [
        [
            None if outcome is None or beside is None else outcome - beside
            for outcome, beside in zip(
                values(runs.of(arm, task, span)), values(runs.of(other, task, span)), strict=True
            )
        ]
        for task in tasks
    ]


def _void(contest: Contest, runs: Runs, arm: Arm, last: LastLook) -> float:
    paired = [pair for task in pairs(runs, arm, contest.incumbent, last.tasks, last.span) for pair in task]
    return sum(pair is None for pair in paired) / len(paired) if paired else 0.0


def _judges(contest: Contest, runs: Runs, arm: Arm, last: LastLook) -> tuple[JudgeFigures, ...]:
    """Tell what judges made of both versions, layer by layer."""
    layers = sorted({layer.name for task in last.tasks for layer in judge_layers(task)})
    figures = []
    for name in layers:
        results = {
            version.name: [_said(runs.of(version, task, last.span), name) for task in last.tasks]
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
    trials = (
        trial
        for arm in arms
        for task in contest.sealed
        for trial in runs.of(arm, task, range(FRESH.stop))
        if trial
    )
    return counted(note for trial in trials for note in trial.tampering)


def _anchored(contest: Contest, runs: Runs, arm: Arm, task: RolloutTask, span: range) -> AnchoredTask:
    both = zip(runs.of(contest.incumbent, task, span), runs.of(arm, task, span), strict=True)
    failed = tuple(
        (frozenset(before.failed_anchors), frozenset(after.failed_anchors))
        for before, after in both
        if before is not None and after is not None
    )
    return AnchoredTask(task.id, len(task.anchors), failed)
