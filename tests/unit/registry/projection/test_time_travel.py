"""Time travel: any version by number, name or date, as it was projected then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.clock import first_moment, last_moment
from events.errors import NotFoundError, UsageError
from registry.actions.publish import publish, take_in_edits
from registry.decide.commands import MoveAlias, RevertVersion
from registry.projection import time_travel
from registry.projection.promise import folded_from_events
from registry.projection.snapshots import EVERY
from registry.skill_md.render import skill_bytes
from tests.clocks import TickingClock
from tests.registries import NAME, imported, judged, learn, proposal, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

DAY_S = 86_400.0


@pytest.fixture
def clock() -> TickingClock:
    """A clock on which every command is made a day after the one before."""
    return TickingClock(step_s=DAY_S)


def long_history(registry: Registry, place: Path) -> dict[int, bytes]:
    """Change a skill in every way, past several snapshots; returns what was projected at each version."""
    projected = {1: skill_bytes(registry.capsule(NAME))}
    for number in range(EVERY + 2):
        if number % 4 == 3:
            version = registry.capsule(NAME).version
            registry.execute(RevertVersion(NAME, version - 2, "worse"))
            publish(registry, NAME)
        elif number % 4 == 1:
            rewrite(place, f"Lesson {number - 1}.", f"Lesson {number - 1}, by hand.")
            take_in_edits(registry, NAME)
        else:
            learn(registry, f"Lesson {number}.\n", candidate=f"c{number}", claims=())
        registry.execute(MoveAlias(NAME, "production", number // 2 + 1))
        capsule = registry.capsule(NAME)
        projected[capsule.version] = (place / "SKILL.md").read_bytes()
    return projected


def test_every_version_is_what_was_projected_then(registry: Registry, place: Path) -> None:
    projected = long_history(registry, place)
    assert {v: skill_bytes(registry.capsule(NAME, str(v))) for v in projected} == projected
    assert len(registry.log.documents("snapshot", NAME)) > 2


def test_states_of_a_file_of_many_headings_take_room_as_it_grows_and_each_is_found(
    registry: Registry, tmp_path: Path
) -> None:
    room = {}
    for sections in (600, 1_200):
        name = f"handbook-{sections}"
        headings = "".join(f"# Rule {number}\n" for number in range(sections))
        imported(registry, tmp_path, f"---\nname: {name}\ndescription: Rules.\n---\n{headings}", name=name)
        room[sections] = sum(len(kept.body) for kept in registry.log.documents("snapshot", name))
    assert 0 < room[1_200] < 3 * room[600]
    states = [(at.position, capsule) for at, capsule in folded_from_events(registry.log, name)]
    for position, capsule in states[:: len(states) // 20]:
        assert time_travel._folded(registry.log, name, position)[0] == capsule


def test_every_date_is_what_was_projected_then(registry: Registry, place: Path) -> None:
    projected = long_history(registry, place)
    assert {row.version for row in registry.versions(NAME)} == projected.keys()
    for row in registry.versions(NAME):
        assert skill_bytes(registry.capsule(NAME, row.at[:10])) == projected[row.version]
        assert skill_bytes(registry.capsule(NAME, row.at)) == projected[row.version]


def test_a_time_between_two_versions_is_the_earlier_one(registry: Registry, place: Path) -> None:
    long_history(registry, place)
    third = registry.version(NAME, 3)
    assert registry.version_of(NAME, third.at.replace("T12:00:00.000000", "T11:59:59")) == 2
    assert registry.version_of(NAME, third.at.replace("T12:00:00.000000Z", "T13:00:00+01:00")) == 3
    assert registry.version_of(NAME, "2999-01-01") == registry.capsule(NAME).version


def test_a_version_far_back_is_found_by_its_date(
    registry: Registry, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_travel, "_PAGE", 3)
    projected = long_history(registry, place)
    assert {row.version for row in registry.versions(NAME)} == projected.keys()
    for row in registry.versions(NAME):
        assert registry.version_of(NAME, row.at[:10]) == row.version


@pytest.mark.usefixtures("place")
def test_before_the_first_version_there_is_none(registry: Registry) -> None:
    with pytest.raises(NotFoundError, match="no version at 2026-10-31"):
        registry.capsule(NAME, "2026-10-31")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("ref", ["2026-13-01", "2026-11-01T25:00", "2026-yesterday"])
def test_what_looks_like_a_date_and_is_none_is_refused(registry: Registry, ref: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        registry.capsule(NAME, ref)


def test_a_date_begins_and_ends_with_its_day_in_utc() -> None:
    assert first_moment("2026-11-01") == "2026-11-01T00:00:00.000000Z"
    assert last_moment("2026-11-01") == "2026-11-01T23:59:59.999999Z"
    assert first_moment("2026-11-01T08:00+02:00") == last_moment("2026-11-01T06:00:00Z")


# -- names ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_an_alias_stands_for_the_version_it_names(registry: Registry) -> None:
    first = registry.capsule(NAME)
    learn(registry)
    registry.execute(MoveAlias(NAME, "production", 1, "measured and reviewed"))
    assert registry.capsule(NAME, "production").version == 1
    assert replace(registry.capsule(NAME, "production"), score=first.score) == first
    registry.execute(MoveAlias(NAME, "production", 2))
    assert registry.capsule(NAME, "production").version == 2


@pytest.mark.usefixtures("place")
def test_best_is_the_highest_score_of_the_evaluator_that_measured_last_and_says_which(registry: Registry) -> None:
    learn(registry, "One.\n", candidate="c1", claims=(), value=0.9)
    for candidate, value in (("c2", 0.50), ("c3", 0.55), ("c4", 0.52)):
        capsule = registry.capsule(NAME)
        judged(registry, proposal(capsule, candidate=candidate), value=value, evaluator="new" * 21)
    assert registry.capsule(NAME, "best").version == 4
    best = registry.best(NAME)
    assert (best.version, best.after.evaluator) == (4, "new" * 21)  # type: ignore[union-attr]


@pytest.mark.usefixtures("place")
def test_of_equal_scores_the_latest_version_is_best(registry: Registry) -> None:
    learn(registry, candidate="c1")
    learn(registry, "More.\n", candidate="c2", claims=())
    assert registry.best(NAME).version == 3


@pytest.mark.usefixtures("place")
def test_without_any_measurement_no_version_is_best(registry: Registry) -> None:
    with pytest.raises(NotFoundError, match="was measured yet"):
        registry.capsule(NAME, "best")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("name", "ref", "hint"),
    [
        ("sql-analist", "", "did you mean sql-analyst?"),
        ("sql-analist", "1", "did you mean sql-analyst?"),
        ("something-else", "", "germline status lists the skills"),
        (NAME, "prodction", "did you mean sql-analyst@production?"),
        (NAME, "bst", "did you mean sql-analyst@best?"),
        (NAME, "0", "germline log sql-analyst"),
        (NAME, "2", "germline log sql-analyst"),
        (NAME, "9" * 5_000, "germline log sql-analyst"),
    ],
)
def test_unknown_names_suggest_the_nearest(registry: Registry, name: str, ref: str, hint: str) -> None:
    registry.execute(MoveAlias(NAME, "production", 1))
    with pytest.raises(NotFoundError) as caught:
        registry.capsule(name, ref)
    assert caught.value.hint == hint


def test_an_empty_registry_suggests_to_import(registry: Registry) -> None:
    with pytest.raises(NotFoundError) as caught:
        registry.versions(NAME)
    assert caught.value.hint == "germline import PATH"


# -- history -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_history_is_newest_first_of_one_skill_or_of_all(registry: Registry) -> None:
    learn(registry)
    every = [envelope.position for envelope in registry.history()]
    assert every == list(range(registry.log.head().position, 0, -1))
    assert [envelope.position for envelope in registry.history(NAME)] == every[:-1]


@pytest.mark.usefixtures("place")
def test_history_is_limited_by_type_number_and_time(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.query.library._PAGE", 2)
    learn(registry)
    learn(registry, "More.\n", candidate="c2", claims=())
    versions = list(registry.history(NAME, types=("CapsuleVersioned",)))
    assert [envelope.type for envelope in versions] == ["CapsuleVersioned"] * 3
    assert list(registry.history(NAME, limit=2)) == list(registry.history())[:2]
    assert list(registry.history(NAME, types=("CapsuleVersioned",), since=versions[1].at[:10])) == versions[:2]
    assert list(registry.history(since="2999-01-01")) == []


@pytest.mark.usefixtures("place")
def test_a_clock_that_went_back_hides_nothing_from_a_history_since_a_time(registry: Registry) -> None:
    learn(registry)
    clock = registry.clock
    assert isinstance(clock, TickingClock)
    learn(registry, "More.\n", candidate="c2", claims=())
    since = registry.log.at([registry.log.head().position])[0]
    clock.looks -= 1_000
    learn(registry, "Yet more.\n", candidate="c3", claims=())
    recent = {envelope.position: envelope.at for envelope in registry.history(since=since.at)}
    assert set(recent) >= set(range(since.position, registry.log.head().position + 1))
    assert recent[max(recent)] < since.at == recent[min(recent)]


def test_the_history_of_an_unknown_skill_is_an_error_at_once(registry: Registry) -> None:
    with pytest.raises(NotFoundError):
        registry.history("sql-analist")
    with pytest.raises(UsageError, match="is no time"):
        registry.history(since="last week")
