"""Selection over many cycles: presets bind, tired signals rest, previews tell the truth."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.types.registry_events import CycleFinished, SignalRaised
from strategies.policy.auto import automatic
from strategies.policy.presets import PRESETS, Weights
from strategies.select.pick import KINDS, PastPick, deficits, pick, preview, select
from strategies.select.resting_signals import LONGEST_REST, rest_of
from tests.registries import raised_signal

if TYPE_CHECKING:
    from events.types.parts import Strategy


@dataclass(frozen=True)
class Waiting:
    calls_for: Strategy
    severity: float
    fingerprint: str


@dataclass(frozen=True)
class Done:
    fingerprint: str
    verdict: str = "hold"


waiting = st.builds(
    Waiting,
    st.sampled_from(KINDS),
    st.floats(0, 1, allow_nan=False),
    st.sampled_from("abcdef"),
)


@pytest.mark.parametrize("name", list(PRESETS))
@given(severities=st.lists(st.floats(0, 1), min_size=3, max_size=3))
@settings(derandomize=True, deadline=None, max_examples=5)
def test_over_a_hundred_cycles_each_kind_gets_its_share_whatever_the_severities(
    name: str, severities: list[float]
) -> None:
    weights = PRESETS[name].weights
    offers = [Waiting(kind, severity, kind) for kind, severity in zip(KINDS, severities, strict=True)]
    history: list[PastPick] = []
    for _ in range(100):
        picked = select(offers, weights, deficits(history, weights))
        assert picked is not None
        history.append(PastPick(picked.calls_for, KINDS))
    served = Counter(turn.strategy for turn in history)
    assert all(abs(served[kind] - weights.of(kind)) <= 1 for kind in KINDS)


@st.composite
def any_weights(draw: st.DrawFn) -> Weights:
    repair = draw(st.integers(0, 100))
    harden = draw(st.integers(0, 100 - repair))
    return Weights(repair=repair, harden=harden, innovate=100 - repair - harden)


@given(any_weights(), st.integers(0, 2**32))
@settings(derandomize=True, deadline=None, max_examples=15)
def test_shares_hold_for_any_weights_and_severities_that_change_every_turn(weights: Weights, seed: int) -> None:
    draws = Random(seed)  # a draw of hypothesis for each of 500 numbers would take ten times as long
    history: list[PastPick] = []
    for _ in range(100):
        offers = [
            Waiting(kind, draws.random(), f"{kind}{n}") for kind in KINDS for n in range(draws.randint(1, 3))
        ]
        picked = pick(offers, weights, history)
        assert picked is not None
        assert weights.of(picked.offer.calls_for)
        history.append(PastPick(picked.offer.calls_for, picked.offered))
    served = Counter(turn.strategy for turn in history)
    assert all(abs(served[kind] - weights.of(kind)) <= 1 for kind in KINDS)


def test_a_pick_keeps_its_reason() -> None:
    offers = [Waiting("repair", 0.2, "a"), Waiting("repair", 0.9, "b"), Waiting("innovate", 1.0, "c")]
    picked = pick(offers, PRESETS["balanced"].weights, [PastPick("innovate", KINDS)])
    assert picked is not None
    assert picked.offer == offers[1]
    assert picked.waiting == {"repair": 2, "innovate": 1}
    assert picked.owed == pytest.approx({"repair": 0.5 + 5 / 7, "harden": 0.3, "innovate": -0.8 + 2 / 7})
    assert pick([Waiting("harden", 1.0, "h")], PRESETS["repair-only"].weights, []) is None


@given(st.lists(waiting, max_size=12), st.lists(st.sampled_from(KINDS), max_size=6))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_repair_only_never_picks_anything_but_repair(offers: list[Waiting], past: list[Strategy]) -> None:
    weights = PRESETS["repair-only"].weights
    history = [PastPick(kind, KINDS) for kind in past]  # whatever other presets did before
    picked = select(offers, weights, deficits(history, weights))
    repairs = [offer for offer in offers if offer.calls_for == "repair"]
    assert picked is None if not repairs else picked in repairs
    assert all(previewed.offer.calls_for == "repair" for previewed in preview(offers, weights, history))


def test_a_kind_that_appears_late_gets_no_back_pay() -> None:
    weights = PRESETS["balanced"].weights
    early = [Waiting("repair", 0.5, "r"), Waiting("harden", 0.5, "h")]
    history: list[PastPick] = []
    for turn in range(100):
        offers = early if turn < 50 else [*early, Waiting("innovate", 0.5, "i")]
        picked = select(offers, weights, deficits(history, weights))
        assert picked is not None
        history.append(PastPick(picked.calls_for, tuple({offer.calls_for for offer in offers})))
    late = Counter(turn.strategy for turn in history[50:])
    assert {kind: late[kind] for kind in KINDS} == {"repair": 25, "harden": 15, "innovate": 10}


def test_a_preview_is_what_then_happens() -> None:
    weights = PRESETS["balanced"].weights
    offers = [Waiting(kind, severity, f"{kind}{severity}") for kind in KINDS for severity in (0.1, 0.9)]
    seen = preview(offers, weights, [])
    history: list[PastPick] = []
    for previewed in seen:
        assert select(offers, weights, deficits(history, weights)) == previewed.offer
        assert previewed.owed[previewed.offer.calls_for] == max(previewed.owed.values())
        history.append(PastPick(previewed.offer.calls_for, tuple({offer.calls_for for offer in offers})))
        offers.remove(previewed.offer)
    assert [shown_pick.offer.calls_for for shown_pick in seen] == [
        "repair",
        "harden",
        "innovate",
        "repair",
        "harden",
    ]
    assert len(preview(offers, weights, history, count=5)) == 1
    assert preview([], weights, []) == []


def test_one_failure_is_no_reason_to_rest() -> None:
    assert rest_of([], "a") == rest_of([Done("a")], "a") == 0


def test_a_signal_that_keeps_failing_rests_longer_each_time() -> None:
    twice = [Done("a"), Done("a")]
    assert rest_of(twice, "a") == 4
    assert rest_of([*twice, Done("b")], "a") == 3
    assert rest_of([*twice, *[Done(f"{n}") for n in range(4)]], "a") == 0
    assert rest_of([Done("a")] * 3, "a") == 8
    assert rest_of([Done("a")] * 50, "a") == LONGEST_REST


def test_a_noisy_signal_does_not_make_another_rest() -> None:
    assert rest_of([Done("noisy")] * 9, "new") == 0


def test_a_promotion_ends_the_count_of_failures() -> None:
    assert rest_of([Done("a"), Done("a"), Done("a", "promote"), Done("a")], "a") == 0


def signal(kind: str, *, action: str = "", template: str = "", calls_for: Strategy = "repair") -> SignalRaised:
    return raised_signal(kind, fingerprint=kind, calls_for=calls_for, template=template, action=action)


def cycle(verdict: str, fingerprint: str = "f") -> CycleFinished:
    return CycleFinished.model_validate(
        {
            "preset": "balanced",
            "seed": 0,
            "strategy": "repair",
            "fingerprint": fingerprint,
            "capsule": "skill",
            "evaluator": "e",
            "candidate": None,
            "verdict": verdict,
            "reasons": (),
            "tried": 0,
            "offered": ("repair",),
        }
    )


def test_auto_follows_the_life_of_a_registry() -> None:
    def chosen(cycles: list[CycleFinished], *signals: SignalRaised) -> str:
        return automatic(cycles, signals)[0].name

    assert chosen([]) == "early-stabilize"
    young = [cycle("promote"), *[cycle("hold")] * 8]
    assert chosen(young) == "early-stabilize"
    assert chosen([*young, cycle("hold")]) == "balanced"
    assert chosen([*young, *[cycle("reject")] * 2]) == "steady-state"
    regression = signal("regression", action="skill")
    assert chosen([*young, *[cycle("reject")] * 2], regression) == "repair-only"
    assert chosen([*young, cycle("promote", "regression")], regression) == "balanced"
    assert "regression is open" in automatic([], [regression])[1]
