"""One epoch of a training: explore, propose, test in groups until nothing is left that passed and has to wait."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from registry.decide.commands import Propose
from strategies.models.tasks.training_case import Minibatch, TrainingCase, TriedChange
from strategies.propose.record_meta_notes import notes_of
from strategies.rollouts.compare.comparison import runs_of
from strategies.rollouts.compare.judge_group import try_out
from strategies.rollouts.run.runner import CapReachedError
from strategies.train.explore_runs import explored, lines_shown
from strategies.train.explore_variants import ExploreVariants
from strategies.train.minibatches import minibatches
from strategies.train.proposed_changes import (
    ProposedEdits,
    change_fitting,
    decidable,
    fingerprint_of,
    idea_of,
    is_passed_over,
    is_waiting_for_company,
    proposed_by,
    removals_of_learned_lines,
)
from strategies.train.tested_group import are_runs_short, tested_group
from strategies.train.training_plan import EPOCHS_A_ROUND, MOST_CHANGES
from strategies.train.training_proposers import PopulationProposer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.runs import Rollouts
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.models.tasks.training_case import TaskAttempt
    from strategies.train.training_plan import TrainingPlan
    from strategies.train.training_proposers import ProposedChange
    from strategies.train.training_record import TrainingRecord

_MOST_TRIED: Final = 60
"""Earlier changes that a proposer is shown, the last ones (a guess)."""


@dataclass(frozen=True)
class Epoch:
    """What an epoch came to; the lists name candidates.

    `stopped` says which cap ended it, `because` why nothing was tested.
    """

    explored: float | None
    promoted: tuple[str, ...]
    held: tuple[str, ...]
    rejected: tuple[str, ...]
    stopped: str = ""
    because: str = ""


def run_epoch(plan: TrainingPlan, record: TrainingRecord) -> Epoch:
    """Take one epoch, or go on with the one that was interrupted: what it proposed is known, and only tested.

    Raises: what running and proposing raise; a cap is part of the answer.
    """
    explored_mean, because, stopped = None, "", ""
    try:
        known_changes = _changes(plan)
        confirms = are_runs_short(plan, record) and any(is_waiting_for_company(known) for known in known_changes)
        if not confirms and not any(known.position > record.ended for known in known_changes):
            attempts = _explore(plan, record)
            explored_mean = sum(attempt.value for attempt in attempts) / len(attempts) if attempts else None
            because = _propose(plan, record, attempts, known_changes)
        stopped = _test(plan, record)
    except CapReachedError as reached:
        stopped = reached.what
    judged = [known for known in _changes(plan) if known.judged > record.ended]
    lists = {
        verdict: tuple(known.id for known in judged if known.verdict == verdict)
        for verdict in ("promote", "hold", "reject")
    }
    because = "" if judged else because or "no open change could be tested on the live version"
    return Epoch(explored_mean, lists["promote"], lists["hold"], lists["reject"], stopped, because)


def _changes(plan: TrainingPlan) -> list[Candidate]:
    """Give the candidates of the training in the order of their verdicts."""
    every = plan.rig.registry.answers(fingerprint_of(plan.training))
    return sorted(every, key=lambda known: known.judged)


def _explore(plan: TrainingPlan, record: TrainingRecord) -> list[TaskAttempt]:
    """Run the live version on explore tasks, afresh in every third epoch that looks at it.

    Given is what came of all these rounds: ideas cost less than runs, and the more failures are shown, the more
    kinds of them are answered at once. A search of a population compares its variants with one round alone.
    """
    capsule, at = plan.rig.registry.capsule(plan.skill), _round(record)
    first = at if isinstance(plan.proposer, PopulationProposer) else 0
    with runs_of(plan.rig) as runs:
        return [attempt for each in range(first, at + 1) for attempt in explored(plan.rig, runs, capsule, each)]


def _round(record: TrainingRecord) -> int:
    *before, version = record.versions_explored
    return before.count(version) // EPOCHS_A_ROUND


def _propose(
    plan: TrainingPlan, record: TrainingRecord, attempts: Sequence[TaskAttempt], before: Sequence[Candidate]
) -> str:
    """Ask for changes, and propose those that can be tested, all of them together.

    So an interrupted epoch goes on with what it proposed. Where nothing is new, it is asked whether lines that the
    training brought are missed. Returns why nothing was proposed, "" where something was.
    """
    registry, rig, number = plan.rig.registry, plan.rig, len(record.epochs) + 1
    capsule = registry.capsule(plan.skill)
    case = _case(plan, record, capsule, _unanswered(attempts, before))
    given = _suggested(plan, record, capsule, case) if case.batches else []
    known_ideas = {idea_of(known.proposed.edits) for known in before} | _refused_ideas(plan)
    tags = rig.harness.divided.sealed_tags
    proposals: list[tuple[CandidateProposed, str]] = []
    for each, standing in given:
        change, actor = each
        edits = change_fitting(capsule, change, rig.preset)
        if edits and idea_of(edits) not in known_ideas and len(proposals) < MOST_CHANGES:
            known_ideas.add(idea_of(edits))
            own = tuple(tag for tag in change.tags if tag in tags)
            proposed = ProposedEdits(edits, own, _reason(each, standing, attempts, number))
            proposals.append((proposed_by(rig, capsule, plan.training, proposed), actor))
    because = "" if proposals else _nothing_new(case, given)
    if because:
        idle = [
            edits for edits in removals_of_learned_lines(registry, capsule) if idea_of(edits) not in known_ideas
        ]
        why = f"epoch {number}: {because}; are these lines missed?"
        proposals = [
            (proposed_by(rig, capsule, plan.training, ProposedEdits(edits, (), why)), "germline")
            for edits in idle[:MOST_CHANGES]
        ]
    with registry.log.transaction():
        for candidate, actor in proposals:
            if registry.candidate(candidate.candidate) is None:
                registry.execute(Propose(candidate), actor=actor)
    return "" if proposals else because


def _suggested(
    plan: TrainingPlan, record: TrainingRecord, capsule: Capsule, case: TrainingCase
) -> list[tuple[ProposedChange, str]]:
    """Ask the proposer; give its changes, each with what the front of a population shows of it, "" without any.

    One that searches a population is lent runs on explore tasks, where there are any.
    """
    proposer = plan.proposer
    if not isinstance(proposer, PopulationProposer):
        return [(given, "") for given in proposer.propose(case)]
    if case.batches[0].kind == "metric":
        return [(given, "") for given in proposer.ideas_of.propose(case)]
    with runs_of(plan.rig) as runs:
        variants = ExploreVariants(plan, case, capsule, runs, _round(record), proposer.ideas_of)
        return [(given, variants.front.standing((given.change,))) for given in proposer.search(variants)]


def _test(plan: TrainingPlan, record: TrainingRecord) -> str:
    """Test what may be decided, in one group; what passed beside another one that was promoted once more on that.

    Few changes that their own tasks show wait for others that the same runs would confirm.
    Returns which cap was reached, "" for none.
    """
    registry, rig = plan.rig.registry, plan.rig
    capsule = registry.capsule(plan.skill)
    group, least_company, puts_off = tested_group(plan, record)
    rig = replace(rig, least_company=least_company, puts_off=puts_off)
    while group:
        tried = try_out(rig, [known.id for known in group])
        if stopped := next((runs.stopped for known in tried if (runs := _runs_of(known)) and runs.stopped), ""):
            return stopped
        before, capsule = capsule, registry.capsule(plan.skill)
        moved = capsule.version != before.version
        left = decidable(registry, plan.training, capsule, rig.preset) if moved else []
        group = [known for known in left if is_passed_over(known)]
    return ""


def _runs_of(known: Candidate) -> Rollouts | None:
    return known.scored.rollouts if known.scored else None


def _case(
    plan: TrainingPlan, record: TrainingRecord, capsule: Capsule, attempts: Sequence[TaskAttempt]
) -> TrainingCase:
    """Collect what a proposer may know; nothing of it comes from a task that decides."""
    number = len(record.epochs) + 1
    draws = random.Random(f"{plan.rig.seed}:{number}")  # noqa: S311 - a seeded draw, no secret
    batches = minibatches(attempts, plan.minibatch, draws)
    if not plan.rig.harness.divided.explore and plan.steering:
        batches = (Minibatch(kind="metric", attempts=()),)
    return TrainingCase(
        skill=capsule.name,
        epoch=number,
        seed=plan.rig.seed,
        lines=lines_shown(capsule),
        batches=batches,
        tried=_tried(plan, record),
        steering=plan.steering,
        notes=notes_of(plan.rig.registry),
        most_edits=plan.rig.preset.edit_budget.start,
        most_changes=MOST_CHANGES,
    )


def _unanswered(attempts: Sequence[TaskAttempt], known_changes: Sequence[Candidate]) -> Sequence[TaskAttempt]:
    """Leave out failures on tasks that a change which waits for company is for, unless there are no others."""
    tags = {tag for known in known_changes if is_waiting_for_company(known) for tag in known.proposed.tags}
    left = [attempt for attempt in attempts if attempt.passed or tags.isdisjoint(attempt.tags)]
    return attempts if all(attempt.passed for attempt in left) else left


def _tried(plan: TrainingPlan, record: TrainingRecord) -> tuple[TriedChange, ...]:
    """List what was decided on the skill before this epoch, with the gate's one word."""
    past = [
        TriedChange(lines=tuple(line.strip() for line in known.proposed.new_lines), verdict=_word(known))
        for known in plan.rig.registry.candidates(plan.skill)
        if known.verdict and known.judged <= record.ended and known.proposed.new_lines
    ]
    return tuple(dict.fromkeys(past))[-_MOST_TRIED:]


