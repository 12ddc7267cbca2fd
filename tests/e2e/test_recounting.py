"""Figures of signals: what is shown counts what is known by now, the events stay as they were."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.terminal import Terminal
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from pathlib import Path


def failing(*episodes: int, text: str = "no such table: visits") -> str:
    steps = (
        {
            "type": "step",
            "episode": f"{text[:3]}{episode}",
            "tool": "sql",
            "text": f"SELECT {episode}",
            "error": True,
        }
        for episode in episodes
    )
    return "".join(json.dumps({**step, "error_text": text}) + "\n" for step in steps)


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    """Begin a registry in which one error was rare at first, and became the most frequent."""
    germline = Terminal(tmp_path).with_skill()
    germline.write("logs/a.jsonl", failing(1, 2, 3))
    germline.write("logs/b.jsonl", failing(*range(4), text="the disk is full"))
    germline.does("scan", "logs")
    germline.write("logs/c.jsonl", failing(*range(10, 60)))
    germline.does("scan", "logs")
    return germline


def error_templates(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["template"]: row for row in rows if row["kind"] == "error_template"}


def test_signals_and_status_count_what_the_last_scan_knew(germline: Terminal) -> None:
    rows = germline.does("signals", "--json").json["signals"]
    signal = error_templates(rows)["no such table: visits"]
    assert (signal["count"], signal["episodes"]) == (53, 53)
    assert signal["raised_with"]["count"] == 3
    assert signal["severity"] > signal["raised_with"]["severity"]
    assert [row["severity"] for row in rows] == sorted((row["severity"] for row in rows), reverse=True)
    waiting = error_templates(germline.does("status", "--json").json["open_signals"])
    assert waiting["no such table: visits"]["count"] == 53
    assert "53 of 57" in germline.does("signals").out
    assert "53×" in germline.does("status").out


def test_an_event_keeps_what_was_known_and_no_other_is_raised(germline: Terminal) -> None:
    with open_library(germline.folder / ".germline/registry.db") as library:
        about = [signal.event for signal in library.signals() if signal.event.template == "no such table: visits"]
        counts = {signal.event.fingerprint: signal.event.count for signal in library.signals()}
    assert [event.count for event in about if event.kind == "error_template"] == [3]
    assert len(counts) == len(set(counts))


def test_a_scan_that_finds_nothing_new_changes_no_figure(germline: Terminal) -> None:
    before = germline.does("signals", "--json").json
    germline.does("scan", "logs")
    assert germline.does("signals", "--json").json == before
