"""Research: propose an experiment, measure it beside what there is, keep it or put it back; again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from events.errors import NotFoundError
from events.types.research_events import ExperimentProposed, ExperimentUndone, ResearchStarted
from registry.actions.publish import require_unedited
from registry.decide.commands import RecordFact
from strategies.models.tasks.ask_research import suggest_experiment
from strategies.models.tasks.research_case import PastExperiment, ResearchCase, SuggestedExperiment
from strategies.research.metric_noise import measure_noise
from strategies.research.research_plan import HOUR_S, TIME_SETTING
from strategies.research.research_record import research_record, research_records
from strategies.research.research_surface import changed_files, surface_before, surface_now, write_file
from strategies.research.run_experiment import (
    as_decided,
    candidate_of,
    ended,
    propose,
    run_experiment,
)
from strategies.rollouts.compare.comparison import runs_of
from strategies.rollouts.run.runner import CapReachedError
from strategies.train.explore_runs import explored
from strategies.train.training_proposers import ReflectProposer, read_answer
from strategies.train.training_record import asked_usd

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.types.research_events import ExperimentEnded
    from registry.registry import Registry
    from strategies.models.tasks.training_case import TaskAttempt
    from strategies.research.research_plan import ResearchPlan
    from strategies.research.research_record import Experiment, ResearchRecord
    from strategies.research.research_surface import ResearchTarget, Surface
    from strategies.rollouts.compare.comparison import Rig

_MOST_REASON_CHARS = 300
_MOST_PAST = 60
"""Earlier experiments that a proposer is shown, the last ones (a guess)."""
_EXAMPLE = '{"reason": "…", "edits": [{"path": "scripts/tool.py", "find": "…", "replace": "…"}]}'


@dataclass(frozen=True)
class ResearchEnd:
    """How a run of the command ended: the research as far as it went, and why it does not go on by itself."""

    record: ResearchRecord
    why: str


def research(plan: ResearchPlan, on_end: Callable[[ResearchRecord], None] = lambda _: None) -> ResearchEnd:
    """Research files, from where the same research stopped, and tell of it as each experiment ends.

    Raises: what running and proposing raise; everything up to there is kept.
    """
    registry, began_s, since = plan.rig.registry, plan.rig.now_s(), plan.rig.registry.log.head().position
    record = _begun(plan)
    while True:
        if len(record.ended) >= plan.experiments:
            return ResearchEnd(
                record, f"all {plan.experiments} experiments have ended: a higher --experiments goes on"
            )
        left_s = plan.hours * HOUR_S - (plan.rig.now_s() - began_s)
        if plan.hours and left_s <= 0:
            return ResearchEnd(record, f"--hours {plan.hours:g} are over: the same command goes on from there")
        asked = asked_usd(registry, since)
        spent = plan.rig.meter.cost_usd + asked
        if plan.usd and spent >= plan.usd:
            return ResearchEnd(
                record, f"--max-usd {plan.usd:g} is reached, {spent:.2f} USD are spent: the same command goes on"
            )
        try:
            end = _next_experiment(replace(plan, rig=_within(plan, left_s, plan.usd and plan.usd - asked)), record)
        except CapReachedError as reached:
            return ResearchEnd(_read(plan), reached.what)
        if end is None:
            return ResearchEnd(_read(plan), "rest: the proposer suggests nothing more")
        registry.execute(RecordFact((end,)), actor="germline")
        record = _read(plan)
        on_end(record)


def _within(plan: ResearchPlan, left_s: float, for_runs_usd: float) -> Rig:
    """Give the rig for one experiment: its time counts from now, what runs cost counts for all of them."""
    caps, meter = plan.rig.harness.caps, plan.rig.meter
    meter.began_s = plan.rig.now_s()
    if plan.hours and (not caps.time_s or left_s < caps.time_s):
        caps = replace(caps, time_s=left_s, time_setting="--hours")
    own_s = plan.experiment_s
    if own_s and (not caps.time_s or own_s < caps.time_s):
        caps = replace(caps, time_s=own_s, time_setting=TIME_SETTING)
    if for_runs_usd and (not caps.cost_usd or for_runs_usd < caps.cost_usd):
        caps = replace(caps, cost_usd=for_runs_usd, cost_setting="--max-usd")
    return replace(plan.rig, harness=replace(plan.rig.harness, caps=caps))


def _read(plan: ResearchPlan) -> ResearchRecord:
    record = research_record(plan.rig.registry, plan.research)
    assert record is not None  # noqa: S101 - it began before anything reads it
    return record


def _begun(plan: ResearchPlan) -> ResearchRecord:
    """Find where the research began, or write down that it begins here."""
    registry = plan.rig.registry
    if research_record(registry, plan.research) is None:
        with registry.log.transaction():
            surface = surface_now(registry, plan.target)
            started = ResearchStarted(
                research=plan.research,
                target=plan.target.name,
                kind="file" if plan.target.file else "skill",
                surface=tuple(entry.path for entry in surface.files),
                measured_by=plan.measured_by,
                proposer=plan.proposer.name,
            )
            registry.execute(RecordFact((started,)))
    return _read(plan)


def _next_experiment(plan: ResearchPlan, record: ResearchRecord) -> ExperimentEnded | None:
    """Take the experiment that was interrupted, or propose another one, and decide on it; None for no idea."""
    registry, pending = plan.rig.registry, record.pending
    if pending and pending.proposed.candidate:
        known = registry.candidate(pending.proposed.candidate)
        if known is not None and known.is_decided:
            return as_decided(pending.proposed, known)
    if plan.target.file is None:
        require_unedited(registry, plan.target.name)
    with registry.log.transaction():
        surface = surface_now(registry, plan.target)
    if pending and not pending.proposed.after:
        return ended(pending.proposed, "refused", ("it could not be applied",))
    if pending and surface.files != pending.proposed.before:
        if plan.target.file is None or surface.files != pending.proposed.after:
            return ended(pending.proposed, "refused", ("the files were changed since it was proposed",))
        surface = surface_before(registry.log, surface, pending.proposed.before)  # written, and stopped right then
    if plan.metric is not None and surface.content not in record.noise:
        noise = measure_noise(plan.rig, surface, plan.research)
        registry.execute(RecordFact((noise,)), actor="germline")
        plan.rig.meter.began_s = plan.rig.now_s()  # which is no part of the experiment's time
    if pending:
        return run_experiment(plan, surface, pending.proposed)
    return _propose_and_run(plan, surface, record)


def _propose_and_run(plan: ResearchPlan, surface: Surface, record: ResearchRecord) -> ExperimentEnded | None:
    """Ask for an experiment, write it down, and run it where it can be applied."""
    rig, log, number = plan.rig, plan.rig.registry.log, len(record.experiments) + 1
    attempts = _attempts(plan, surface)
    suggested, actor = _asked(plan, _case(plan, surface, record, attempts))
    if not suggested.edits:
        return None
    with log.transaction():
        after, problem = changed_files(log, surface, suggested)
        if not problem and (same := _same(record, surface.files, after)):
            problem = f"it is what experiment {same.proposed.experiment} was"
        reason = "" if attempts and actor.startswith("model:") else suggested.reason  # it may quote a transcript
        change = candidate_of(rig, surface, after, reason[:_MOST_REASON_CHARS])
        inside = bool(after) and not problem and plan.target.file is None
        proposed = ExperimentProposed(
            research=plan.research,
            experiment=number,
            before=surface.files,
            after=() if problem else after,
            reason=change.reason,
            candidate=change.candidate if inside else "",
        )
        if inside:
            propose(rig, change, actor)
        rig.registry.execute(RecordFact((proposed,)), actor=actor)
    return ended(proposed, "refused", (problem,)) if problem else run_experiment(plan, surface, proposed)


def _same(record: ResearchRecord, before: object, after: object) -> Experiment | None:
    """Find an experiment that made the same of the same files."""
    return next(
        (known for known in record.ended if (known.proposed.before, known.proposed.after) == (before, after)), None
    )


def _attempts(plan: ResearchPlan, surface: Surface) -> tuple[TaskAttempt, ...]:
    """Run the live version on explore tasks, where that was not done yet; a metric has none."""
    if plan.metric is not None or not plan.rig.harness.divided.explore:
        return ()
    with runs_of(plan.rig) as runs:
        return tuple(explored(plan.rig, runs, surface.base, 0))


def _case(
    plan: ResearchPlan, surface: Surface, record: ResearchRecord, attempts: tuple[TaskAttempt, ...]
) -> ResearchCase:
    """Collect what a proposer may know; of tasks that decide it is the gate's one word."""
    shown = plan.metric is not None
    past = [
        PastExperiment(
            experiment=known.proposed.experiment,
            paths=tuple(entry.path for entry in known.proposed.after),
            reason=known.proposed.reason,
            verdict=known.ended.verdict,
            why=known.ended.reasons[0] if known.ended.reasons and (shown or known.ended.e_value is None) else "",
            before=known.ended.before if shown else None,
            after=known.ended.after if shown else None,
        )
        for known in record.experiments
        if known.ended
    ]
    return ResearchCase(
        target=plan.target.name,
        experiment=len(record.experiments) + 1,
        seed=plan.rig.seed,
        measured_by=plan.measured_by,
        steering=plan.steering,
        files=surface.shown(plan.rig.preset.trust_region),
        attempts=attempts,
        past=tuple(past[-_MOST_PAST:]),
    )


