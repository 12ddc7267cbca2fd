"""Effects of several runs as draws from one distribution: their mean, how far they lie apart, and a new run's."""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, lgamma, log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.bisection import halved
from strategies.gate.stats.clopper_pearson import beta_quantile
from strategies.gate.stats.mantel_haenszel import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_TO_COMPARE: Final = 2
LEAST_TO_PREDICT: Final = 3
"""Effects from which a new one can be predicted: two have nothing left to tell how far effects lie apart."""
_BOTH_TAILS: Final = 0.05
_HALVINGS: Final = 30
_LIKELY: Final = 20
"""Values of the variance between runs that a prediction goes by: twice as many change it by .014 at most (measured
on 60 sets of effects)."""
_FAR: Final = 4.0
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
    never narrower than without it (Röver, Knapp & Friede 2015); Higgins & Thompson 2002 for I².
    """
    k = len(effects)
    if k < LEAST_TO_COMPARE:
        return None
    q = _weighted(effects, 0.0).q
    variance = _between(effects, k - 1)
    mean, error = _mean(effects, variance)
    margin = t_quantile(k - 1) * error
    within = Interval(mean, max(mean - margin, -1.0), min(mean + margin, 1.0))
    return RandomEffects(
        mean=within,
        predicted=_predicted(effects, within) if k >= LEAST_TO_PREDICT else None,
        variance=variance,
        q=q,
        p=chi_square_p(q, k - 1),
        share=max(0.0, 1 - (k - 1) / q) if q else 0.0,
    )


def _predicted(effects: Sequence[EffectEstimate], mean: Interval) -> tuple[float, float]:
    """Bound the effect of a run that was not seen, at least by where the mean is.

    The variance between runs is itself uncertain: the interval of Higgins, Thompson & Spiegelhalter (2009), which
    takes it for known, holds in 85 % where it says 95 (ten runs, measured). So every value that the effects bear
    out counts, by how well. Source: Nagashima, Noma & Furukawa 2019, with quantiles in place of their draws.
    """
    variances = [_between(effects, target) for target in _q_quantiles(len(effects) - 1)]
    means = [_mean(effects, variance) for variance in variances]
    likely = [(value, sqrt(apart + error * error)) for apart, (value, error) in zip(variances, means, strict=True)]
    low, high = (_mixture_quantile(likely, share) for share in (_BOTH_TAILS / 2, 1 - _BOTH_TAILS / 2))
    return max(min(low, mean.low), -1.0), min(max(high, mean.high), 1.0)


def _mixture_quantile(parts: Sequence[tuple[float, float]], share: float) -> float:
    """Find the value below which this share lies of equally many draws from several normal distributions."""

    def is_too_low(value: float) -> bool:
        below = sum(erfc((mean - value) / (spread * sqrt(2))) for mean, spread in parts) / (2 * len(parts))
        return below < share

    return sum(halved(is_too_low, -_FAR, _FAR, _HALVINGS)) / 2


@lru_cache(maxsize=64)
def _q_quantiles(freedom: int) -> tuple[float, ...]:
    """Give evenly spaced quantiles of a chi-square."""
    return tuple(_chi_square_quantile((at + 0.5) / _LIKELY, freedom) for at in range(_LIKELY))


def _chi_square_quantile(above: float, freedom: int) -> float:
    most = 10.0 * freedom + 50
    return sum(halved(lambda value: chi_square_p(value, freedom) > above, 0.0, most, _HALVINGS)) / 2


@lru_cache(maxsize=256)
def t_quantile(freedom: int) -> float:
    """Find what Student's t exceeds, either way, in 5 % of cases."""
    x = beta_quantile(freedom / 2, 0.5, _BOTH_TAILS)
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


def _between(effects: Sequence[EffectEstimate], target: float) -> float:
    """Find the variance beside chance at which Cochran's Q would be this; 0 where it is less by chance alone."""
    if _weighted(effects, 0.0).q <= target:
        return 0.0
    ends = halved(lambda variance: _weighted(effects, variance).q > target, 0.0, _LARGEST_VARIANCE, _HALVINGS)
    return sum(ends) / 2


def _mean(effects: Sequence[EffectEstimate], variance: float) -> tuple[float, float]:
    """Give the mean of effects that vary so much beside chance, and its error."""
    mean, weight, q = _weighted(effects, variance)
    return mean, sqrt(max(q / (len(effects) - 1), 1.0) / weight)
