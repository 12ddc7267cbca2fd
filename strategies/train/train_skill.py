"""Training: run explore tasks, let somebody propose, test on sealed tasks, promote; again until budget or rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from events.types.training_events import TrainingEpochEnded, TrainingStarted
from registry.actions.publish import publish, require_unedited
from registry.decide.commands import RecordFact
from strategies.rollouts.compare.comparison import register_evaluator, require_sound, runs_of
from strategies.train.epoch import run_epoch
from strategies.train.proposed_changes import decidable
from strategies.train.training_record import asked_usd, banked, record_of, size_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.registry import Registry
    from strategies.rollouts.run.runner import Meter, RunCaps
    from strategies.train.epoch import Epoch
    from strategies.train.training_plan import TrainingCaps, TrainingPlan
    from strategies.train.training_record import TrainingRecord

_HOUR_S: Final = 3_600.0
_LEAST_USD: Final = 1e-9
"""What is left where nothing is: 0 would be no cap."""


@dataclass(frozen=True)
class TrainingEnd:
    """How a run of the command ended: the training as far as it went, and why it does not go on by itself."""

    record: TrainingRecord
    why: str


@dataclass
class _Spending:
    """What a training has spent: before this command, by the bank and the events of models, and since.

    The `meter` may have counted other runs before: only what comes is added.
    """

    registry: Registry
    record: TrainingRecord
    meter: Meter

    def __post_init__(self) -> None:
        before, started = banked(self.registry), self.record.started
        self._runs = max(before.runs - started.banked_runs, 0) - self.meter.runs
        self._usd = max(before.usd - started.banked_usd, 0.0) - self.meter.cost_usd

    @property
    def runs(self) -> int:
        """The runs of the training so far."""
        return self._runs + self.meter.runs

    @property
    def usd(self) -> float:
        """What its runs and its proposer cost so far."""
        return self._usd + self.meter.cost_usd + asked_usd(self.registry, self.record.began)

    def left(self, caps: TrainingCaps, own: RunCaps) -> RunCaps:
        """Give the caps of this command's runs, in the terms of its meter; those of the settings hold as well."""
        limits = replace(own, runs=max(caps.runs - self._runs, 1) if caps.runs else 0)
        usd = max(caps.usd - self.usd + self.meter.cost_usd, _LEAST_USD)
        if caps.usd and (not own.cost_usd or usd < own.cost_usd):
            limits = replace(limits, cost_usd=usd, cost_setting="--max-usd")
        seconds = caps.hours * _HOUR_S
        if seconds and (not own.time_s or seconds < own.time_s):
            limits = replace(limits, time_s=seconds, time_setting="--hours")
        return limits

    def reached(self, caps: TrainingCaps, seconds: float) -> str:
        """Say which cap is reached, "" while none is; this command took so many seconds."""
        if caps.runs and self.runs >= caps.runs:
            return f"--max-runs {caps.runs:,} is reached: a higher one goes on from there"
        if caps.usd and self.usd >= caps.usd:
            return (
                f"--max-usd {caps.usd:g} is reached, {self.usd:.2f} USD are spent: a higher one goes on from there"
            )
        if caps.hours and seconds >= caps.hours * _HOUR_S:
            return f"--hours {caps.hours:g} are over: the same command goes on from there"
        return ""


def train(plan: TrainingPlan, on_epoch: Callable[[TrainingRecord], None] = lambda _: None) -> TrainingEnd:
    """Train a skill, from where the same training stopped, and tell of it as each epoch ends.

    What was run, asked and judged before is kept: nothing is paid for twice. Raises: what running and proposing
    raise; everything up to there is kept.
    """
    registry, record = plan.rig.registry, _begun(plan)
    spending = _Spending(registry, record, plan.rig.meter)
    began_s = plan.rig.meter.began_s = plan.rig.now_s()
    while True:
        why = at_rest(plan, record) or spending.reached(plan.caps, plan.rig.now_s() - began_s)
        if why:
            return TrainingEnd(record, why)
        require_unedited(registry, plan.skill)
        harness = replace(plan.rig.harness, caps=spending.left(plan.caps, plan.rig.harness.caps))
        epoch = run_epoch(replace(plan, rig=replace(plan.rig, harness=harness)), record)
        if epoch.promoted:
            publish(registry, plan.skill)
        if epoch.stopped and not (epoch.promoted or epoch.held or epoch.rejected):
            return TrainingEnd(record, epoch.stopped)
        record = _recorded(plan, record, epoch, spending)
        on_epoch(record)
        if epoch.stopped:
            return TrainingEnd(record, epoch.stopped)


def _begun(plan: TrainingPlan) -> TrainingRecord:
    """Find where the training began, or check its tasks and write down that it begins here."""
    registry, harness = plan.rig.registry, plan.rig.harness
    known = record_of(registry, plan.training)
    if known is not None:
        return known
    capsule, divided = registry.capsule(plan.skill), harness.divided
    with runs_of(plan.rig) as runs:
        require_sound(harness, (*divided.explore, *divided.sealed, *divided.audit), runs)
    before = banked(registry)
    started = TrainingStarted(
        training=plan.training,
        capsule=capsule.name,
        version=capsule.version,
        evaluator=harness.evaluator,
        agent=harness.agent.name,
        proposer=plan.proposer.name,
        explore=len(divided.explore),
        sealed=len(divided.sealed),
        audit=len(divided.audit),
        banked_runs=before.runs,
        banked_usd=before.usd,
    )
    with registry.log.transaction():
        register_evaluator(registry, harness)  # what is explored now may never decide later
        registry.execute(RecordFact((started,)))
    return _begun(plan)


def at_rest(plan: TrainingPlan, record: TrainingRecord) -> str:
    """Say why there is nothing more to do, "" while there is."""
    if len(record.epochs) >= plan.epochs:
        return f"all {plan.epochs} epochs are over: a higher --epochs goes on"
    last = record.epochs[-plan.patience :]
    if len(last) < plan.patience or any(epoch.promoted for epoch in last):
        return ""
    registry = plan.rig.registry
    if decidable(registry, plan.training, registry.capsule(plan.skill), plan.rig.preset):
        return ""
    unchanged = f"{plan.patience} epochs in a row changed nothing"
    return f"rest: {unchanged}, and no held change is left that more runs could decide"


def _recorded(plan: TrainingPlan, record: TrainingRecord, epoch: Epoch, spending: _Spending) -> TrainingRecord:
    registry = plan.rig.registry
    capsule = registry.capsule(plan.skill)
    lines, tokens = size_of(capsule)
    ended = TrainingEpochEnded(
        training=plan.training,
        capsule=plan.skill,
        epoch=len(record.epochs) + 1,
        version=capsule.version,
        explored=epoch.explored,
        promoted=epoch.promoted,
        held=epoch.held,
        rejected=epoch.rejected,
        lines=lines,
        tokens=tokens,
        runs=spending.runs,
        cost_usd=spending.usd,
        because=epoch.stopped or epoch.because,
    )
    registry.execute(RecordFact((ended,)), actor="germline")
    return record_of(registry, plan.training) or record
