"""Evidence by betting: it lies in at most one of twenty trials, finds what is there, and its interval holds."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from strategies.trials.e_process import HARM, PROOF, Coin, _wealth, chance_of_proof, harm, interval, proof, stakes

BUDGET = 400


def coins(draws: Random, *, base: float, gain: float, n: int = BUDGET, share: float = 0.5) -> list[Coin]:
    """Sessions with binary outcomes around what those before them came to."""
    made: list[Coin] = []
    won, count = 10 * base, 10
    for _ in range(n):
        given = draws.random() < share
        outcome = float(draws.random() < base + gain * given)
        made.append(Coin(outcome - won / count, given, share, float(given), 1))
        won, count = won + outcome, count + 1
    return made


def pairs(draws: Random, *, base: float, gain: float, each: int = 3) -> list[Coin]:
    """Pairs of blocks of `each` sessions, with a success rate of their own that drifts from pair to pair."""
    made = []
    for _ in range(BUDGET // (2 * each)):
        rate, given = base + draws.uniform(-0.15, 0.15), draws.random() < 0.5
        first, second = (
            sum(draws.random() < rate + gain * had for _ in range(each)) / each for had in (given, not given)
        )
        made.append(Coin(each / 2 * (first - second), given, 0.5, each / 2 if given else -each / 2, 2 * each))
    return made


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_over_all_ways_coins_can_fall_wealth_is_in_the_mean_what_it_began_with(share: float) -> None:
    terms = stakes(10, 0.25, paired=False)
    left = [0.5, -0.4, 0.3, 0.6, -0.7, 0.2, -0.5, 0.4, 0.5, -0.3]
    mean = 0.0
    for ways in product((True, False), repeat=len(left)):
        tossed = [Coin(value, given, share, float(given), 1) for value, given in zip(left, ways, strict=True)]
        *_, last = _wealth(tossed, terms, PROOF, 0.0, sign=1)
        mean += last * share ** sum(ways) * (1 - share) ** (len(ways) - sum(ways))
    assert mean == pytest.approx(1.0, abs=1e-6)


def test_no_gain_is_proven_in_at_most_one_of_twenty_trials() -> None:
    draws, terms = Random(11), stakes(BUDGET, 0.25, paired=False)
    false = sum(proof(coins(draws, base=0.5, gain=0.0), terms) >= PROOF for _ in range(160))
    assert false <= 14  # of 160 at .05 more are met once in 40


def test_pairs_of_blocks_withstand_a_drift_that_is_stronger_than_any_line() -> None:
    draws, terms = Random(12), stakes(BUDGET, 0.25, paired=True)
    assert sum(proof(pairs(draws, base=0.5, gain=0.0), terms) >= PROOF for _ in range(120)) <= 11
    assert sum(proof(pairs(draws, base=0.5, gain=0.2), terms) >= PROOF for _ in range(20)) >= 17


def test_a_gain_is_proven_about_as_often_as_one_test_at_the_end_would() -> None:
    draws, terms = Random(13), stakes(BUDGET, 0.25, paired=False)
    assert 0.55 < chance_of_proof([], terms, 0.1) < 0.65
    proven_share = sum(proof(coins(draws, base=0.5, gain=0.1), terms) >= PROOF for _ in range(60)) / 60
    assert 0.5 <= proven_share <= 0.8
    assert sum(proof(coins(draws, base=0.5, gain=0.2), terms) >= PROOF for _ in range(20)) == 20


def test_harm_is_seen_before_the_budget_is_used_up_and_gains_are_none() -> None:
    draws, terms = Random(14), stakes(BUDGET, 0.25, paired=False)
    assert sum(harm(coins(draws, base=0.5, gain=-0.2, n=250), terms) >= HARM for _ in range(20)) >= 17
    assert not any(harm(coins(draws, base=0.5, gain=0.2), terms) >= HARM for _ in range(20))


def test_the_ends_of_an_interval_are_passed_by_the_truth_rarely_whenever_one_looks() -> None:
    draws, terms = Random(15), stakes(BUDGET, 0.25, paired=False)
    passed = 0
    for at in range(10):
        low, high = interval(coins(draws, base=0.5, gain=0.1, n=120 + 30 * at), terms)
        assert low < high
        passed += (low > 0.1) + (high < 0.1)
    assert passed <= 3  # of 20 ends at .05


def test_a_proven_line_has_its_lower_end_above_nothing_and_no_other_has() -> None:
    draws, terms = Random(16), stakes(BUDGET, 0.25, paired=False)
    for gain in (0.0, 0.1, 0.3):
        tossed = coins(draws, base=0.5, gain=gain)
        low, _ = interval(tossed, terms)
        assert (low > -0.001) >= (proof(tossed, terms) >= PROOF)


def test_without_any_difference_left_to_come_proof_is_out_of_reach() -> None:
    terms = stakes(BUDGET, 0.25, paired=False)
    lost = [Coin(-0.5 if at % 2 else 0.5, bool(at % 2), 0.5, float(at % 2), 1) for at in range(200)]
    assert chance_of_proof(lost, terms, 0.1) < 0.01
    assert chance_of_proof(lost * 2, terms, 0.1) == 0
