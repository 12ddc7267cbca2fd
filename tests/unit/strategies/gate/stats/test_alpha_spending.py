"""Claims about shares of one error rate: they never add up to more, however many claims and looks there are."""

from __future__ import annotations

import random
from math import sqrt

import pytest

from strategies.gate.stats.alpha_spending import nth_share
from strategies.gate.stats.mantel_haenszel import one_sided_p

ALPHA = 0.05
REGISTRIES = 4_000
LOOKS, CLAIMS, GROWTH = 8, 3, 1.25


def test_all_shares_together_are_the_stated_rate() -> None:
    spent = [nth_share(ALPHA, number) for number in range(1, 1_001)]
    assert spent == sorted(spent, reverse=True)
    assert spent[0] == ALPHA / 2
    assert sum(spent) == pytest.approx(ALPHA * (1 - 1 / 1_001))


def registry_promotes(draws: random.Random, *, carried: bool) -> bool:
    """Ask for claims of which none is true again and again, as the logs that they are tested on grow."""
    sums, size, sent = [0.0] * CLAIMS, 0.0, 0
    for look in range(LOOKS):
        new = GROWTH**look - size
        size, sent = size + new, sent if carried else 0
        for claim in range(CLAIMS):
            sums[claim] += draws.gauss(0, sqrt(new))
            sent += 1
            if one_sided_p(sums[claim] / sqrt(size)) <= nth_share(ALPHA, sent):
                return True
    return False


def test_looks_at_growing_logs_keep_the_rate_where_the_count_is_carried_over() -> None:
    draws = random.Random(5)
    carried, fresh = (
        sum(registry_promotes(draws, carried=carried) for _ in range(REGISTRIES)) for carried in (True, False)
    )
    assert carried / REGISTRIES <= ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / REGISTRIES)
    assert fresh / REGISTRIES > 1.5 * ALPHA, "else this test could not fail"
