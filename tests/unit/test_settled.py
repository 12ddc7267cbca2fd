"""Regressions: which skill they go to, and when nothing is left to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.registry_events import SignalRaised
from registry.commands import Record, Revert
from strategies.answering import Sightings
from strategies.auto import AUTO
from strategies.binding import bound_by
from strategies.routing import routes
from strategies.settled import settled, version_about
from tests.registries import NAME, learn

if TYPE_CHECKING:
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")


def regression(version: int, skill: str = NAME) -> SignalRaised:
    return SignalRaised(
        fingerprint=f"r{version}",
        kind="regression",
        calls_for="repair",
        action=f"{skill}@{version}",
        count=5,
        episodes=5,
        runs=("r",),
        severity=0.1,
    )


def test_a_regression_goes_to_the_skill_that_it_is_about(registry: Registry) -> None:
    assert routes(registry, [regression(2)], Sightings([])) == {"r2": NAME}
    assert routes(registry, [regression(2, "other")], Sightings([])) == {"r2": ""}


def test_a_regression_is_settled_once_its_version_was_taken_back(registry: Registry) -> None:
    learn(registry)
    signals = [regression(2), regression(1), regression(2, "other")]
    assert settled(registry, signals[:2]) == frozenset()
    registry.execute(Revert(NAME, 1, "worse"))
    assert settled(registry, signals[:2]) == {"r2"}
    assert settled(registry, signals[2:]) == frozenset()


def test_a_signal_of_another_kind_is_about_no_version() -> None:
    signal = regression(2).model_copy(update={"kind": "stagnation"})
    assert version_about(signal) is None
    assert version_about(regression(2).model_copy(update={"action": "s@2.1"})) is None


def test_auto_repairs_only_while_a_regression_is_open(registry: Registry) -> None:
    learn(registry)
    registry.execute(Record((regression(2),)))
    assert bound_by(registry, AUTO).preset.name == "repair-only"
    registry.execute(Revert(NAME, 1, "worse"))
    assert bound_by(registry, AUTO).preset.name == "early-stabilize"
