"""The recorded logs beside the project, read whole: the figures that the design pages state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.files.reread import read_places
from strategies.signals.detect import detect

if TYPE_CHECKING:
    from collections.abc import Callable

    from strategies.logs.scan import Scan

    Scanned = Callable[[str], Scan]

pytestmark = pytest.mark.data


def test_intercode_gives_every_episode_and_the_two_templates(recorded_scan: Scanned) -> None:
    logs_scan = recorded_scan("intercode_sql")
    assert (len(logs_scan.records), logs_scan.duplicates, logs_scan.malformed) == (6204, 0, ())
    assert len({record.run for record in logs_scan.records}) == 6
    assert len({record.task for record in logs_scan.records}) == 1034
    templates = {step.template for record in logs_scan.records for step in record.steps if step.error}
    assert {"Table <*> doesn't exist", "Unknown column <*> in <*>"} <= templates


def test_intercode_answers_link_the_tasks_that_the_page_counts(recorded_scan: Scanned) -> None:
    """647 of 865 solved questions share their winning SQL with another."""
    solved: dict[str, set[str]] = {}
    for record in recorded_scan("intercode_sql").records:
        if record.answer_key:
            solved.setdefault(record.answer_key, set()).add(record.task)
    assert len(set().union(*solved.values())) == 865
    assert len(set().union(*(tasks for tasks in solved.values() if len(tasks) > 1))) == 647


def test_intercode_evidence_read_again_is_the_error(recorded_scan: Scanned) -> None:
    logs_scan = recorded_scan("intercode_sql")
    by_id = {record.id: record for record in logs_scan.records}
    signal = next(
        detected for detected in detect(logs_scan.records) if detected.template == "Table <*> doesn't exist"
    )
    places = [(by_id[at.episode].source, by_id[at.episode].steps[at.step].span) for at in signal.occurrences]
    assert len(places) == len(signal.occurrences) > 0
    for raw, text in read_places(places):
        assert raw.startswith(b'"Error')
        assert text.startswith("Error executing query: Table '")


def test_tau_bench_gives_four_trials_of_fifty_tasks(recorded_scan: Scanned) -> None:
    """36 runs met a tool error, 9 of them still succeeded."""
    logs_scan = recorded_scan("tau_bench_airline")
    assert len(logs_scan.records) == 200
    assert len({record.task for record in logs_scan.records}) == 50
    erring = [record for record in logs_scan.records if any(step.error for step in record.steps)]
    assert len(erring) == 36
    assert sum(record.outcome.value for record in erring if record.outcome) == 9


def test_claude_code_files_are_read_around_what_is_broken_in_them(recorded_scan: Scanned) -> None:
    logs_scan = recorded_scan("claude_code")
    assert len(logs_scan.records) == 5
    assert [bad.line for bad in logs_scan.malformed] == [11, 13, 14, 15, 16, 18]
    assert logs_scan.errors == 1


def test_swe_agent_files_are_read(recorded_scan: Scanned) -> None:
    logs_scan = recorded_scan("swe_agent")
    assert [record.ended_by for record in logs_scan.records] == ["agent", "agent"]
