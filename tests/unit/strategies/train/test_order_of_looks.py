"""The order in which a training spends runs: what gains goes on first, what is shown is confirmed together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from strategies.gate.aimed_rule import FRESH
from strategies.models.tasks.training_case import TrainingCase, TrainingChange, TrainingEdit
from strategies.rollouts.compare.rounds import PUT_OFF
from strategies.rollouts.run.arms import NO_SKILL
from strategies.train.train_skill import train
from strategies.train.training_plan import TrainingCaps, TrainingPlan
from strategies.train.training_proposers import ProposedChange
from tests.clocks import TickingClock
from tests.fake_runs import FakeRunner, rig, task
from tests.registries import NAME, imported, live_text, new_registry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from registry.registry import Registry
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask

pytestmark = pytest.mark.usefixtures("place")

TAGS = ("red", "green", "blue", "grey", "white")


@dataclass
class ByEpoch:
    """Suggests lines by the epoch, each with the tag that it is for, and keeps the tags of the failures it saw."""

    lines: Mapping[int, Mapping[str, str]]
    name: str = "by epoch"
    seen: dict[int, set[str]] = field(default_factory=dict)

    def propose(self, case: TrainingCase) -> list[ProposedChange]:
        failed = [attempt for batch in case.batches if batch.kind == "failures" for attempt in batch.attempts]
        self.seen[case.epoch] = {tag for attempt in failed for tag in attempt.tags}
        gene = case.lines[-1].gene
        return [
            ProposedChange(
                TrainingChange(reason="", tags=(tag,), edits=(TrainingEdit(op="append", gene=gene, text=text),)),
                "proposer:planted",
            )
            for text, tag in self.lines.get(case.epoch, {}).items()
        ]


def by_tag(text: str, task: RolloutTask) -> float:
    """Let a line that names a tag help the tasks that have it, and one line help less."""
    if any(f"HELPS {tag}" in text for tag in task.tags):
        return 0.97
    return 0.8 if any(f"AIDS {tag}" in text for tag in task.tags) else 0.35


def plan_of(registry: Registry, proposer: ByEpoch, runner: FakeRunner) -> TrainingPlan:
    tasks = tuple(task(number, TAGS[number % len(TAGS)]) for number in range(75))
    return TrainingPlan(NAME, rig(registry, runner, tasks=tasks), proposer)


def first_looks(registry: Registry, runner: FakeRunner, word: str) -> set[int]:
    """Give the rounds in which a line was looked at on its own tasks."""
    (known,) = [each for each in registry.candidates(NAME) if word in "".join(each.proposed.new_lines)]
    return {at for name, _, at in runner.seen if name == known.id and at not in FRESH}


def test_a_line_that_does_not_gain_soon_is_put_off_and_goes_on_from_there_once_nothing_else_is_open(
    registry: Registry,
) -> None:
    runner, rounds = FakeRunner(by_tag), []
    plan = plan_of(registry, ByEpoch({1: {"- IDLE: it is worth knowing.": "red"}}), runner)

    train(replace(plan, epochs=4), lambda _: rounds.append(first_looks(registry, runner, "IDLE")))

    (known,) = registry.candidates(NAME)
    assert rounds[0] == {0}
    assert len(rounds[1]) > 1
    assert rounds[1] == rounds[-1]  # decided there, and looked at no more
    assert not known.reasons[0].startswith(PUT_OFF)
    assert len(runner.seen) == len(set(runner.seen))


def test_new_lines_are_looked_at_before_one_that_was_put_off(registry: Registry) -> None:
    new = {2: {"- So it is, mostly.": "green"}, 3: {"- And so are others.": "blue"}}
    runner, rounds = FakeRunner(by_tag), []
    plan = plan_of(registry, ByEpoch({1: {"- IDLE: it is worth knowing.": "red"}, **new}), runner)

    train(replace(plan, epochs=5), lambda _: rounds.append(first_looks(registry, runner, "IDLE")))

    assert rounds[:3] == [{0}] * 3
    assert len(rounds[3]) > 1


def test_what_gains_from_its_first_round_on_is_not_put_off(registry: Registry) -> None:
    lines = {f"- HELPS {tag}: mind {tag} things.": tag for tag in TAGS}
    plan = plan_of(registry, ByEpoch({1: lines}), FakeRunner(by_tag))

    end = train(replace(plan, epochs=2))

    assert len(end.record.epochs[0].promoted) == len(TAGS)  # five in company, as many as there are tags


def test_while_a_line_waits_for_company_no_other_for_its_tasks_is_run_and_their_failures_are_not_shown(
    registry: Registry,
) -> None:
    lines = {1: {"- HELPS red: mind red things.": "red"}, 2: {"- IDLE: it is worth knowing.": "red"}}
    proposer, runner = ByEpoch(lines), FakeRunner(by_tag)

    train(replace(plan_of(registry, proposer, runner), epochs=3))

    assert proposer.seen[1] == set(TAGS)
    assert proposer.seen[2] == set(TAGS) - {"red"}
    (idle,) = [known for known in registry.candidates(NAME) if "IDLE" in "".join(known.proposed.new_lines)]
    assert idle.times_scored <= 1


def test_where_few_runs_are_left_what_waits_is_confirmed_and_nobody_is_asked(registry: Registry) -> None:
    lines = {1: {f"- HELPS {tag}: mind {tag} things.": tag for tag in TAGS[:2]}}
    proposer, runner = ByEpoch(lines), FakeRunner(by_tag)
    plan = plan_of(registry, proposer, runner)

    first = train(replace(plan, epochs=3, caps=TrainingCaps(runs=600)))

    assert [len(epoch.promoted) for epoch in first.record.epochs][:2] == [0, 2]
    assert 2 not in proposer.seen


def test_what_passed_in_company_is_asked_all_else_before_the_others_go_on_and_audits_come_last(
    registry: Registry,
) -> None:
    lines = {f"- HELPS {tag}: mind {tag} things.": tag for tag in TAGS[:2]} | {"- AIDS blue: think of it.": "blue"}
    runner = FakeRunner(by_tag)
    plan = plan_of(registry, ByEpoch({1: lines}), runner)

    train(replace(plan, epochs=1))

    split = plan.rig.harness.divided.splits
    sealed = [(name, at) for name, task, at in runner.seen if split[task] == "sealed"]
    last_block = max(at for _, at in sealed)
    assert last_block >= FRESH.start + 4
    assert sealed.index((NO_SKILL.name, FRESH.start)) < min(
        number for number, (name, at) in enumerate(sealed) if at > FRESH.start + 3 and name != NO_SKILL.name
    )
    audit = [at for _, task, at in runner.seen if split[task] == "audit"]
    assert set(audit) == set(range(FRESH.start, FRESH.start + 4))
    assert all(split[task] == "audit" for _, task, _ in runner.seen[-len(audit) :])


@pytest.mark.parametrize("most_runs", [0, 600])
def test_a_training_that_is_interrupted_in_any_epoch_puts_off_and_confirms_as_one_that_was_not(
    tmp_path: Path, most_runs: int
) -> None:
    helps = {f"- HELPS {tag}: mind {tag} things.": tag for tag in TAGS}
    lines = {
        1: {"- IDLE: it is worth knowing.": "red", **dict([*helps.items()][:1])},
        2: dict([*helps.items()][1:3]),
        3: {"- So it is, mostly.": "white", **dict([*helps.items()][3:])},
    }
    ends = []
    for number, stop_at in enumerate((0, 75, 190, 400)):
        (folder := tmp_path / str(number)).mkdir()
        registry = new_registry(folder, TickingClock())
        imported(registry, folder)
        made: list[object] = []

        def stop(_: PlannedRun, trial: Trial, made: list[object] = made, stop_at: int = stop_at) -> Trial:
            made.append(trial)
            if len(made) == stop_at:
                raise KeyboardInterrupt
            return trial

        runner = FakeRunner(by_tag, stop)
        plan = replace(plan_of(registry, ByEpoch(lines), runner), epochs=5, caps=TrainingCaps(runs=most_runs))
        if stop_at:
            with pytest.raises(KeyboardInterrupt):
                train(plan)
        end = train(plan)
        epochs = [(epoch.promoted, epoch.held, epoch.rejected, epoch.runs) for epoch in end.record.epochs]
        ends.append((live_text(registry), epochs, set(runner.seen)))
        registry.log.close()

    assert ends[0][0].count("HELPS") >= 3
    assert any(held for _, held, _, _ in ends[0][1])
    assert all(end == ends[0] for end in ends)
