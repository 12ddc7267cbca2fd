"""Variants of the live version, run on explore tasks: what a proposer that searches a population may do."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from registry.decide.promote import edited
from strategies.propose.suggestion_checks import fit_together
from strategies.rollouts.run.arms import challenger
from strategies.train.explore_front import ExploreFront
from strategies.train.explore_runs import attempts_of, lines_shown
from strategies.train.minibatches import minibatches
from strategies.train.proposed_changes import ProposedEdits, change_fitting, proposed_by
from strategies.train.training_proposers import scrubbed_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.parts import Edit
    from registry.state.capsule import Capsule
    from strategies.models.tasks.training_case import TaskAttempt, TrainingCase, TrainingChange
    from strategies.rollouts.run.runner import Runs
    from strategies.train.training_plan import TrainingPlan
    from strategies.train.training_proposers import TrainingProposer

MOST_ASKED: Final = 1_000
"""Seeds are this far apart, so that no two cases of an epoch draw alike."""


@dataclass
class ExploreVariants:
    """Runs variants, and asks for ideas about them; a variant is the live version with some changes.

    Nothing of a task that decides is reached from here. `at` is the round of the explore runs, which are found
    again where they were made before. `actors` remembers who had an idea.
    """

    plan: TrainingPlan
    case: TrainingCase
    capsule: Capsule
    runs: Runs
    at: int
    ideas_of: TrainingProposer
    front: ExploreFront = field(default_factory=ExploreFront)
    actors: dict[TrainingChange, str] = field(default_factory=dict)
    _asked: int = 0

    def __post_init__(self) -> None:
        self.case = scrubbed_case(self.case)
        self.front.add((), (attempt for batch in self.case.batches for attempt in batch.attempts))

    def fits(self, changes: Sequence[TrainingChange]) -> bool:
        """Tell whether the live version may be run with these changes: they fit together, lint refuses none."""
        return not changes or bool(self._edits(changes))

    def run(self, changes: Sequence[TrainingChange], tasks: Sequence[str]) -> list[TaskAttempt]:
        """Run a variant once on some explore tasks, for the front as well; none where its changes do not fit.

        Runs that infrastructure lost are left out. Raises: CapReachedError, which ends the search as well.
        """
        edits = self._edits(changes)
        if not edits or not tasks:
            return []
        plan = self.plan
        proposed = proposed_by(plan.rig, self.capsule, plan.training, ProposedEdits(edits, (), ""))
        arm = challenger(plan.rig.registry.log, self.capsule, proposed)
        own = [task for task in plan.rig.harness.divided.explore if task.id in tasks]
        attempts = [scrubbed_case(attempt) for attempt in attempts_of(plan.rig, self.runs, arm, own, self.at)]
        self.front.add(tuple(changes), attempts)
        return attempts

    def ideas(
        self, changes: Sequence[TrainingChange] = (), attempts: Sequence[TaskAttempt] = ()
    ) -> list[TrainingChange]:
        """Ask for changes of a variant from some of its runs; without any, for those of the case as it is.

        Lines that the variant brings are shown as protected: what is suggested can be made to the live version.
        What was tried before is left out.
        """
        case = self._case_of(changes, attempts) if attempts else self.case
        given = self.ideas_of.propose(case)
        for change, actor in given:
            self.actors.setdefault(change, actor)
        tried = {past.lines for past in self.case.tried}
        return [change for change, _ in given if tuple(edit.text.strip() for edit in change.edits) not in tried]

    def _case_of(self, changes: Sequence[TrainingChange], attempts: Sequence[TaskAttempt]) -> TrainingCase:
        self._asked += 1
        draws = random.Random(f"{self.case.seed}:{self.case.epoch}:{self._asked}")  # noqa: S311 - no secret
        known = {(gene.id, line.id) for gene in self.capsule.genes for line in gene.lines}
        lines = [
            line if (line.gene, line.line) in known else line.model_copy(update={"protected": True})
            for line in lines_shown(edited(self.capsule, self._edits(changes)))
        ]
        batches = minibatches(attempts, self.plan.minibatch, draws)
        seed = self.case.seed * MOST_ASKED + self._asked
        return self.case.model_copy(update={"lines": tuple(lines), "batches": batches, "seed": seed})

    def _edits(self, changes: Sequence[TrainingChange]) -> tuple[Edit, ...]:
        """Give the edits of all changes, () where one does not fit, or not beside the others."""
        fitting = [change_fitting(self.capsule, change, self.plan.rig.preset) for change in changes]
        edits = tuple(edit for part in fitting for edit in part)
        return edits if all(fitting) and fit_together(self.capsule, edits) else ()
