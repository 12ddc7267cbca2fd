"""Open signals: which claims answer them, which skill a regression goes to, and when nothing is left to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.types.claims import After, AfterError, AnytimeBefore
from events.types.parts import Edit
from events.types.tiers import SeenFigures
from registry.decide.commands import ChangeTier, Propose, RecordFact, RevertVersion, Review
from strategies.policy.active_preset import bound_by
from strategies.policy.auto import AUTO
from strategies.scope.scope import scope_of
from strategies.signals.open_signals import answers, open_among, settled, version_about
from tests.registries import NAME, learn, proposal, raised_signal

if TYPE_CHECKING:
    from events.types.claims import Claim
    from events.types.parts import Strategy
    from events.types.registry_events import SignalRaised
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")


def regression(version: int, skill: str = NAME) -> SignalRaised:
    return raised_signal(
        "regression",
        fingerprint=f"r{version}",
        action=f"{skill}@{version}",
        count=5,
        episodes=5,
        runs=("r",),
        severity=0.1,
    )


def test_a_regression_goes_to_the_skill_that_it_is_about(registry: Registry) -> None:
    scope = scope_of(registry, [])
    assert scope.route(regression(2)) == (NAME, "about", f"it is about {NAME}", None)
    assert not scope.route(regression(2, "other")).skill


def test_a_regression_is_settled_once_its_version_was_taken_back(registry: Registry) -> None:
    learn(registry)
    signals = [regression(2), regression(1), regression(2, "other")]
    assert settled(registry, signals[:2]) == frozenset()
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert settled(registry, signals[:2]) == {"r2"}
    assert settled(registry, signals[2:]) == frozenset()


def test_a_signal_of_another_kind_is_about_no_version() -> None:
    signal = regression(2).model_copy(update={"kind": "stagnation"})
    assert version_about(signal) is None
    assert version_about(regression(2).model_copy(update={"action": "s@2.1"})) is None


def test_auto_repairs_only_while_a_regression_is_open(registry: Registry) -> None:
    learn(registry)
    registry.execute(RecordFact((regression(2),)))
    assert bound_by(registry, AUTO).preset.name == "repair-only"
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert bound_by(registry, AUTO).preset.name == "early-stabilize"


def signal(kind: str, *, template: str = "", action: str = "", calls_for: Strategy = "repair") -> SignalRaised:
    return raised_signal(
        kind, fingerprint=f"{kind}:{template}{action}", calls_for=calls_for, template=template, action=action
    )


def test_a_live_claim_answers_the_signal_about_its_error_or_its_action() -> None:
    live: list[Claim] = [AfterError(template="no <*>", do="look"), After(action="make", avoid="make")]
    assert answers(live, signal("error_template", template="no <*>"))
    assert answers(live, signal("repeated_call", action="make", calls_for="harden"))
    assert not answers(live, signal("repeated_call", action="test", calls_for="harden"))
    assert not answers(live, signal("uncovered_failure", action="make", calls_for="innovate"))
    assert not answers(live, signal("abandoned", calls_for="harden"))
    assert not answers(live, signal("error_template", template="Unknown column <*>"))


def test_a_signal_about_an_action_is_open_until_a_line_about_that_action_lives(registry: Registry) -> None:
    repeated = signal("repeated_call", action="make", calls_for="harden")
    other = signal("repeated_call", action="test", calls_for="harden")
    assert open_among(registry, [repeated, other]) == {repeated.fingerprint, other.fingerprint}
    learn(registry, "Do not make twice.\n", claims=(After(action="make", avoid="make"),))
    assert open_among(registry, [repeated, other]) == {other.fingerprint}
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert open_among(registry, [repeated, other]) == {repeated.fingerprint, other.fingerprint}


def test_an_error_that_a_line_says_how_to_avoid_is_open_again_once_that_line_fell(registry: Registry) -> None:
    error, capsule = signal("error_template", template="no <*>"), registry.capsule(NAME)
    line = proposal(
        capsule,
        Edit(op="append", gene=capsule.genes[0].id, text=("Look before you make.\n",)),
        claims=(AnytimeBefore(action="make", do="look"),),
        fingerprint=error.fingerprint,
    )
    registry.execute(Propose(line))
    registry.execute(ChangeTier(line.candidate, NAME, SeenFigures(worked=9, tried=10, low=0.6), "counted"))
    registry.execute(Review(line.candidate, NAME, "approve", "it reads well"))
    assert open_among(registry, [error]) == frozenset()
    registry.execute(ChangeTier(line.candidate, NAME, None, "its bound no longer holds"))
    assert open_among(registry, [error]) == {error.fingerprint}
