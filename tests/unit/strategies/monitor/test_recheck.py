"""Rechecks of versions in use, and what makes a measurement stale."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
import pytest

from events.errors import UsageError
from events.types.capsule_events import VersionScored
from events.types.score import Score
from registry.decide.commands import MoveAlias
from strategies.episodes.usage import Usage
from strategies.gate.replay.evaluation_set import prepare
from strategies.gate.replay.score_version import score_version
from strategies.gate.staleness import MOST_AGE_S, Staleness, staleness
from strategies.monitor.live_version import measurement_of, staleness_of
from strategies.monitor.recheck import Recheck, next_due_s, recheck
from strategies.pool.intake import take_in
from strategies.pool.known_episodes import all_episodes
from strategies.scope.scope import scope_of
from tests.clocks import START
from tests.registries import NAME, learn
from tests.worlds import call, episode, world_with_a_rule
from tui.cli.commands.logs.watch_rechecks import terms_of
from tui.cli.commands.registry.status import stale_words
from tui.documents.status import StaleMeasurement
from tui.text.durations import seconds_of

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from tests.clocks import TickingClock

DAILY = Recheck(every_s=86_400.0)
WEEKLY_STEP_S = 7 * 86_400.0


@pytest.fixture
def learned(registry: Registry, clock: TickingClock, place: object) -> Registry:
    """Let a skill learn what helps in the world whose episodes the registry knows; a week goes by at each look."""
    del place
    learn(registry)
    take_in(registry, world_with_a_rule(1, tasks=120))
    clock.step_s = WEEKLY_STEP_S
    return registry


def recorded(registry: Registry) -> list[VersionScored]:
    envelopes = registry.log.read(types=("VersionScored",))
    return [envelope.event for envelope in envelopes if isinstance(envelope.event, VersionScored)]


def test_a_version_in_use_is_measured_anew_once_its_score_is_old(learned: Registry) -> None:
    (rechecked,) = recheck(learned, DAILY, seed=7)
    assert isinstance(rechecked.score, Score)
    assert (rechecked.skill, rechecked.version, rechecked.fallen) == (NAME, 2, False)
    (event,) = recorded(learned)
    assert (event.cause, event.score) == ("recheck", rechecked.score)
    assert learned.capsule(NAME).score == rechecked.score


def test_versions_that_have_a_name_are_in_use_and_others_are_not(learned: Registry) -> None:
    learned.execute(MoveAlias(NAME, "production", 1))
    learn(learned, "More.\n", candidate="c2", claims=())
    assert [rechecked.version for rechecked in recheck(learned, DAILY, seed=7)] == [1, 3]


def test_a_young_score_is_left_alone_and_the_wait_is_told(learned: Registry, clock: TickingClock) -> None:
    (rechecked,) = recheck(learned, DAILY, seed=7)
    assert rechecked.score is not None
    measured = datetime.fromisoformat(rechecked.score.measured_at)
    clock.step_s = 60.0
    clock.looks = round((measured - START).total_seconds() / clock.step_s)  # a minute at a time from there on
    assert recheck(learned, DAILY, seed=7) == ()
    assert 0 < next_due_s(learned, DAILY, ()) < 86_400
    assert next_due_s(learned, DAILY, {(NAME, 2)}) == 86_400


def test_a_score_under_the_floor_is_told(learned: Registry) -> None:
    (rechecked,) = recheck(learned, Recheck(86_400.0, floor=0.99), seed=7)
    assert rechecked.fallen


def test_where_nothing_new_is_known_nothing_is_written(learned: Registry) -> None:
    recheck(learned, DAILY, seed=7)
    events = learned.log.head().position
    (again,) = recheck(learned, DAILY, seed=7)
    assert again.score is not None
    assert learned.log.head().position == events


def test_what_cannot_be_measured_is_told_and_nothing_else_stops(registry: Registry, place: object) -> None:
    del place
    (rechecked,) = recheck(registry, DAILY, seed=7)
    assert (rechecked.score, "cannot be measured" in rechecked.unmeasured) == (None, True)


def test_the_evaluator_of_the_pool_stays_what_it_is(learned: Registry) -> None:
    recheck(learned, DAILY, seed=7)
    assert {evaluator.scope for evaluator in learned.evaluators()} == {"named"}


def ran(*tasks: str, run: str = "old", agent: str = "1.0", model: str = "") -> list[EpisodeRecord]:
    changes = {"labels": {"version": agent}, "usage": Usage(models=(model,)) if model else None}
    return [msgspec.structs.replace(episode([call("a")], task=task, run=run), **changes) for task in tasks]


THEN = ran("a", "b", "c", "d", "e", "f", "g", "h")


@pytest.mark.parametrize(
    ("since", "age_s", "expected"),
    [
        ([], 0.0, Staleness()),
        (ran("a", "b"), MOST_AGE_S, Staleness()),
        (ran("i"), 0.0, Staleness()),
        (ran("i", "j"), 0.0, Staleness(tasks=8, new_tasks=2)),
        (ran("a", run="new"), 0.0, Staleness(runs=("new",))),
        (ran("a", agent="2.0"), 0.0, Staleness(agents=("2.0",))),
        (ran("a", model="large"), 0.0, Staleness(models=("large",))),
        (ran("a", run="large", model="large"), 0.0, Staleness(runs=("large",))),
        (ran("a", agent=""), 0.0, Staleness()),
        ([], MOST_AGE_S + 1, Staleness(age_s=MOST_AGE_S + 1)),
    ],
)
def test_a_measurement_is_stale_once_the_world_moved_on(
    since: list[EpisodeRecord], age_s: float, expected: Staleness
) -> None:
    stale = staleness(THEN, since, age_s=age_s)
    assert stale == expected
    assert bool(stale) == (expected != Staleness())


def models_measured(registry: Registry) -> tuple[str, ...]:
    measurement = measurement_of(registry, NAME, all_episodes(registry))
    return measurement.models if measurement else ()


def stale_now(registry: Registry) -> Staleness | None:
    known = all_episodes(registry)
    return staleness_of(
        measurement_of(registry, NAME, known), NAME, scope_of(registry, known), registry.clock.now()
    )


def test_another_model_makes_the_live_version_stale_until_it_is_measured_again(learned: Registry) -> None:
    recheck(learned, DAILY, seed=7)
    assert "larger" not in models_measured(learned)
    assert not stale_now(learned)
    records = world_with_a_rule(2, tasks=20)
    other = [msgspec.structs.replace(record, id=f"x/{record.id}", run="larger") for record in records]
    take_in(learned, other)
    stale = stale_now(learned)
    assert stale is not None
    assert stale.runs == ("larger",)
    recheck(learned, DAILY, seed=7)
    assert "larger" in models_measured(learned)
    assert not stale_now(learned)


def test_episodes_that_a_measurement_left_out_are_told_as_not_measured_and_not_as_new(learned: Registry) -> None:
    known = all_episodes(learned)
    half = sorted({record.task for record in known})[::2]
    ground = prepare(learned, only={record.id for record in known if record.task in half})
    score_version(learned, NAME, 2, ground, seed=7, cause="recheck")
    stale = stale_now(learned)
    assert stale is not None
    assert stale_words(StaleMeasurement.model_validate(stale)) == "measured on 60 of 120 known tasks"


@pytest.mark.usefixtures("place")
def test_a_version_that_was_never_measured_cannot_be_stale(registry: Registry) -> None:
    assert measurement_of(registry, NAME, []) is None
    assert stale_now(registry) is None


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1_800), ("24h", 86_400), ("1.5d", 129_600)])
def test_durations_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert seconds_of(text, "--recheck") == seconds


@pytest.mark.parametrize("text", ["", "24", "h", "-1h", "0s", "1w", "1 day", "9999999s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--recheck"):
        seconds_of(text, "--recheck")


def test_a_floor_without_rechecks_is_refused() -> None:
    with pytest.raises(UsageError, match="--floor"):
        terms_of("", 0.7)
    assert terms_of("", None) is None
    assert terms_of("24h", 0.7) == Recheck(86_400.0, 0.7)
