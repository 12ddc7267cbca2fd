"""Effects of several runs as draws from one distribution: their mean, how far they lie apart, and a new run's."""

from __future__ import annotations

from math import erfc, exp, lgamma, log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.clopper_pearson import beta_quantile
from strategies.gate.stats.mantel_haenszel import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_TO_COMPARE: Final = 2
LEAST_TO_PREDICT: Final = 3
"""Effects from which a new one can be predicted: two have nothing left to tell how far effects lie apart."""
_BOTH_TAILS: Final = 0.05
_HALVINGS: Final = 60
_LARGEST_VARIANCE: Final = 4.0
"""Effects lie in [-1, 1]: none of them can vary more."""


class EffectEstimate(NamedTuple):
    """An effect and its standard error, above 0."""

    value: float
    error: float


class RandomEffects(NamedTuple):
    """Several effects in sum.

    Units: `variance` is that of the true effects between runs; `predicted` bounds the effect of a run that was not
    seen, None below LEAST_TO_PREDICT; q is Cochran's, with its p; `share` (I²) is how much of what the effects
    differ by is more than chance.
    """

    mean: Interval
    predicted: tuple[float, float] | None
    variance: float
    q: float
    p: float
    share: float


def random_effects(effects: Sequence[EffectEstimate]) -> RandomEffects | None:
    """Sum effects up, with 95 % intervals in [-1, 1]; None where there are fewer than two.

    Sources: Paule & Mandel 1982 for the variance between runs; Knapp & Hartung 2003 for the interval of the mean,
    never narrower than without it (Röver, Knapp & Friede 2015); Higgins, Thompson & Spiegelhalter 2009 for the
    interval of a new effect; Higgins & Thompson 2002 for I².
    """
    k = len(effects)
    if k < LEAST_TO_COMPARE:
        return None
    q = _weighted(effects, 0.0).q
    variance = _between(effects)
    weighted = _weighted(effects, variance)
    error = sqrt(max(weighted.q / (k - 1), 1.0) / weighted.weight)
    mean = weighted.mean
    predicted = None
    if k >= LEAST_TO_PREDICT:
        predicted = _bounds(mean, t_quantile(k - 2) * sqrt(variance + error * error))
    low, high = _bounds(mean, t_quantile(k - 1) * error)
    share = max(0.0, 1 - (k - 1) / q) if q else 0.0
    return RandomEffects(Interval(mean, low, high), predicted, variance, q, chi_square_p(q, k - 1), share)


def t_quantile(freedom: int, tails: float = _BOTH_TAILS) -> float:
    """Find what Student's t exceeds, either way, with this probability."""
    x = beta_quantile(freedom / 2, 0.5, tails)
    return sqrt(freedom * (1 / x - 1))


def chi_square_p(value: float, freedom: int) -> float:
    """Compute the probability of a chi-square at least this large.

    Source: the recurrence of the upper incomplete gamma function (DLMF 8.8.2).
    """
    half = value / 2
    if half <= 0:
        return 1.0
    p, at = (erfc(sqrt(half)), 0.5) if freedom % 2 else (exp(-half), 1.0)
    while at < freedom / 2:
        p += exp(at * log(half) - half - lgamma(at + 1))
        at += 1
    return min(p, 1.0)


class _Weighted(NamedTuple):
    mean: float
    weight: float
    q: float


def _weighted(effects: Sequence[EffectEstimate], variance: float) -> _Weighted:
    weights = [1 / (effect.error**2 + variance) for effect in effects]
    weight = sum(weights)
    mean = sum(w * effect.value for w, effect in zip(weights, effects, strict=True)) / weight
    q = sum(w * (effect.value - mean) ** 2 for w, effect in zip(weights, effects, strict=True))
    return _Weighted(mean, weight, q)


def _between(effects: Sequence[EffectEstimate]) -> float:
    """Find the variance beside chance at which effects would differ as much; 0 where chance will do."""
    freedom = len(effects) - 1
    if _weighted(effects, 0.0).q <= freedom:
        return 0.0
    low, high = 0.0, _LARGEST_VARIANCE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _weighted(effects, middle).q > freedom else (low, middle)
    return (low + high) / 2


def _bounds(mean: float, margin: float) -> tuple[float, float]:
    return max(mean - margin, -1.0), min(mean + margin, 1.0)
