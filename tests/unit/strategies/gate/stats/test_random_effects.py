"""Claims about effects of several runs: textbook figures, and intervals that hold as often as they say."""

from __future__ import annotations

import random
from math import log, sqrt

import pytest

from strategies.gate.stats.random_effects import (
    EffectEstimate,
    chi_square_p,
    random_effects,
    t_quantile,
)

BCG = (
    (4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761),
    (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232),
    (17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825),
)  # fmt: skip
"""Thirteen trials of a vaccine, ill and not in either arm (Colditz et al. 1994): the example of R's metafor."""
SCALE = 0.2
"""Effects here lie in [-1, 1], log risk ratios do not."""


def of_trial(ill: int, well: int, others_ill: int, others_well: int) -> EffectEstimate:
    treated, others = ill + well, others_ill + others_well
    error = sqrt(1 / ill - 1 / treated + 1 / others_ill - 1 / others)
    return EffectEstimate(SCALE * log(ill / treated * others / others_ill), SCALE * error)


def test_the_textbook_example_comes_out_as_in_metafor() -> None:
    summed = random_effects([of_trial(*trial) for trial in BCG])
    assert summed is not None
    assert summed.q == pytest.approx(152.2330, abs=1e-3)
    assert summed.share == pytest.approx(0.9212, abs=1e-3)
    assert summed.variance / SCALE**2 == pytest.approx(0.3181, abs=1e-3)  # Paule-Mandel
    assert summed.p < 1e-20


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.7062), (2, 4.3027), (5, 2.5706), (30, 2.0423)])
def test_quantiles_of_student(freedom: int, quantile: float) -> None:
    assert t_quantile(freedom) == pytest.approx(quantile, abs=1e-4)


@pytest.mark.parametrize(("value", "freedom"), [(3.8415, 1), (5.9915, 2), (7.8147, 3), (18.3070, 10)])
def test_tails_of_chi_square(value: float, freedom: int) -> None:
    assert chi_square_p(value, freedom) == pytest.approx(0.05, abs=1e-5)


def test_one_effect_is_summed_up_by_nothing_and_two_predict_nothing() -> None:
    effect, other = EffectEstimate(0.2, 0.05), EffectEstimate(0.3, 0.05)
    assert random_effects([effect]) is None
    both = random_effects([effect, other])
    assert both is not None
    assert both.predicted is None
    assert random_effects([effect, other, effect]) is not None


@pytest.mark.parametrize(("runs", "spread"), [(4, 0.1), (8, 0.05)])
def test_a_new_run_lies_where_it_is_predicted_about_as_often_as_is_said(runs: int, spread: float) -> None:
    draws = random.Random(7)
    inside = 0
    for _ in range(worlds := 100):
        errors = [draws.uniform(0.03, 0.1) for _ in range(runs)]
        true = [draws.gauss(0.1, spread) for _ in range(runs + 1)]
        seen = [
            EffectEstimate(draws.gauss(value, error), error) for value, error in zip(true, errors, strict=False)
        ]
        summed = random_effects(seen)
        assert summed is not None
        assert summed.predicted is not None
        low, high = summed.predicted
        inside += low <= true[-1] <= high
    assert 0.91 <= inside / worlds <= 0.99
