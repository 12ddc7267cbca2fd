"""What the OpenTelemetry reader knows beyond the common promises."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from strategies.episodes.episode import Episode, EpisodeOutcome
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally, Span
from strategies.files.reread import read_places
from strategies.logs.formats.traces.otel import OtelReader
from tests.sample_logs import OTEL, attributes, jsonl, otel_export, otel_span

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, body: bytes) -> tuple[list[Episode], ReadTally]:
    path = folder / "traces.jsonl"
    path.write_bytes(body)
    tally = ReadTally()
    return list(OtelReader().read(LogFile(path), tally)), tally


def evaluation(trace: str, /, **values: str | float) -> dict[str, object]:
    record = {"eventName": "gen_ai.evaluation.result", "traceId": trace, "attributes": attributes(**values)}
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


def test_spans_become_steps_in_the_order_of_time_whatever_that_of_the_lines(tmp_path: Path) -> None:
    lines = OTEL.splitlines(keepends=True)
    readings = []
    for seed in range(5):
        random.Random(seed).shuffle(lines)
        (episode,), _ = read(tmp_path, b"".join(lines))
        assert [step.action for step in episode.steps] == ["", "sql:SELECT", "sql:SHOW"]
        readings.append((episode.id, episode.outcome, episode.skills, episode.run, episode.prompt))
    assert set(readings) == {
        ("conv-1", EpisodeOutcome(1.0, "reward"), (("sql-analyst", "3"),), "model-x", "How many?")
    }


def test_failing_tool_tells_type_text_and_duration(tmp_path: Path) -> None:
    (episode,), _ = read(tmp_path, OTEL)
    failing = episode.steps[1]
    assert (failing.error, failing.error_type) == (True, "OperationalError")
    assert (failing.error_text, failing.duration_ms) == ("no such table: é", 2000)


def test_step_stands_at_its_span_and_its_text_is_what_the_status_says(tmp_path: Path) -> None:
    (episode,), _ = read(tmp_path, OTEL)
    (raw, text), *others = read_places([(episode.source, step.span) for step in episode.steps[1:]])
    assert json.loads(raw)["startTimeUnixNano"] == f"{13 * 10**9}"
    assert text == "no such table: é"
    assert all("SHOW TABLES" in text for _, text in others)


def test_span_in_a_line_that_names_a_key_twice_stands_at_the_line(tmp_path: Path) -> None:
    line = jsonl(otel_export(otel_span(1, 2, gen_ai__tool__name="look"))).replace(
        b'{"resource":', b'{"scopeSpans": [], "resource":'
    )
    (episode,), _ = read(tmp_path, line)
    assert episode.steps[0].span == Span(0, len(line) - 1, 1)


def test_calls_between_two_answers_of_the_model_share_a_turn(tmp_path: Path) -> None:
    (episode,), _ = read(tmp_path, OTEL)
    assert episode.steps[1].turn == episode.steps[2].turn
    tool = {"gen_ai__tool__name": "look"}
    spans = [otel_span(1, 5, "", **tool), otel_span(2, 3, "", **tool), otel_span(6, 7, "", **tool)]
    (alone,), _ = read(tmp_path, jsonl(otel_export(*spans)))
    assert [step.turn for step in alone.steps] == [0, 0, 1]


def test_spans_of_no_agent_are_no_episode(tmp_path: Path) -> None:
    episodes, tally = read(tmp_path, jsonl(otel_export(otel_span(1, 2, http__method="GET"))))
    assert (episodes, tally.records, tally.unknown) == ([], 1, {})


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ({"gen_ai__evaluation__score__value": 0.25}, EpisodeOutcome(0.25, "reward")),
        ({"gen_ai__evaluation__score__label": "pass"}, EpisodeOutcome(1.0, "reward")),
        ({"gen_ai__evaluation__score__label": "Incorrect"}, EpisodeOutcome(0.0, "reward")),
        ({"gen_ai__evaluation__score__label": "so-so"}, None),
        ({"gen_ai__evaluation__score__value": 4.0}, None),
    ],
)
def test_evaluation_is_an_outcome_where_it_lies_between_0_and_1(
    tmp_path: Path, values: dict[str, str | float], outcome: EpisodeOutcome | None
) -> None:
    (episode,), tally = read(
        tmp_path,
        OTEL.replace(b'"doubleValue": 1.0', b'"stringValue": ""')
        + jsonl(evaluation("t1", gen_ai__evaluation__name="correct", **values)),
    )
    assert episode.outcome == outcome
    assert bool(tally.unknown) or outcome is not None


def test_several_evaluations_are_averaged_and_kept_as_labels(tmp_path: Path) -> None:
    second = evaluation("t1", gen_ai__evaluation__name="brief", gen_ai__evaluation__score__value=0.0)
    (episode,), _ = read(tmp_path, OTEL + jsonl(second))
    assert episode.outcome == EpisodeOutcome(0.5, "reward")
    assert episode.labels == {"evaluation.correct": "1.0", "evaluation.brief": "0.0"}


def test_evaluation_finds_its_response_without_a_trace_and_is_counted_without_one(tmp_path: Path) -> None:
    chat = otel_span(1, 2, "", gen_ai__operation__name="chat", gen_ai__response__id="r1")
    meant = evaluation("", gen_ai__response__id="r1", gen_ai__evaluation__score__value=1.0)
    lost = evaluation("", gen_ai__response__id="r2", gen_ai__evaluation__score__value=0.0)
    (episode,), tally = read(tmp_path, jsonl(otel_export(chat), meant, lost))
    assert episode.outcome == EpisodeOutcome(1.0, "reward")
    assert tally.unknown == {"evaluation of no conversation": 1}


@pytest.mark.parametrize(
    ("reasons", "failure", "ended_by"),
    [('["stop"]', "", "agent"), ('["length"]', "", "limit"), ('["stop"]', "overloaded", "environment")],
)
def test_last_answer_of_the_model_tells_who_ended_it(
    tmp_path: Path, reasons: str, failure: str, ended_by: str
) -> None:
    output_messages = '[{"role": "assistant", "parts": [{"type": "text", "content": "Done"}]}]'
    chat = otel_span(
        1,
        2,
        failure,
        gen_ai__operation__name="chat",
        gen_ai__response__finish_reasons=reasons,
        gen_ai__output__messages=output_messages,
    )
    (episode,), _ = read(tmp_path, jsonl(otel_export(chat)))
    assert (episode.ended_by, episode.steps[0].action) == (ended_by, "message")
