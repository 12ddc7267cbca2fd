"""Balanced rounds: what other changes do cancels out, and is no part of the noise."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from strategies.gate.stats.balanced_rounds import MOST_CONFIRMED, balanced_signs, noise_beside


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("changes", range(1, MOST_CONFIRMED + 1))
def test_any_two_changes_are_as_often_together_as_apart_and_all_are_together_first(
    changes: int, number: int
) -> None:
    signs = balanced_signs(changes, number)
    assert number or set(signs[0]) == {1}
    assert {abs(sign) for row in signs for sign in row} == {1}
    for change, other in combinations(range(changes), 2):
        assert sum(row[change] * row[other] for row in signs) == 0


def test_what_others_do_cancels_out_of_the_mean_and_of_the_noise() -> None:
    signs, effects = balanced_signs(3), (0.25, -0.5, 0.125)
    pairs = [row[0] * sum(effect * sign for effect, sign in zip(effects, row, strict=True)) for row in signs]
    assert sum(pairs) / len(pairs) == effects[0]
    noise = noise_beside(pairs, signs, 0)
    assert len(set(noise)) == 1  # nothing but this change is left
    assert noise_beside([0.5], balanced_signs(1), 0) == [0.5]


def test_what_three_others_mend_alike_is_no_gain_of_a_fourth_over_two_blocks() -> None:
    """Each of the three mends the task, whatever else does: a version with any of them passes."""
    for idle in range(4):
        gains = []
        for row in (row for number in (0, 1) for row in balanced_signs(4, number)):
            with_it, without = (
                any(sign == side for at, sign in enumerate(row) if at != idle) for side in (row[idle], -row[idle])
            )
            gains.append(with_it - without)
        assert sum(gains) == 0
        assert abs(sum(gains[:4])) == 1  # a single block takes a quarter of it for a gain or a loss


def test_a_void_pair_leaves_the_others_as_they_are() -> None:
    assert noise_beside([1.0, None, 0.0, -1.0], balanced_signs(4), 2) == [1.0, 0.0, -1.0]


@pytest.mark.parametrize("changes", [2, 3, 4, 6])
def test_noise_beside_others_is_as_large_as_it_is_without_them(changes: int) -> None:
    draws, signs = random.Random(7), balanced_signs(changes)
    blocks = []
    for _ in range(4_000):
        beside = [draws.choice((-0.6, 0.0, 0.6)) for _ in range(changes - 1)]
        others = [sum(e * sign for e, sign in zip(beside, row[1:], strict=True)) * row[0] for row in signs]
        blocks.append([draws.gauss(0.0, 0.5) + other for other in others])
    spread = sum(noise**2 for block in blocks for noise in noise_beside(block, signs, 0)) / len(signs) / 4_000
    raw = sum(pair**2 for block in blocks for pair in block) / len(signs) / 4_000
    assert spread == pytest.approx(0.25, rel=0.07)
    assert raw > 0.45
