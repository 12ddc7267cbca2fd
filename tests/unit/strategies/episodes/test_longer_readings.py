"""Longer readings take the place of shorter ones, except of those that an evaluator was frozen with."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from events.types.registry_events import OutcomeRecorded
from registry.actions.erase_evidence import erase
from registry.decide.commands import RecordFact
from registry.projection.projector import rebuild
from registry.query.signals import kept_evidence
from strategies.episodes.episode import EpisodeOutcome
from strategies.episodes.longer_readings import condensed, longest
from strategies.gate.replay import evaluation_set
from strategies.gate.replay.evaluation_set import prepare
from strategies.pool.intake import scan_into
from strategies.pool.known_episodes import SUPERSEDED, all_episodes, every_reading
from tests.clocks import TickingClock
from tests.registries import documents, new_registry
from tests.sample_logs import jsonl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from events.store.protocol import StoredDocument
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.evaluation_set import Ground


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    (tmp_path / "of").mkdir()
    return new_registry(tmp_path / "of", TickingClock())


def step(episode: str, number: int, *, error: bool = False) -> dict[str, object]:
    fields = {"type": "step", "episode": episode, "tool": "sql", "text": f"SELECT {number}", "error": error}
    return {**fields, "error_text": "no such table" * error, "started_at": f"2026-01-01T00:00:{number:02}Z"}


def grown(registry: Registry, path: Path, steps: int) -> EpisodeRecord:
    """Let the log of one episode grow to so many steps, read it, and give the episode."""
    path.write_bytes(jsonl(*(step("a", number, error=number == 1) for number in range(steps))))
    scan_into(registry, [path], live=True)
    (record,) = all_episodes(registry)
    assert len(record.steps) == steps
    return record


def links(registry: Registry) -> dict[str, str]:
    superseded: dict[str, str] = json.loads(registry.log.maps().get(SUPERSEDED, b"{}"))
    return superseded


def test_an_episode_that_grows_is_kept_once_and_leaves_no_trace_behind(registry: Registry, tmp_path: Path) -> None:
    for steps in range(1, 30):
        last = grown(registry, tmp_path / "a.jsonl", steps)
    assert every_reading(registry) == [last]
    assert links(registry) == {}
    assert registry.log.verify().problems == ()
    before = documents(registry)
    rebuild(registry.log)
    assert documents(registry) == before


def test_a_reading_that_an_evaluator_was_frozen_with_stays_as_it_was(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    short = grown(registry, path, 2)
    frozen = prepare(registry)
    for steps in (3, 4, 5):
        last = grown(registry, path, steps)
    assert {reading.id for reading in every_reading(registry)} == {short.id, last.id}
    assert links(registry) == {short.id: last.id}
    assert (prepare(registry).division, prepare(registry).evaluator) == (frozen.division, frozen.evaluator)
    assert frozen.division.everything == (short,)
    assert registry.log.verify().problems == ()


def test_what_was_said_of_a_shorter_reading_holds_for_all_longer_ones(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    grown(registry, path, 1)
    shorter = grown(registry, path, 2)
    registry.execute(RecordFact((OutcomeRecorded(episode=shorter.id, value=0.25, source="ci"),)))
    for steps in (3, 4, 5):
        last = grown(registry, path, steps)
        assert last.outcome == EpisodeOutcome(0.25, "ci")
    assert [len(reading.steps) for reading in every_reading(registry)] == [5]
    assert links(registry) == {shorter.id: last.id}


def test_outcomes_of_episodes_that_nobody_knows_are_not_read(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    known = grown(registry, path, 2)
    episodes = [*(f"{number:064x}" for number in range(20)), known.id]
    registry.execute(
        RecordFact(tuple(OutcomeRecorded(episode=episode_id, value=0.25, source="ci") for episode_id in episodes))
    )
    grown(registry, path, 3)
    read: list[int] = []

    def counting(
        ask: Callable[..., list[StoredDocument]], *asked: object, **bounds: object
    ) -> list[StoredDocument]:
        read.append(len(documents := ask(*asked, **bounds)))
        return documents

    for name in ("documents", "documents_of"):
        monkeypatch.setattr(registry.log, name, partial(counting, getattr(registry.log, name)))
    assert [record.outcome for record in all_episodes(registry)] == [EpisodeOutcome(0.25, "ci")]
    assert [record.outcome for record in all_episodes(registry, upto=1)] == [None]
    assert max(read) <= 2


def test_a_reading_that_evidence_names_stays_until_that_is_erased(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [step(name, number, error=True) for name in "ab" for number in range(2)]
    path.write_bytes(jsonl(*lines))
    scan_into(registry, [path], live=True)
    names = {name for raised in registry.signals() for name in raised.event.evidence}
    named = {piece.episode for piece in kept_evidence(registry, names).values()}
    assert len(named) == 2
    for number in (2, 3):
        path.write_bytes(path.read_bytes() + jsonl(*(step(name, number) for name in "ab")))
        scan_into(registry, [path], live=True)
        assert {reading.id for reading in every_reading(registry)} == named | {
            record.id for record in all_episodes(registry)
        }
    erase(registry, sorted(names), "asked for")
    path.write_bytes(path.read_bytes() + jsonl(*(step(name, 4) for name in "ab")))
    scan_into(registry, [path], live=True)
    assert {reading.id for reading in every_reading(registry)} == {record.id for record in all_episodes(registry)}


def test_an_episode_that_grows_while_an_evaluator_is_made_is_frozen_as_it_is_then(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    short = grown(registry, path, 1)
    looked: list[Ground] = []
    plain = evaluation_set.ground_of

    def growing(*given: object, **named: object) -> Ground:
        looked.append(plain(*given, **named))  # type: ignore[arg-type]
        if len(looked) == 1:
            grown(registry, path, 2)
        return looked[-1]

    monkeypatch.setattr(evaluation_set, "ground_of", growing)
    made = prepare(registry)
    assert [ground.division.everything == (short,) for ground in looked] == [True, False]
    assert [len(record.steps) for record in made.division.everything] == [2]
    assert prepare(registry).evaluator == made.evaluator


def test_a_new_log_under_an_old_name_does_not_take_the_place_of_what_was_read_before(
    registry: Registry, tmp_path: Path
) -> None:
    path = tmp_path / "build.log"
    for text in (
        "all is well\n3 passed in 0.1s\n",
        "ERROR no table users\nERROR no table pets\n",
        "all is well\n",
    ):
        path.unlink(missing_ok=True)
        path.write_text(text)
        scan_into(registry, [path])
    assert sorted(len(record.steps) for record in all_episodes(registry)) == [0, 0, 2]


def test_links_lead_past_readings_that_are_gone() -> None:
    longer = {"a": "b", "b": "c", "c": "d", "x": "y"}
    assert [longest(reading, longer) for reading in "abdx"] == ["d", "d", "d", "y"]
    assert condensed(longer, {"a"}) == {"a": "d"}
    assert condensed(longer, {"a", "c", "d"}) == {"a": "c", "c": "d"}
    assert condensed(longer, ()) == {}
