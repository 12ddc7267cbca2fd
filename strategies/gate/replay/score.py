"""The replay score: how episodes would have ended had the agent obeyed the claims, on overlap only.

Each claim is replayed at its own moments, in gene order, on the outcomes as those before it left them: what two
claims gain together counts once.
"""

from __future__ import annotations

import random
from functools import lru_cache, partial
from operator import add, mul, truediv
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.engines.share import HERE
from strategies.gate.replay.exposure import moments_of_each
from strategies.gate.replay.panel import PackedDraws, panel_of
from strategies.gate.stats.mantel_haenszel import Interval
from strategies.policy.written_rules import LEAST_OBEDIENT, PRIOR_WEIGHT, REFITS
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.exposure import Inverse
    from strategies.gate.replay.panel import MomentsByClaim, PanelPlace, ReplayPanel

    Counts = Sequence[Sequence[int]]  # the episodes of each course, in each of several draws
    Sums = Sequence[Sequence[float]]  # their outcomes

_REFIT_S: Final = 2e-7
"""What a refit takes for one task, and for one cell of a panel (measured)."""


_FEW_TASKS: Final = 500
"""Up to here draws are small (a kilobyte a task), and many of them are remembered."""

_DIGITS: Final = 12
"""From here on a value is rounding: a claim that changes nothing must not differ by it."""


class Estimate(NamedTuple):
    """A replay estimate: the mean outcome, and the share of disobedient episodes that could be imputed."""

    value: float
    coverage: float


def estimate(panel: ReplayPanel, weights: Sequence[int]) -> Estimate:
    """Estimate the mean outcome under obedience, counting each task as often as its weight says.

    A disobedient episode is imputed only where its stratum holds at least 5 obedient ones, by their mean shrunk
    towards that of all overlapping strata; every other episode keeps its outcome.
    """
    n, total = _sums(panel, weights)
    overlap = (place for places in panel.places for place in places if any(_overlap(place, n)[0]))
    imputed = {at for place in overlap for at in place.disobeyed}
    disobedient = sum([n[at][0] for at in panel.disobedient])
    covered = sum([n[at][0] for at in imputed]) / disobedient if disobedient else 1.0
    return Estimate(_means(panel, n, total)[0], covered)


def _sums(panel: ReplayPanel, weights: Sequence[int]) -> tuple[Counts, Sums]:
    """Count episodes and sum outcomes by course, in one draw."""
    n: list[Sequence[int]] = [()] * len(panel.courses)
    total: list[Sequence[float]] = [()] * len(panel.courses)
    for column in panel.columns:
        n[column.course] = [int(column.n.sum(weights))]
        total[column.course] = [column.total.sum(weights)]
    return n, total


def _means(panel: ReplayPanel, n: Counts, total: Sums) -> list[float]:
    """Estimate the mean outcome under obedience, in each draw."""
    every = range(len(panel.courses))
    means = map(truediv, _added(_replayed(panel, n, total), every), _counted(n, every))
    return [min(max(round(mean, _DIGITS), 0.0), 1.0) for mean in means]


def _replayed(panel: ReplayPanel, n: Counts, total: Sums) -> list[Sequence[float]]:
    """Sum outcomes by course as they would be under obedience, in all draws at once."""
    replayed = list(total)
    for places in panel.places:
        overlap = [(place, *arms) for place in places if any((arms := _overlap(place, n))[0])]
        ended = [
            [good if many else 0.0 for many, good in zip(obedient, _added(replayed, place.obeyed), strict=True)]
            for place, obedient, _ in overlap
        ]
        every = _counted([obedient for _, obedient, _ in overlap], range(len(overlap)))
        succeeded = _added(ended, range(len(overlap)))
        for (place, obedient, disobedient), of_obedient in zip(overlap, ended, strict=True):
            of_others = _added(replayed, place.disobeyed)
            columns = zip(obedient, of_obedient, every, succeeded, disobedient, of_others, strict=True)
            shift = [
                (good + PRIOR_WEIGHT * all_good / all_many) / (many + PRIOR_WEIGHT) - bad / few if many else 0.0
                for many, good, all_many, all_good, few, bad in columns
            ]
            for at in place.disobeyed:
                replayed[at] = list(map(add, replayed[at], map(mul, n[at], shift)))
    return replayed


def _overlap(place: PanelPlace, n: Counts) -> tuple[list[int], list[int]]:
    """Count both arms in each draw; the obedient as 0 where they are too few to tell how others would end."""
    obedient, disobedient = _counted(n, place.obeyed), _counted(n, place.disobeyed)
    return [
        many if many >= LEAST_OBEDIENT and few else 0 for many, few in zip(obedient, disobedient, strict=True)
    ], disobedient


def _counted(n: Counts, courses: Iterable[int]) -> list[int]:
    """Count the episodes of some courses, in each draw."""
    return list(map(sum, zip(*[n[at] for at in courses], strict=True)))


def _added(sums: Sums, courses: Iterable[int]) -> list[float]:
    """Add up the outcomes of some courses, in each draw: one by one, as `_Addends.sum` does and for its reason."""
    added = [0.0] * len(sums[0]) if sums else []
    for at in courses:
        added = list(map(add, added, sums[at]))
    return added


