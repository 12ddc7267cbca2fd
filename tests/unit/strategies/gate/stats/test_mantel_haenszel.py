from __future__ import annotations

import math

import pytest

from strategies.gate.stats.mantel_haenszel import (
    Table,
    cmh_z,
    one_sided_p,
    risk_difference,
    robustness_value,
    stratifier,
    survivors,
    two_sided_p,
)
from tests.worlds import call, episode

STEPS = [call("sql:SELECT")]


def table(wins_1: int, n1: int, wins_0: int, n0: int) -> Table:
    """Outcomes of 0 and 1: the sum of squares is the sum."""
    return Table(n1, wins_1, n0, wins_0, wins_1 + wins_0)


BERKELEY = [  # admissions by department, men and women, six departments; R: datasets::UCBAdmissions
    table(512, 825, 89, 108),
    table(353, 560, 17, 25),
    table(120, 325, 202, 593),
    table(138, 417, 131, 375),
    table(53, 191, 94, 393),
    table(22, 373, 24, 341),
]


def test_cmh_agrees_with_the_textbook_on_the_berkeley_admissions() -> None:
    """R: mantelhaen.test(UCBAdmissions, correct = FALSE) gives chi-squared 1.5246."""
    assert cmh_z(BERKELEY) ** 2 == pytest.approx(1.5246, abs=2e-4)
    assert cmh_z(BERKELEY) < 0


def test_a_single_stratum_gives_the_plain_risk_difference() -> None:
    difference = risk_difference([table(30, 40, 20, 40)])
    assert difference is not None
    assert difference.value == pytest.approx(0.25)
    wald = 1.96 * math.sqrt(0.75 * 0.25 / 40 + 0.5 * 0.5 / 40)
    assert difference.high - difference.value == pytest.approx(wald, rel=0.05)


def test_an_arm_that_always_succeeds_is_not_taken_for_certain() -> None:
    """Wilson: 9 of 9 is at least .701, 0 of 5 at most .434."""
    difference = risk_difference([table(9, 9, 0, 5)])
    assert difference == pytest.approx((1, 1 - math.hypot(1 - 0.7009, 0.4345), 1), abs=1e-3)
    half = risk_difference([table(9, 9, 40, 80)])
    assert half is not None
    assert half.low < half.value - 1.9 * math.sqrt(0.5 * 0.5 / 80)


def test_strata_with_one_arm_carry_nothing() -> None:
    alone = [table(9, 10, 0, 0), table(0, 0, 1, 10)]
    assert risk_difference(alone) is None
    assert cmh_z(alone) == 0
    assert risk_difference([*BERKELEY, *alone]) == risk_difference(BERKELEY)


def test_an_effect_between_strata_is_not_an_effect_within_them() -> None:
    strong_model_obeys = [table(81, 90, 9, 10), table(1, 10, 9, 90)]
    difference = risk_difference(strong_model_obeys)
    assert difference is not None
    assert difference.value == pytest.approx(0)
    assert cmh_z(strong_model_obeys) == pytest.approx(0)


def test_fractional_outcomes_are_weighed_by_their_own_variance() -> None:
    half = Table(10, 6.0, 10, 4.0, 5.2)
    whole = Table(10, 6.0, 10, 4.0, 10.0)
    assert abs(cmh_z([half])) > abs(cmh_z([whole]))


def test_the_robustness_value_is_that_of_the_lower_limit_of_the_risk_ratio() -> None:
    low = math.exp(math.log(2) - 1.959964 * math.sqrt(1 / 80 - 1 / 200 + 1 / 40 - 1 / 200))
    value = low + math.sqrt(low * (low - 1))
    assert robustness_value([table(40, 100, 20, 100)]) < robustness_value([table(80, 200, 40, 200)])
    assert robustness_value([table(80, 200, 40, 200)]) == pytest.approx(value, rel=1e-6)


def test_the_robustness_value_is_on_the_rarer_outcome() -> None:
    """From 90 % to 98 % five times fewer fail, though only a tenth more succeed."""
    mostly = [table(392, 400, 360, 400)]
    assert robustness_value(mostly) == pytest.approx(robustness_value([table(40, 400, 8, 400)]))
    assert robustness_value(mostly) > 2
    assert robustness_value([table(360, 400, 392, 400)]) == 1


def test_the_robustness_value_is_one_where_the_limit_is_not_above_one() -> None:
    assert robustness_value([table(11, 20, 10, 20)]) == 1
    assert robustness_value([]) == 1
    assert robustness_value([table(0, 20, 0, 20)]) == 1


def test_an_arm_that_never_succeeds_still_has_a_robustness_value() -> None:
    assert 2 < robustness_value([table(30, 40, 0, 40)]) < math.inf


def test_p_values_are_those_of_the_normal_distribution() -> None:
    assert one_sided_p(0) == 0.5
    assert one_sided_p(2.326348) == pytest.approx(0.01, rel=1e-5)
    assert two_sided_p(-1.959964) == pytest.approx(0.05, rel=1e-5)


def test_survivors_follow_benjamini_and_yekutieli() -> None:
    """Thresholds at q = .05 for three tests: .05 * rank / (3 * (1 + 1/2 + 1/3)) = .0091, .0182, .0273."""
    assert survivors([0.5, 0.009, 0.018], 0.05) == {1, 2}
    assert survivors([0.026, 0.026, 0.027], 0.05) == {0, 1, 2}  # the last one lifts those before it
    assert survivors([0.01, 0.02, 0.03], 0.05) == frozenset()
    assert survivors([], 0.05) == frozenset()


def test_the_task_joins_the_stratum_only_where_a_run_repeats_it() -> None:
    once = episode(STEPS, task="a")
    again = [episode(STEPS, task="b", trial=trial) for trial in range(2)]
    other_run = episode(STEPS, task="a", run="r2")
    stratum = stratifier([once, *again, other_run])
    assert stratum(once) == ("r1", "easy", "")
    assert stratum(other_run) == ("r2", "easy", "")
    assert stratum(again[0]) == ("r1", "easy", "b")
