"""What a contest compares, on which tasks and by which rule; fixed before its first run."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from strategies.gate.aimed_rule import LEAST_AIMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strategies.policy.written_rules import RolloutPolicy
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.tasks.task import RolloutTask

PART_TASKS: Final = 30
"""Sealed tasks that a fresh round runs, about: of more every block of rounds runs another part. Twelve rounds of
so many tell what a line gains over all of them, and larger sets do not make a line dearer."""


@dataclass(frozen=True)
class Contest:
    """What is compared on what; fixed before the first run.

    `sealed` tasks decide, `audit` tasks are run for those that would be promoted, and only reported. `tags` are
    those of the tasks that candidates are for, by their names: they are run there first; `removals` only take
    lines away. With `against_nothing` those that would be promoted are run against no skill too, which may veto.
    With `side_by_side` the arms of a task start together, and nothing else runs beside them; with `by_sign` it
    counts which of both is better, and not by how much. `together` gives the version that holds several
    candidates, by their names; fewer than `least_company` that their own tasks show wait, and with `puts_off`
    what these do not show soon is held before it is decided.
    """

    incumbent: Arm
    candidates: tuple[Arm, ...]
    sealed: tuple[RolloutTask, ...]
    audit: tuple[RolloutTask, ...]
    policy: RolloutPolicy
    seed: int
    together: Callable[[frozenset[str]], Arm]
    least_company: int = 1
    puts_off: bool = False
    against_nothing: bool = True
    side_by_side: bool = False
    by_sign: bool = False
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    removals: frozenset[str] = frozenset()

    def aim(self, arm: Arm) -> tuple[RolloutTask, ...]:
        """Give the sealed tasks that a candidate is for; none where there are too few, or all are, to aim at."""
        own = () if arm.name in self.removals else tagged(self.sealed, self.tags.get(arm.name, ()))
        return own if LEAST_AIMED <= len(own) < len(self.sealed) and not self.side_by_side else ()

    @cached_property
    def parts(self) -> tuple[frozenset[str], ...]:
        """The parts that fresh rounds run in turn: sealed and audit tasks by their ids, of each tag as many."""
        parts = max(round(len(self.sealed) / PART_TASKS), 1)
        draws = random.Random(f"parts:{self.seed}")  # noqa: S311 - an order, no secret
        both = [draws.sample(tasks, len(tasks)) for tasks in (self.sealed, self.audit)]
        dealt = [sorted(tasks, key=lambda task: task.tags) for tasks in both]
        return tuple(frozenset(task.id for tasks in dealt for task in tasks[at::parts]) for at in range(parts))


def tagged(tasks: Iterable[RolloutTask], tags: Iterable[str]) -> tuple[RolloutTask, ...]:
    """Give the tasks that have one of some tags."""
    wanted = frozenset(tags)
    return tuple(task for task in tasks if not wanted.isdisjoint(task.tags))
