"""Columns without the means of their groups, for several groupings at once.

The means of one grouping after the other are taken away until all are as good as nothing. Source: Guimarães &
Portugal 2010 (alternating projections).
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import accumulate, pairwise
from math import fsum, sqrt
from operator import add, mul, sub
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Column = list[float]
_T = TypeVar("_T")

_ROUNDS: Final = 20
_SETTLED: Final = 1e-4
"""Means of groups below this share of a column's spread count as none."""
_MOST_LINKS: Final = 4
"""Links between levels, for each row, beyond which a walk over the rows is no slower (measured)."""


class Grouping(NamedTuple):
    """Which group each row is in, by number, and how many rows each group has."""

    of: list[int]
    sizes: list[int]


def grouping(names: Sequence[Hashable]) -> Grouping:
    """Number the groups that rows name."""
    numbers: dict[Hashable, int] = {}
    of = [numbers.setdefault(name, len(numbers)) for name in names]
    sizes = [0] * len(numbers)
    for number in of:
        sizes[number] += 1
    return Grouping(of, sizes)


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Multiply two columns, row by row, and sum."""
    return fsum(map(mul, left, right))


def around_mean(column: Sequence[float]) -> Column:
    """Take the mean of all rows away: `within` for a single group, in a fraction of the time."""
    left = list(map(float, column))
    mean = reduce(add, left, 0.0) / len(left) if left else 0.0
    return [value - mean for value in left]


def within(column: Sequence[float], groupings: Sequence[Grouping]) -> Column:
    """Take the mean of every group away, row by row."""
    left = list(map(float, column))
    settled = _settled(left)
    for _ in range(_ROUNDS if len(groupings) > 1 else len(groupings)):
        most = 0.0
        for of, sizes in groupings:
            sums = [0.0] * len(sizes)
            for group, value in zip(of, left, strict=True):
                sums[group] += value
            means = [total / size for total, size in zip(sums, sizes, strict=True)]
            most = max(most, *map(abs, means))
            left = [value - means[group] for group, value in zip(of, left, strict=True)]
        if most <= settled:
            break
    return left


def _settled(column: Column) -> float:
    return _SETTLED * sqrt(dot(column, column) / len(column)) if column else 0.0


def are_few(groupings: Sequence[Grouping], rows: int) -> bool:
    """Tell whether `CrossedGroups` is faster than `within`: all groupings but the widest have few groups."""
    levels = sum(sorted(len(groups.sizes) for groups in groupings)[:-1])
    return 0 < levels * levels <= _MOST_LINKS * rows


class CrossedGroups:
    """Takes the means of the same groupings from many columns: by how often groups meet, not row by row.

    What was taken from a row is the sum of the levels of its groups. The widest grouping (tasks) has hundreds of
    groups; its levels follow from those of the others, so that a round costs what those few come to. The rounds
    are those of `within`, and end where they do. Shapes: two groupings at least; the groups of all but the widest
    are numbered on end, `_rounds` are the numbers of each grouping in turn (None for the widest), and `_members`
    those in each combination of them that rows have.
    """

    def __init__(self, groupings: Sequence[Grouping]) -> None:
        widest = max(range(len(groupings)), key=lambda place: len(groupings[place].sizes))
        self._wide = groupings[widest]
        others = [groups for place, groups in enumerate(groupings) if place != widest]
        starts = [*accumulate((len(groups.sizes) for groups in others), initial=0)]
        numbers: list[range | None] = [range(*both) for both in pairwise(starts)]
        self._rounds = [*numbers[:widest], None, *numbers[widest:]]
        self._sizes = [size for groups in others for size in groups.sizes]
        combinations: dict[tuple[int, ...], int] = {}
        named = zip(*(groups.of for groups in others), strict=True)
        self._combination = [combinations.setdefault(groups, len(combinations)) for groups in named]
        self._members = [tuple(map(add, starts, groups)) for groups in combinations]
        pairs = Counter(zip(self._wide.of, self._combination, strict=True))
        self._pairs = [(wide, combination, rows) for (wide, combination), rows in pairs.items()]
        self._meet, self._meet_in_wide = self._met()

    def _met(self) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, float]]]]:
        """Count the rows that groups share, and how many of another's each has by its share of wide groups."""
        levels = range(len(self._sizes))
        meet, shared = [[0 for _ in levels] for _ in levels], [[0.0 for _ in levels] for _ in levels]
        in_wide: list[dict[int, int]] = [{} for _ in self._wide.sizes]
        for wide, combination, rows in self._pairs:
            held = in_wide[wide]
            for group in self._members[combination]:
                held[group] = held.get(group, 0) + rows
        for combination, rows in Counter(self._combination).items():
            for group in self._members[combination]:
                for other in self._members[combination]:
                    meet[group][other] += rows
        for held, size in zip(in_wide, self._wide.sizes, strict=True):
            for group, rows in held.items():
                row, share = shared[group], rows / size
                for other, others in held.items():
                    row[other] += share * others
        return [_filled(row) for row in meet], [_filled(row) for row in shared]

    def within(self, column: Sequence[float]) -> Column:
        """Take the mean of every group away."""
        left = list(map(float, column))
        wide_sums, sums = [0.0] * len(self._wide.sizes), [0.0] * len(self._members)
        for wide, combination, value in zip(self._wide.of, self._combination, left, strict=True):
            wide_sums[wide] += value
            sums[combination] += value
        wide_means = [total / size for total, size in zip(wide_sums, self._wide.sizes, strict=True)]
        through_wide = [0.0] * len(self._members)
        for wide, combination, rows in self._pairs:
            through_wide[combination] += rows * wide_means[wide]
        levels, at_wide = self._levels(self._by_group(sums), self._by_group(through_wide), _settled(left))
        wide_levels = list(map(sub, wide_means, self._wide_means(at_wide)))
        taken = self._taken(levels)
        return [
            value - wide_levels[wide] - taken[combination]
            for value, wide, combination in zip(left, self._wide.of, self._combination, strict=True)
        ]

    def _levels(self, totals: Column, through_wide: Column, settled: float) -> tuple[Column, Column]:
        """Find the levels of the numbered groups, and what they were when the wide ones were set last.

        Shapes: both are sums over the rows of each group, of the column and of its means in wide groups.
        """
        levels = [0.0] * len(self._sizes)
        before: Column | None = None
        at_wide: Column | None = None
        for _ in range(_ROUNDS):
            most = 0.0
            for numbers in self._rounds:
                if numbers is None:
                    before, at_wide = at_wide, list(levels)
                else:
                    most = max(most, self._lift(numbers, levels, at_wide, totals, through_wide))
            if before is not None and at_wide is not None and most <= settled:
                moved = self._wide_means(list(map(sub, at_wide, before)))
                if max(map(abs, moved)) <= settled:
                    break
        return levels, at_wide or levels

    def _lift(
        self, numbers: range, levels: Column, at_wide: Column | None, totals: Column, through_wide: Column
    ) -> float:
        """Add to the levels of one grouping what its means are now, in place; gives the largest."""
        most = 0.0
        for group in numbers:
            rest = totals[group]
            for other, rows in self._meet[group]:
                rest -= rows * levels[other]
            if at_wide is not None:
                rest -= through_wide[group]
                for other, rows_shared in self._meet_in_wide[group]:
                    rest += rows_shared * at_wide[other]
            mean = rest / self._sizes[group]
            levels[group] += mean
            most = max(most, abs(mean))
        return most

    def _by_group(self, sums: Sequence[float]) -> Column:
        """Sum what combinations hold by the numbered groups in them."""
        totals = [0.0] * len(self._sizes)
        for members, value in zip(self._members, sums, strict=True):
            for group in members:
                totals[group] += value
        return totals

    def _taken(self, levels: Sequence[float]) -> Column:
        """Give what the levels of the numbered groups take from the rows of each combination."""
        return [fsum([levels[group] for group in members]) for members in self._members]

    def _wide_means(self, levels: Sequence[float]) -> Column:
        """Give the mean in each wide group of what levels take."""
        taken, totals = self._taken(levels), [0.0] * len(self._wide.sizes)
        for wide, combination, rows in self._pairs:
            totals[wide] += rows * taken[combination]
        return [total / size for total, size in zip(totals, self._wide.sizes, strict=True)]


def _filled(row: Sequence[_T]) -> list[tuple[int, _T]]:
    return [(place, value) for place, value in enumerate(row) if value]
