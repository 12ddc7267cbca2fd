"""Least squares within groups: what one column goes with beside others, with errors clustered by task."""

from __future__ import annotations

from collections import defaultdict
from itertools import compress, repeat
from math import fsum, sqrt
from operator import mul, sub
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.group_means import CrossedGroups, are_few, around_mean, dot, grouping, within

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from strategies.gate.stats.group_means import Column, Grouping

_NOTHING: Final = 1e-9
_LEFT: Final = 1e-3
"""Below this share of what a cause varies, what is left of it is no more than rounding."""

_LEAST_CLUSTERS: Final = 4
"""With fewer, the spread of Student's t is not finite."""


class Slope(NamedTuple):
    """A slope and its standard error."""

    value: float
    error: float

    @property
    def z(self) -> float:
        """The slope in standard errors."""
        return self.value / self.error


def _lie_within(groups: Grouping, wider: Grouping) -> bool:
    """Tell whether each group lies within one of the wider ones."""
    return len({*zip(groups.of, wider.of, strict=True)}) == len(groups.sizes)


class GroupedRows:
    """Rows with the groups and the cluster that each is in.

    What is within groups is worked out once a column, and what columns span once for all that begin with the same.
    `own` are the groupings whose groups lie within clusters.
    """

    def __init__(self, groupings: Sequence[Sequence[Hashable]], clusters: Sequence[Hashable]) -> None:
        self.groupings = [grouping(names) for names in groupings]
        self.clusters = grouping(clusters)
        self.own = [groups for groups in self.groupings if _lie_within(groups, self.clusters)]
        self._apart: list[Grouping] = []
        for groups in self.groupings:  # once means are taken away, wider groups have none left
            if not self._apart or not _lie_within(self._apart[-1], groups):
                self._apart.append(groups)
        self._crossed = CrossedGroups(self._apart) if are_few(self._apart, len(clusters)) else None
        self._within: dict[tuple[float, ...], tuple[int, Column]] = {}
        self._spanned: dict[tuple[int, ...], list[Column]] = {}

    def within(self, column: Sequence[float]) -> Column:
        """Take the mean of every group away from a column; the answer is the caller's own."""
        return list(self._numbered(column)[1])

    def spanned(self, columns: Sequence[Sequence[float]]) -> list[Column]:
        """Give unit columns at right angles that span what of these is within groups; not to be changed."""
        base: list[Column] = []
        numbers: tuple[int, ...] = ()
        for column in columns:
            number, left = self._numbered(column)
            numbers = (*numbers, number)
            if numbers not in self._spanned:
                self._spanned[numbers] = _widened(base, left)
            base = self._spanned[numbers]
        return base

    def _numbered(self, column: Sequence[float]) -> tuple[int, Column]:
        key = tuple(column)
        if key not in self._within:
            left = self._crossed.within(key) if self._crossed else within(key, self._apart)
            self._within[key] = len(self._within), left
        return self._within[key]


class Residuals(NamedTuple):
    """What is left of an outcome and of a cause, row by row; errors grow by the factor for what was fitted."""

    outcome: Column
    cause: Column
    clusters: list[int]
    factor: float

    def slope(self, part: Sequence[bool] | None = None) -> Slope | None:
        """Give what the outcome gains per unit of the cause, over some of the rows; None where nothing is left.

        The error allows for rows of one cluster being alike, and is never less than if one outcome more differed
        by 1 from what fits. Clusters in which nothing is left of the cause tell nothing and do not count. With few
        of them the error is itself uncertain: it is widened to the spread of Student's t, so that normal limits
        hold. Sources: Liang & Zeger 1986; Cameron & Miller 2015.
        """
        xs, ys, clusters = self.cause, self.outcome, self.clusters
        if part is not None:
            xs, ys, clusters = [*compress(xs, part)], [*compress(ys, part)], [*compress(clusters, part)]
        left = dot(xs, xs)
        count = len({cluster for x, cluster in zip(xs, clusters, strict=True) if x * x > _NOTHING})
        if left <= _NOTHING * len(xs) or count < _LEAST_CLUSTERS:
            return None
        value = dot(xs, ys) / left
        sums: defaultdict[int, float] = defaultdict(float)
        for x, y, cluster in zip(xs, ys, clusters, strict=True):
            sums[cluster] += x * (y - value * x)
        variance = fsum(score * score for score in sums.values()) / left**2 * count / (count - 3) * self.factor
        return Slope(value, sqrt(max(variance, 1 / ((len(xs) + 2) * left))))


def residuals(
    outcome: Sequence[float], cause: Sequence[float], covariates: Sequence[Sequence[float]], rows: GroupedRows
) -> Residuals | None:
    """Take from outcome and cause what covariates and groups explain; None where nothing is left of the cause.

    Of the rows, groups that lie within clusters take their own share. Shapes: all columns are equally long.
    Sources: Frisch & Waugh 1933; Cameron & Miller 2015.
    """
    ys, xs, base = rows.within(outcome), rows.within(cause), rows.spanned(covariates)
    varies = around_mean(cause)
    for unit in base:
        _subtract(ys, unit)
        _subtract(xs, unit)
    counted = len(xs) - max((len(groups.sizes) for groups in rows.own), default=0)
    others = (groups for groups in rows.groupings if groups not in rows.own)
    free = counted - 1 - len(base) - sum(len(groups.sizes) - 1 for groups in others)
    if dot(xs, xs) <= _LEFT * dot(varies, varies) or free < 1:
        return None
    return Residuals(ys, xs, rows.clusters.of, counted / free)


def _widened(base: list[Column], column: Column) -> list[Column]:
    """Add to unit columns at right angles what a column has beyond them; where that is nothing, nothing."""
    rest = list(column)
    for unit in base:
        _subtract(rest, unit)
    length = dot(rest, rest)
    if length <= _NOTHING * len(rest) or length <= 1e-6 * dot(column, column):
        return base
    norm = sqrt(length)
    return [*base, [value / norm for value in rest]]


def _subtract(column: Column, unit: Column) -> None:
    """Take from a column what of it lies along a unit column, in place."""
    along = dot(column, unit)
    column[:] = map(sub, column, map(mul, repeat(along), unit))