def by_task(panel: ReplayPanel) -> list[float]:
    """Estimate the mean outcome of each task under obedience; shapes: as `panel.cells`.

    A disobedient episode is shifted by what obeying goes with in its course, within [0, 1], so that its task
    keeps what sets it apart; over all tasks that comes to the same mean as imputing.
    """
    n, total = _sums(panel, [1] * len(panel.cells))
    replayed = _replayed(panel, n, total)
    shift = [(after - before) / often for (after,), (before,), (often,) in zip(replayed, total, n, strict=True)]
    shifted = (
        [min(max(cell.total + cell.n * shift[cell.course], 0.0), float(cell.n)) for cell in cells]
        for cells in panel.cells
    )
    sizes = (sum(cell.n for cell in cells) for cells in panel.cells)
    return [sum(values) / size for values, size in zip(shifted, sizes, strict=True)]


class Comparison(NamedTuple):
    """Two versions replayed over the same episodes: each with its interval, and the paired difference."""

    before: Interval
    after: Interval
    delta: Interval
    coverage_before: float
    coverage_after: float
    tasks: int
    n: int


def compare(
    records: Sequence[EpisodeRecord],
    before: Sequence[Claim | Inverse],
    after: Sequence[Claim | Inverse],
    *,
    seed: int,
    sharing: Sharing = HERE,
    known: MomentsByClaim | None = None,
) -> Comparison:
    """Replay two claim lists over the same episodes; intervals by a bootstrap over tasks that refits both.

    Shapes: claims in gene order; episodes with an outcome, at least one; `known` as `panel_of`. The refits do not
    depend on the process that makes them.
    """
    known = moments_of_each([*before, *after], records) if known is None else known
    first = panel_of(records, before, known)
    panels = first, first if tuple(after) == tuple(before) else panel_of(records, after, known)
    tasks = len(panels[0].cells)
    once = [1] * tasks
    old, new = (estimate(panel, once) for panel in panels)
    cells = sum(len(row) for panel in panels for row in panel.cells)
    refits = sharing.map(
        partial(_refitted, panels, seed), range(REFITS), seconds=_REFIT_S * REFITS * (tasks + cells)
    )
    return Comparison(
        before=_of_score(_interval(old.value, [before for before, _ in refits]), tasks),
        after=_of_score(_interval(new.value, [other for _, other in refits]), tasks),
        delta=_interval(new.value - old.value, [other - before for before, other in refits]),
        coverage_before=old.coverage,
        coverage_after=new.coverage,
        tasks=tasks,
        n=len(records),
    )


@lru_cache(maxsize=2)  # sealed and audit: each candidate of a run is refitted on the same draws
def _drawn(tasks: int, seed: int) -> tuple[Sequence[int], ...]:
    """Draw for each refit how often it counts each task."""
    draws = random.Random(seed)  # noqa: S311 - a seeded bootstrap, not a secret
    every = [*range(tasks)]  # a list is read a third faster than a range
    drawn = []
    for _ in range(REFITS):
        weights = [0] * tasks
        for task in draws.choices(every, k=tasks):
            weights[task] += 1
        drawn.append(bytes(weights))  # a task that is drawn 256 times in one refit: never, by 500 digits
    return tuple(drawn)


def _refitted(
    panels: tuple[ReplayPanel, ReplayPanel], seed: int, asked: Sequence[int]
) -> list[tuple[float, float]]:
    """Refit both panels on some draws of a seeded bootstrap, each named by its number."""
    before = _before(panels[0], seed, tuple(asked))
    after = before if panels[1] is panels[0] else _values(panels[1], seed, asked)
    return [*zip(before, after, strict=True)]


@lru_cache(maxsize=4)  # sealed and audit, outcomes or recovery: each candidate of a run has the same before it
def _before(panel: ReplayPanel, seed: int, asked: Sequence[int]) -> list[float]:
    return _values(panel, seed, asked)


def _values(panel: ReplayPanel, seed: int, asked: Sequence[int]) -> list[float]:
    tasks = len(panel.cells)
    draws = (_few_packed if tasks <= _FEW_TASKS else _packed)(tasks, seed, tuple(asked))
    n: list[Sequence[int]] = [()] * len(panel.courses)
    total: list[Sequence[float]] = [()] * len(panel.courses)
    for column in panel.columns:
        n[column.course] = [*map(int, column.n.sums(draws))]
        total[column.course] = column.total.sums(draws)
    return _means(panel, n, total)


@lru_cache(maxsize=2)
def _packed(tasks: int, seed: int, asked: tuple[int, ...]) -> PackedDraws:
    """Pack some of the draws, each named by its number."""
    every = _drawn(tasks, seed)
    weights = tuple(every[number] for number in asked)
    layout = Struct(f"<{len(asked)}I")
    packed = (int.from_bytes(layout.pack(*by_draw), "little") for by_draw in zip(*weights, strict=True))
    return PackedDraws(weights, tuple(packed))


_few_packed = lru_cache(maxsize=64)(_packed.__wrapped__)  # claims by recovery have few tasks, and each its own


def _of_score(interval: Interval, tasks: int) -> Interval:
    """Widen the interval of a score where all succeed, or none: no refit differs, and few tasks prove little."""
    if interval.low != interval.high or interval.value not in {0, 1}:
        return interval
    low, high = wilson(interval.value * tasks, tasks)
    return Interval(interval.value, low, high)


def _interval(value: float, refits: Sequence[float]) -> Interval:
    """Take the 2.5 and 97.5 % points of the refits, which need not hold the estimate in the middle."""
    ranked = sorted(refits)
    last = len(ranked) - 1
    return Interval(value, ranked[round(0.025 * last)], ranked[round(0.975 * last)])
