"""What belongs to which skill: whole logs, never by how an episode went."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from events.types.claims import AfterError, Before, StartWith
from events.types.registry_events import SignalAssigned
from registry.decide.commands import RecordFact
from strategies.episodes.episode import EpisodeOutcome
from strategies.gate.replay.skill_grounds import prepare_grounds
from strategies.pool.intake import take_in
from strategies.scope.log_globs import LogGlobs
from strategies.scope.other_work import OtherWork
from strategies.scope.scope import scope_of
from tests.registries import NAME, SKILL, imported, new_registry
from tests.worlds import call, episode

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from tests.clocks import TickingClock

GIT = "git-helper"
GIT_SKILL = SKILL.replace(NAME, GIT).replace("Answers questions with SQL.", "Commits and branches in git.")
GIT_SKILL = GIT_SKILL.replace("SQL query", "git command")


def logged(action: str, error: str, source: str, *, count: int = 12, first: int = 0) -> list[EpisodeRecord]:
    """Episodes of one log in which an action fails."""
    records = (
        episode([call(action, error), call(action)], outcome=float(at % 2), task=f"{source}-{first + at}")
        for at in range(count)
    )
    return [structs.replace(record, source=f"/logs/{source}") for record in records]


@pytest.fixture
def known() -> list[EpisodeRecord]:
    return [*logged("sql:SELECT", "no such table", "a"), *logged("Bash:git push", "rejected", "b")]


@pytest.fixture
def two(tmp_path: Path, clock: TickingClock, known: list[EpisodeRecord]) -> Registry:
    registry = new_registry(tmp_path, clock)
    imported(registry, tmp_path)
    imported(registry, tmp_path, GIT_SKILL, name=GIT)
    take_in(registry, known)
    return registry


def sources(records: list[EpisodeRecord]) -> set[str]:
    return {record.source for record in records}


def test_a_log_goes_to_the_skill_whose_words_it_shows(two: Registry, known: list[EpisodeRecord]) -> None:
    scope = scope_of(two, known)
    assert sources(scope.restricted(NAME, known)) == {"/logs/a"}
    assert sources(scope.restricted(GIT, known)) == {"/logs/b"}


@pytest.mark.parametrize("seed", range(5))
def test_outcomes_decide_nothing(two: Registry, known: list[EpisodeRecord], seed: int) -> None:
    draws = random.Random(seed)
    dealt = [
        structs.replace(record, outcome=draws.choice([None, EpisodeOutcome(draws.random(), "tests")]))
        for record in known
    ]
    before, after = scope_of(two, known), scope_of(two, dealt)
    signals = [raised.event for raised in two.signals()]
    assert signals
    assert [before.route(signal) for signal in signals] == [after.route(signal) for signal in signals]
    for name in (NAME, GIT):
        kept = {record.id for record in before.restricted(name, known)}
        assert kept == {record.id for record in after.restricted(name, dealt)}


def test_an_episode_goes_with_its_log_whatever_was_done_in_it(two: Registry, known: list[EpisodeRecord]) -> None:
    stray = logged("Bash:git push", "rejected", "a", count=2, first=50)
    scope = scope_of(two, [*known, *stray])
    assert {record.id for record in stray} <= {record.id for record in scope.restricted(NAME, stray)}
    assert scope.restricted(GIT, stray) == []


def test_a_log_of_no_skill_is_common_ground(two: Registry, known: list[EpisodeRecord]) -> None:
    bread = logged("oven", "burnt", "c")
    scope = scope_of(two, [*known, *bread])
    assert scope.restricted(NAME, bread) == scope.restricted(GIT, bread) == bread
    assert "/logs/c" not in sources(scope.own(NAME, [*known, *bread]))


def test_a_log_whose_sessions_load_a_skill_is_its_own(two: Registry, known: list[EpisodeRecord]) -> None:
    bread = logged("oven", "burnt", "c")
    bread[3] = structs.replace(bread[3], skills=((GIT, "1"),))
    scope = scope_of(two, [*known, *bread])
    assert scope.restricted(GIT, bread) == bread
    assert scope.restricted(NAME, bread) == []


def test_listed_logs_teach_no_other_skill_and_the_skill_nothing_else(
    two: Registry, known: list[EpisodeRecord]
) -> None:
    scope = scope_of(two, known, LogGlobs({GIT: ("/logs/a",)}))
    assert sources(scope.restricted(GIT, known)) == {"/logs/a"}
    assert sources(scope.restricted(NAME, known)) == set()


def test_a_log_that_was_rotated_stays_whose_it_was(two: Registry, known: list[EpisodeRecord]) -> None:
    globs = LogGlobs({GIT: ("/logs/b",)})
    moved = [structs.replace(record, source=f"{record.source}.1") for record in known]
    kept = {record.id for record in scope_of(two, known, globs).restricted(GIT, known)}
    assert kept == {record.id for record in scope_of(two, moved, globs).restricted(GIT, moved)}


def test_what_a_skill_learned_draws_no_more_logs(two: Registry, known: list[EpisodeRecord]) -> None:
    scope = scope_of(two, known)
    assert "table" not in scope.texts[NAME]


def test_a_skill_alone_has_every_log_and_the_pools_own_evaluator(
    tmp_path: Path, clock: TickingClock, known: list[EpisodeRecord]
) -> None:
    registry = new_registry(tmp_path, clock)
    imported(registry, tmp_path)
    take_in(registry, known)
    grounds = prepare_grounds(registry)
    assert grounds.prepared(registry, NAME) is grounds.whole
    assert [registered.scope for registered in registry.evaluators()] == ["pool"]


def test_an_assigned_signal_brings_the_logs_that_show_it(two: Registry, known: list[EpisodeRecord]) -> None:
    signal = next(raised.event for raised in two.signals() if raised.event.template == "rejected")
    two.execute(RecordFact((SignalAssigned(fingerprint=signal.fingerprint, capsule=NAME),)))
    scope = scope_of(two, known)
    assert scope.route(signal)[:2] == (NAME, "person")
    assert sources(scope.restricted(NAME, known)) == {"/logs/a", "/logs/b"}
    assert sources(scope.restricted(GIT, known)) == {"/logs/b"}
    listed = scope_of(two, known, LogGlobs({GIT: ("/logs/b",)}))
    assert listed.route(signal).why == f"assigned to {NAME}, but its logs are listed for other skills"


def test_no_claim_is_tried_about_actions_with_the_words_of_another_skill_alone(
    two: Registry, known: list[EpisodeRecord]
) -> None:
    others = scope_of(two, known).other_work(NAME, known)
    assert others == OtherWork(frozenset({"Bash:git push"}), mixed=True)
    assert not others.allows(AfterError(template="no such table", do="Bash:git push"))
    assert others.allows(AfterError(template="no such table", do="sql:SHOW"))
    assert not others.allows(StartWith(do="sql:SHOW"))  # every episode could, whatever its work
    assert others.allows(Before(action="sql:SELECT", do="oven"))
    alone = scope_of(two, known).other_work(NAME, known[:12])
    assert alone.allows(StartWith(do="sql:SHOW"))
