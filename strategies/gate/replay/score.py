"""The replay score: how episodes would have ended had the agent obeyed the claims, on overlap only."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial, reduce
from operator import add, itemgetter, mul
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.engines.share import HERE
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.exposure import first_moments_of
from strategies.gate.stats.mantel_haenszel import Interval, stratifier
from strategies.policy.written_rules import LEAST_OBEDIENT, PRIOR_WEIGHT, REFITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.claims import Claim
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.exposure import Inverse

_REFIT_S: Final = 2e-7
"""What a refit takes for one task, and for one cell of a panel (measured)."""


class ReplayCell(NamedTuple):
    """Episodes of one task that are judged alike: their place among the arms, number, and sum of outcomes.

    `arm` is twice the number of (claim, stratum), plus 1 for the obedient; -1 where no claim applies.
    """

    arm: int
    n: int
    total: float


class _Addends(NamedTuple):
    """What some tasks add to a sum each time they are drawn; `amounts` is None where that is 1 for each.

    `pick` names their weights in one go: a third of the time of a loop (measured 2026-11-22).
    """

    pick: Callable[[Sequence[int]], Sequence[int]]
    amounts: tuple[int, ...] | tuple[float, ...] | None

    def sum(self, weights: Sequence[int]) -> float:
        """Add up what was drawn.

        Whole amounts are added as such, which is exact. Others are added one by one: `sum` rounds floats
        differently from Python 3.12 on, and a score must not.
        """
        drawn = self.pick(weights)
        if self.amounts is None:
            return sum(drawn)
        added = map(mul, drawn, self.amounts)
        return sum(added) if isinstance(self.amounts[0], int) else reduce(add, added, 0.0)


class _Column(NamedTuple):
    """The cells of one arm: what they add to its number of episodes, and to its sum of outcomes."""

    arm: int
    n: _Addends
    total: _Addends


@dataclass(frozen=True)
class ReplayPanel:
    """Episodes reduced to counts, so that a refit costs one addition for each task and arm.

    Shapes: `cells` aligns with the sorted tasks; `claim_of` names the claim of each (claim, stratum).
    """

    cells: tuple[tuple[ReplayCell, ...], ...]
    claim_of: tuple[int, ...]
    claims: int

    @cached_property
    def columns(self) -> tuple[_Column, ...]:
        """The same counts by arm: a refit adds up columns, each of them in one go."""
        cells_of: dict[int, list[tuple[int, int, float]]] = {}
        for place, cells in enumerate(self.cells):
            for arm, n, total in cells:
                cells_of.setdefault(arm, []).append((place, n, total))
        return tuple(
            _Column(
                arm,
                _addends([(place, n) for place, n, _ in cells]),
                _addends([(place, total) for place, _, total in cells]),
            )
            for arm, cells in cells_of.items()
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
    """Reduce episodes to counts by task, claim, stratum and arm.

    Shapes: claims in gene order; episodes with an outcome, at least one.
    """
    stratum_of, first_of = stratifier(records), first_moments_of(claims)
    numbers: dict[tuple[int, tuple[str, str, str]], int] = {}
    tasks: dict[str, dict[int, list[float]]] = {task: {} for task in sorted({r.task for r in records})}
    for record in records:
        first = first_of(record)
        arm = -1
        if first is not None:
            place = first[0], stratum_of(record)
            arm = 2 * numbers.setdefault(place, len(numbers)) + first[1].obeyed
        tasks[record.task].setdefault(arm, []).append(outcome_of(record))
    cells = tuple(
        tuple(ReplayCell(arm, len(ys), sum(ys)) for arm, ys in sorted(arms.items())) for arms in tasks.values()
    )
    return ReplayPanel(cells, tuple(claim for claim, _ in numbers), len(claims))


def estimate(panel: ReplayPanel, weights: Sequence[int]) -> Estimate:
    """Estimate the mean outcome under obedience, counting each task as often as its weight says.

    A disobedient episode is imputed only where its stratum holds at least 5 obedient ones, by their mean
    shrunk towards that of all overlapping strata; every other episode keeps its outcome.
    """
    n, total = _sums(panel, weights)
    arms = 2 * len(panel.claim_of)
    gain, imputed = _imputation(panel, n, total)
    disobedient = sum(n[0:arms:2])
    return Estimate(
        min(max((sum(total) + gain) / sum(n), 0.0), 1.0), imputed / disobedient if disobedient else 1.0
    )


def _sums(panel: ReplayPanel, weights: Sequence[int]) -> tuple[list[int], list[float]]:
    """Count episodes and sum outcomes by arm; the last place is that of arm -1, where no claim applies."""
    arms = 2 * len(panel.claim_of)
    n = [0] * (arms + 1)
    total = [0.0] * (arms + 1)
    for column in panel.columns:
        n[column.arm] = int(column.n.sum(weights))
        total[column.arm] = column.total.sum(weights)
    return n, total


def _imputation(panel: ReplayPanel, n: Sequence[int], total: Sequence[float]) -> tuple[float, int]:
    """Sum what imputing changes, and count the episodes it changes; each claim has a mean of its own."""
    gain, changed = 0.0, 0
    for place, mean in _imputed(panel, n, total):
        gain += n[2 * place] * mean - total[2 * place]
        changed += n[2 * place]
    return gain, changed


def _imputed(panel: ReplayPanel, n: Sequence[int], total: Sequence[float]) -> list[tuple[int, float]]:
    """Give what a disobedient episode is imputed with, for each (claim, stratum) in which it may be."""
    overlap = [
        place for place in range(len(panel.claim_of)) if n[2 * place] and n[2 * place + 1] >= LEAST_OBEDIENT
    ]
    obedient = [0] * panel.claims
    succeeded = [0.0] * panel.claims
    for place in overlap:
        obedient[panel.claim_of[place]] += n[2 * place + 1]
        succeeded[panel.claim_of[place]] += total[2 * place + 1]
    means = []
    for place in overlap:
        claim = panel.claim_of[place]
        mean = succeeded[claim] / obedient[claim]
        means.append((place, (total[2 * place + 1] + PRIOR_WEIGHT * mean) / (n[2 * place + 1] + PRIOR_WEIGHT)))
    return means


def by_task(panel: ReplayPanel) -> list[float]:
    """Estimate the mean outcome of each task under obedience; shapes: as `panel.cells`.

    A disobedient episode is shifted by what obeying goes with in its stratum, within [0, 1], so that its task
    keeps what sets it apart; over all tasks that comes to the same mean as imputing.
    """
    n, total = _sums(panel, [1] * len(panel.cells))
    shift = {2 * place: mean - total[2 * place] / n[2 * place] for place, mean in _imputed(panel, n, total)}
    shifted = (
        [min(max(cell.total + cell.n * shift.get(cell.arm, 0.0), 0.0), float(cell.n)) for cell in cells]
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
        before=_interval(old.value, [before for before, _ in refits]),
        after=_interval(new.value, [other for _, other in refits]),
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
    drawn = []
    for _ in range(REFITS):
        weights = [0] * tasks
        for task in draws.choices(range(tasks), k=tasks):
            weights[task] += 1
        drawn.append(bytes(weights))  # a task that is drawn 256 times in one refit: never, by 500 digits
    return tuple(drawn)


def _refitted(
    panels: tuple[ReplayPanel, ReplayPanel], seed: int, asked: Sequence[int]
) -> list[tuple[float, float]]:
    """Refit both panels on some draws of a seeded bootstrap, each named by its number."""
    drawn = _drawn(len(panels[0].cells), seed)
    refits: list[tuple[float, float]] = []
    for number in asked:
        weights = drawn[number]
        old = estimate(panels[0], weights).value
        refits.append((old, old if panels[1] is panels[0] else estimate(panels[1], weights).value))
    return refits


def _interval(value: float, refits: Sequence[float]) -> Interval:
    """Take the 2.5 and 97.5 % points of the refits, which need not hold the estimate in the middle."""
    ranked = sorted(refits)
    last = len(ranked) - 1
    return Interval(value, ranked[round(0.025 * last)], ranked[round(0.975 * last)])
