"""What is known of a trace, whichever tool exported it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats.traces.trace_runs import messages_in, nanoseconds_at, text_of
from strategies.logs.formats_table import reader_named
from tests.sample_logs import Sample, jsonl
from tests.trace_exports import (
    AGENTS,
    ASKED,
    DONE,
    LANGFUSE,
    LANGSMITH_RUNS,
    TRACES,
    langfuse_observation,
    langsmith_run,
    responses,
)

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.episode import Episode


def read(folder: Path, log_format: str, body: bytes, name: str = "trace.jsonl") -> list[Episode]:
    path = folder / name
    path.write_bytes(body)
    return list(reader_named(log_format).read(LogFile(path), ReadTally()))  # type: ignore[arg-type]


@pytest.mark.parametrize("sample", TRACES, ids=lambda sample: sample.name)
def test_the_task_the_calls_the_failure_and_the_end_are_known(tmp_path: Path, sample: Sample) -> None:
    (episode,) = read(tmp_path, sample.format, sample.body, sample.name)
    assert (episode.prompt, episode.ended_by) == (ASKED, "agent")
    assert episode.run in {"model-x", "m"}
    calls = [step for step in episode.steps if step.kind == "call"]
    assert len(calls) == 2
    assert [step.error for step in calls] == [True, False]
    assert "1 failed: é" in calls[0].error_text
    assert [step.text for step in episode.steps if step.actor == "agent" and step.kind != "call"][-1] == DONE


def test_runs_of_one_thread_are_one_episode_and_traces_without_one_are_apart(tmp_path: Path) -> None:
    def run(trace: str, second: int, thread: str = "") -> dict[str, object]:
        about = {"metadata": {"thread_id": thread}} if thread else {}
        return langsmith_run("tool", "bash", second, inputs={}, outputs="ok") | {"trace_id": trace, "extra": about}

    body = jsonl(run("a", 3, "t"), run("b", 1, "t"), run("c", 5))
    assert [(episode.id, len(episode.steps)) for episode in read(tmp_path, "langsmith", body)] == [
        ("t", 2),
        ("c", 1),
    ]


@pytest.mark.parametrize(
    ("log_format", "runs", "holder"),
    [("openai-agents", AGENTS, "data"), ("langsmith", LANGSMITH_RUNS, "runs"), ("langfuse", LANGFUSE, "data")],
)
def test_runs_in_an_array_on_each_line_are_read_like_runs_on_lines(
    tmp_path: Path, log_format: str, runs: list[dict[str, object]], holder: str
) -> None:
    plain = read(tmp_path, log_format, jsonl(*runs))
    held = read(tmp_path, log_format, jsonl({"object": "list", holder: runs[:2]}, {holder: runs[2:]}))
    assert [step.text for step in plain[0].steps] == [step.text for step in held[0].steps]
    body = (tmp_path / "trace.jsonl").read_bytes()
    for step in held[0].steps:
        assert body[step.span.byte_start : step.span.byte_end].startswith(b"{")
        assert json.loads(body[step.span.byte_start : step.span.byte_end])


def test_a_root_tells_question_answer_and_usage_where_no_call_of_a_model_does(tmp_path: Path) -> None:
    about = {"trace_id": "t1", "parent_run_id": None, "end_time": "2026-01-01T12:00:09.000000+00:00"}
    root = langsmith_run(
        "chain",
        "agent",
        0,
        inputs={"question": ASKED},
        outputs={"messages": [{"type": "human", "content": ASKED}, {"type": "ai", "content": DONE}]},
        prompt_tokens=140,
        completion_tokens=10,
        total_cost=0.002,
    )
    tool = langsmith_run("tool", "bash", 3, inputs={"command": "ls"}, outputs=None, error="x", status="error")
    (episode,) = read(tmp_path, "langsmith", jsonl(tool, {**root, **about}))
    assert (episode.prompt, episode.ended_by) == (ASKED, "agent")
    assert [(step.actor, step.error) for step in episode.steps] == [
        ("user", False),
        ("agent", True),
        ("agent", False),
    ]
    assert episode.steps[-1].text == DONE
    assert episode.usage is not None
    assert (episode.usage.input_tokens, episode.usage.cost_usd) == (140, 0.002)
    model = langsmith_run("llm", "m", 1, inputs={"messages": []}, outputs=DONE, prompt_tokens=5)
    (episode,) = read(tmp_path, "langsmith", jsonl({**root, **about}, model, tool))
    assert episode.usage is not None
    assert episode.usage.input_tokens == 5


def test_observations_that_are_no_call_alone_are_no_episode(tmp_path: Path) -> None:
    assert read(tmp_path, "langfuse", jsonl(langfuse_observation("SPAN", 1, name="x"))) == []


def test_a_response_that_repeats_what_was_sent_counts_it_once(tmp_path: Path) -> None:
    once = read(tmp_path, "openai-responses", responses("Error: x", DONE))
    twice = read(tmp_path, "openai-responses", responses("Error: x", DONE) * 2)
    assert len(twice[0].steps) == len(once[0].steps)


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("Hi", [("user", "Hi")]),
        ("  ", []),
        (7, []),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"text": "b"}]},
            [("assistant", "a\nb")],
        ),
        (
            {"messages": [{"type": "human", "content": "q"}, {"type": "ai", "content": "a"}]},
            [("user", "q"), ("assistant", "a")],
        ),
        ({"type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "q"}}, [("user", "q")]),
        ({"messages": None}, []),
    ],
)
def test_messages_are_found_in_the_shapes_that_tools_write(value: object, messages: list[tuple[str, str]]) -> None:
    assert messages_in(value, "user") == messages


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("x", "x"),
        ({"output": "x"}, "x"),
        ({"kwargs": {"content": "x"}}, "x"),
        ([{"text": "a"}, {"text": "b"}], "a\nb"),
        ({"a": 1, "output": "x"}, '{"a":1,"output":"x"}'),
    ],
)
def test_a_value_is_given_as_what_it_says_else_as_json(value: object, text: str) -> None:
    assert text_of(value) == text


def test_times_with_and_without_a_zone_and_none_at_all() -> None:
    assert (
        nanoseconds_at("1970-01-01T00:00:01.5+00:00") == nanoseconds_at("1970-01-01 00:00:01.5") == 1_500_000_000
    )
    assert nanoseconds_at("yesterday") == 0
