"""Least squares within groups: what one column goes with beside others, with errors clustered by task."""

from __future__ import annotations

from collections import defaultdict
from math import fsum, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Column = list[float]

_ROUNDS: Final = 20
_SETTLED: Final = 1e-4
"""Means of groups below this share of a column's spread count as none."""
_NOTHING: Final = 1e-9
_LEFT: Final = 1e-3
"""Below this share of what a cause varies, what is left of it is no more than rounding."""


class Slope(NamedTuple):
    """A slope and its standard error."""

    value: float
    error: float

    @property
    def z(self) -> float:
        """The slope in standard errors."""
        return self.value / self.error


def within(column: Sequence[float], groupings: Sequence[Sequence[Hashable]]) -> Column:
    """Take the mean of every group away, for several groupings at once, by alternating projections.

    Shapes: each grouping names the group of each row. Source: Guimarães & Portugal 2010.
    """
    left = list(map(float, column))
    members = [_members(grouping) for grouping in groupings]
    settled = _SETTLED * sqrt(_dot(left, left) / len(left)) if left else 0.0
    for _ in range(_ROUNDS if len(members) > 1 else len(members)):
        most = 0.0
        for groups in members:
            for rows in groups:
                mean = sum(left[row] for row in rows) / len(rows)
                most = max(most, abs(mean))
                for row in rows:
                    left[row] -= mean
        if most <= settled:
            break
    return left


def partial_slope(
    outcome: Sequence[float],
    cause: Sequence[float],
    covariates: Sequence[Sequence[float]],
    groupings: Sequence[Sequence[Hashable]],
    clusters: Sequence[Hashable],
) -> Slope | None:
    """Give what the outcome gains per unit of the cause, beside the covariates and within the groups.

    None where nothing is left of the cause. The error allows for rows of one cluster being alike, and is never
    less than if one outcome more differed by 1 from what fits. Shapes: all columns are equally long.
    Sources: Frisch & Waugh 1933; Liang & Zeger 1986, with the factor G / (G - 1).
    """
    columns = [within(column, groupings) for column in (outcome, cause, *covariates)]
    ys, xs, *beside = columns
    varies = within(cause, [[0] * len(cause)])
    base = _orthogonal(beside)
    for unit in base:
        _subtract(ys, unit)
        _subtract(xs, unit)
    left = _dot(xs, xs)
    sums: defaultdict[Hashable, float] = defaultdict(float)
    if left <= _LEFT * _dot(varies, varies):
        return None
    value = _dot(xs, ys) / left
    for x, y, cluster in zip(xs, ys, clusters, strict=True):
        sums[cluster] += x * (y - value * x)
    count = len(sums)
    variance = fsum(score * score for score in sums.values()) / left**2 * count / max(count - 1, 1)
    return Slope(value, sqrt(max(variance, 1 / ((len(xs) + 2) * left))))


def _members(grouping: Sequence[Hashable]) -> list[list[int]]:
    rows: defaultdict[Hashable, list[int]] = defaultdict(list)
    for row, group in enumerate(grouping):
        rows[group].append(row)
    return list(rows.values())


def _orthogonal(columns: Sequence[Column]) -> list[Column]:
    """Give unit columns at right angles that span the same; what adds nothing is left out."""
    base: list[Column] = []
    for column in columns:
        before = _dot(column, column)
        rest = list(column)
        for unit in base:
            _subtract(rest, unit)
        length = _dot(rest, rest)
        if length > _NOTHING * len(rest) and length > 1e-6 * before:
            base.append([value / sqrt(length) for value in rest])
    return base


def _subtract(column: Column, unit: Column) -> None:
    """Take from a column what of it lies along a unit column, in place."""
    along = _dot(column, unit)
    column[:] = [value - along * other for value, other in zip(column, unit, strict=True)]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
