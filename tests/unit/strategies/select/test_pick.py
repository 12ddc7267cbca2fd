from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.policy.presets import PRESETS
from strategies.select.pick import PastPick, deficits, select

if TYPE_CHECKING:
    from events.types.parts import Strategy
    from strategies.policy.presets import Weights

BALANCED = PRESETS["balanced"].weights


@dataclass(frozen=True)
class Waiting:
    calls_for: Strategy
    severity: float = 1.0
    fingerprint: str = "f"


def served(turns: int, offers: list[Waiting], weights: Weights) -> list[PastPick]:
    history: list[PastPick] = []
    for _ in range(turns):
        picked = select(offers, weights, deficits(history, weights))
        assert picked is not None
        history.append(PastPick(picked.calls_for, tuple({offer.calls_for for offer in offers})))
    return history


ALL = [Waiting("innovate"), Waiting("harden"), Waiting("repair")]


def test_kinds_are_served_in_proportion_to_their_weights() -> None:
    assert Counter(turn.strategy for turn in served(100, ALL, BALANCED)) == {
        "repair": 50,
        "harden": 30,
        "innovate": 20,
    }


def test_no_kind_waits_longer_than_its_share_demands() -> None:
    turns = [turn.strategy for turn in served(30, ALL, BALANCED)]
    for start in range(len(turns) - 10):
        assert Counter(turns[start : start + 10]).keys() == {"repair", "harden", "innovate"}


def test_a_kind_with_nothing_to_offer_saves_up_no_credit() -> None:
    alone = served(50, [Waiting("repair")], BALANCED)
    assert set(deficits(alone, BALANCED).values()) == {0.0}
    after = [select(ALL, BALANCED, deficits([*alone, *served(n, ALL, BALANCED)], BALANCED)) for n in range(10)]
    assert Counter(offer.calls_for for offer in after if offer) == {"repair": 5, "harden": 3, "innovate": 2}


def test_a_zero_weight_is_never_chosen() -> None:
    weights = PRESETS["repair-only"].weights
    assert select([Waiting("harden"), Waiting("innovate")], weights, {}) is None
    assert {turn.strategy for turn in served(20, ALL, weights)} == {"repair"}


def test_severity_orders_signals_only_inside_a_kind() -> None:
    offers = [Waiting("repair", 1.0, "mild"), Waiting("repair", 2.0, "worse"), Waiting("innovate", 99.0, "loud")]
    assert select(offers, BALANCED, {}) == offers[1]


def test_equals_are_told_apart_by_fingerprint_whatever_their_order() -> None:
    offers = [Waiting("repair", 1.0, "b"), Waiting("repair", 1.0, "a")]
    assert select(offers, BALANCED, {}) == select(offers[::-1], BALANCED, {}) == offers[1]


def test_nothing_on_offer_is_nothing_picked() -> None:
    assert select([], BALANCED, {}) is None
