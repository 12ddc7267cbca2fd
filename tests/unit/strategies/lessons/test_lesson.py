"""Lessons: planted ones are found without a label, coincidences are not, and bounds hold where luck decides."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from events.types.claims import AfterError, Replace
from strategies.lessons.fixes import all_tries, figures_after, more_by_chance
from strategies.lessons.lesson import failures_of, lessons_of
from strategies.logs.scan import scan
from tests.worlds import call, episode, without_outcomes
from tests.worlds.sessions import LESSONS, Noise, lessons_in, planted_in, write_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord
    from strategies.lessons.lesson import Lesson

FIRST = 5


@pytest.mark.parametrize(
    ("sessions", "noise", "seed", "least"), [(20, "low", 1, 5), (20, "high", 2, 5), (60, "high", 3, 7)]
)
def test_planted_lessons_come_first_and_coincidences_do_not_come_at_all(
    tmp_path: Path, sessions: int, noise: Noise, seed: int, least: int
) -> None:
    write_sessions(tmp_path, sessions, seed, noise=noise)
    names = [planted_in(lesson) for lesson in lessons_in(tmp_path)]
    assert "" not in names
    assert len(names[:FIRST]) == FIRST
    assert len(set(names)) >= least


def test_where_luck_decides_the_highest_bound_is_mostly_below_it(tmp_path: Path) -> None:
    """Measured over 400 worlds by `python -m bench.start`."""
    holds = []
    for seed in range(2):
        luck = random.Random(seed).uniform(0.2, 0.9)
        write_sessions(tmp_path / str(seed), 40, seed, noise="high", luck=luck)
        records = scan([tmp_path / str(seed)]).records
        every = all_tries({kind: failure.places for kind, failure in failures_of(records).items()}, records)
        lucky = [kind for kind in every.tries if kind[0] not in {"Bash:make", "Bash:curl", "Bash:grep"}]
        figures = [figures for kind in lucky if (figures := figures_after(kind, every))]
        holds += [max(each.seen.low for each in of_kind) <= luck for of_kind in figures]
    assert holds
    assert sum(holds) >= 0.9 * len(holds)


def test_each_lesson_carries_the_claim_that_its_line_says(tmp_path: Path) -> None:
    write_sessions(tmp_path, 30, 5)
    lessons = {planted_in(lesson): lesson for lesson in lessons_in(tmp_path)}
    assert lessons["npm"].line == "Use pnpm, not npm."
    assert lessons["npm"].claim == Replace(action="Bash:npm", template=lessons["npm"].template, do="Bash:pnpm")
    assert lessons["features"].line == "Run cargo build with `--all-features`."
    assert isinstance(lessons["terraform"].claim, AfterError)
    assert lessons["main"].claim is None
    assert lessons["main"].line.endswith("push to main.")


def test_the_order_of_the_records_does_not_matter(tmp_path: Path) -> None:
    write_sessions(tmp_path, 20, 7)
    records = list(scan([tmp_path]).records)
    before = lessons_of(records)
    random.Random(1).shuffle(records)
    assert lessons_of(records) == before


@pytest.mark.data
def test_looking_at_the_schema_after_a_missing_table_is_found_without_outcomes(
    intercode: Sequence[EpisodeRecord],
) -> None:
    records = without_outcomes(intercode)
    for seed in range(3):
        lessons = lessons_of(random.Random(seed).sample(records, 200))
        assert any(_asks_to_look(lesson) for lesson in lessons)


def _asks_to_look(lesson: Lesson) -> bool:
    claim = lesson.claim
    return isinstance(claim, AfterError) and "doesn't exist" in claim.template and claim.do == "sql:SHOW"


def test_what_costs_is_counted_in_failed_steps() -> None:
    records = [
        episode([call("Bash:make", "broken"), call("Bash:make", "broken"), call("Bash:ls")], trial=trial)
        for trial in range(3)
    ]
    (lesson,) = lessons_of(records)
    assert (lesson.cost.failed, lesson.line, len(lesson.sessions)) == (6, "", 3)


def test_nothing_is_learned_of_nothing() -> None:
    assert lessons_of([]) == []
    assert lessons_of([episode([call("Bash:ls")])]) == []


@pytest.mark.parametrize(
    ("hits", "n", "other_hits", "others", "chance"),
    [(3, 3, 0, 3, 0.05), (8, 10, 1, 6, 196 / 8008), (0, 4, 2, 4, 1.0), (0, 0, 0, 0, 1.0)],
)
def test_the_exact_test_of_fisher(hits: int, n: int, other_hits: int, others: int, chance: float) -> None:
    """By hand: of C(16, 10) tables, C(9, 8) C(7, 2) + C(9, 9) C(7, 1) have eight hits or more."""
    assert more_by_chance(hits, n, other_hits, others) == pytest.approx(chance, abs=1e-4)


def test_every_activity_shows_a_lesson() -> None:
    assert {kind for kind, _ in LESSONS.values()} == {"instead", "first", "flag", "wish"}
