"""Common practice beside it: greedy edits, kept where the mean over the validation tasks rises."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.train.world import Ideas, World
    from strategies.rollouts.compare.task_division import DividedTasks
    from strategies.rollouts.tasks.task import RolloutTask


@dataclass
class MeanRises:
    """Runs some tasks, has an idea, runs all other tasks with it once, and keeps it where their mean is higher.

    It divides the tasks as the registry does: what is sealed or audit there is the validation here. What it
    measured of the text that won stays the score to beat, lucky or not.
    """

    world: World
    ideas: Ideas
    divided: DividedTasks
    minibatch: int
    text: str = ""
    runs: int = 0
    draws: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self.draws.seed(f"greedy {self.world.seed}")
        self._best = -1.0

    def until(self, most_runs: int) -> None:
        """Go on until as many runs are made."""
        validation = (*self.divided.sealed, *self.divided.audit)
        while self.runs < most_runs:
            if self._best < 0:
                self._best = self._mean(self.text, validation)
            shown = self.draws.sample(self.divided.explore, min(self.minibatch, len(self.divided.explore)))
            failed = [(task.id, self.world.kind_of(task)) for task in shown if not self._passes(self.text, task)]
            if not failed:
                continue
            line, _ = self.ideas.idea(self.draws, self.text, failed)
            changed = f"{self.text}{line}\n"
            score = self._mean(changed, validation)
            if score > self._best:
                self.text, self._best = changed, score

    def _mean(self, text: str, tasks: Sequence[RolloutTask]) -> float:
        return sum(self._passes(text, task) for task in tasks) / len(tasks)

    def _passes(self, text: str, task: RolloutTask) -> bool:
        self.runs += 1
        return self.world.passes(text, task, "greedy", self.runs)
