"""Company: candidates that share rounds, and which of them may become live together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from strategies.rollouts.compare.run_pairs import Pairing, companies, with_block
from strategies.rollouts.compare.settle import shown_beside
from strategies.rollouts.run.arms import NO_SKILL, Arm
from strategies.rollouts.run.trial import Trial
from tests.fake_runs import task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.rollouts.compare.comparison import Compared
    from strategies.rollouts.run.runner import Runs
    from strategies.rollouts.tasks.task import RolloutTask

OWN, *REST = (task(number) for number in range(5))


def arm(name: str) -> Arm:
    return replace(NO_SKILL, name=name, digest=name)


def together(names: frozenset[str]) -> Arm:
    return arm("+".join(sorted(names)))


@dataclass(frozen=True)
class SetRuns:
    """Runs whose outcome is set by the version and the task."""

    value: Callable[[str, RolloutTask], float]

    def of(self, version: Arm, task: RolloutTask, rounds: Sequence[int]) -> list[Trial]:
        return [Trial(task=task.id, status="done", value=self.value(version.name, task)) for _ in rounds]


@pytest.mark.parametrize(("aimed_at", "shown"), [(1, {"b"}), (0, set())])
def test_a_change_gains_beside_another_where_it_does_so_on_the_tasks_that_it_is_for(
    aimed_at: int, shown: set[str]
) -> None:
    def value(version: str, task: RolloutTask) -> float:
        return float("a" in version) if task == OWN else float(version != "a+b")  # bad luck with the rest

    pairings = with_block({name: Pairing(arm(name), arm("")) for name in "ab"}, 8, together)
    aim = SimpleNamespace(tasks=aimed_at) if aimed_at else None
    last = SimpleNamespace(pairing=pairings["a"], tasks=(OWN, *REST), span=range(8, 10), aim=aim)

    whole, runs = cast("Compared", SimpleNamespace(last=last)), cast("Runs", SetRuns(value))
    assert shown_beside(runs, whole) == shown


def test_a_company_has_as_many_as_it_may_and_no_two_that_are_no_version_together() -> None:
    arms = [arm(name) for name in "abcdefghi"]
    assert [len(each) for each in companies(arms, together, 8)] == [8, 1]
    assert [len(each) for each in companies(arms, together, 4)] == [4, 4, 1]
