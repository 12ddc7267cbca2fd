"""The rollout rule: exact, sequential, and never promoting for want of anything."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from strategies.gate.rollout_rule import LOOKS, decide, e_value, figures_of, look, rollout_rules, sign_flip_p
from strategies.gate.rule import failed
from strategies.policy.written_rules import ROLLOUT_RULE, RolloutPolicy

if TYPE_CHECKING:
    from collections.abc import Sequence

BETTER = [[1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]] * 12 + [[0.0] * 8] * 13


def flipped(means: Sequence[float]) -> float:
    """The definition, pattern by pattern."""
    parts = [round(mean * 840) for mean in means]
    patterns = list(itertools.product((1, -1), repeat=len(parts)))
    reached = sum(
        sum(sign * abs(part) for sign, part in zip(signs, parts, strict=True)) >= sum(parts) for signs in patterns
    )
    return reached / len(patterns)


@given(st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 0.125, 0.5, 2 / 3, 1.0]), min_size=1, max_size=9))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_the_sign_flip_test_is_exact(means: list[float]) -> None:
    assert sign_flip_p(means) == pytest.approx(flipped(means), abs=1e-12)


def test_no_difference_anywhere_is_no_evidence() -> None:
    assert sign_flip_p([0.0] * 30) == 1.0
    assert e_value([0.0] * 30) == 1.0
    assert sign_flip_p([]) == 1.0


def test_evidence_is_the_average_wealth_of_the_written_stakes() -> None:
    stakes = (0.05, 0.1, 0.2, 0.35, 0.5)
    assert e_value([1.0]) == pytest.approx(1.24)
    assert e_value([1.0, -1.0, 0.5]) == pytest.approx(sum((1 + s) * (1 - s) * (1 + s / 2) for s in stakes) / 5)


def test_a_clear_gain_is_promoted_at_the_first_look_that_shows_it() -> None:
    verdict = decide(BETTER)
    assert (verdict.decision, verdict.figures.rounds) == ("promote", 2)
    slower = decide([[1.0] * 8] * 4 + [[0.0] * 8] * 21)
    assert (slower.decision, slower.figures.rounds) == ("promote", 4)
    assert "smallest effect" in verdict.reason


@pytest.mark.parametrize("difference", [0.0, -1.0])
def test_ties_and_losses_are_rejected_at_the_first_look(difference: float) -> None:
    verdict = decide([[difference] * 8] * 30)
    assert (verdict.decision, verdict.figures.rounds) == ("reject", 1)
    assert "smallest effect" not in verdict.reason  # no spread, so none is known


def test_a_point_estimate_below_nothing_rejects_from_the_third_round_on_and_not_before() -> None:
    unlucky = [[1.0] * 8] * 4 + [[-1.0] + [0.0] * 7] * 5 + [[0.0] * 8] * 21
    assert figures_of(unlucky, 1).difference < 0
    assert look(unlucky, 1).decision is None
    assert decide(unlucky).decision == "promote"
    assert look([[1.0] * 8] * 4 + [[-1.0] * 8] * 5 + [[0.0] * 8] * 21, 3).decision == "reject"


def test_lines_that_nobody_misses_go_from_the_third_round_on() -> None:
    idle = [[0.0] * 8] * 28 + [[1.0, -1.0] * 4] * 2
    assert [look(idle, rounds, removal=True).decision for rounds in (1, 2, 3)] == [None, None, "promote"]
    assert look(idle, 3).decision != "promote"


def test_lines_that_are_missed_stay() -> None:
    missed = [[-1.0] * 8] * 4 + [[0.0] * 8] * 26
    assert look(missed, 3, removal=True).decision == "reject"
    unclear = [[-1.0, 0.0] * 4] * 4 + [[1.0, 0.0, -1.0, 0.0] * 2] * 6 + [[0.0] * 8] * 20
    assert [look(unclear, rounds, removal=True).decision for rounds in LOOKS].count("promote") == 0


def test_under_twenty_tasks_a_person_decides_on_a_removal() -> None:
    assert look([[0.0] * 8] * 19, 8, removal=True).decision == "hold"


def test_what_can_no_longer_reach_five_points_is_futile() -> None:
    pairs = [[0.0] * 8] * 99 + [[1.0] + [0.0] * 7]
    verdict = decide(pairs)
    assert verdict.decision == "reject"
    assert "futile" in verdict.reason


def test_exhaustion_holds_and_never_promotes() -> None:
    noisy = [[1.0, -1.0] * 4] * 9 + [[-1.0, 1.0] * 4] * 8 + [[1.0, 0.0, 0.0, 0.0] * 2] * 6
    verdict = look(noisy, LOOKS[-1])
    assert verdict.decision == "hold"
    assert "not shown after 8 rounds" in verdict.reason


def test_missing_runs_hold_and_never_promote() -> None:
    some = [[1.0]] * 3 + [[0.0]] * 22
    assert look(some, 1).decision is None
    verdict = decide(some)
    assert verdict.decision == "hold"
    assert "runs are missing" in verdict.reason
    assert decide([]).decision == "hold"


def test_under_twenty_tasks_nothing_is_promoted_whatever_they_show() -> None:
    verdict = decide([[1.0] * 8] * 19)
    assert verdict.decision == "hold"
    assert "a person decides" in verdict.reason
    assert decide([[1.0] * 8] * 20).decision == "promote"


def test_where_only_tasks_are_missing_no_more_rounds_are_run() -> None:
    assert decide([[1.0] * 8] * 19).figures.rounds == decide([[1.0] * 8] * 20).figures.rounds < LOOKS[-1]
    assert decide([[1.0, 0.0, 0.0, 0.0] * 2] * 4 + [[0.0] * 8] * 12).figures.rounds > 1


@pytest.mark.parametrize("rounds", LOOKS)
def test_few_tasks_are_no_shelter_for_what_is_no_better(rounds: int) -> None:
    verdict = look([[0.0] * 8] * 19, rounds)
    assert verdict.decision == "reject"
    assert verdict.reason.startswith("no better")


def test_figures_that_are_just_what_the_rule_asks_for_are_enough() -> None:
    seen = figures_of(BETTER, 1)
    least = replace(seen, rounds=8, tasks=20, e_value=10.0, p=0.10, difference=0.02, error=0.0)
    assert failed(rollout_rules(least)) == ("promote", ())
    for short in ({"tasks": 19}, {"e_value": 9.99}, {"p": 0.101}, {"difference": 0.019}):
        assert failed(rollout_rules(replace(least, **short)))[0] != "promote", short


def test_few_rounds_must_show_more_than_many() -> None:
    seen = replace(figures_of(BETTER, 1), tasks=20, p=0.0, difference=0.2)
    for rounds, least in ((1, 227.0), (4, 28.3), (8, 10.0)):
        assert failed(rollout_rules(replace(seen, rounds=rounds, e_value=least)))[0] == "promote"
        assert failed(rollout_rules(replace(seen, rounds=rounds, e_value=least - 1)))[0] == "hold"


def test_a_voided_pair_counts_for_neither_arm() -> None:
    voided = [[None, *task[1:]] if number < 5 else task for number, task in enumerate(BETTER)]
    assert figures_of(voided, 1).tasks == 20
    assert figures_of(voided, 2).tasks == 25
    assert figures_of([[None, 1.0]], 2).difference == 1.0


def test_the_first_rounds_alone_count_at_a_look() -> None:
    assert figures_of(BETTER, 1).difference == pytest.approx(12 / 25)
    assert figures_of(BETTER, 3).difference == pytest.approx(12 / 25 * 2 / 3)


def test_every_round_up_to_the_last_adds_to_the_evidence() -> None:
    grown = [figures_of([[1.0] * 8], rounds).e_value for rounds in range(1, 9)]
    assert grown == [pytest.approx(e_value([1.0] * rounds)) for rounds in range(1, 9)]


def test_more_tasks_show_smaller_effects() -> None:
    assert figures_of(BETTER * 4, 1).detectable < figures_of(BETTER, 1).detectable


@pytest.mark.parametrize(
    "looser",
    [
        {"least_e": 5.0},
        {"most_p": 0.2},
        {"early_exponent": 1.0},
        {"least_difference": 0.0},
        {"futile_below": 0.01},
        {"least_tasks": 10},
    ],
)
def test_no_policy_is_looser_than_the_written_rule(looser: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        RolloutPolicy.model_validate(looser)


def test_a_stricter_preset_waits_for_more_evidence() -> None:
    slowly = [[1.0] * 8] * 4 + [[0.0] * 8] * 21
    assert decide(slowly, RolloutPolicy(least_e=500)).figures.rounds > decide(slowly, ROLLOUT_RULE).figures.rounds


def test_a_skill_against_itself_is_seldom_promoted() -> None:
    """200 comparisons of 25 tasks with themselves; bench/gate.py measures the rate over thousands."""
    draws = random.Random(1)
    promoted = 0
    for _ in range(200):
        rates = [draws.betavariate(0.3, 0.3) for _ in range(25)]
        pairs = [[float(draws.random() < r) - float(draws.random() < r) for _ in range(8)] for r in rates]
        promoted += decide(pairs).decision == "promote"
    assert promoted <= 8
