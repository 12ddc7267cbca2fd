"""A task has one split, whether a log or a set of tasks showed it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from strategies.episodes.episode_records import named_task, prompt_key
from strategies.gate.replay.evaluation_set import prepare
from strategies.pool.intake import take_in
from strategies.pool.known_episodes import split_groups
from strategies.pool.splits import OF_A_SET, split_of
from strategies.pool.task_sets import SplitBook, keep_set_groups, split_book
from strategies.rollouts.compare.comparison import register_evaluator
from strategies.rollouts.compare.judge_group import try_out
from strategies.rollouts.compare.task_division import DividedTasks, content_of, divide_tasks
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


def splits_of_logs(registry: Registry) -> dict[str, str]:
    division = prepare(registry).division
    parts = {"explore": division.explore, "sealed": division.sealed, "audit": division.audit}
    return {record.name.removeprefix("log "): split for split, records in parts.items() for record in records}


def divided(registry: Registry, tasks: TaskSet = SET) -> DividedTasks:
    return divide_tasks(tasks, split_book(registry, split_groups(registry)))


def test_tasks_that_logs_show_have_the_split_of_those_logs(registry: Registry) -> None:
    take_in(registry, shown(SIXTY[:40]))
    logs, parts = splits_of_logs(registry), divided(registry)
    assert {task.id: split for task in SIXTY[:40] if (split := parts.splits[task.id])} == logs
    assert parts.logged == logs
    alone = divide_tasks(SET, SplitBook(registry.about().split_key)).splits
    assert any(alone[task] != split for task, split in logs.items())


def test_of_each_tag_and_of_all_tasks_the_same_shares_decide() -> None:
    kinds = ("red", "green", "blue")
    tasks = [
        task.model_copy(update={"tags": (kinds[at % 3], "even" if at % 2 else "odd")})
        for at, task in enumerate(SIXTY)
    ]
    parts = divide_tasks(TaskSet(name="tagged", tasks=tuple(tasks)), SplitBook("key"))
    assert [len(parts.explore), len(parts.sealed), len(parts.audit)] == [18, 30, 12]
    for tag, size in (("red", 20), ("green", 20), ("blue", 20), ("odd", 30), ("even", 30)):
        for share, members in ((0.3, parts.explore), (0.5, parts.sealed), (0.2, parts.audit)):
            assert abs(sum(tag in task.tags for task in members) - share * size) <= 1
    other = divide_tasks(TaskSet(name="tagged", tasks=tuple(tasks)), SplitBook("another key"))
    assert other.splits != parts.splits


def test_tasks_of_a_set_that_was_judged_on_keep_their_split_in_every_later_set(registry: Registry) -> None:
    register_evaluator(registry, rig(registry, FakeRunner(planted), tasks=SIXTY[:20]).harness)
    before = divided(registry, TaskSet(name="sixty", tasks=SIXTY[:20])).splits
    for name in ("sixty", "another-name"):
        later = divided(registry, TaskSet(name=name, tasks=SIXTY))
        assert before.items() <= later.splits.items()
        assert [len(later.explore), len(later.sealed), len(later.audit)] == [18, 30, 12]


def test_tasks_that_an_earlier_version_divided_stay_where_they_were(registry: Registry) -> None:
    key = registry.about().split_key
    groups = {prompt_key(task.prompt): OF_A_SET + content_of(task) for task in SIXTY}
    with registry.log.transaction():
        keep_set_groups(registry, groups)
    splits = {task.id: split_of(OF_A_SET + content_of(task), key) for task in SIXTY}
    assert divided(registry).splits == splits


def test_logs_that_come_after_a_set_was_judged_on_follow_the_set(registry: Registry) -> None:
    register_evaluator(registry, rig(registry, FakeRunner(planted)).harness)
    before = divided(registry).splits
    take_in(registry, shown(SIXTY))
    assert splits_of_logs(registry) == before
    assert divided(registry).splits == before
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
    assert divided(registry).splits == splits_of_logs(registry)


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
    assert divided(registry, tasks).splits == parts.splits


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
