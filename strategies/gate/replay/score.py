"""The replay score: how episodes would have ended had the agent obeyed the claims, on overlap only.

Each claim is replayed at its own moments, in gene order, on the outcomes as those before it left them: what two
claims gain together counts once.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial, reduce
from operator import add, itemgetter, mul
from struct import Struct, unpack
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.engines.share import HERE
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.exposure import course_of
from strategies.gate.stats.mantel_haenszel import Interval, stratifier
from strategies.policy.written_rules import LEAST_OBEDIENT, PRIOR_WEIGHT, REFITS
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.claims import Claim
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.exposure import Inverse
    from strategies.gate.stats.mantel_haenszel import Stratum

_REFIT_S: Final = 2e-7
"""What a refit takes for one task, and for one cell of a panel (measured)."""


Course = tuple[tuple[int, bool], ...]
"""What an episode is judged by: the place of each claim in its stratum, and whether it obeyed there."""


_FEW_TASKS: Final = 500
"""Up to here draws are small (a kilobyte a task), and many of them are remembered."""

_DIGITS: Final = 12
"""From here on a value is rounding: a claim that changes nothing must not differ by it."""


class ReplayCell(NamedTuple):
    """Episodes of one task and one course: the number of the course, how many, and the sum of their outcomes."""

    course: int
    n: int
    total: float


class _Place(NamedTuple):
    """One claim in one stratum: the courses that meet it, by what was done there."""

    obeyed: tuple[int, ...]
    disobeyed: tuple[int, ...]


class _Draws(NamedTuple):
    """How often each of several draws counts each task.

    `packed` holds the same numbers by task, those of all draws side by side in one whole number, which is added
    and multiplied as one: a twentieth of the time (measured).
    """

    weights: tuple[Sequence[int], ...]
    packed: tuple[int, ...]

    def unpacked(self, sums: int) -> Sequence[int]:
        """Give the sum of each draw; episodes drawn are less than 2**32."""
        count = len(self.weights)
        return unpack(f"<{count}I", sums.to_bytes(4 * count, "little"))


class _Addends(NamedTuple):
    """What some tasks add to a sum each time they are drawn; `amounts` is None where that is 1 for each.

    `pick` names their weights in one go: a third of the time of a loop (measured 2026-11-22).
    """

    pick: Callable[[Sequence[int]], Sequence[int]]
    amounts: tuple[int, ...] | tuple[float, ...] | None

    @property
    def whole(self) -> bool:
        """Whether all amounts are whole numbers: sums of them are exact, in whatever order."""
        return self.amounts is None or isinstance(self.amounts[0], int)

    def sum(self, weights: Sequence[int]) -> float:
        """Add up what was drawn.

        Whole amounts are added as such, which is exact. Others are added one by one: `sum` rounds floats
        differently from Python 3.12 on, and a score must not.
        """
        drawn = self.pick(weights)
        if self.amounts is None:
            return sum(drawn)
        added = map(mul, drawn, self.amounts)
        return sum(added) if self.whole else reduce(add, added, 0.0)

    def sums(self, draws: _Draws) -> Sequence[float]:
        """Add up each of several draws, whole amounts for all of them at once."""
        if not self.whole:
            return [self.sum(weights) for weights in draws.weights]
        return draws.unpacked(int(self.sum(draws.packed)))


class _Column(NamedTuple):
    """The cells of one course: what they add to its number of episodes, and to its sum of outcomes."""

    course: int
    n: _Addends
    total: _Addends


@dataclass(frozen=True)
class ReplayPanel:
    """Episodes reduced to counts, so that a refit costs one addition for each task and course.

    Shapes: `cells` aligns with the sorted tasks; `places` holds those of each claim, in gene order.
    """

    cells: tuple[tuple[ReplayCell, ...], ...]
    courses: tuple[Course, ...]
    places: tuple[tuple[_Place, ...], ...]

    @cached_property
    def disobedient(self) -> list[int]:
        """The courses on which some claim was not obeyed."""
        return [at for at, course in enumerate(self.courses) if not all(obeyed for _, obeyed in course)]

    @cached_property
    def columns(self) -> tuple[_Column, ...]:
        """The same counts by course: a refit adds up columns, each of them in one go."""
        cells_of: dict[int, list[tuple[int, int, float]]] = {}
        for place, cells in enumerate(self.cells):
            for course, n, total in cells:
                cells_of.setdefault(course, []).append((place, n, total))
        return tuple(
            _Column(
                course,
                _addends([(place, n) for place, n, _ in cells]),
                _addends([(place, total) for place, _, total in cells]),
            )
            for course, cells in cells_of.items()
        )


def _addends(amounts: Sequence[tuple[int, float]]) -> _Addends:
    """Lay out what tasks add, each by its place among them; what is 0 adds nothing."""
    places = [place for place, amount in amounts if amount]
    added = [amount for _, amount in amounts if amount]
    if all(amount == int(amount) for amount in added):
        added = [int(amount) for amount in added]
    few = slice(places[0], places[0] + 1) if places else slice(0)  # of one place, `itemgetter` gives no sequence
    pick = itemgetter(*places) if len(places) > 1 else itemgetter(few)
    return _Addends(pick, None if set(added) <= {1} else tuple(added))


class Estimate(NamedTuple):
    """A replay estimate: the mean outcome, and the share of disobedient episodes that could be imputed."""

    value: float
    coverage: float


def panel_of(records: Sequence[EpisodeRecord], claims: Sequence[Claim | Inverse]) -> ReplayPanel:
    """Reduce episodes to counts by task and course.

    Shapes: claims in gene order; episodes with an outcome, at least one.
    """
    stratum_of, judged_by = stratifier(records), course_of(claims)
    numbers: dict[tuple[int, Stratum], int] = {}
    courses: dict[Course, int] = {}
    tasks: dict[str, dict[int, list[float]]] = {task: {} for task in sorted({r.task for r in records})}
    for record in records:
        stratum = stratum_of(record)
        course = tuple(
            (numbers.setdefault((claim, stratum), len(numbers)), obeyed) for claim, obeyed in judged_by(record)
        )
        number = courses.setdefault(course, len(courses))
        tasks[record.task].setdefault(number, []).append(outcome_of(record))
    cells = tuple(
        tuple(ReplayCell(course, len(ys), sum(ys)) for course, ys in sorted(ended.items()))
        for ended in tasks.values()
    )
    met: list[dict[bool, list[int]]] = [{True: [], False: []} for _ in numbers]
    for course, number in courses.items():
        for place, obeyed in course:
            met[place][obeyed].append(number)
    of_claim: list[list[_Place]] = [[] for _ in claims]
    for (claim, _), place in numbers.items():
        of_claim[claim].append(_Place(tuple(met[place][True]), tuple(met[place][False])))
    return ReplayPanel(cells, tuple(courses), tuple(map(tuple, of_claim)))


def estimate(panel: ReplayPanel, weights: Sequence[int]) -> Estimate:
    """Estimate the mean outcome under obedience, counting each task as often as its weight says.

    A disobedient episode is imputed only where its stratum holds at least 5 obedient ones, by their mean shrunk
    towards that of all overlapping strata; every other episode keeps its outcome.
    """
    return _estimate(panel, *_sums(panel, weights))


def _estimate(panel: ReplayPanel, n: Sequence[int], total: Sequence[float]) -> Estimate:
    """Estimate from the number of episodes of each course, and the sum of their outcomes."""
    replayed, imputed = _replayed(panel, n, total)
    disobedient = sum([n[at] for at in panel.disobedient])
    covered = sum([n[at] for at in imputed]) / disobedient if disobedient else 1.0
    value = round(reduce(add, replayed, 0.0) / sum(n), _DIGITS)
    return Estimate(min(max(value, 0.0), 1.0), covered)


def _sums(panel: ReplayPanel, weights: Sequence[int]) -> tuple[list[int], list[float]]:
    """Count episodes and sum outcomes by course."""
    n = [0] * len(panel.courses)
    total = [0.0] * len(panel.courses)
    for column in panel.columns:
        n[column.course] = int(column.n.sum(weights))
        total[column.course] = column.total.sum(weights)
    return n, total


def _replayed(panel: ReplayPanel, n: Sequence[int], total: Sequence[float]) -> tuple[list[float], set[int]]:
    """Sum outcomes by course as they would be under obedience, and name the courses that were imputed."""
    replayed, imputed = list(total), set[int]()
    for places in panel.places:
        overlap: list[tuple[tuple[int, ...], int, int, float]] = []
        every, succeeded = 0, 0.0
        for obeyed, disobeyed in places:
            obedient, disobedient = sum([n[at] for at in obeyed]), sum([n[at] for at in disobeyed])
            if obedient >= LEAST_OBEDIENT and disobedient:
                ended = _added(replayed, obeyed)
                overlap.append((disobeyed, disobedient, obedient, ended))
                every, succeeded = every + obedient, succeeded + ended
        for disobeyed, disobedient, obedient, ended in overlap:
            mean = (ended + PRIOR_WEIGHT * succeeded / every) / (obedient + PRIOR_WEIGHT)
            shift = mean - _added(replayed, disobeyed) / disobedient
            for at in disobeyed:
                replayed[at] += n[at] * shift
            imputed.update(disobeyed)
    return replayed, imputed


def _added(values: Sequence[float], places: Sequence[int]) -> float:
    return reduce(add, [values[at] for at in places], 0.0)


def by_task(panel: ReplayPanel) -> list[float]:
    """Estimate the mean outcome of each task under obedience; shapes: as `panel.cells`.

    A disobedient episode is shifted by what obeying goes with in its course, within [0, 1], so that its task
    keeps what sets it apart; over all tasks that comes to the same mean as imputing.
    """
    n, total = _sums(panel, [1] * len(panel.cells))
    replayed, _ = _replayed(panel, n, total)
    shift = [(after - before) / often for after, before, often in zip(replayed, total, n, strict=True)]
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
) -> Comparison:
    """Replay two claim lists over the same episodes; intervals by a bootstrap over tasks that refits both.

    Shapes: claims in gene order; episodes with an outcome, at least one. The refits do not
    depend on the process that makes them.
    """
    first = panel_of(records, before)
    panels = first, first if tuple(after) == tuple(before) else panel_of(records, after)
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
    by_draw = zip(zip(*n, strict=True), zip(*total, strict=True), strict=True)
    return [_estimate(panel, *sums).value for sums in by_draw]


@lru_cache(maxsize=2)
def _packed(tasks: int, seed: int, asked: tuple[int, ...]) -> _Draws:
    """Pack some of the draws, each named by its number."""
    every = _drawn(tasks, seed)
    weights = tuple(every[number] for number in asked)
    layout = Struct(f"<{len(asked)}I")
    packed = (int.from_bytes(layout.pack(*by_draw), "little") for by_draw in zip(*weights, strict=True))
    return _Draws(weights, tuple(packed))


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
