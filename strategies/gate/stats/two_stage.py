"""Two stages of one test: what chose a claim counts too, once it is charged for the choice.

Explore chooses the best of several claims: its p times their number holds whatever the claims have to do with
each other (Bonferroni). The sealed episodes know nothing of the choice, so their p is independent of it. Put
together as normal deviates with weights that are fixed beforehand, the whole is a p-value again, for the claim
that was chosen and for the choice. Testing on sealed alone throws away five eighths of the logs; testing one claim
on all logs as if it had been the only one promotes what chance chose. Sources: Bauer & Köhne 1994; Lehmacher &
Wassmer 1999.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Final

from strategies.gate.stats.mantel_haenszel import one_sided_p

FIRST_SHARE: Final = 5 / 8
"""What explore holds of the tasks of both splits, 50 of 80 %: the weight of the first stage."""
_LEAST_P: Final = 1e-300
"""Below this p there is no normal deviate to be had."""


def charged(p: float, chosen_of: int) -> float:
    """Charge the smallest of several p-values for having been chosen."""
    return min(p * chosen_of, 1.0)


def combined_p(first_z: float | None, second_z: float, chosen_of: int) -> float:
    """Put two stages together; where the first cannot be charged (`chosen_of` is 0), the second counts alone."""
    if first_z is None or not chosen_of:
        return one_sided_p(second_z)
    first = charged(one_sided_p(first_z), chosen_of)
    if first >= 1:
        return 1.0
    deviate = -NormalDist().inv_cdf(max(first, _LEAST_P))
    return one_sided_p(sqrt(FIRST_SHARE) * deviate + sqrt(1 - FIRST_SHARE) * second_z)
