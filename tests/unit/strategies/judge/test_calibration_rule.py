from __future__ import annotations

from itertools import product
from math import comb
from random import Random
from typing import TYPE_CHECKING

import pytest

from events.types.judge_events import JudgeCalibrated
from strategies.gate.stats.clopper_pearson import beta_below, clopper_pearson, share_of
from strategies.judge.calibration_rule import (
    BothOrders,
    JudgedPair,
    JudgeIdentity,
    Place,
    Preference,
    calibration_of,
    calibration_rules,
    length_bias,
    sign_test,
    standing_of,
)
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN = JudgeIdentity("claude-x", "p1", "sql")


def says(preference: Preference) -> BothOrders:
    """A judge that says the same in both orders."""
    places: dict[Preference, tuple[Place, Place]] = {
        "a": ("first", "second"),
        "tie": ("tie", "tie"),
        "b": ("second", "first"),
    }
    return BothOrders(*places[preference])


def calibrated(
    judge: JudgeIdentity = OWN, *, items: int = 60, low: float = 0.7, swap: float = 0.95
) -> JudgeCalibrated:
    model, prompt, family = judge
    return JudgeCalibrated(
        judge="j",
        items=items,
        agreement=0.9,
        agreement_low=low,
        swap_consistency=swap,
        model=model,
        prompt=prompt,
        family=family,
    )


def noisy(seed: int, items: int, *, right: float) -> list[JudgedPair]:
    """A judge that says what the label says in a share of the items, and the other one in the rest."""
    random = Random(seed)
    pairs = []
    for number in range(items):
        label: Preference = random.choice(("a", "b"))
        other: Preference = "b" if label == "a" else "a"
        pairs.append(JudgedPair(str(number), says(label if random.random() < right else other), label))
    return pairs


@pytest.mark.parametrize(
    ("forward", "backward", "verdict"),
    [
        ("first", "second", "a"),
        ("second", "first", "b"),
        ("tie", "tie", "tie"),
        ("first", "first", "tie"),
        ("second", "second", "tie"),
        ("first", "tie", "tie"),
        ("tie", "first", "tie"),
    ],
)
def test_a_disagreement_between_the_two_orders_is_a_tie(
    forward: Place, backward: Place, verdict: Preference
) -> None:
    both = BothOrders(forward, backward)
    assert both.verdict == verdict
    assert both.consistent == (both.answers[0] == both.answers[1])


def test_a_judge_that_always_takes_the_first_agrees_with_nobody_and_holds_in_no_order() -> None:
    labels: tuple[Preference, ...] = ("a", "b") * 30
    calibration = calibration_of(
        JudgedPair(str(at), BothOrders("first", "first"), label) for at, label in enumerate(labels)
    )
    assert (calibration.agreement.value, calibration.consistency, calibration.correlation) == (0.0, 0.0, 0.0)
    assert calibration.table == ((0, 30, 0), (0, 0, 0), (0, 30, 0))


def test_no_answer_agrees_with_nobody_not_even_with_a_tie() -> None:
    calibration = calibration_of([JudgedPair("1", None, "tie"), JudgedPair("2", says("tie"), "tie")])
    assert (calibration.agreement.value, calibration.consistency) == (0.5, 0.5)
    assert sum(map(sum, calibration.table)) == 1


def test_items_without_a_label_do_not_count() -> None:
    calibration = calibration_of([JudgedPair("1", says("a"), None), JudgedPair("2", says("a"), "a")])
    assert (calibration.agreement.n, calibration.agreement.value) == (1, 1.0)


def test_thirty_one_of_forty_are_enough_agreement_and_thirty_are_not() -> None:
    def low(right: int) -> float:
        return share_of((str(at), at < right) for at in range(40)).low

    assert low(30) < 0.6 < low(31)


def test_the_exact_limits_are_those_of_the_binomial_tails() -> None:
    n, hits = 23, 17
    low, high = clopper_pearson(hits, n)
    assert sum(comb(n, k) * low**k * (1 - low) ** (n - k) for k in range(hits, n + 1)) == pytest.approx(0.025)
    assert sum(comb(n, k) * high**k * (1 - high) ** (n - k) for k in range(hits + 1)) == pytest.approx(0.025)


@pytest.mark.parametrize(("hits", "n"), [(0, 40), (40, 40)])
def test_the_exact_limits_of_none_and_of_all_have_their_closed_form(hits: int, n: int) -> None:
    low, high = clopper_pearson(hits, n)
    edge = 0.025 ** (1 / n)
    assert (low, high) == pytest.approx((0.0, 1 - edge) if hits == 0 else (edge, 1.0))


