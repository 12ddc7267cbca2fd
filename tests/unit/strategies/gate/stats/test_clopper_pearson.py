"""Exact limits of a proportion: how often they hold, counted over all that can happen."""

from __future__ import annotations

from math import comb

import pytest

from strategies.gate.stats.clopper_pearson import clopper_pearson, lowest_if_chosen


@pytest.mark.parametrize("chance", [0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize(("n", "least"), [(3, 3), (8, 5), (20, 12), (60, 40)])
def test_the_limit_of_what_was_chosen_holds_in_95_of_100_that_are_chosen(
    n: int, least: int, chance: float
) -> None:
    ways = {hits: comb(n, hits) * chance**hits * (1 - chance) ** (n - hits) for hits in range(least, n + 1)}
    held = sum(way for hits, way in ways.items() if lowest_if_chosen(hits, n, least, 0.05) <= chance)
    assert held >= 0.95 * sum(ways.values())


def test_a_limit_that_knows_nothing_of_the_choice_is_wrong_of_most_that_is_chosen() -> None:
    n, least, chance = 20, 14, 0.4
    ways = {hits: comb(n, hits) * chance**hits * (1 - chance) ** (n - hits) for hits in range(least, n + 1)}
    held = sum(way for hits, way in ways.items() if clopper_pearson(hits, n, 0.05)[0] <= chance)
    assert held == 0


def test_far_from_the_choice_both_limits_are_one() -> None:
    assert lowest_if_chosen(40, 40, 12, 0.05) == pytest.approx(clopper_pearson(40, 40, 0.05)[0], abs=1e-9)
    assert lowest_if_chosen(12, 40, 12, 0.05) == 0.0
    assert lowest_if_chosen(3, 10, 0, 0.05) == pytest.approx(clopper_pearson(3, 10, 0.05)[0], abs=1e-9)


@pytest.mark.parametrize(("hits", "n", "least"), [(900, 1_000, 899), (30_000, 40_000, 29_000)])
def test_the_limit_of_thousands_that_were_chosen_is_no_zero_that_a_float_ran_out_at(
    hits: int, n: int, least: int
) -> None:
    low = lowest_if_chosen(hits, n, least, 0.05)
    assert 0.3 < low <= clopper_pearson(hits, n, 0.05)[0] + 1e-12
    if least == hits - 1:  # of 900 or more, given 899 or more: next to nothing but the ratio of these two
        odds = low / (1 - low)
        assert odds * (n - least) / hits == pytest.approx(0.05, rel=0.06)
