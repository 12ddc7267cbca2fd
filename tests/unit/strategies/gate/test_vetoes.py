"""What stops a candidate whatever its runs gained, and how versions of a group stand to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.gate.rollout_rule import look
from strategies.gate.track_record import advantages
from strategies.gate.vetoes import (
    AnchoredTask,
    RunFacts,
    against_no_skill,
    counted,
    lost_anchors,
    rollout_verdict,
)
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from events.types.runs import AgainstNoSkill

WON = look([[1.0]] * 30, 1)
LOST = look([[-1.0]] * 30, 1)
NONE: frozenset[str] = frozenset()
LOG = frozenset({"log kept"})


def audit(difference: float) -> AgainstNoSkill:
    return against_no_skill([[difference]] * 30, 1)


@pytest.mark.parametrize(
    ("facts", "decision", "reason"),
    [
        (RunFacts(), "promote", "difference +1.000"),
        (RunFacts(no_skill=audit(1.0)), "promote", "difference +1.000"),
        (RunFacts(no_skill=audit(0.0)), "promote", "difference +1.000"),
        (RunFacts(no_skill=audit(-1.0)), "reject", "against no skill: hurt"),
        (
            RunFacts(lost_anchors=("t1: log kept",)),
            "reject",
            "anchors that the incumbent keeps are lost: t1: log kept",
        ),
        (RunFacts(tampered=("opened a socket",)), "reject", "runs were tampered with: opened a socket"),
        (RunFacts(stopped="the cost cap is reached"), "hold", "the cost cap is reached"),
        (RunFacts(void=0.2), "promote", "difference +1.000"),
        (RunFacts(void=0.21), "hold", "of the pairs were lost to infrastructure"),
        (RunFacts(tampered=("x",), stopped="y", void=1.0), "reject", "tampered"),
    ],
)
def test_each_veto_has_its_verdict_and_says_so_first(facts: RunFacts, decision: str, reason: str) -> None:
    verdict = rollout_verdict(WON, facts, ROLLOUT_RULE)
    assert verdict.decision == decision
    assert reason in verdict.reasons[0]


@given(
    st.floats(0, 1), st.sampled_from(["", "x"]), st.sampled_from(["", "cap"]), st.sampled_from([-1.0, 0.0, 1.0])
)
def test_nothing_beside_the_rule_ever_promotes_what_the_rule_does_not(
    void: float, tampered: str, stopped: str, against: float
) -> None:
    facts = RunFacts(tampered=tuple(tampered), stopped=stopped, void=void, no_skill=audit(against))
    assert rollout_verdict(LOST, facts, ROLLOUT_RULE).decision != "promote"


def test_a_void_run_without_skill_is_a_null_and_no_win() -> None:
    comparison = against_no_skill([[None]] * 20 + [[0.0]] * 5, 1)
    assert (comparison.effect, comparison.nulls, comparison.tasks) == ("inert", 20, 5)
    assert against_no_skill([[1.0, None]] * 20, 1).nulls == 0, "a round that was not looked at is none of it"


def test_three_failed_rounds_are_no_lost_anchor_and_four_without_exception_are() -> None:
    once = AnchoredTask("t", 1, ((NONE, LOG),))
    assert once.suspects == LOG
    assert lost_anchors([once]) == ()
    assert lost_anchors([AnchoredTask("t", 1, ((NONE, LOG),) * 3)]) == ()
    assert lost_anchors([AnchoredTask("t", 1, ((NONE, LOG),) * 4)]) == ("t: log kept",)
    assert lost_anchors([AnchoredTask("t", 1, ((NONE, LOG),) * 3 + ((NONE, NONE),))]) == ()
    assert lost_anchors([AnchoredTask("t", 1, ((NONE, LOG),) * 3 + ((LOG, LOG),))]) == ()


def test_anchors_that_fail_a_little_more_often_everywhere_are_a_regression_too() -> None:
    tasks = [AnchoredTask(f"t{at}", 2, ((NONE, LOG),)) for at in range(8)]
    (lost_anchor,) = lost_anchors([*tasks, *(AnchoredTask(f"s{at}", 2, ((NONE, NONE),)) for at in range(12))])
    assert "20% fewer anchors hold over all tasks" in lost_anchor


def test_a_note_is_said_once_with_how_often_it_came() -> None:
    assert counted(["a", "b", "b"]) == ("b (2 runs)", "a")


def test_the_version_that_does_better_than_its_group_has_the_advantage() -> None:
    best, middle, worst = advantages([{"a": 1.0, "b": 0.5, "c": 0.0}] * 3)
    assert [advantage.version for advantage in (best, middle, worst)] == ["a", "b", "c"]
    assert (best.value, middle.value, worst.value) == pytest.approx((1.2247, 0.0, -1.2247), abs=1e-3)
    assert best.runs == 3


def test_a_hard_task_weighs_no_less_than_an_easy_one() -> None:
    small, large = advantages([{"a": 0.1, "b": 0.0}]), advantages([{"a": 1.0, "b": 0.0}])
    assert small == large


def test_a_group_of_one_and_a_group_of_equals_say_nothing() -> None:
    assert advantages([{"a": 1.0, "b": None}]) == ()
    assert {advantage.value for advantage in advantages([{"a": 1.0, "b": 1.0}])} == {0.0}


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1) | st.none(), min_size=2), max_size=12))
def test_advantages_within_a_group_cancel_out_and_never_depend_on_the_order(
    groups: list[dict[str, float | None]],
) -> None:
    group_advantages = advantages(groups)
    assert sum(advantage.value * advantage.runs for advantage in group_advantages) == pytest.approx(0, abs=1e-6)
    turned = {advantage.version: advantage for advantage in advantages(groups[::-1])}
    assert all(turned[advantage.version].value == pytest.approx(advantage.value) for advantage in group_advantages)
