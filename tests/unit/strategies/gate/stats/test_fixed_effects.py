"""Claims about least squares within groups, against answers known by hand or by another way."""

from __future__ import annotations

import random
from statistics import fmean, linear_regression
from typing import TYPE_CHECKING

import pytest

from strategies.gate.stats.fixed_effects import GroupedRows, Slope, residuals
from strategies.gate.stats.group_means import CrossedGroups, are_few, grouping, within

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def partial_slope(
    outcome: Sequence[float],
    cause: Sequence[float],
    covariates: Sequence[Sequence[float]],
    groupings: Sequence[Sequence[Hashable]],
    clusters: Sequence[Hashable],
) -> Slope | None:
    left = residuals(outcome, cause, covariates, GroupedRows(groupings, clusters))
    return None if left is None else left.slope()


def test_every_group_of_every_grouping_ends_with_a_mean_of_nothing() -> None:
    draws = random.Random(1)
    rows = 300
    groupings = [[draws.randrange(7) for _ in range(rows)], [draws.randrange(40) for _ in range(rows)]]
    left = within([draws.random() for _ in range(rows)], [grouping(names) for names in groupings])
    for names in groupings:
        for group in set(names):
            assert fmean(x for x, g in zip(left, names, strict=True) if g == group) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("groups", [(4, 90, 7, 3), (90, 5), (1, 8, 4), (3, 3)])
def test_taken_away_by_how_groups_meet_or_row_by_row_the_means_are_the_same(groups: Sequence[int]) -> None:
    draws = random.Random(2)
    groupings = [grouping([draws.randrange(number) for _ in range(300)]) for number in groups]
    assert are_few(groupings, 300)
    crossed = CrossedGroups(groupings)
    for column in (
        [draws.random() for _ in range(300)],
        [float(draws.random() < 0.1) for _ in range(300)],
        [2.0] * 300,
    ):
        assert crossed.within(column) == pytest.approx(within(column, groupings), abs=1e-12)


def test_where_every_grouping_is_wide_means_are_taken_away_row_by_row() -> None:
    assert not are_few([grouping(range(100)), grouping(range(100))], 100)
    assert not are_few([grouping(range(100))], 100)


def test_in_one_group_it_is_the_slope_of_a_simple_regression() -> None:
    draws = random.Random(2)
    cause = [draws.random() for _ in range(50)]
    outcome = [3 * x + draws.gauss(0, 1) for x in cause]
    slope = partial_slope(outcome, cause, [], [[0] * 50], range(50))
    assert slope is not None
    assert slope.value == pytest.approx(linear_regression(cause, outcome).slope)


def test_what_groups_and_columns_bring_is_not_put_down_to_the_cause() -> None:
    draws = random.Random(3)
    rows = 4_000
    group = [draws.randrange(20) for _ in range(rows)]
    beside = [draws.gauss(0, 1) for _ in range(rows)]
    cause = [float(draws.random() < 0.2 + 0.03 * g + 0.1 * (b > 0)) for g, b in zip(group, beside, strict=True)]
    outcome = [0.5 * c + 2 * g + 3 * b + draws.gauss(0, 1) for c, g, b in zip(cause, group, beside, strict=True)]
    slope = partial_slope(outcome, cause, [beside], [group], range(rows))
    assert slope is not None
    assert slope.value == pytest.approx(0.5, abs=3 * slope.error)
    assert slope.error == pytest.approx(0.035, rel=0.2)  # 1 / sqrt(n p (1 - p))


def test_rows_of_one_cluster_that_are_alike_count_as_fewer() -> None:
    draws = random.Random(4)
    cause = [float(number % 2) for number in range(200)]
    outcome = [x + draws.gauss(0, 1) for x in cause]
    once = partial_slope(outcome, cause, [], [[0] * 200], range(200))
    thrice = partial_slope(outcome * 3, cause * 3, [], [[0] * 600], [*range(200)] * 3)
    assert once is not None
    assert thrice is not None
    assert thrice.value == pytest.approx(once.value)
    assert thrice.error == pytest.approx(once.error, rel=0.01)  # what was fitted is paid by rows


def test_groups_within_clusters_take_their_own_share_of_the_rows() -> None:
    draws = random.Random(5)
    pairs = [number // 2 for number in range(3_000)]
    cause = [draws.gauss(0, 1) for _ in pairs]
    outcome = [pair % 7 + draws.gauss(0, 1) for pair in pairs]
    slope = partial_slope(outcome, cause, [], [pairs], [pair // 3 for pair in pairs])
    assert slope is not None
    assert slope.error == pytest.approx(1 / 1_500**0.5, rel=0.1)  # of each pair one row is left


def test_a_cause_that_never_differs_within_its_groups_has_no_slope() -> None:
    assert partial_slope([0.0, 1.0, 1.0, 0.0], [1, 1, 0, 0], [], [["a", "a", "b", "b"]], range(4)) is None
    assert partial_slope([0.0, 1.0], [1, 0], [[2, 0]], [["a", "a"]], range(2)) is None


def test_what_rounding_leaves_of_a_cause_has_no_slope() -> None:
    draws = random.Random(5)
    task = list(range(23)) * 4
    run = [number % 3 + number // 23 for number in range(92)]
    cause = [float(number % 23 < 5) + 1e-4 * draws.random() for number in range(92)]
    outcome = [float(draws.random() < 0.3) for _ in range(92)]
    assert partial_slope(outcome, cause, [], [task, run], task) is None


def test_the_parts_of_a_regression_make_up_the_whole() -> None:
    draws = random.Random(6)
    cause = [float(draws.random() < 0.4) for _ in range(400)]
    outcome = [x + draws.gauss(0, 1) for x in cause]
    whole_rows = GroupedRows([[0] * 400], range(400))
    left = residuals(outcome, cause, [[draws.random() for _ in range(400)]], whole_rows)
    assert left is not None
    part = [number < 250 for number in range(400)]
    whole, part_slope, other = left.slope(), left.slope(part), left.slope([not kept for kept in part])
    assert whole is not None
    assert part_slope is not None
    assert other is not None
    assert part_slope.error > whole.error
    together = (part_slope.value / part_slope.error**2 + other.value / other.error**2) / (
        1 / part_slope.error**2 + 1 / other.error**2
    )
    assert together == pytest.approx(whole.value, abs=0.02)
