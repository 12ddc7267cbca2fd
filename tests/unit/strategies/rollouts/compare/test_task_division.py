"""A task has one split, whether a log or a set of tasks showed it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from strategies.episodes.episode_records import named_task, prompt_key
from strategies.gate.replay.evaluation_set import prepare
from strategies.pool.intake import take_in
from strategies.pool.known_episodes import split_groups
from strategies.pool.task_sets import SplitBook, split_book
from strategies.rollouts.compare.comparison import register_evaluator
from strategies.rollouts.compare.judge_group import try_out
from strategies.rollouts.compare.task_division import DividedTasks, divide_tasks
from strategies.rollouts.tasks.task import RolloutTask, TaskSet
from tests.clocks import TickingClock
from tests.fake_runs import SIXTY, FakeRunner, planted, rewritten, rig
from tests.registries import NAME, SKILL, imported, new_registry
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord

SET = TaskSet(name="sixty", tasks=SIXTY)


def shown(tasks: Sequence[RolloutTask]) -> list[EpisodeRecord]:
    """Logs of an agent that did these tasks, which its logs call by names of their own."""
    return [
        msgspec.structs.replace(
            episode([call("sql:SELECT")], task=f"log {task.id}"), prompt_key=prompt_key(task.prompt)
        )
        for task in tasks
    ]


def splits_in(divided: DividedTasks) -> dict[str, str]:
    parts = {"explore": divided.explore, "sealed": divided.sealed, "audit": divided.audit}
    return {task.id: split for split, tasks in parts.items() for task in tasks}


def splits_of_logs(registry: Registry) -> dict[str, str]:
    division = prepare(registry).division
    parts = {"explore": division.explore, "sealed": division.sealed, "audit": division.audit}
    return {record.name.removeprefix("log "): split for split, records in parts.items() for record in records}


def divided(registry: Registry, tasks: TaskSet = SET) -> DividedTasks:
    return divide_tasks(tasks, split_book(registry, split_groups(registry)))


def test_tasks_that_logs_show_have_the_split_of_those_logs(registry: Registry) -> None:
    take_in(registry, shown(SIXTY[:40]))
    logs, parts = splits_of_logs(registry), divided(registry)
    assert {task.id: split for task in SIXTY[:40] if (split := splits_in(parts)[task.id])} == logs
    assert parts.logged == logs
    alone = splits_in(divide_tasks(SET, SplitBook(registry.about().split_key)))
    assert {task.id: splits_in(parts)[task.id] for task in SIXTY[40:]} == {
        task.id: alone[task.id] for task in SIXTY[40:]
    }
    assert any(alone[task.id] != split for task, split in zip(SIXTY[:40], logs.values(), strict=True))


def test_logs_that_come_after_a_set_was_judged_on_follow_the_set(registry: Registry) -> None:
    register_evaluator(registry, rig(registry, FakeRunner(planted)).harness)
    before = splits_in(divided(registry))
    take_in(registry, shown(SIXTY))
    assert splits_of_logs(registry) == before
    assert splits_in(divided(registry)) == before
    assert not divided(registry).logged


def test_the_runs_of_explore_tasks_are_wholly_visible_to_proposers(registry: Registry) -> None:
    harness = rig(registry, FakeRunner(planted)).harness
    register_evaluator(registry, harness)
    take_in(registry, shown(harness.divided.explore))
    visible = {record.name.removeprefix("log ") for record in prepare(registry).division.explore}
    assert visible == {task.id for task in harness.divided.explore}


def test_a_log_that_names_set_and_task_is_of_that_task_whatever_its_prompt(registry: Registry) -> None:
    records = [
        msgspec.structs.replace(record, task=named_task(SET.name, task.id), prompt_key=prompt_key(f"Please: {n}"))
        for n, (record, task) in enumerate(zip(shown(SIXTY), SIXTY, strict=True))
    ]
    take_in(registry, records)
    assert splits_in(divided(registry)) == splits_of_logs(registry)


def test_logs_of_a_prompt_that_several_tasks_have_follow_the_most_protected(registry: Registry) -> None:
    same = tuple(
        task.model_copy(update={"prompt": "Mend the test.", "files": {"x": task.id}}) for task in SIXTY[:12]
    )
    tasks = TaskSet(name="one-prompt", tasks=same)
    parts = divide_tasks(tasks, SplitBook(registry.about().split_key))
    assert min(map(len, (parts.explore, parts.sealed))) > 0
    register_evaluator(registry, rig(registry, FakeRunner(planted), tasks=same).harness)
    take_in(registry, shown(same[:1]))
    assert set(splits_of_logs(registry).values()) == {"sealed"}
    assert splits_in(divided(registry, tasks)) == splits_in(parts)


def test_another_division_is_another_evaluator(registry: Registry) -> None:
    before = rig(registry, FakeRunner(planted)).harness
    take_in(registry, shown(SIXTY))
    after = rig(registry, FakeRunner(planted)).harness
    assert after.divided.sealed != before.divided.sealed
    assert after.evaluator != before.evaluator


@pytest.mark.parametrize("seed", range(5))
def test_a_model_that_learns_by_heart_what_logs_show_promotes_no_answer(tmp_path: Path, seed: int) -> None:
    registry = new_registry(tmp_path, TickingClock(), f"key {seed}")
    imported(registry, tmp_path)
    take_in(registry, shown(SIXTY))
    visible = [record.name.removeprefix("log ") for record in prepare(registry).division.explore]
    assert len(visible) > 15
    copy = tmp_path / "rewritten.md"
    by_heart = " ".join(f"answer {task}" for task in visible)
    copy.write_text(SKILL.replace("- Round nothing.\n", f"- Round nothing.\n- {by_heart}\n"))
    name = rewritten(registry, copy, preset="innovate")
    harness = rig(registry, FakeRunner(planted)).harness
    assert not {task.id for task in (*harness.divided.sealed, *harness.divided.audit)} & set(visible)
    (candidate,) = try_out(rig(registry, FakeRunner(planted)), [name])
    assert candidate.verdict in {"hold", "reject"}
    assert registry.capsule(NAME).version == 1
    registry.log.close()
