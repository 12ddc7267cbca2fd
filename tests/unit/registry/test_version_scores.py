"""Scores of versions over time: measured again, told apart by evaluator, never compared across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from events.errors import NotFoundError
from events.types.capsule_events import VersionScored
from events.types.score import Unmeasured
from registry.decide.commands import RevertVersion, ScoreVersion
from registry.projection.projector import rebuild
from registry.query.versions import under_one_evaluator
from tests.registries import AVOID, NAME, documents, learn, score

if TYPE_CHECKING:
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")
NEW = "b" * 64


def measure(registry: Registry, version: int, value: float, evaluator: str = NEW) -> None:
    cause: Literal["asked"] = "asked"
    event = VersionScored(
        capsule=NAME, version=version, score=score(value, evaluator), audit=score(value, evaluator), cause=cause
    )
    registry.execute(ScoreVersion(event))


def values(registry: Registry) -> dict[int, float]:
    return {
        version: version_score.value
        for version, version_score in under_one_evaluator(registry.versions(NAME)).items()
    }


def test_a_new_measurement_of_the_live_version_is_its_score_from_then_on(registry: Registry) -> None:
    learn(registry)
    measure(registry, 2, 0.7)
    assert registry.capsule(NAME).score == score(0.7, NEW)
    assert registry.capsule(NAME, "2").score == score(0.7, NEW)
    assert registry.capsule(NAME).version == 2
    row = registry.version(NAME, 2)
    assert row.scores == (score(0.46), score(0.7, NEW))
    assert row.score == score(0.7, NEW)


def test_an_older_version_that_is_measured_leaves_the_live_one_as_it_was(registry: Registry) -> None:
    learn(registry)
    measure(registry, 1, 0.3)
    assert registry.capsule(NAME).score == score(0.46)
    assert registry.capsule(NAME, "1").score == score(0.3, NEW)


def test_only_what_claims_something_is_proven_by_a_measurement(registry: Registry) -> None:
    measure(registry, 1, 0.5)
    assert registry.capsule(NAME).unproven
    learn(registry)
    assert not registry.capsule(NAME).unproven


def test_best_compares_only_what_the_last_evaluator_measured(registry: Registry) -> None:
    learn(registry, value=0.9)
    learn(registry, "More.\n", candidate="c2", claims=(AVOID,), value=0.5)
    assert values(registry) == {1: 0.44, 2: 0.9, 3: 0.5}
    assert registry.best(NAME).version == 2
    measure(registry, 3, 0.6)
    assert values(registry) == {3: 0.6}
    measure(registry, 1, 0.61)
    assert values(registry) == {1: 0.61, 3: 0.6}
    assert registry.best(NAME).version == 1


def test_a_text_has_one_score_wherever_it_stands_and_going_back_to_it_measures_nothing(registry: Registry) -> None:
    assert isinstance(registry.capsule(NAME).score, Unmeasured)
    learn(registry)  # which measures its base as well
    assert registry.version(NAME, 1).scores == (score(0.44),)
    measure(registry, 2, 0.7)
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert values(registry) == {2: 0.7}
    assert registry.capsule(NAME).score == registry.capsule(NAME, "1").score == score(0.44)
    assert [row.score for row in registry.versions(NAME)] == [score(0.44), score(0.7, NEW), score(0.44)]


def test_a_version_that_is_not_there_cannot_be_measured(registry: Registry) -> None:
    head = registry.log.head()
    with pytest.raises(NotFoundError, match="no version 7"):
        measure(registry, 7, 0.5)
    assert registry.log.head() == head


def test_a_rebuilt_projection_knows_the_same_scores(registry: Registry) -> None:
    learn(registry)
    measure(registry, 1, 0.3)
    measure(registry, 2, 0.7)
    measure(registry, 2, 0.8)
    before, rows = documents(registry), registry.versions(NAME)
    registry.log.drop_documents()
    rebuild(registry.log)
    assert documents(registry) == before
    assert registry.versions(NAME) == rows
