"""Few labels and many judged items together: the judge sharpens the estimate as far as it deserves."""

from __future__ import annotations

from math import sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.mantel_haenszel import Z95

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_LABELS: Final = 2
"""Labels below which no variance can be had."""


class Labelled(NamedTuple):
    """An item with a label: what a person says, and what the judge says."""

    label: float
    judged: float


class Powered(NamedTuple):
    """A mean with its 95 % interval; `weight` is how far the judge was trusted: at 0 the labels stand alone."""

    value: float
    low: float
    high: float
    weight: float


def prediction_powered_mean(
    labelled: Sequence[Labelled], predicted: Sequence[float], weight: float | None = None
) -> Powered:
    """Estimate the mean of the labels, were there a label for every item.

    Shapes: predicted holds what the judge says of the items that have no label. Without a `weight` it is tuned:
    cov(label, predicted) / ((1 + n/N) var(predicted)), kept in [0, 1]. The labelled items must be drawn like
    the others.
    Raises: ValueError with fewer than two labels.
    Source: PPI++, Angelopoulos, Duchi & Zrnic 2023 (arXiv 2311.01453), section 6 for the weight of a mean.
    """
    if len(labelled) < LEAST_LABELS:
        raise ValueError(f"{len(labelled)} labels do not show how labels vary")
    n, others = len(labelled), len(predicted)
    if not others:
        weight = 0.0
    elif weight is None:
        weight = _tuned(labelled, predicted)
    rest = [pair.label - weight * pair.judged for pair in labelled]
    judged = weight * fmean(predicted) if others else 0.0
    error = _variance(rest) / n
    if others > 1:
        error += weight**2 * _variance(predicted) / others
    elif weight:
        error += weight**2 * _variance([*predicted, *(pair.judged for pair in labelled)]) / others
    value, margin = judged + fmean(rest), Z95 * sqrt(error)
    return Powered(value, value - margin, value + margin, weight)


def _tuned(labelled: Sequence[Labelled], predicted: Sequence[float]) -> float:
    n, spread = len(labelled), _variance([*predicted, *(pair.judged for pair in labelled)])
    if not spread:
        return 0.0
    mean_label, mean_judged = fmean(pair.label for pair in labelled), fmean(pair.judged for pair in labelled)
    together = sum((pair.label - mean_label) * (pair.judged - mean_judged) for pair in labelled) / (n - 1)
    return min(max(together / ((1 + n / len(predicted)) * spread), 0.0), 1.0)


def _variance(values: Sequence[float]) -> float:
    """Compute the variance of a sample, 0 where all are the same; `statistics` takes three times as long."""
    apart = [value - values[0] for value in values]
    mean = fmean(apart)
    return sum((difference - mean) ** 2 for difference in apart) / (len(apart) - 1)
