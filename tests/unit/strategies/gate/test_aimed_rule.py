"""The aimed gate: shown on its own tasks by more than one of them, then by fresh runs of all of them."""

from __future__ import annotations

import random

import pytest

from strategies.gate.aimed_rule import (
    FIRST_EVIDENCE,
    FRESH,
    FRESH_ROUNDS,
    aim_figures,
    aimed_rules,
    fresh_figures,
    look_at_aim,
    look_at_fresh,
)
from strategies.gate.rollout_rule import LOOKS
from strategies.gate.rule import failed
from strategies.policy.written_rules import RolloutPolicy

FIXES = [[1.0] * 8] * 4
SAME = [[0.0] * 8] * 26
TAGS = ("sql",)


def first(pairs: list[list[float]], rounds: int) -> str | None:
    return look_at_aim(pairs, rounds, TAGS, 30)[0].decision


def test_fresh_rounds_are_never_among_those_of_a_first_look() -> None:
    assert not set(FRESH) & set(range(LOOKS[-1]))


def test_a_line_that_mends_all_of_its_tasks_is_run_on_all_tasks_after_two_rounds_and_then_promoted() -> None:
    assert [first(FIXES, rounds) for rounds in (1, 2)] == [None, "promote"]
    aim = aim_figures(FIXES, 2, TAGS, 30)
    verdict, known = look_at_fresh(aim, FIXES, SAME, 1)
    assert (verdict.decision, known.fresh is not None) == ("promote", True)
    assert failed(aimed_rules(known)) == ("promote", ())
    assert failed(aimed_rules(aim))[0] == "hold"


def test_what_one_task_shows_alone_goes_no_further() -> None:
    memorised = [[1.0] * 8, *[[0.0] * 8] * 3]
    assert aim_figures(memorised, 8, TAGS, 30).evidence > FIRST_EVIDENCE
    assert first(memorised, 8) == "hold"


@pytest.mark.parametrize("rounds", [1, 2])
def test_before_the_third_round_only_an_interval_rejects(rounds: int) -> None:
    unlucky = [[-1.0] + [1.0] * 7, [0.0] + [1.0] * 7, [0.0] * 8, [1.0, -1.0] * 4]
    assert first(unlucky, rounds) is None
    assert first([[-1.0] * 8] * 4, rounds) == "reject"
    assert first([[0.0] * 8] * 4, rounds) == "reject"  # nothing changes, and the interval says so


def test_from_the_third_round_on_no_better_rejects() -> None:
    assert first([[1.0, -1.0, 0.0] * 3, [0.0] * 9, [0.0] * 9, [-1.0, 1.0, 0.0] * 3], 3) == "reject"


def test_what_breaks_elsewhere_as_much_as_it_mends_is_not_promoted() -> None:
    aim = aim_figures(FIXES, 2, TAGS, 30)
    breaks = [*[[-1.0] * 8] * 4, *[[0.0] * 8] * 22]
    decisions = [look_at_fresh(aim, FIXES, breaks, rounds)[0].decision for rounds in range(1, FRESH_ROUNDS + 1)]
    assert "promote" not in decisions
    assert decisions[-1] == "reject"


def test_fresh_runs_that_show_nothing_hold_whatever_the_first_ones_showed() -> None:
    aim = aim_figures([[1.0] * 8] * 6, 8, TAGS, 30)
    assert aim.evidence > 10_000
    verdict, _ = look_at_fresh(aim, [[0.0] * 8] * 6, SAME, FRESH_ROUNDS)
    assert verdict.decision == "hold"
    assert "fresh runs alone" in verdict.reason


def test_under_twenty_sealed_tasks_a_person_decides() -> None:
    aim = aim_figures(FIXES, 2, TAGS, 19)
    verdict, _ = look_at_fresh(aim, FIXES, [[0.0] * 8] * 15, FRESH_ROUNDS)
    assert (verdict.decision, "20 are needed" in verdict.reason) == ("hold", True)


def test_a_stricter_preset_asks_for_more_of_both_stages_together() -> None:
    figures = aim_figures(FIXES, 2, TAGS, 30).model_copy(update={"fresh": fresh_figures(FIXES, SAME, 1)})
    assert failed(aimed_rules(figures, RolloutPolicy(least_e=50)))[0] == "hold"


def test_a_voided_pair_counts_for_neither_arm() -> None:
    assert aim_figures([[None, 1.0], [1.0, None]], 2, TAGS, 30).evidence == aim_figures(
        [[1.0], [1.0]], 1, TAGS, 30
    ).evidence  # fmt: skip


def test_a_change_that_changes_nothing_is_never_promoted_in_two_thousand_tries() -> None:
    """Pass rates of one half, the noisiest there are; bench/gate.py measures the rates over more worlds."""
    draws = random.Random(5)

    def pairs(tasks: int, rounds: int) -> list[list[float]]:
        return [[float(draws.randint(0, 1) - draws.randint(0, 1)) for _ in range(rounds)] for _ in range(tasks)]

    confirmed = 0
    for _ in range(2_000):
        runs = pairs(5, 8)
        for rounds in range(1, 9):
            verdict, aim = look_at_aim(runs, rounds, TAGS, 30)
            if verdict.decision is None:
                continue
            if verdict.decision == "promote":
                aimed, rest = pairs(5, 6), pairs(25, 6)
                looks = [look_at_fresh(aim, aimed, rest, at)[0].decision for at in range(1, 7)]
                confirmed += next((look == "promote" for look in looks if look), False)
            break
    assert confirmed <= 4


def test_a_first_look_ends_where_evidence_grows_too_slowly_and_a_fresh_one_where_the_rest_loses_as_much() -> None:
    slow = [[1.0, -1.0, 1.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0] * 3]
    assert [first(slow, rounds) for rounds in (1, 2, 3)] == [None, None, "hold"]
    aim = aim_figures(FIXES, 2, TAGS, 30)
    breaks = [*[[-1.0] * 8] * 5, *[[0.0, 1.0, -1.0, 0.0] * 2] * 21]
    decisions = [look_at_fresh(aim, FIXES, breaks, rounds)[0].decision for rounds in (1, 2, 3)]
    assert decisions[-1] in {"hold", "reject"}
    unclear = [*[[-1.0, 0.0] * 4] * 3, *[[0.0, 1.0, -1.0, 0.0] * 2] * 23]
    assert look_at_fresh(aim, FIXES, unclear, 2)[0].decision != "hold"  # what may still be shown goes on


def test_an_early_look_must_be_surer_than_a_later_one_by_more_than_its_fewer_runs() -> None:
    noisy = [[1.0, -1.0, 0.0, 1.0] * 3] * 26
    below = {rounds: fresh_figures(FIXES, noisy, rounds) for rounds in (4, 8)}
    widths = [figures.difference - figures.low for figures in below.values()]
    assert widths[0] > 1.1 * 2**0.5 * widths[1]


def test_what_the_tasks_of_a_change_gain_alike_is_no_noise() -> None:
    alike, unlike = [[1.0, 0.0] * 4] * 4, [[1.0] * 8, [1.0] * 8, [0.0] * 8, [0.0] * 8]
    assert fresh_figures(FIXES, SAME, 8).low > fresh_figures(alike, SAME, 8).low > 0
    assert fresh_figures(alike, SAME, 8).low == pytest.approx(fresh_figures(unlike, SAME, 8).low)
    assert fresh_figures([[1.0]] * 4, SAME, 1).low < 4 / 30  # all four won once: that is not certain for ever
