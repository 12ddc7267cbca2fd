"""Claims about two stages of one test: an honest p where one of several was chosen, and more power for it."""

from __future__ import annotations

import random

import pytest

from strategies.gate.stats.mantel_haenszel import one_sided_p
from strategies.gate.stats.two_stage import charged, combined_p

DEALS = 20_000


def deal(draws: random.Random, claims: int, effect: float = 0.0) -> tuple[float, float]:
    """The best of several claims on explore, of which the first is true, and what sealed logs show of that one."""
    first = [draws.gauss(effect * (5 / 8) ** 0.5 * (at == 0), 1) for at in range(claims)]
    chosen = max(range(claims), key=first.__getitem__)
    return first[chosen], draws.gauss(effect * (3 / 8) ** 0.5 * (chosen == 0), 1)


@pytest.mark.parametrize("claims", [1, 4, 30])
def test_where_nothing_is_true_no_more_than_alpha_passes(claims: int) -> None:
    draws = random.Random(claims)
    passed = sum(combined_p(*deal(draws, claims), claims) <= 0.05 for _ in range(DEALS))
    assert passed / DEALS <= 0.05 + 3 * (0.05 * 0.95 / DEALS) ** 0.5


def test_what_is_true_is_seen_much_oftener_than_by_sealed_logs_alone() -> None:
    draws = random.Random(7)
    deals = [deal(draws, 4, effect=3.5) for _ in range(4_000)]
    both, alone = (sum(combined_p(first, second, claims) <= 0.01 for first, second in deals) for claims in (4, 0))
    assert both > 1.4 * alone


def test_a_choice_that_cannot_be_counted_leaves_sealed_logs_alone() -> None:
    assert combined_p(9.0, 1.0, 0) == combined_p(None, 1.0, 4) == one_sided_p(1.0)
    assert charged(0.3, 4) == 1.0
    assert combined_p(0.0, 9.0, 4) == 1.0
