"""An audit mends a skill in drafts, keeps what it has when it is stopped, and changes nothing by itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from events.errors import UpstreamError
from events.types.score import Score
from strategies.audit.audit_record import audit_record, audit_records
from strategies.audit.audit_skill import audit_skill
from strategies.audit.propose_audit import promote_draft
from strategies.monitor.review import approve
from strategies.rollouts.run.runner import CapReachedError, RunCaps
from strategies.rollouts.run.trial import Trial
from tests.audit_runs import HARMFUL, SKILL, ScriptedRunner, obedient, plan_of
from tests.registries import NAME, imported
from tui.facts.audits import evaluator_table

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from strategies.audit.evaluators.evaluator_types import RunRecord
    from strategies.rollouts.tasks.task import RolloutTask

RUNS_OF_A_TASK = 5
"""Of the small skill: no skill, the skill as given, one draft, and the draft and no skill once more."""


@pytest.fixture
def skill(registry: Registry, tmp_path: Path) -> Path:
    return imported(registry, tmp_path, SKILL)


@pytest.mark.usefixtures("skill")
def test_a_harmful_line_goes_and_the_result_is_one_candidate(registry: Registry) -> None:
    end = audit_skill(plan_of(registry, ScriptedRunner()))
    assert end.record.ended
    proposed = registry.candidates_of([end.record.ended.candidate])[end.record.ended.candidate].proposed
    (edit,) = proposed.edits
    assert edit.op == "delete"
    assert registry.capsule(NAME).version == 1
    first, second = end.record.judged[:2]
    assert (first.result, first.anchors_held) == ("hurt", 3)
    assert second.kept
    assert second.moves[0].quote == HARMFUL.strip()
    assert second.moves[0].step == 1
    assert "name;sum" in second.moves[0].with_skill
    assert "name,sum" in second.moves[0].without_skill


@pytest.mark.usefixtures("skill")
def test_a_person_may_approve_what_an_audit_proposes(registry: Registry) -> None:
    end = audit_skill(plan_of(registry, ScriptedRunner()))
    assert end.record.ended
    candidate = registry.candidates_of([end.record.ended.candidate])[end.record.ended.candidate]
    approve(registry, candidate, "it reads well")
    assert registry.capsule(NAME).version == 2


def test_what_an_audit_promotes_is_not_measured_and_has_no_tier(registry: Registry, skill: Path) -> None:
    end = audit_skill(plan_of(registry, ScriptedRunner()))
    assert end.record.ended
    version = promote_draft(registry, end.record.ended.candidate)
    capsule = registry.capsule(NAME)
    assert (capsule.version, version) == (2, 2)
    assert not isinstance(capsule.score, Score)
    assert HARMFUL not in (skill / "SKILL.md").read_text(encoding="utf-8")
    promoted = registry.candidates_of([end.record.ended.candidate])[end.record.ended.candidate]
    assert promoted.tier is None
    assert promoted.reasons[0].startswith("decided by audit-4")


@pytest.mark.usefixtures("skill")
def test_the_same_audit_again_runs_nothing_and_records_nothing(registry: Registry) -> None:
    audit_skill(plan_of(registry, ScriptedRunner()))
    head, again = registry.log.head().position, ScriptedRunner()
    audit_skill(plan_of(registry, again))
    assert again.made == 0
    assert registry.log.head().position == head


@pytest.mark.usefixtures("skill")
@pytest.mark.parametrize("at", [2, 5, 8])
def test_what_was_stopped_goes_on_and_makes_no_run_twice(registry: Registry, at: int) -> None:
    def stop(made: int) -> Trial | None:
        if made == at:
            raise KeyboardInterrupt
        return None

    first = ScriptedRunner(before=stop)
    with pytest.raises(KeyboardInterrupt):
        audit_skill(plan_of(registry, first, count=4))
    second = ScriptedRunner()
    end = audit_skill(plan_of(registry, second, count=4))
    assert first.made - 1 + second.made == 4 * RUNS_OF_A_TASK
    reported = [(event.iteration, event.draft, event.evaluator) for event in end.record.reported]
    assert len(reported) == len(set(reported))


@pytest.mark.usefixtures("skill")
def test_a_cap_ends_an_audit_and_a_higher_one_goes_on(registry: Registry) -> None:
    first = ScriptedRunner()
    with pytest.raises(CapReachedError, match="cap"):
        audit_skill(plan_of(registry, first, caps=RunCaps(runs=4)))
    second = ScriptedRunner()
    end = audit_skill(plan_of(registry, second))
    assert end.record.ended
    assert first.made + second.made == 3 * RUNS_OF_A_TASK


@pytest.mark.usefixtures("skill")
def test_a_line_that_other_tasks_need_stays(registry: Registry) -> None:
    def needs_it(text: str, task: RolloutTask) -> RunRecord:
        record = obedient(text, task)
        if task.id != "t0" and "name;sum" not in text:  # without the line nothing is made at all
            return record.model_copy(update={"files": {}})
        if task.id != "t0":
            return obedient("", task)
        return record

    end = audit_skill(plan_of(registry, ScriptedRunner(behaves=needs_it)))
    tried = [judged for judged in end.record.judged if any("name;sum" in move.quote for move in judged.moves)]
    assert all(not judged.kept for judged in tried)
    assert any(line.text == HARMFUL for gene in end.draft.capsule.genes for line in gene.lines)


@pytest.mark.usefixtures("skill")
def test_runs_that_were_stopped_keep_no_anchor_and_a_crash_is_no_pair(registry: Registry) -> None:
    crashed = Trial(task="", status="infrastructure", note="the agent ended before it did anything")
    stopped = Trial(task="", status="stopped", note="the agent ran past the limit of 1 s")
    with pytest.raises(UpstreamError, match="never got going"):
        audit_skill(plan_of(registry, ScriptedRunner(before=lambda _: crashed)))
    end = audit_skill(plan_of(registry, ScriptedRunner(before=lambda _: stopped)))
    assert end.record.judged[0].anchors_held == 0
    assert {pair.material.with_skill.ended for pair in end.draft.pairs} == {"stopped"}
    assert not end.record.ended or not end.record.ended.candidate


@pytest.mark.usefixtures("skill")
def test_pairs_that_infrastructure_loses_are_named_and_run_by_the_same_command(registry: Registry) -> None:
    crashed = Trial(task="", status="infrastructure", note="the agent ended before it did anything")
    lost = ScriptedRunner(before=lambda made: crashed if made in {3, *range(7, 99)} else None)
    first = audit_skill(plan_of(registry, lost))
    given, draft, *_ = first.record.judged
    assert given.lost_pairs == ("t0, pair 1, without it: the agent ended before it did anything",)
    assert (draft.by, draft.kept, len(draft.lost_pairs)) == ("pairs lost", False, 3)
    assert first.draft.capsule == plan_of(registry, lost).base
    end = audit_skill(plan_of(registry, ScriptedRunner()))
    assert [(judged.iteration, judged.kept, judged.lost_pairs) for judged in end.record.judged] == [
        (0, True, ()),
        (1, True, ()),
        (2, True, ()),
    ]
    table = {row.evaluator: row.counts for row in evaluator_table(end.record, end.record.iterations)}
    assert table["format-compliance"] == ({"hurt": 3}, {"inert": 3}, {"inert": 3})


@pytest.mark.usefixtures("skill")
def test_a_run_that_works_when_it_is_tried_again_is_not_lost(registry: Registry) -> None:
    crashed = Trial(task="", status="infrastructure", note="the agent ended before it did anything")
    runner = ScriptedRunner(before=lambda made: crashed if made == 4 else None)
    end = audit_skill(plan_of(registry, runner))
    assert runner.made == 3 * RUNS_OF_A_TASK + 1
    assert [judged.lost_pairs for judged in end.record.judged] == [()] * 3


@pytest.mark.usefixtures("skill")
def test_pairs_are_repeated_only_while_runs_differ(registry: Registry) -> None:
    steady = ScriptedRunner()
    audit_skill(plan_of(registry, steady, pairs=4))
    # two of four rounds, as the second said what the first did, and a third one for the second look
    assert steady.made == 3 * (2 * 3 + 2)


@pytest.mark.usefixtures("skill")
def test_a_skill_has_converged_once_two_iterations_in_a_row_brought_no_hurt(registry: Registry) -> None:
    record = audit_skill(plan_of(registry, ScriptedRunner())).record
    assert [(judged.result, bool(judged.moves)) for judged in record.judged] == [
        ("hurt", False),
        ("inert", True),
        ("inert", False),
    ]
    assert record.ended
    assert record.ended.because.startswith("converged: no hurt in 2 iterations")


@pytest.mark.usefixtures("skill")
def test_a_draft_that_was_kept_by_luck_is_taken_back_at_the_second_look(registry: Registry) -> None:
    ran = Counter[str]()

    def worse_the_second_time(text: str, task: RolloutTask) -> RunRecord:
        if not text or task.id != "t0":
            return obedient(text, task)
        ran[text] += 1
        return obedient("name;sum" if ran[text] > 1 else "", task)

    end = audit_skill(plan_of(registry, ScriptedRunner(behaves=worse_the_second_time)))
    kept = [(judged.kept, judged.by) for judged in end.record.judged]
    assert kept[1:3] == [(True, "artifacts"), (False, "anchor lost")]
    assert end.record.ended
    assert not end.record.ended.candidate


def test_repair_tries_another_suspect_in_the_same_iteration_where_a_draft_is_rolled_back(
    registry: Registry, tmp_path: Path
) -> None:
    heeded = "- Put `who,sum` on top of each table.\n"
    imported(registry, tmp_path, SKILL.replace(HARMFUL, f"- Name the columns `who,sum`.\n{heeded}"))

    def heeds_one(text: str, task: RolloutTask) -> RunRecord:
        record = obedient("", task)
        table = record.files["totals.csv"].replace("name,", "who," if heeded in text else "name,", 1)
        return record.model_copy(update={"files": {"totals.csv": table}})

    record = audit_skill(plan_of(registry, ScriptedRunner(behaves=heeds_one))).record
    tried = [(judged.iteration, judged.attempt, judged.kept) for judged in record.judged]
    assert tried == [(0, 0, True), (1, 0, False), (1, 1, True), (2, 0, True)]
    assert record.judged[2].moves[0].quote == heeded.strip()
    assert [judged.attempt for judged in record.iterations] == [0, 1, 0]


@pytest.mark.usefixtures("skill")
def test_each_audit_is_found_by_its_skill(registry: Registry) -> None:
    plan = plan_of(registry, ScriptedRunner())
    assert audit_record(registry, plan.audit) is None
    audit_skill(plan)
    assert [record.started.capsule for record in audit_records(registry, NAME)] == [NAME]
    assert not audit_records(registry, "another")
