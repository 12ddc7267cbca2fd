"""One experiment: what its text is refused or held for, its guards, its measurement, and what is kept of it."""

from __future__ import annotations

import random
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.candidate_events import CandidateProposed
from events.types.parts import FileEdit
from events.types.research_events import RESEARCHER, ExperimentEnded
from registry.actions.publish import publish, require_unedited
from registry.decide.commands import Propose
from strategies.gate.rule import failed
from strategies.gate.verdict import Verdict
from strategies.research.research_plan import TIME_SETTING
from strategies.research.research_surface import write_file
from strategies.rollouts.compare.comparison import compared, contest_of, runs_of
from strategies.rollouts.compare.judge_group import record, text_rules_of
from strategies.rollouts.compare.metric import MetricRunner, guard_problem
from strategies.rollouts.compare.rounds import hold_contest
from strategies.rollouts.compare.settle import Settled, rollout_candidate_id
from strategies.rollouts.run.arms import challenger, incumbent, write_arm
from strategies.rollouts.run.runner import CapReachedError
from strategies.sandbox.confined_run import run_folder
from strategies.train.proposed_changes import strategy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.parts import FileEntry
    from events.types.research_events import ExperimentProposed, ExperimentVerdict
    from registry.state.candidate import Candidate
    from strategies.research.research_plan import ResearchPlan
    from strategies.research.research_surface import Surface
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.run.trial import Trial

_GUARD_SEEDS: Final = 3
"""Seeds that each guard is asked with (a guess)."""


_FAILS: Final = "it fails in {} of {} runs, where the files as they were fail in {}"


class _Measured(NamedTuple):
    """What the runs of an experiment show; `stopped` names the cap that ended them, `settled` is for the log."""

    verdict: Verdict
    before: float | None
    after: float | None
    e_value: float
    stopped: str
    settled: Settled | None


def candidate_of(rig: Rig, surface: Surface, after: Sequence[FileEntry], reason: str) -> CandidateProposed:
    """Write what an experiment makes of files down as a candidate, for the gate to hold to all of its rules."""
    evaluator = rig.harness.evaluator
    change = CandidateProposed(
        candidate="",
        capsule=surface.base.name,
        base_version=surface.base.version,
        strategy=strategy_of(rig.preset),
        preset=rig.preset.name,
        proposer=RESEARCHER,
        fingerprint=RESEARCHER,
        edits=(),
        claims=(),
        triggers=(),
        reason=reason,
        evaluator=evaluator,
        files=tuple(FileEdit(path=entry.path, entry=entry) for entry in after),
    )
    return change.model_copy(update={"candidate": rollout_candidate_id(surface.base, change, evaluator)})


def run_experiment(plan: ResearchPlan, surface: Surface, proposed: ExperimentProposed) -> ExperimentEnded:
    """Decide on an experiment, and bring what is kept to where it belongs; `surface` is what it was proposed for.

    Nothing of it is run where its text is refused, or asks for a person. Raises: CapReachedError for a cap other
    than the time that each experiment has; what running raises. Finished runs are kept.
    """
    rig = plan.rig
    change = candidate_of(rig, surface, proposed.after, proposed.reason)
    decision, missing = failed(text_rules_of(rig, surface.base, change))
    if decision != "promote":
        return ended(proposed, "refused" if decision == "reject" else "held", missing)
    if problem := _broken_guard(plan, surface, change, proposed.experiment):
        return ended(proposed, "reverted", (problem,))
    made_before = rig.meter.runs
    measured = _measured(rig, surface, change, outside=bool(plan.target.file))
    if measured.stopped and TIME_SETTING not in measured.stopped:
        raise CapReachedError(measured.stopped)
    reasons = (f"not shown in its {plan.experiment_s:,.0f} s",) if measured.stopped else measured.verdict.reasons
    if measured.settled is not None:
        require_unedited(rig.registry, plan.target.name)
        end = as_decided(proposed, record(rig, surface.base, measured.settled))
        if end.version is not None:
            publish(rig.registry, plan.target.name)
    else:
        kept = measured.verdict.decision == "promote"
        if kept:
            write_file(rig.registry.log, plan.target, proposed.before[0], proposed.after[0])
        end = ended(proposed, "kept" if kept else "reverted", reasons)
    return end.model_copy(
        update={
            "before": measured.before,
            "after": measured.after,
            "e_value": measured.e_value,
            "runs": rig.meter.runs - made_before,
        }
    )