def _asked(plan: ResearchPlan, case: ResearchCase) -> tuple[SuggestedExperiment, str]:
    """Ask the proposer for an experiment; gives who had the idea beside it."""
    proposer = plan.proposer
    if isinstance(proposer, ReflectProposer):
        proposer.model.begin_cycle()
        reply = suggest_experiment(proposer.model, case)
        return reply.answer, reply.actor
    return read_answer(
        proposer.name, proposer.answer(case), SuggestedExperiment, _EXAMPLE
    ), f"proposer:{proposer.name}"


def approve(
    registry: Registry, target: ResearchTarget, number: int, reason: str, *, dry_run: bool = False
) -> ExperimentEnded:
    """Write what a held experiment makes of a file outside of any skill, by a person's word: nothing is measured.

    Raises: NotFoundError where none of that number is held; RefusedError where the file was edited since.
    """
    every = [known for record in research_records(registry, target.name) for known in record.ended]
    held = {known.proposed.experiment: known.proposed for known in every if known.is_held}
    if number not in held:
        listed = ", ".join(map(str, sorted(held))) or "none is"
        raise NotFoundError(
            f"experiment {number} on {target.name} is not held; held: {listed}",
            hint=f"germline research {target.name} --status",
        )
    proposed = held[number]
    write_file(registry.log, target, proposed.before[0], proposed.after[0], dry_run=dry_run)
    end = ended(proposed, "kept", (f"approved by a person, not measured: {reason}",))
    registry.execute(RecordFact((end,)))
    return end


def undo(registry: Registry, target: ResearchTarget, reason: str, *, dry_run: bool = False) -> ExperimentUndone:
    """Take back the last kept experiment on a file outside of any skill: it is again what it was before.

    Raises: NotFoundError where none is kept; RefusedError where the file was edited since.
    """
    every = [known for record in research_records(registry, target.name) for known in record.experiments]
    kept = [known for known in every if known.in_force]
    if not kept:
        raise NotFoundError(
            f"no experiment on {target.name} is kept", hint=f"germline research {target.name} --status"
        )
    last = max(kept, key=lambda known: known.position).proposed
    write_file(registry.log, target, last.after[0], last.before[0], dry_run=dry_run)
    undone = ExperimentUndone(research=last.research, experiment=last.experiment, reason=reason)
    registry.execute(RecordFact((undone,)))
    return undone