def _word(known: Candidate) -> Literal["promote", "reject", "hold"]:
    return "reject" if known.taken_back else known.verdict or "hold"


def _refused_ideas(plan: TrainingPlan) -> set[tuple[object, ...]]:
    """Give what was rejected under the same evaluator, by whomever it was proposed."""
    evaluator = plan.rig.harness.evaluator
    every = plan.rig.registry.candidates(plan.skill)
    return {
        idea_of(known.proposed.edits)
        for known in every
        if known.verdict == "reject" and known.proposed.evaluator == evaluator
    }


def _reason(given: ProposedChange, standing: str, attempts: Sequence[TaskAttempt], number: int) -> str:
    """Say why a change is proposed; a model's own words may quote a transcript, and stay in its reply."""
    failed = sum(not attempt.passed for attempt in attempts)
    own = "" if given.actor.startswith("model:") else given.change.reason
    seen = f"epoch {number}: {failed} of {len(attempts)} explore runs failed"
    return "; ".join(filter(None, (seen, standing, own)))


def _nothing_new(case: TrainingCase, given: Sequence[object]) -> str:
    if not case.batches:
        return "there was no run on an explore task to learn from"
    return (
        f"none of {len(given)} suggested changes is new and fits the skill" if given else "nothing was suggested"
    )
