"""A comparison by runs: what it will be is frozen and recorded, then candidates and incumbent are run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from events.clock import monotonic_s
from events.errors import TaskFileError
from events.types.candidate_events import ComparisonFrozen
from registry.decide.commands import Freeze, RecordFact
from strategies.gate.replay.measure import MeasurementStamp
from strategies.gate.vetoes import only_removes
from strategies.pool.task_sets import keep_set_groups
from strategies.rollouts.compare.contest import Contest
from strategies.rollouts.compare.hashes import comparison_text, registration
from strategies.rollouts.compare.rounds import hold_contest
from strategies.rollouts.compare.run_figures import measured
from strategies.rollouts.run.arms import NO_SKILL, challenger, incumbent, joint_challenger, write_arm
from strategies.rollouts.run.runner import Meter, Runs, spent_on
from strategies.rollouts.run.store import Bank
from strategies.sandbox.confined_run import run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from events.types.candidate_events import CandidateProposed
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.gate.verdict import Verdict
    from strategies.policy.presets import Preset
    from strategies.policy.written_rules import RolloutPolicy
    from strategies.rollouts.compare.harness import Harness
    from strategies.rollouts.compare.rounds import LastLook
    from strategies.rollouts.compare.run_figures import RunMeasurement
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import RunProgress
    from strategies.rollouts.tasks.task import RolloutTask


@dataclass(frozen=True)
class Rig:
    """Where candidates of one skill are tested: the harness, the preset that binds, the seed of the order.

    Of candidates that their own tasks show `least_company` are confirmed together; fewer wait, and are held. With
    `puts_off` one whose own tasks do not show it soon is held too. What is tested is one of many `experiments`, or
    not.
    """

    registry: Registry
    harness: Harness
    preset: Preset
    seed: int
    on_progress: Callable[[RunProgress], None] = lambda _: None
    now_s: Callable[[], float] = monotonic_s
    meter: Meter = field(default_factory=Meter)
    least_company: int = 1
    puts_off: bool = False
    experiments: bool = False

    @property
    def policy(self) -> RolloutPolicy:
        """The bar that candidates must reach."""
        policy = self.preset.rollout_policy()
        return policy.of_experiments if self.experiments else policy


@dataclass(frozen=True)
class Compared:
    """What the runs say of one candidate, before anything is recorded."""

    verdict: Verdict
    measurement: RunMeasurement
    last: LastLook


def compared(
    rig: Rig, runs: Runs, capsule: Capsule, proposals: Sequence[CandidateProposed]
) -> dict[str, Compared]:
    """Run candidates of one skill in one group, and give what came of each, by its id.

    What is compared is frozen, hashed and recorded before the first run. The candidates must be proposed already.
    Raises: TaskFileError where tasks cannot tell good work from none; what the runner raises. Nothing is lost
    then: finished runs are in the bank.
    """
    contest = contest_of(rig, capsule, proposals)
    if rig.registry.log.document("evaluator", rig.harness.evaluator) is None:
        require_sound(rig.harness, (*contest.sealed, *contest.audit), runs)
    comparison = freeze(rig, capsule, contest)
    ended = hold_contest(contest, runs)
    stamp = MeasurementStamp(rig.harness.evaluator, rig.registry.clock.now())
    spent = spent_on([arm.key for arm in contest.candidates], runs.taken())
    return {
        arm.name: Compared(
            ended[arm.name].verdict,
            measured(contest, runs, ended[arm.name], stamp, comparison, spent[arm.key]),
            ended[arm.name].last,
        )
        for arm in contest.candidates
    }


def require_sound(harness: Harness, tasks: Sequence[RolloutTask], runs: Runs) -> None:
    """Check the graders and anchors of tasks, once for an evaluator, before an agent is paid for.

    Raises: TaskFileError where one cannot tell good work from none.
    """
    wrong = [violation for violations in runs.executor.map(harness.violations, tasks) for violation in violations]
    if wrong:
        first = "; ".join(f"{mistake.task}: {mistake.problem}" for mistake in wrong[:3])
        raise TaskFileError(
            f"{len(wrong)} things are wrong with the task set: {first}",
            hint="docs/rollouts.md says what a task needs",
        )


def contest_of(rig: Rig, capsule: Capsule, proposals: Sequence[CandidateProposed]) -> Contest:
    """Say who competes, on which tasks, by which rule."""
    harness = rig.harness
    log, by_name = rig.registry.log, {proposed.candidate: proposed for proposed in proposals}
    arms = tuple(challenger(log, capsule, proposed) for proposed in proposals)
    base = base_of(rig, capsule, arms)

    def together(names: frozenset[str]) -> Arm:
        members = [by_name[name] for name in sorted(names)]
        return joint_challenger(log, capsule, members) if members else base

    return Contest(
        incumbent=base,
        candidates=arms,
        sealed=harness.divided.sealed,
        audit=harness.divided.audit,
        policy=rig.policy,
        seed=rig.seed,
        together=together,
        least_company=rig.least_company,
        puts_off=rig.puts_off,
        against_nothing=harness.against_nothing and capsule.version > 0,
        side_by_side=harness.side_by_side,
        by_sign=harness.side_by_side and rig.experiments,
        tags={proposed.candidate: proposed.tags for proposed in proposals if proposed.tags},
        removals=frozenset(proposed.candidate for proposed in proposals if only_removes(proposed)),
    )


def base_of(rig: Rig, capsule: Capsule, beside: Sequence[Arm]) -> Arm:
    """Give the incumbent that candidates are compared with; a drafted skill is compared with none."""
    base = incumbent(rig.registry.log, capsule) if capsule.version else NO_SKILL
    if not rig.harness.side_by_side:
        return base
    return replace(base, standing=f"{base.standing} beside {' '.join(arm.digest[:16] for arm in beside)}")


@contextmanager
def runs_of(rig: Rig) -> Iterator[Runs]:
    """Make runs with versions that are written below a temporary folder, while it lasts."""
    harness = rig.harness
    bank = Bank(rig.registry.log, harness.digest, rig.registry.clock.new_id())
    with run_folder("versions-") as folder:
        executor = ThreadPoolExecutor(harness.workers)
        try:
            yield Runs(
                run=harness.runner(folder),
                prepare=lambda arm: write_arm(arm, folder),
                bank=bank,
                executor=executor,
                workers=harness.workers,
                now_s=rig.now_s,
                caps=harness.caps,
                on_progress=rig.on_progress,
                meter=rig.meter,
            )
        except BaseException:  # Ctrl-C as well: nobody waits for an agent that nobody asks any more
            harness.end_all()
            raise
        finally:
            executor.shutdown(cancel_futures=True)
            harness.close()


def register_evaluator(registry: Registry, harness: Harness) -> None:
    """Record the evaluator once, and the splits of its tasks, which the logs of these tasks follow from now on."""
    if registry.log.document("evaluator", harness.evaluator) is None:
        with registry.log.transaction():
            registry.execute(RecordFact((registration(harness.evaluator, harness.divided),)), actor="germline")
            keep_set_groups(registry, harness.divided.groups)


def freeze(rig: Rig, capsule: Capsule, contest: Contest) -> str:
    """Record the evaluator and what will be compared; returns the comparison's hash, which names its blob."""
    harness, registry = rig.harness, rig.registry
    text = comparison_text(
        contest,
        tasks=harness.tasks,
        agent=harness.agent,
        harness=harness.digest,
        provenance=harness.provenance,
    )
    with registry.log.transaction():
        register_evaluator(registry, harness)
        comparison = registry.log.put_blob(text.encode(), kind="comparison")
        for arm in contest.candidates:
            frozen = ComparisonFrozen(
                candidate=arm.name,
                capsule=capsule.name,
                base_version=capsule.version,
                comparison=comparison,
                evaluator=harness.evaluator,
                agent=harness.agent.name,
                sealed_tasks=len(contest.sealed),
                audit_tasks=len(contest.audit),
                seed=contest.seed,
            )
            registry.execute(Freeze(frozen))
    return comparison
