"""What a proportion in a sample says about the proportion behind it."""

from __future__ import annotations

from math import exp, lgamma, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

Z_95: Final = 1.96
"""The two-sided 95 % point of the normal distribution."""


def wilson(hits: float, n: int, z: float = Z_95) -> tuple[float, float]:
    """Give the bounds of a proportion's Wilson score interval; (0, 1) where nothing was seen.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    """
    if n == 0:
        return 0.0, 1.0
    share = hits / n
    centre = share + z * z / (2 * n)
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def wins_to_expect(n: int, won: int, lost: int) -> list[float]:
    """Give the probability of 0, 1, … n wins among `n` draws of a chance known only by what it gave before.

    The beta-binomial distribution: a binomial one whose chance is as uncertain as `won` and `lost` leave it.
    """
    a, b = won + 1, lost + 1
    whole = lgamma(n + 1) + lgamma(a + b) - lgamma(a) - lgamma(b) - lgamma(n + a + b)
    return [
        exp(whole + lgamma(a + k) - lgamma(k + 1) + lgamma(b + n - k) - lgamma(n - k + 1)) for k in range(n + 1)
    ]


def sum_of(left: Sequence[float], right: Sequence[float]) -> list[float]:
    """Give the distribution of the sum of two independent counts."""
    total = [0.0] * (len(left) + len(right) - 1)
    for at, chance in enumerate(left):
        for further, also in enumerate(right):
            total[at + further] += chance * also
    return total