@pytest.mark.parametrize(("a", "b"), list(product((1, 2, 7, 40), repeat=2)))
def test_the_beta_distribution_is_the_binomial_one_for_whole_numbers(a: int, b: int) -> None:
    n = a + b - 1
    for x in (0.01, 0.3, 0.5, 0.77, 0.999):
        whole = sum(comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
        assert beta_below(x, a, b) == pytest.approx(whole, abs=1e-12)


def test_the_lower_limit_gives_no_rights_away_where_wilsons_does() -> None:
    """The reason for the exact interval: how often a judge that agrees in .6 seems to agree in more."""
    n, behind = 76, 0.6
    chances = [comb(n, k) * behind**k * (1 - behind) ** (n - k) for k in range(n + 1)]
    wrong_exact = sum(chance for k, chance in enumerate(chances) if clopper_pearson(k, n)[0] > behind)
    wrong_wilson = sum(chance for k, chance in enumerate(chances) if wilson(k, n)[0] > behind)
    assert wrong_exact <= 0.025 < wrong_wilson


def test_items_that_share_tasks_count_for_what_they_are_worth() -> None:
    apart = share_of((str(at), at % 5 > 0) for at in range(60))
    alike = share_of((str(at // 6), at // 6 > 1) for at in range(60))
    mixed = share_of((str(at // 5), at % 5 > 0) for at in range(60))
    assert apart.value == alike.value == mixed.value == 0.8
    assert (apart.effective, alike.effective, mixed.effective) == (60.0, 10.0, 60.0)
    assert alike.low < 0.6 < apart.low == mixed.low


def test_one_task_asked_forty_times_shows_one_task() -> None:
    assert share_of(("same", at > 3) for at in range(40)).effective == 1.0


def test_no_items_show_nothing() -> None:
    assert share_of([]) == (0.0, 0.0, 1.0, 0, 0, 0.0)


def test_forty_items_agreement_and_swaps_are_all_asked_for() -> None:
    def missing(items: int, low: float, swap: float) -> list[str]:
        return [rule.name for rule in calibration_rules(items, low, swap) if not rule.holds]

    assert missing(40, 0.6, 0.8) == []
    assert missing(39, 0.6, 0.8) == ["labels"]
    assert missing(40, 0.59, 0.8) == ["agreement"]
    assert missing(40, 0.6, 0.79) == ["swapped"]
    assert missing(0, 0.0, 0.0) == ["labels", "agreement", "swapped"]


def test_a_judge_near_the_labels_promotes_and_one_that_guesses_does_not() -> None:
    """Correlations of .18 and .8 are the shares .59 and .9 that say what the label says."""
    verdicts = {}
    for right in (0.59, 0.9):
        calibration = calibration_of(noisy(7, 200, right=right))
        assert calibration.correlation == pytest.approx(2 * right - 1, abs=0.08)
        event = calibrated(
            low=calibration.agreement.low, swap=calibration.consistency, items=calibration.agreement.n
        )
        verdicts[right] = standing_of(OWN, [event]).promotes
    assert verdicts == {0.59: False, 0.9: True}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (OWN._replace(prompt="p2"), "its prompt changed since it was calibrated: p1 then, p2 now"),
        (OWN._replace(model="claude-y"), "its model changed since it was calibrated: claude-x then, claude-y now"),
        (OWN._replace(family="shell"), "never calibrated on tasks of the family shell; it was for sql"),
    ],
)
def test_a_calibration_ends_with_its_model_its_prompt_and_its_family(changed: JudgeIdentity, why: str) -> None:
    standing = standing_of(changed, [calibrated()])
    assert not standing.promotes
    assert standing.reasons == (why,)
    assert standing.powers == {"annotate", "veto"}


def test_the_last_calibration_of_a_judge_counts() -> None:
    better, worse = calibrated(), calibrated(low=0.5)
    assert not standing_of(OWN, [better, worse]).promotes
    assert standing_of(OWN, [worse, better]).promotes


def test_a_calibration_of_an_older_germline_names_no_judge_and_gives_no_rights() -> None:
    old = JudgeCalibrated(judge="j", items=90, agreement=0.9, agreement_low=0.8, swap_consistency=1.0)
    assert not standing_of(OWN, [old]).promotes


def lengths(preferences: Sequence[Preference], labels: Sequence[Preference], longer: int = 10) -> list[JudgedPair]:
    return [
        JudgedPair(str(at), says(preference), label, longer)
        for at, (preference, label) in enumerate(zip(preferences, labels, strict=True))
    ]


def test_a_judge_that_takes_the_longer_one_is_found_out() -> None:
    labels: list[Preference] = ["a", "b"] * 20
    bias = length_bias(lengths(["b"] * 40, labels))
    assert bias is not None
    assert (bias.longer, bias.labelled, bias.excess) == (1.0, 0.5, 0.5)
    assert bias.p == pytest.approx(2 / 2**20)
    assert bias.low > 0


def test_liking_long_outputs_as_much_as_the_labels_do_is_no_bias() -> None:
    bias = length_bias(lengths(["b"] * 30, ["b"] * 30))
    assert bias is not None
    assert (bias.excess, bias.p) == (0.0, 1.0)


def test_which_of_two_is_longer_turns_the_sign() -> None:
    labels: list[Preference] = ["a", "b"] * 10
    shorter = length_bias(lengths(["b"] * 20, labels, longer=-10))
    assert shorter is not None
    assert shorter.excess == -0.5


def test_outputs_of_one_length_show_no_bias_either_way() -> None:
    assert length_bias(lengths(["b"] * 5, ["a"] * 5, longer=0)) is None


def test_the_sign_test_is_exact_and_two_sided() -> None:
    assert sign_test(0, 0) == 1.0
    assert sign_test(5, 5) == 1.0
    assert sign_test(1, 9) == sign_test(9, 1) == pytest.approx(2 * (1 + 10) / 2**10)
    assert sign_test(3_000, 2_000) < 1e-40
