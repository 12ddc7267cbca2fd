"""How far two figures go together: Pearson's r, over all items or within tasks, with its interval."""

from __future__ import annotations

from collections import defaultdict
from math import atanh, sqrt, tanh
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.mantel_haenszel import Z95, two_sided_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ALMOST_ONE: Final = 1 - 1e-12
"""Where Fisher's z would be infinite."""
_LOST: Final = 2
"""Degrees of freedom that Fisher's z lacks beside those of the means: n - 3 with one mean."""
_NOTHING: Final = 1e-12
"""A spread below this is rounding."""


class CorrelatedRun(NamedTuple):
    """One run: its task, how it ended, a figure that may go with that, and a third one to hold still."""

    task: str
    outcome: float
    figure: float
    held: float = 0.0


class Association(NamedTuple):
    """A correlation with its 95 % interval and two-sided p; `runs` are those of mixed `tasks`."""

    r: float
    low: float
    high: float
    p: float
    runs: int
    tasks: int


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Give the correlation of two lists of figures; 0 where one of them does not vary."""
    if not xs:
        return 0.0
    mean_x, mean_y = fmean(xs), fmean(ys)
    return _correlated([x - mean_x for x in xs], [y - mean_y for y in ys])


def on_mixed_tasks(runs: Iterable[CorrelatedRun]) -> Association | None:
    """Correlate a figure with outcomes within tasks that some runs solve and some do not; None without any.

    Task means are taken off first: a figure that only tells easy tasks from hard ones tells nothing of a run.
    Source: Fisher's z, less a degree of freedom for each task's mean.
    """
    centred = _centred(runs)
    return _association(_correlated(centred.figures, centred.outcomes), centred, lost=_LOST)


def beside_outcomes(runs: Iterable[CorrelatedRun]) -> Association | None:
    """Correlate a figure with `held` within mixed tasks, outcomes held still: does it follow what it should not?

    Source: the partial correlation, by Fisher's z with one degree of freedom less.
    """
    centred = _centred(runs)
    both = _correlated(centred.figures, centred.held)
    of_figure = _correlated(centred.figures, centred.outcomes)
    of_held = _correlated(centred.held, centred.outcomes)
    left = (1 - of_figure**2) * (1 - of_held**2)
    r = (both - of_figure * of_held) / sqrt(left) if left > _NOTHING else 0.0
    return _association(r, centred, lost=_LOST + 1)


class _Centred(NamedTuple):
    """The runs of mixed tasks, each figure less the mean of its task."""

    figures: list[float]
    outcomes: list[float]
    held: list[float]
    tasks: int


def _centred(runs: Iterable[CorrelatedRun]) -> _Centred:
    by_task: dict[str, list[CorrelatedRun]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    mixed = [each for each in by_task.values() if len({run.outcome for run in each}) > 1]
    centred = _Centred([], [], [], len(mixed))
    for each in mixed:
        means = (
            fmean(run.figure for run in each),
            fmean(run.outcome for run in each),
            fmean(r.held for r in each),
        )
        centred.figures.extend(run.figure - means[0] for run in each)
        centred.outcomes.extend(run.outcome - means[1] for run in each)
        centred.held.extend(run.held - means[2] for run in each)
    return centred


def _association(r: float, centred: _Centred, *, lost: int) -> Association | None:
    runs = len(centred.figures)
    freedom = runs - centred.tasks - lost
    if freedom < 1:
        return None
    z, error = atanh(max(min(r, _ALMOST_ONE), -_ALMOST_ONE)), 1 / sqrt(freedom)
    low, high = tanh(z - Z95 * error), tanh(z + Z95 * error)
    return Association(r, low, high, two_sided_p(z / error), runs, centred.tasks)


def _correlated(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Give the correlation of figures that have their means taken off."""
    spread = sum(x * x for x in xs) * sum(y * y for y in ys)
    return sum(x * y for x, y in zip(xs, ys, strict=True)) / sqrt(spread) if spread > _NOTHING else 0.0
