"""The runs that a proposer may see: the live version on explore tasks, as attempts in minibatches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.types.candidate_events import TRAINER
from strategies.models.tasks.training_case import FailedLayer, SkillLineShown, TaskAttempt
from strategies.rollouts.compare.comparison import base_of
from strategies.rollouts.compare.rounds import in_random_order
from strategies.rollouts.run.agent_sessions import work_done, work_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.sql_log import EventLog
    from registry.state.capsule import Capsule
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask


def explored(rig: Rig, runs: Runs, capsule: Capsule, at: int) -> list[TaskAttempt]:
    """Run the live version once on each explore task, in the round `at`; raises as `attempts_of`."""
    return attempts_of(rig, runs, base_of(rig, capsule, ()), rig.harness.divided.explore, at)


def attempts_of(rig: Rig, runs: Runs, arm: Arm, tasks: Sequence[RolloutTask], at: int) -> list[TaskAttempt]:
    """Run a version once on each of these tasks, in the round `at`, and give what came of it.

    Runs that infrastructure lost, or that were tampered with, are left out. Raises: what `Runs.make` raises.
    """
    runs.make([replace(job, watch=work_done) for job in in_random_order((arm,), tasks, [at], rig.seed)])
    made = [(task, runs.of(arm, task, (at,))[0]) for task in tasks]
    return [_attempt(rig.registry.log, task, trial) for task, trial in made if trial and not trial.tampered]


def _attempt(log: EventLog, task: RolloutTask, trial: Trial) -> TaskAttempt:
    failed = [layer for layer in trial.layers if layer.counts and not layer.passed]
    return TaskAttempt(
        task=task.id,
        prompt=task.prompt,
        tags=task.tags,
        value=trial.value,
        passed=_has_passed(trial),
        failed_layers=tuple(
            FailedLayer(name=layer.name, value=layer.value, threshold=layer.threshold, note=layer.note)
            for layer in failed
        ),
        failed_anchors=trial.failed_anchors,
        note=trial.note,
        work=work_shown(log, trial),
    )


def _has_passed(trial: Trial) -> bool:
    """Tell whether there is nothing to mend: every layer that counts passed and every anchor holds."""
    counting = [layer for layer in trial.layers if layer.counts]
    graded = all(layer.passed for layer in counting) if counting else trial.value >= 1.0
    return trial.status == "done" and graded and not trial.failed_anchors


def lines_shown(capsule: Capsule) -> tuple[SkillLineShown, ...]:
    """Give the lines of a skill as a proposer is shown them, those that it may not change marked as protected."""
    return tuple(
        SkillLineShown(
            gene=gene.id,
            line=line.id,
            text=line.text.rstrip("\r\n"),
            protected=not gene.is_open(line.id, by=TRAINER),
        )
        for gene in capsule.genes
        for line in gene.lines
    )
