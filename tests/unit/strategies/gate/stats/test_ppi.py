from __future__ import annotations

from math import sqrt
from random import Random
from statistics import fmean, variance
from typing import NamedTuple

import pytest

from strategies.gate.stats.mantel_haenszel import Z95
from strategies.gate.stats.ppi import Labelled, Powered, prediction_powered_mean


class World(NamedTuple):
    """Few labels and many judged items, drawn from one distribution with a known mean."""

    labelled: list[Labelled]
    judged: list[float]


MEAN = 0.6


def world(seed: int, *, labels: int, others: int, right: float) -> World:
    """Outcomes of a fair comparison, and a judge that says the outcome in a share of the items, else guesses."""
    random = Random(seed)

    def item() -> Labelled:
        label = float(random.random() < MEAN)
        guess = float(random.random() < 0.5)
        return Labelled(label, label if random.random() < right else guess)

    return World([item() for _ in range(labels)], [item().judged for _ in range(others)])


def width(estimate: Powered) -> float:
    return estimate.high - estimate.low


def test_without_judged_items_it_is_the_mean_of_the_labels() -> None:
    labelled = world(1, labels=40, others=0, right=0.9).labelled
    labels = [item.label for item in labelled]
    margin = Z95 * sqrt(variance(labels) / 40)
    estimate = prediction_powered_mean(labelled, [])
    assert estimate == pytest.approx((fmean(labels), fmean(labels) - margin, fmean(labels) + margin, 0.0))


def test_at_full_weight_it_is_the_judged_mean_put_right_by_the_labels() -> None:
    labelled, judged = world(2, labels=50, others=500, right=0.8)
    estimate = prediction_powered_mean(labelled, judged, 1.0)
    rest = [item.label - item.judged for item in labelled]
    assert estimate.value == pytest.approx(fmean(judged) + fmean(rest))
    assert width(estimate) / 2 == pytest.approx(Z95 * sqrt(variance(judged) / 500 + variance(rest) / 50))


def test_a_judge_that_is_always_right_is_as_good_as_labels_for_all() -> None:
    """Closed form: with judged = label the tuned weight is 1 / (1 + n/N), and the value is the pooled mean."""
    labelled, judged = world(3, labels=100, others=400, right=1.0)
    pooled = [*(item.label for item in labelled), *judged]
    weight = 1 / (1 + 100 / 400)
    estimate = prediction_powered_mean(labelled, judged, weight)
    assert estimate.value == pytest.approx(fmean(pooled))
    assert prediction_powered_mean(labelled, judged).weight == pytest.approx(weight, abs=0.05)
    assert width(estimate) / 2 == pytest.approx(Z95 * sqrt(variance(pooled) / 500), rel=0.03)


def test_the_tuned_weight_makes_the_interval_narrowest() -> None:
    labelled, judged = world(4, labels=200, others=2_000, right=0.6)
    tuned = prediction_powered_mean(labelled, judged)
    assert 0 < tuned.weight < 1
    for weight in (0.0, tuned.weight / 2, 1.0):
        assert width(tuned) <= width(prediction_powered_mean(labelled, judged, weight)) + 1e-4


def test_the_narrowing_is_what_the_correlation_promises() -> None:
    """Variance of labels alone times 1 - r² / (1 + n/N), for a judge with r = .8."""
    labelled, judged = world(5, labels=4_000, others=16_000, right=0.8)
    alone = prediction_powered_mean(labelled, [])
    both = prediction_powered_mean(labelled, judged)
    assert (width(both) / width(alone)) ** 2 == pytest.approx(1 - 0.8**2 / 1.25, abs=0.03)


def test_a_judge_that_guesses_gains_and_costs_nothing() -> None:
    labelled, judged = world(6, labels=400, others=4_000, right=0.0)
    estimate = prediction_powered_mean(labelled, judged)
    assert estimate.weight < 0.15
    assert width(estimate) == pytest.approx(width(prediction_powered_mean(labelled, [])), rel=0.02)


def test_a_judge_that_says_the_opposite_or_always_the_same_has_no_weight() -> None:
    opposite = [Labelled(float(at % 2), float(1 - at % 2)) for at in range(20)]
    assert prediction_powered_mean(opposite, [0.0, 1.0] * 10).weight == 0.0
    same = [Labelled(float(at % 2), 1.0) for at in range(20)]
    assert prediction_powered_mean(same, [1.0] * 10).weight == 0.0


@pytest.mark.parametrize("right", [0.2, 0.8])
def test_the_interval_holds_the_mean_in_about_19_of_20_worlds(right: float) -> None:
    worlds = 1_000
    held = 0
    for seed in range(worlds):
        labelled, judged = world(seed, labels=60, others=240, right=right)
        estimate = prediction_powered_mean(labelled, judged)
        held += estimate.low <= MEAN <= estimate.high
    assert 0.93 <= held / worlds <= 0.97


def test_a_biased_judge_moves_the_estimate_not_at_all() -> None:
    """The judge finds b better far too often; the labels put that right."""
    random = Random(8)
    values = []
    for _ in range(200):
        labelled = []
        for _ in range(60):
            label = float(random.random() < MEAN)
            labelled.append(Labelled(label, max(label, float(random.random() < 0.7))))
        judged = [max(float(random.random() < MEAN), float(random.random() < 0.7)) for _ in range(600)]
        assert fmean(judged) > 0.8
        values.append(prediction_powered_mean(labelled, judged).value)
    assert fmean(values) == pytest.approx(MEAN, abs=0.015)


def test_one_judged_item_is_no_division_by_zero() -> None:
    labelled = world(9, labels=30, others=0, right=0.9).labelled
    assert prediction_powered_mean(labelled, [1.0]).weight < 0.1


def test_one_label_is_refused() -> None:
    with pytest.raises(ValueError, match="1 labels do not show"):
        prediction_powered_mean([Labelled(1.0, 1.0)], [1.0])
