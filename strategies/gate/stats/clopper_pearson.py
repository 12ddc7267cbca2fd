"""Exact limits of a proportion, for items that may come several from one task."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from math import exp, lgamma, log, log1p
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.bisection import halved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TAIL_95: Final = 0.025
"""What each side of a two-sided 95 % interval leaves out."""
_TINY: Final = 1e-300
_CLOSE: Final = 1e-14
_MOST_TERMS: Final = 10_000
_HALVINGS: Final = 60


class Share(NamedTuple):
    """A share of n with its exact 95 % interval; `effective` is what n items are worth, which tasks make fewer."""

    value: float
    low: float
    high: float
    n: int
    tasks: int
    effective: float


def share_of(hits: Iterable[tuple[str, bool]]) -> Share:
    """Give the share of hits, with exact limits that hold where items of one task are alike.

    Shapes: hits holds (task, whether it is one) of each item. With one item a task it is the interval of Clopper
    and Pearson; else n shrinks by the design effect of the tasks, never below their number nor above the items.
    Source: Clopper & Pearson 1934; Korn & Graubard 1998 for the effective size.
    """
    tasks: dict[str, list[bool]] = defaultdict(list)
    for task, hit in hits:
        tasks[task].append(hit)
    n = sum(map(len, tasks.values()))
    if not n:
        return Share(0.0, 0.0, 1.0, 0, 0, 0.0)
    value = sum(map(sum, tasks.values())) / n
    effective = _effective(list(tasks.values()), value, n)
    low, high = clopper_pearson(value * effective, effective)
    return Share(value, low, high, n, len(tasks), effective)


def clopper_pearson(hits: float, n: float, tail: float = TAIL_95) -> tuple[float, float]:
    """Give the exact limits of a proportion; hits and n need not be whole. (0, 1) where nothing was seen.

    Source: Clopper & Pearson 1934, in the form with quantiles of the beta distribution.
    """
    return lower_limit(hits, n, tail), upper_limit(hits, n, tail)


def lower_limit(hits: float, n: float, tail: float) -> float:
    """Give the lower limit alone, for those who do not ask for the upper one."""
    return beta_quantile(hits, n - hits + 1, tail) if hits > 0 else 0.0


def upper_limit(hits: float, n: float, tail: float) -> float:
    """Give the upper limit alone, for those who do not ask for the lower one."""
    return beta_quantile(hits + 1, n - hits, 1 - tail) if hits < n else 1.0


def lowest_if_chosen(hits: float, n: float, least: float, tail: float) -> float:
    """Give the lower limit of a proportion that is only stated where there are at least so many hits.

    The limit of Clopper and Pearson asks how likely so many hits are; this one how likely among `least` or more.
    It is 0 where hits just suffice: that they do says nothing then.
    Source: Fithian, Sun & Taylor 2014, "Optimal inference after model selection", for one truncated binomial.
    """
    if hits <= least:
        return 0.0
    return _where_it_ends(
        lambda chance: (
            _log_beta_below(chance, hits, n - hits + 1)
            < log(tail) + (_log_beta_below(chance, least, n - least + 1) if least > 0 else 0.0)
        )
    )


@lru_cache(maxsize=4_096)
def beta_quantile(a: float, b: float, share: float) -> float:
    """Find where the beta distribution of a and b has this share below it."""
    return _where_it_ends(lambda x: beta_below(x, a, b) < share)


def _where_it_ends(is_below: Callable[[float], bool]) -> float:
    """Find where in [0, 1] something stops being true, to 1e-18."""
    return sum(halved(is_below, 0.0, 1.0, _HALVINGS)) / 2


def beta_below(x: float, a: float, b: float) -> float:
    """Compute the regularised incomplete beta function: the share of the beta distribution below x.

    Source: its continued fraction (DLMF 8.17.22), evaluated as Lentz 1976 does.
    """
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # on this side the fraction converges slowly
        return 1 - beta_below(1 - x, b, a)
    return exp(_log_front(x, a, b)) / a * (_fraction(x, a, b) - 1)


def _log_beta_below(x: float, a: float, b: float) -> float:
    """Compute the logarithm of `beta_below`, which of thousands of items is smaller than a float can be."""
    if not 0 < x < 1 or x > (a + 1) / (a + b + 2):
        return log(beta_below(x, a, b) or _TINY)
    return _log_front(x, a, b) - log(a) + log(_fraction(x, a, b) - 1)


def _log_front(x: float, a: float, b: float) -> float:
    return lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)


def _fraction(x: float, a: float, b: float) -> float:
    last, down, fraction = 1.0, 0.0, 1.0
    for k in range(_MOST_TERMS):
        m = k // 2
        if k == 0:
            term = 1.0
        elif k % 2 == 0:
            term = m * (b - m) * x / ((a + k - 1) * (a + k))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + k - 1) * (a + k))
        down = 1 / ((1 + term * down) or _TINY)
        last = (1 + term / last) or _TINY
        fraction *= last * down
        if k and abs(1 - last * down) < _CLOSE:
            break
    return fraction


def _effective(tasks: list[list[bool]], value: float, n: int) -> float:
    """Tell how many independent items would say as much: n over the design effect of items that share tasks."""
    plain = value * (1 - value) / n
    if len(tasks) in {1, n} or not plain:  # one task alone does not show how tasks differ, nor do equal answers
        return float(n) if len(tasks) == n else float(len(tasks))
    spread = sum((sum(each) - len(each) * value) ** 2 for each in tasks)
    clustered = spread / n**2 * len(tasks) / (len(tasks) - 1)
    return min(max(n * plain / clustered, float(len(tasks))) if clustered else float(n), float(n))
