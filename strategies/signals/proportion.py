"""What a proportion in a sample says about the proportion behind it."""

from __future__ import annotations

from math import exp, lgamma, log, sqrt
from typing import Final

Z_95: Final = 1.96
"""The two-sided 95 % point of the normal distribution."""


def wilson(hits: int, n: int, z: float = Z_95) -> tuple[float, float]:
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


def binomial_at_most(hits: int, n: int, chance: float) -> float:
    """Give the probability of at most `hits` among `n` draws; 0 < chance < 1."""
    terms = (
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(chance) + (n - k) * log(1 - chance)
        for k in range(hits + 1)
    )
    return min(1.0, sum(map(exp, terms)))
