"""Searches of a population: variants run on explore tasks alone, ideas about parents of the front, GEPA as one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from events.errors import UpstreamError, UsageError
from strategies.models.tasks.training_case import (
    FailedLayer,
    TaskAttempt,
    TrainingCase,
    TrainingChange,
    TrainingEdit,
)
from strategies.sandbox.confined_run import SandboxPolicy
from strategies.train.explore_front import ExploreFront
from strategies.train.train_skill import train
from strategies.train.training_plan import TrainingCaps, TrainingPlan
from strategies.train.training_proposers import (
    ProposedChange,
    local_proposer,
    population_named,
    population_proposer,
)
from tests.fake_runs import FakeRunner, rig
from tests.registries import NAME, live_text

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from strategies.rollouts.tasks.task import RolloutTask

pytestmark = pytest.mark.usefixtures("place")
SEARCHED = 150
"""Runs that suffice to explore and to search, and for little more."""
SEARCHES = pytest.mark.parametrize("search", ["pareto", "gepa"])


def rate(text: str, task: RolloutTask) -> float:
    """Let a line of its own help each of two kinds of tasks, and one harm all."""
    helped = "EVEN" in text if "even" in task.tags else "ODD" in text
    return 0.02 if "HARMS" in text else 0.97 if helped or f"answer {task.id}." in text else 0.2


@dataclass
class Ideas:
    """Says of every case the same four things, and keeps what it was shown."""

    name: str = "same"
    cases: list[TrainingCase] = field(default_factory=list)
    breaks: bool = False

    def propose(self, case: TrainingCase) -> list[ProposedChange]:
        self.cases.append(case)
        if self.breaks:
            raise UpstreamError("the line is dead")
        task = case.batches[0].attempts[0].task
        texts = {"- EVEN: sort.": ("even",), "- ODD: sort.": ("odd",), "- HARMS: guess.": ("even",)}
        lines = {**texts, f"- answer {task}.": case.batches[0].attempts[0].tags}
        return [ProposedChange(change(text, *tags), "proposer:same") for text, tags in lines.items()]


def change(text: str, *tags: str) -> TrainingChange:
    gene = f"{NAME}.1"
    return TrainingChange(reason="planted", tags=tags, edits=(TrainingEdit(op="append", gene=gene, text=text),))


def plan_of(registry: Registry, search: str, ideas: Ideas, runner: FakeRunner, most_runs: int = 0) -> TrainingPlan:
    population = population_proposer(search, ideas)
    return TrainingPlan(NAME, rig(registry, runner), population, epochs=1, caps=TrainingCaps(runs=most_runs))


def lines_of(known: Candidate) -> str:
    return "".join(known.proposed.new_lines).strip()


@SEARCHES
def test_variants_are_run_on_explore_tasks_alone_and_what_harms_them_is_not_proposed(
    registry: Registry, search: str
) -> None:
    runner = FakeRunner(rate)
    plan = plan_of(registry, search, Ideas(), runner, SEARCHED)

    train(plan)

    proposed = {lines_of(known): known for known in registry.candidates(NAME)}
    helpful = [known for line, known in proposed.items() if line in {"- EVEN: sort.", "- ODD: sort."}]
    assert helpful
    assert "- HARMS: guess." not in proposed
    assert all("explore runs, in front of" in known.proposed.reason for known in helpful)
    assert {known.actor for known in helpful} == {"proposer:same"}
    judged = {known.id for known in proposed.values()}
    searched = [task for arm, task, _ in runner.seen if len(arm) == len(min(judged)) and arm not in judged]
    assert set(searched) <= {task.id for task in plan.rig.harness.divided.explore}


def test_what_a_search_finds_is_decided_by_the_gate(registry: Registry) -> None:
    train(plan_of(registry, "pareto", Ideas(), FakeRunner(rate)))

    assert {"- EVEN: sort.", "- ODD: sort."} <= set(live_text(registry).splitlines())
    assert "- answer" not in live_text(registry)


def test_the_lines_of_a_parent_are_shown_as_protected_and_two_may_be_crossed(registry: Registry) -> None:
    ideas = Ideas()

    train(plan_of(registry, "pareto", ideas, FakeRunner(rate), SEARCHED))

    live = {line.text for line in ideas.cases[0].lines}
    parents = [
        [line.text for line in case.lines if line.protected and line.text not in live] for case in ideas.cases[1:]
    ]
    assert all(parents)
    assert max(map(len, parents)) > 1
    assert len({case.seed for case in ideas.cases}) == len(ideas.cases)


@SEARCHES
def test_a_cap_in_the_middle_of_a_search_ends_it_and_nothing_is_run_twice(registry: Registry, search: str) -> None:
    runner = FakeRunner(rate)
    plan = plan_of(registry, search, Ideas(), runner)
    first = len(plan.rig.harness.divided.explore) + 5

    end = train(replace(plan, caps=TrainingCaps(runs=first)))
    assert "--max-runs" in end.why
    assert not registry.candidates(NAME)
    train(replace(plan, caps=TrainingCaps(runs=SEARCHED)))

    assert len(set(runner.seen)) == len(runner.seen)
    assert "- EVEN: sort." in map(lines_of, registry.candidates(NAME))


@SEARCHES
def test_ideas_that_fail_end_the_training_with_their_own_error(registry: Registry, search: str) -> None:
    with pytest.raises(UpstreamError, match="the line is dead"):
        train(plan_of(registry, search, Ideas(breaks=True), FakeRunner(rate)))


def test_a_front_goes_by_layers_of_grading_too() -> None:
    def attempt(value: float, **failed: float) -> TaskAttempt:
        layers = tuple(FailedLayer(name=name, value=at, threshold=1.0) for name, at in failed.items())
        return TaskAttempt(task="t", prompt="", tags=(), value=value, passed=not failed, failed_layers=layers)

    front, shorter, worse = ExploreFront(), (change("- a"),), (change("- b"),)
    front.add((), [attempt(0.5, right=0.6, length=0.4)])
    front.add(shorter, [attempt(0.5, right=0.0)])
    front.add(worse, [attempt(0.2, right=0.2, length=0.2)])

    assert front.led() == {("t", "length"): [shorter]}
    assert front.standing(shorter) == "+0 over 1 explore runs, in front of 3 variants on 1 tasks (t)"
    assert front.standing(worse).endswith("on 0 tasks")


def test_who_has_the_ideas_of_a_search_is_named_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "searching.py").write_text("def propose(case, variants):\n    return variants.ideas()\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert population_named("pareto") == ("pareto", "reflect")
    assert population_named("gepa:python3 ideas.py") == ("gepa", "python3 ideas.py")
    assert population_named("json:loads") is None
    with pytest.raises(UsageError, match="searches a population"):
        local_proposer("pareto", SandboxPolicy())
