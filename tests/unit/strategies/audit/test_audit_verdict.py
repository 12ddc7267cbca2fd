"""The verdict on a draft: hurt vetoes, an anchor that is lost takes it back, help has to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.audit.audit_verdict import HELPED, AuditedPair, TaskHurt, judge_draft, sign_evidence
from strategies.audit.evaluators.evaluator_types import EvaluatorReport, RunRecord
from tests.audit_pairs import material

if TYPE_CHECKING:
    from events.types.audit_events import AuditResult

CHECK = "output-evidence-check"
AIM = TaskHurt(task="a", evaluator="")


def pair(
    *results: tuple[str, AuditResult],
    task: str = "a",
    anchors: dict[str, bool] | None = None,
    models: tuple[AuditResult, ...] = (),
) -> AuditedPair:
    reports = [EvaluatorReport(evaluator=name, task=task, result=result) for name, result in results]
    reports += [
        EvaluatorReport(evaluator=f"model {at}", task=task, result=result, by_model=True)
        for at, result in enumerate(models)
    ]
    run = RunRecord(anchors=anchors or {})
    return AuditedPair(material("- x\n", run, run, task=task), tuple(reports))


def test_one_hurt_vetoes_whatever_the_others_say() -> None:
    verdict = judge_draft([pair((CHECK, "hurt"), task="b"), *[pair((CHECK, "helped"))] * 20])
    assert (verdict.result, verdict.rule, verdict.rolls_back) == ("hurt", "hurt", False)


def test_a_hurt_counts_in_most_of_the_pairs_of_a_task() -> None:
    assert judge_draft([pair((CHECK, "hurt")), *[pair((CHECK, "inert"))] * 2]).result == "inert"
    assert (
        judge_draft([*[pair((CHECK, "hurt"))] * 2, pair((CHECK, "inert")), pair((CHECK, "null"))]).result == "hurt"
    )


def test_a_hurt_that_some_pairs_show_by_chance_does_not_take_the_draft_back() -> None:
    before = [pair((CHECK, "inert"))] * 4
    noisy = [pair((CHECK, "hurt"))] * 3 + [pair((CHECK, "inert"))]
    assert not judge_draft(noisy, before).rolls_back  # chance makes three of four in 7 of 100
    assert judge_draft([pair((CHECK, "hurt"))] * 4, before).rolls_back
    assert judge_draft([pair((CHECK, "hurt"))] * 3 + noisy, before * 2).rolls_back


def test_a_safety_hurt_that_is_gone_is_a_cure_though_the_anchors_hold_either_way() -> None:
    before = [pair(("safety-compliance", "hurt"))] * 2
    assert not judge_draft([pair(("safety-compliance", "inert"))] * 2, before, [AIM]).rolls_back
    assert judge_draft(before, before, [AIM]).rule == "nothing cured"


def test_a_hurt_that_was_there_before_does_not_take_the_draft_back_and_a_new_one_does() -> None:
    before = [pair((CHECK, "hurt")), pair((CHECK, "inert"), task="b")]
    assert not judge_draft(before, before).rolls_back
    assert not judge_draft([pair(("data-consistency", "hurt")), before[1]], before).rolls_back
    assert judge_draft([pair(("safety-compliance", "hurt")), before[1]], before).rule == "hurt"
    assert judge_draft([before[0]], before).rule == "pairs lost"
    now = [pair((CHECK, "inert")), pair((CHECK, "hurt"), task="b")]
    verdict = judge_draft(now, before)
    assert (verdict.rolls_back, verdict.change, verdict.hurts[0].task) == (True, "hurt", "b")


def test_an_anchor_that_held_and_fails_takes_the_draft_back_although_all_evaluators_see_help() -> None:
    before = [pair((CHECK, "inert"), anchors={"header": True, "total": False})]
    verdict = judge_draft([pair((CHECK, "helped"), anchors={"header": False, "total": True})], before)
    assert (verdict.rule, verdict.rolls_back, verdict.lost_anchors) == ("anchor lost", True, ("header of a",))


@pytest.mark.parametrize(
    ("before", "now", "lost"),
    [
        ("1", "0", True),
        ("11", "10", False),
        ("11", "00", True),
        ("111", "001", False),
        ("110", "000", False),
        ("1110", "000000", True),
        ("11111", "00001", True),
        ("11111", "00011", False),
    ],
)
def test_among_pairs_that_disagree_a_loss_is_more_than_chance_would_have(
    before: str, now: str, *, lost: bool
) -> None:
    earlier, later = (
        [pair((CHECK, "inert"), anchors={"header": kept == "1"}) for kept in text] for text in (before, now)
    )
    assert judge_draft(later, earlier).rolls_back == lost


def test_a_draft_that_cures_none_of_what_it_is_for_is_taken_back() -> None:
    before = [pair((CHECK, "hurt"), anchors={"header": False})]
    assert judge_draft(before, before, aims=[AIM]).rule == "nothing cured"
    assert not judge_draft([pair((CHECK, "inert"), anchors={"header": False})], before, aims=[AIM]).rolls_back
    assert not judge_draft([pair((CHECK, "hurt"), anchors={"header": True})], before, aims=[AIM]).rolls_back
    five = [pair((CHECK, "hurt"))] * 5
    assert judge_draft([pair((CHECK, "hurt")), *[pair((CHECK, "inert"))] * 4], five, aims=[AIM]).result == "inert"
    assert judge_draft([*five[:3], *[pair((CHECK, "inert"))] * 2], five, aims=[AIM]).rule == "nothing cured"


def test_among_pairs_that_disagree_a_cure_shows_over_all_tasks_that_it_is_for() -> None:
    aims = [TaskHurt(task=task, evaluator="") for task in "abcdef"]
    bad, good = ([pair((CHECK, result), task=task) for task in "abcdef"] for result in ("hurt", "inert"))
    luck = [*bad[:5], good[5], *bad[:5], good[5], *bad[:2], *good[2:]]
    assert judge_draft(luck, [*bad, *bad, *good[:3], *bad[3:]], aims=aims).rule == "nothing cured"
    assert (
        judge_draft([*good, *good, bad[0], *good[1:]], [*bad, *bad, *good[:3], *bad[3:]], aims=aims).rule
        != "nothing cured"
    )


def test_of_two_causes_one_is_cured_although_its_tasks_still_fail() -> None:
    before = [pair((CHECK, "hurt"), ("tool-use-rationality", "hurt"), anchors={"header": False})]
    now = [pair((CHECK, "hurt"), ("tool-use-rationality", "inert"), anchors={"header": False})]
    sure = TaskHurt(task="a", evaluator="tool-use-rationality")
    assert not judge_draft(now, before, aims=[AIM, sure]).rolls_back
    assert judge_draft(now, before, aims=[AIM]).rule == "nothing cured"


@pytest.mark.parametrize(("better", "result"), [(11, "helped"), (10, "inert")])
def test_help_is_shown_by_more_pairs_than_chance_would_have(better: int, result: str) -> None:
    verdict = judge_draft([pair((CHECK, "helped"), task=f"t{at}") for at in range(better)])
    assert (verdict.result, verdict.better, verdict.evidence >= HELPED) == (result, better, result == "helped")
    assert sign_evidence(14, 1) >= HELPED > sign_evidence(10, 4)


def test_evidence_is_that_of_a_stake_spread_over_the_chances_above_one_half() -> None:
    steps = 20_000
    for better, worse in ((0, 0), (3, 1), (9, 0), (2, 6)):
        chances = [0.5 + 0.5 * (at + 0.5) / steps for at in range(steps)]
        stake = sum((2 * chance) ** better * (2 - 2 * chance) ** worse for chance in chances) / steps
        assert sign_evidence(better, worse) == pytest.approx(stake, rel=1e-4)


def test_artifacts_decide_before_the_majority() -> None:
    votes = [pair((CHECK, "inert"), *((f"e{at}", "helped") for at in range(5)), task=f"t{n}") for n in range(12)]
    assert judge_draft(votes).better == 0
    votes = [pair(("procedure-adherence", "helped"), ("coverage", "helped"), task=f"t{n}") for n in range(12)]
    verdict = judge_draft(votes)
    assert (verdict.result, verdict.rule, verdict.better) == ("helped", "majority", 12)


def test_what_one_of_several_models_says_is_no_hurt_and_what_most_say_is() -> None:
    assert judge_draft([pair((CHECK, "inert"), models=("hurt", "inert", "helped"))]).result == "inert"
    assert judge_draft([pair((CHECK, "inert"), models=("hurt", "hurt", "helped"))]).result == "hurt"


def test_without_any_report_that_tells_something_there_is_no_verdict() -> None:
    assert judge_draft([pair((CHECK, "null"))]).rule == "nothing to judge"
    assert judge_draft([]).result == "null"
