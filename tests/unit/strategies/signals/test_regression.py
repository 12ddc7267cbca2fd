"""Regressions: a version under which outcomes fell, told from bad luck, other models and harder tasks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec
import pytest

from strategies.signals.detect import detect
from strategies.signals.proportion import sum_of, wins_to_expect
from strategies.signals.regression import Fall, falls
from strategies.signals.thresholds import Thresholds
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord

DEFAULTS = Thresholds()
GOOD, BAD = [1.0, 1.0, 1.0, 0.0] * 10, [0.0, 0.0, 0.0, 1.0] * 10


def ran(
    outcomes: Sequence[float], *, run: str = "r", difficulty: str = "easy", version: int = 1
) -> list[EpisodeRecord]:
    return [
        msgspec.structs.replace(
            episode([call("a")], outcome=value, task=f"{version}/{number:04}", run=run, difficulty=difficulty),
            started_at=f"2026-01-{version:02}T{number // 60:02}:{number % 60:02}:00Z",
            skills=(("s", str(version)),),
        )
        for number, value in enumerate(outcomes)
    ]


def fallen(*versions: Sequence[EpisodeRecord], lineage: Sequence[Sequence[str]] | None = None) -> list[Fall]:
    by_version = {str(number): list(records) for number, records in enumerate(versions, 1)}
    return falls(by_version, lineage or [(name,) for name in by_version], DEFAULTS)


def test_a_fall_tells_the_figures_of_both_versions() -> None:
    (fall,) = fallen(ran(GOOD), ran(BAD))
    assert (fall.version, fall.before) == ("2", "1")
    assert (fall.won, fall.outcomes, fall.won_before, fall.outcomes_before) == (10, 40, 30, 40)
    assert len(fall.failed) == 30
    assert 0 < fall.p < 0.001


def test_another_model_is_no_fault_of_the_version_it_came_with() -> None:
    assert fallen(ran(GOOD, run="large"), ran(BAD, run="small")) == []
    assert fallen(ran(GOOD, difficulty="easy"), ran(BAD, difficulty="hard")) == []


def test_a_fall_within_one_model_is_found_beside_another() -> None:
    both = ran(GOOD, run="large") + ran(BAD, run="small")
    (fall,) = fallen(both, ran(BAD, run="large", version=2) + ran(BAD, run="small", version=2))
    assert (fall.outcomes, fall.outcomes_before) == (80, 80)
    assert fallen(both, ran(GOOD, run="large", version=2) + ran(BAD, run="small", version=2)) == []


def test_more_of_the_hard_tasks_is_no_fall() -> None:
    """One in four was hard before, three in four are now; the skill does on each as it did."""
    before = ran(GOOD * 3) + ran(BAD, difficulty="hard")
    after = ran(GOOD, version=2) + ran(BAD * 3, difficulty="hard", version=2)
    assert fallen(before, after) == []


def test_a_version_is_compared_with_the_last_one_that_did_not_fall_itself() -> None:
    version_falls = fallen(ran(GOOD), ran(BAD, version=2), ran(GOOD[:3], version=3), ran(BAD, version=4))
    assert [(fall.version, fall.before) for fall in version_falls] == [("2", "1"), ("4", "1")]


def test_versions_that_say_the_same_are_judged_as_one() -> None:
    """Version 3 went back to version 1, and version 4 came when it had hardly run."""
    versions = ran(GOOD), ran(BAD, version=2), ran(GOOD[:2], version=3), ran(BAD, version=4)
    (fall,) = fallen(*versions, lineage=[("1", "3"), ("4",)])
    assert (fall.version, fall.before, fall.outcomes_before) == ("4", "3", 42)


def test_the_lineage_decides_what_the_signal_compares() -> None:
    records = ran(GOOD) + ran(BAD, version=2) + ran(BAD, version=3)
    straight = {signal.action for signal in detect(records) if signal.kind == "regression"}
    assert straight == {"s@2", "s@3"}
    apart = detect(records, lineages={"s": [("1",), ("3",)]})
    assert {signal.action for signal in apart if signal.kind == "regression"} == {"s@3"}


def test_an_episode_whose_version_nobody_knows_counts_for_none() -> None:
    unknown = [msgspec.structs.replace(record, skills=(("s", ""),)) for record in ran(BAD, version=2)]
    assert not [signal for signal in detect(ran(GOOD) + unknown) if signal.kind == "regression"]


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (7, 3), (1, 40)])
def test_the_wins_to_expect_are_a_distribution_around_what_was_seen(won: int, lost: int) -> None:
    chances = wins_to_expect(30, won, lost)
    assert sum(chances) == pytest.approx(1)
    mean = sum(wins * chance for wins, chance in enumerate(chances))
    assert mean == pytest.approx(30 * (won + 1) / (won + lost + 2))


def test_the_sum_of_two_counts_has_the_distribution_of_both_together() -> None:
    assert sum_of([0.5, 0.5], [0.25, 0.5, 0.25]) == [0.125, 0.375, 0.375, 0.125]


def alarms(chance: float, before: int, seed: int, *, streams: int, episodes: int, look_every: int) -> int:
    """Count the streams in which any look at a version that is as good as the one before it raises an alarm."""
    draws = random.Random(seed)
    raised = 0
    for _ in range(streams):
        old = ran([float(draws.random() < chance) for _ in range(before)])
        new = ran([float(draws.random() < chance) for _ in range(episodes)], version=2)
        raised += any(fallen(old, new[:seen]) for seen in range(look_every, episodes + 1, look_every))
    return raised


@pytest.mark.parametrize(("chance", "before"), [(0.5, 20), (0.8, 50), (0.8, 200)])
def test_where_nothing_changed_an_alarm_is_rare_however_often_it_is_looked(chance: float, before: int) -> None:
    """Measured over 500 streams of 300 episodes, a look after each: 0.2 to 2.8 %."""
    streams, seed = 40, 11
    raised = alarms(chance, before, seed, streams=streams, episodes=150, look_every=10)
    print(f"placebo: {raised} alarms in {streams} streams, chance {chance}, {before} before, seed {seed}")  # noqa: T201 - the rate, for who asks with -s
    assert raised / streams <= 0.05


def test_a_fall_of_thirty_points_is_found_within_eighty_episodes() -> None:
    draws, detections = random.Random(5), 0
    for _ in range(40):
        old = ran([float(draws.random() < 0.8) for _ in range(100)])
        new = ran([float(draws.random() < 0.5) for _ in range(80)], version=2)
        detections += bool(fallen(old, new))
    assert detections / 40 >= 0.9