def ended(proposed: ExperimentProposed, verdict: ExperimentVerdict, reasons: Sequence[str]) -> ExperimentEnded:
    """Write down how an experiment ended of which nothing was measured."""
    return ExperimentEnded(
        research=proposed.research,
        experiment=proposed.experiment,
        verdict=verdict,
        reasons=tuple(reasons),
        before=None,
        after=None,
        e_value=None,
        runs=0,
    )


def as_decided(proposed: ExperimentProposed, known: Candidate) -> ExperimentEnded:
    """Write down how an experiment ended whose candidate has a verdict."""
    end = ended(proposed, "kept" if known.verdict == "promote" else "reverted", known.reasons)
    return end.model_copy(update={"version": known.version})


def _broken_guard(plan: ResearchPlan, surface: Surface, change: CandidateProposed, experiment: int) -> str:
    """Say which guard of the metric does not hold, "" where all do, or there is none."""
    if plan.metric is None or not plan.metric.file.guards:
        return ""
    unknown = plan.rig.registry.about().split_key  # to a proposer: no answer is learned by heart
    draws = random.Random(f"{unknown}:{plan.rig.seed}:{experiment}")  # noqa: S311 - draws that can be made again
    seeds = [draws.randrange(2**31) for _ in range(_GUARD_SEEDS)]
    log = plan.rig.registry.log
    arms = incumbent(log, surface.base), challenger(log, surface.base, change)
    with run_folder("versions-") as folder:
        for arm in arms:
            write_arm(arm, folder)
        return guard_problem(MetricRunner(plan.metric, plan.policy, folder), *arms, seeds)


def _measured(rig: Rig, surface: Surface, change: CandidateProposed, *, outside: bool) -> _Measured:
    """Run what an experiment changes beside what it was, until the gate has a verdict or a cap is reached."""
    with runs_of(rig) as runs:
        if outside:
            end = hold_contest(contest_of(rig, surface.base, [change]), runs)[change.candidate]
            verdict, last, stopped, settled = end.verdict, end.last, end.facts.stopped, None
        else:
            result = compared(rig, runs, surface.base, [change])[change.candidate]
            verdict, last, stopped = result.verdict, result.last, result.measurement.rollouts.stopped
        sides = (last.pairing.before, last.pairing.after)
        before, after = (
            [trial for task in last.tasks for trial in side(runs, task, last.span) if trial] for side in sides
        )
    if rig.harness.side_by_side and verdict.decision == "promote" and _failures(after) > _failures(before):
        text = _FAILS.format(_failures(after), len(after), _failures(before))
        verdict = Verdict("reject", (text, *verdict.reasons))
    if not outside:
        settled = Settled(change, verdict, result.measurement)
    return _Measured(verdict, _middle(before), _middle(after), last.looked.figures.e_value, stopped, settled)


def _failures(trials: Sequence[Trial]) -> int:
    """Count the runs in which a metric gave no number: that is worse than any number."""
    return sum(trial.number is None for trial in trials)


def _middle(trials: Sequence[Trial]) -> float | None:
    """Give the median number of a metric, or the mean outcome where tasks decide; None where there is none."""
    numbers = [trial.number for trial in trials if trial.number is not None]
    if numbers:
        return median(numbers)
    graded = [trial.value for trial in trials if trial.status == "done" and trial.layers]
    return sum(graded) / len(graded) if graded else None


def propose(rig: Rig, change: CandidateProposed, actor: str) -> None:
    """Propose an experiment's candidate, unless the same is known."""
    if rig.registry.candidate(change.candidate) is None:
        rig.registry.execute(Propose(change), actor=actor)
