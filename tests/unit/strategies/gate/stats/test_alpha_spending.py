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
TRUE_AND_UNTRUE = 12


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


def asks_among_true_ones(draws: random.Random, *, gives_back: bool) -> tuple[int, bool]:
    """Ask about true and untrue claims in turn; give how many true ones are found, and whether any other is."""
    spent, discoveries, is_wrong = 0, 0, False
    for number in range(TRUE_AND_UNTRUE):
        is_true = number % 2 == 0
        promoted = one_sided_p(draws.gauss(3.0 * is_true, 1)) <= nth_share(ALPHA, spent + 1)
        discoveries, is_wrong = discoveries + (promoted and is_true), is_wrong or (promoted and not is_true)
        spent += not (promoted and gives_back)
    return discoveries, is_wrong


def test_what_is_promoted_gives_its_share_back_and_the_rate_holds() -> None:
    draws = random.Random(7)
    given, kept = (
        [asks_among_true_ones(draws, gives_back=gives_back) for _ in range(REGISTRIES // 2)]
        for gives_back in (True, False)
    )
    wrong = sum(is_wrong for _, is_wrong in given) / len(given)
    assert wrong <= ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / len(given))
    assert sum(discoveries for discoveries, _ in given) > 1.05 * sum(discoveries for discoveries, _ in kept)
