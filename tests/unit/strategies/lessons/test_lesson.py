"""Lessons: planted ones are found without a label, coincidences are not, and bounds hold where luck decides."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec
import pytest

from events.types.claims import AfterError, AnytimeBefore, Replace
from strategies.episodes.episode import EpisodeOutcome
from strategies.lessons.fixes import more_by_chance
from strategies.lessons.lesson import lessons_of
from strategies.logs.scan import scan
from strategies.tiers.seen import seen_in
from tests.worlds import call, episode, without_outcomes
from tests.worlds.sessions import LESSONS, Noise, lessons_in, planted_in, write_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord, OutcomeSource
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


ELSEWHERE = [
    episode([call("Bash:lint", "red"), call("Bash:lint", "red")], task=f"lint {number}", run="r")
    for number in range(20)
]
"""Sessions in which something else fails, and nothing is done about it."""


def luck_of(works: tuple[int, int], others: tuple[int, int]) -> list[EpisodeRecord]:
    """Make sessions in which `make` fails, and works or not after `touch`, or after nothing."""
    records = list(ELSEWHERE)
    for first, (worked, tried) in (("Bash:touch", works), ("", others)):
        for number in range(tried):
            steps = [call("Bash:make", "broken"), *([call(first)] if first else [])]
            steps.append(call("Bash:make", "" if number < worked else "broken"))
            records.append(episode(steps, task=f"{first}{number}", run="r"))
    return records


def bound_of(works: tuple[int, int], others: tuple[int, int]) -> float | None:
    lines = [lesson for lesson in lessons_of(luck_of(works, others)) if lesson.fix]
    return lines[0].fix.seen.low if lines and lines[0].fix else None


def test_a_bound_knows_that_the_line_was_only_offered_because_it_worked_so_often() -> None:
    """Of 20 times 14 just stand out beside 4 of 12: that they do says nothing. 20 of 20 are far from that."""
    assert bound_of((13, 20), (4, 12)) is None
    assert bound_of((14, 20), (4, 12)) == 0.0
    sure = bound_of((20, 20), (4, 12))
    assert sure == pytest.approx(0.05 ** (1 / 20), abs=0.001)


def test_what_worked_once_without_a_fix_may_work_without_it_again() -> None:
    assert bound_of((5, 5), (0, 3)) is not None
    assert bound_of((5, 5), (1, 3)) is None


def test_a_session_that_got_by_without_a_fix_counts_so_though_its_first_attempt_failed() -> None:
    fixed = [call("Bash:make", "broken"), call("Bash:touch"), call("Bash:make")]
    again = [call("Bash:make", "broken"), call("Bash:make", "broken")]
    for last, offered in (call("Bash:make", "broken"), True), (call("Bash:make"), False):
        worlds = [episode(fixed, task=f"fixed {number}", run="r") for number in range(5)]
        worlds += [episode([*again, last], task=f"again {number}", run="r") for number in range(3)]
        assert any(lesson.line for lesson in lessons_of([*ELSEWHERE, *worlds])) is offered


@pytest.mark.parametrize(("source", "offered"), [("tests", "Bash:build"), ("heuristic", "Bash:touch")])
def test_what_makes_the_call_work_and_the_session_fail_is_not_offered(source: OutcomeSource, offered: str) -> None:
    """After `touch` `make` always works, and the session fails: a label knows that, a guess of signals not."""
    records = list(ELSEWHERE)
    for first, worked, succeeds in (("Bash:touch", 20, 0.0), ("Bash:build", 16, 1.0), ("", 0, 1.0)):
        for number in range(20):
            steps = [call("Bash:make", "broken"), *([call(first)] if first else [])]
            steps.append(call("Bash:make", "" if number < worked else "broken"))
            record = episode(steps, task=f"{first}{number}", run="r")
            records.append(msgspec.structs.replace(record, outcome=EpisodeOutcome(succeeds, source)))
    (lesson,) = (lesson for lesson in lessons_of(records) if lesson.fix)
    assert lesson.fix is not None
    assert lesson.fix.fix.name == offered


def order_world(without: tuple[int, int], after: tuple[int, int]) -> list[EpisodeRecord]:
    """Make sessions in which `plan` fails or not, without `init` before it and after it; then `init` mends it."""
    records = list(ELSEWHERE)
    for first, (failing, number) in (("", without), ("Bash:init", after)):
        for at in range(number):
            fails = at < failing
            steps = [call(first)] if first else []
            steps += [call("Bash:plan", "no provider" if fails else "")]
            steps += [call("Bash:init"), call("Bash:plan")] if fails else []
            records.append(episode(steps, task=f"{first}{at}", run="r"))
    return records


@pytest.mark.parametrize(
    ("without", "after", "needed"),
    [
        ((8, 8), (0, 0), True),  # nobody ever did it first
        ((8, 8), (0, 6), True),
        ((8, 8), (5, 6), False),  # who did it first failed all the same
        ((8, 20), (0, 6), False),  # most get by without it
    ],
)
def test_what_is_needed_is_asked_for_beforehand_and_what_mends_afterwards(
    without: tuple[int, int], after: tuple[int, int], *, needed: bool
) -> None:
    (lesson,) = (lesson for lesson in lessons_of(order_world(without, after)) if lesson.line)
    assert isinstance(lesson.claim, AnytimeBefore if needed else AfterError)
    assert lesson.claim.do == "Bash:init"


def test_a_needed_call_is_counted_again_in_further_sessions() -> None:
    order = AnytimeBefore(action="Bash:plan", do="Bash:init")
    again = seen_in(order, order_world((4, 4), (1, 9)))
    assert again is not None
    assert (again.worked, again.tried) == (8, 9)


def test_each_lesson_carries_the_claim_that_its_line_says(tmp_path: Path) -> None:
    write_sessions(tmp_path, 30, 5)
    lessons = {planted_in(lesson): lesson for lesson in lessons_in(tmp_path)}
    assert lessons["npm"].line == "Use pnpm, not npm."
    assert lessons["npm"].claim == Replace(action="Bash:npm", template=lessons["npm"].template, do="Bash:pnpm")
    assert lessons["features"].line == "Run cargo build with `--all-features`."
    assert lessons["terraform"].line == "Before you run terraform plan, run terraform init at least once."
    assert isinstance(lessons["terraform"].claim, AnytimeBefore)
    assert isinstance(lessons["database"].claim, AfterError)
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
    [
        (3, 3, 0, 3, 0.05),
        (8, 10, 1, 6, 196 / 8008),
        (0, 4, 2, 4, 1.0),
        (0, 0, 0, 0, 1.0),
        (100, 100_000, 900_000, 1_000_000, 1.0),
    ],
)
def test_the_exact_test_of_fisher(hits: int, n: int, other_hits: int, others: int, chance: float) -> None:
    """By hand: of C(16, 10) tables, C(9, 8) C(7, 2) + C(9, 9) C(7, 1) have eight hits or more."""
    assert more_by_chance(hits, n, other_hits, others) == pytest.approx(chance, abs=1e-4)


def test_every_activity_shows_a_lesson() -> None:
    assert {kind for kind, _ in LESSONS.values()} == {"instead", "first", "flag", "wish"}
