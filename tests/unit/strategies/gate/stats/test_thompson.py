"""Thompson sampling over versions: posteriors, chances of being best, draws, and who goes."""

from __future__ import annotations

from math import exp, lgamma
from random import Random

import pytest

from strategies.gate.stats.thompson import (
    DISCOUNT,
    LEAST_EPISODES,
    EpisodeEnd,
    Posterior,
    chances_of_being_best,
    dominated,
    draw,
    posteriors,
)

FLAT = Posterior()


def ended(version: int, *outcomes: float, run: str = "r") -> list[EpisodeEnd]:
    return [EpisodeEnd(version, outcome, run) for outcome in outcomes]


def chance_of_being_above(posterior: Posterior, other: Posterior) -> float:
    """The closed form for whole weights (Evan Miller, "Formulas for Bayesian A/B testing")."""

    def log_beta(a: float, b: float) -> float:
        return lgamma(a) + lgamma(b) - lgamma(a + b)

    a, b, c, d = posterior.won + 1, posterior.lost + 1, other.won + 1, other.lost + 1
    terms = (exp(log_beta(c + i, b + d) - log_beta(1 + i, b) - log_beta(c, d)) / (b + i) for i in range(int(a)))
    return sum(terms)


def test_later_episodes_count_more() -> None:
    known = posteriors(ended(1, 1.0, 0.0), [1])
    assert known[1] == Posterior(won=DISCOUNT, lost=1.0, episodes=2)


def test_episodes_of_one_version_let_those_of_the_others_fade() -> None:
    known = posteriors([*ended(1, 1.0), *ended(2, 1.0, 1.0)], [1, 2])
    assert known[1].won == pytest.approx(DISCOUNT**2)
    assert known[2].won == pytest.approx(1 + DISCOUNT)


def test_a_model_never_met_before_halves_what_is_known_and_one_met_before_does_not() -> None:
    runs = ["old", "new", "old", "new"]
    known = posteriors([EpisodeEnd(1, 1.0, run) for run in runs], [1], discount=1.0)
    assert known[1].won == 0.5 + 3


def test_a_part_of_a_win_counts_on_both_sides_and_versions_not_on_offer_for_nothing() -> None:
    known = posteriors([*ended(1, 0.25), *ended(7, 1.0)], [1, 2], discount=1.0)
    assert known == {1: Posterior(0.25, 0.75, 1), 2: FLAT}


@pytest.mark.parametrize(
    ("posterior", "other"),
    [
        (Posterior(10, 5), Posterior(8, 8)),
        (Posterior(0, 0), Posterior(20, 0)),
        (Posterior(80, 20), Posterior(60, 40)),
        (Posterior(500, 500), Posterior(520, 480)),
    ],
)
def test_chances_of_two_are_those_of_the_closed_form(posterior: Posterior, other: Posterior) -> None:
    chances = chances_of_being_best({1: posterior, 2: other})
    assert chances[1] == pytest.approx(chance_of_being_above(posterior, other), abs=1e-5)
    assert sum(chances.values()) == pytest.approx(1)


def test_equals_have_equal_chances_and_one_alone_has_all() -> None:
    assert chances_of_being_best({1: FLAT, 2: FLAT, 3: FLAT})[2] == pytest.approx(1 / 3)
    assert chances_of_being_best({4: Posterior(0, 9)}) == {4: 1.0}


def test_versions_are_drawn_as_often_as_they_are_likely_to_be_best() -> None:
    known = {1: Posterior(10, 5), 2: Posterior(8, 8), 3: FLAT}
    draws = Random(3)
    drawn = [draw(known, draws) for _ in range(6_000)]
    chances = chances_of_being_best(known)
    assert chances.keys() == known.keys()
    for version, chance in chances.items():
        assert drawn.count(version) / len(drawn) == pytest.approx(chance, abs=0.02)


def test_the_same_seed_draws_the_same() -> None:
    known = {1: Posterior(10, 5), 2: Posterior(8, 8)}
    assert [draw(known, Random(seed)) for seed in range(20)] == [draw(known, Random(seed)) for seed in range(20)]


def test_only_what_is_surely_not_best_goes_and_only_after_enough_episodes() -> None:
    best, worst = Posterior(90, 10, 100), Posterior(10, 40, 50)
    assert set(dominated({1: best, 2: worst})) == {2}
    assert dominated({1: best, 2: worst._replace(episodes=LEAST_EPISODES - 1)}) == {}
    # A version that never ran is not surely worse than even the best one: nobody knows.
    assert dominated({1: Posterior(300, 0, 300), 2: FLAT}) == {}
    assert dominated({1: best}) == {}
