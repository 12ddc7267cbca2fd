"""Evidence of episodes that were read before a rotation is read from where their log lies by then."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from registry.evidence.record import EvidenceRecord
from strategies.pool.intake import scan_into
from strategies.pool.known_episodes import all_episodes
from tests.clocks import TickingClock
from tests.registries import new_registry
from tests.sample_logs import jsonl

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    (tmp_path / "of").mkdir()
    (tmp_path / "logs").mkdir()
    return new_registry(tmp_path / "of", TickingClock())


def failing(episode: str, table: str) -> dict[str, object]:
    return {
        "type": "step",
        "episode": episode,
        "tool": "sql",
        "text": "SELECT 1",
        "error": True,
        "error_text": f"no such table: '{table}'",
    }


def kept_texts(registry: Registry) -> list[str]:
    """Give what the evidence of the repeated error says, and in which file."""
    (names,) = [signal.event.evidence for signal in registry.signals() if signal.event.kind == "error_template"]
    records = [EvidenceRecord.from_bytes(body) for body in map(registry.log.get_blob, names) if body]
    return sorted(f"{record.file.rpartition('/')[2]}: {record.text}" for record in records)


def sources(registry: Registry) -> dict[str, str]:
    return {record.name: record.source.rpartition("/")[2] for record in all_episodes(registry)}


def test_a_signal_of_episodes_from_before_and_after_a_rotation_shows_what_each_said(
    registry: Registry, tmp_path: Path
) -> None:
    log = tmp_path / "logs" / "app.jsonl"
    log.write_bytes(jsonl(failing("a", "users"), failing("b", "pets_")))
    scan_into(registry, [log.parent])
    log.rename(log.with_name("app.1.jsonl"))
    log.write_bytes(jsonl(failing("c", "rooms"), failing("d", "dates")))
    scan_into(registry, [log.parent])
    expected = {"a": "app.1.jsonl", "b": "app.1.jsonl", "c": "app.jsonl", "d": "app.jsonl"}
    assert sources(registry) == expected
    tables = {"a": "users", "b": "pets_", "c": "rooms", "d": "dates"}
    assert kept_texts(registry) == sorted(f"{expected[name]}: no such table: '{tables[name]}'" for name in tables)


def test_what_lay_in_a_log_that_was_emptied_is_not_read_from_what_took_its_place(
    registry: Registry, tmp_path: Path
) -> None:
    log = tmp_path / "logs" / "app.jsonl"
    log.write_bytes(jsonl(failing("a", "users"), failing("b", "pets_")))
    before = log.read_bytes()
    scan_into(registry, [log.parent])
    log.write_bytes(jsonl(failing("c", "rooms"), failing("d", "dates")))
    scan_into(registry, [log.parent])
    assert sources(registry) == {"a": "", "b": "", "c": "app.jsonl", "d": "app.jsonl"}
    assert kept_texts(registry) == ["app.jsonl: no such table: 'dates'", "app.jsonl: no such table: 'rooms'"]
    (tmp_path / "logs" / "found.jsonl").write_bytes(before)
    scan_into(registry, [log.parent])
    assert sources(registry)["a"] == "found.jsonl"


def test_a_log_that_was_only_renamed_is_not_read_again(registry: Registry, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.json"):
        body = jsonl(failing("a", "users")) if name == "a.jsonl" else b'[{"role": "user", "content": "x"}]'
        (tmp_path / "logs" / name).write_bytes(body)
    scan_into(registry, [tmp_path / "logs"])
    shutil.move(tmp_path / "logs" / "a.jsonl", tmp_path / "logs" / "a.old.jsonl")
    shutil.move(tmp_path / "logs" / "b.json", tmp_path / "logs" / "b.old.json")
    logs_scan, taken = scan_into(registry, [tmp_path / "logs"])
    assert (logs_scan.files, len(logs_scan.unchanged), taken.new_episodes) == ((), 2, 0)
    assert sorted(sources(registry).values()) == ["a.old.jsonl", "b.old.json"]
    again, _ = scan_into(registry, [tmp_path / "logs"])
    assert (again.moved, len(again.unchanged)) == ({}, 2)
