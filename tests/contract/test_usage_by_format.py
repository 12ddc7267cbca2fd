"""What an episode took is read from every format whose log says it, once, and never guessed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec.structs import replace

from strategies.episodes.episode_records import content_hash, decode, encode
from strategies.episodes.usage import Usage
from strategies.files.read_offsets import ReadOffset
from strategies.logs.formats_table import READERS
from strategies.logs.scan import scan, scan_on
from tests.agent_sessions import (
    NOON,
    copilot_event,
    cursor_rows,
    pi_entry,
    pi_text,
    stream_record,
    tau2_results,
)
from tests.inspect_stand_in import json_log, stand_in
from tests.sample_logs import SAMPLES, Sample, jsonl
from tests.session_stores import opencode_rows
from tests.trace_exports import claude_event, claude_export

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord

SAYS_NOTHING = {"cursor", "copilot-store", "vscode-chat", "plain-text", "action-observation", "inspect"}
"""Formats without usage; Inspect is read by a package of its own, and has a test of its own."""

Json = dict[str, Any]


def claude(name: str, text: str, *, model: str = "claude-x", at: str = NOON, **usage: object) -> Json:
    """Write one block of a message of Claude Code 2.1: every block repeats the usage so far."""
    block: Json = {"type": "text", "text": text}
    message = {"role": "assistant", "model": model, "id": name, "content": [block], "usage": usage}
    return {"type": "assistant", "sessionId": "s1", "uuid": text, "timestamp": at, "message": message}


CLAUDE = (
    {"type": "user", "sessionId": "s1", "uuid": "u", "timestamp": NOON, "message": {"content": "Go"}},
    claude(
        "m1", "a", input_tokens=3, cache_creation_input_tokens=10, cache_read_input_tokens=100, output_tokens=1
    ),
    claude(
        "m1", "b", input_tokens=3, cache_creation_input_tokens=10, cache_read_input_tokens=100, output_tokens=9
    ),
    claude("m2", "c", model="claude-y", input_tokens=5, output_tokens=2),
    claude(
        "m1", "d", input_tokens=3, cache_creation_input_tokens=10, cache_read_input_tokens=100, output_tokens=20
    ),
    claude("m3", "e", model="<synthetic>", input_tokens=0, output_tokens=0),
)


def codex(kind: str, **payload: object) -> Json:
    """Write a line of a Codex rollout."""
    return {"timestamp": NOON, "type": kind, "payload": payload}


def codex_tokens(read: int, cached: int, wrote: int) -> Json:
    """Write a count of tokens: of the session so far, and of the last turn."""
    so_far = {"input_tokens": read, "cached_input_tokens": cached, "output_tokens": wrote, "total_tokens": 0}
    return codex("event_msg", type="token_count", info={"total_token_usage": so_far, "last_token_usage": so_far})


def codex_says(role: str, text: str) -> Json:
    """Write a message of a rollout."""
    return codex("response_item", type="message", role=role, content=[{"type": "text", "text": text}])


CODEX = (
    codex("session_meta", id="c1", cwd="/w"),
    codex("turn_context", model="gpt-x"),
    codex_says("user", "Go"),
    codex("event_msg", type="token_count", info=None),
    codex_tokens(100, 40, 5),
    codex_says("assistant", "Half."),
    codex_tokens(300, 200, 11),
    codex_tokens(50, 0, 4),
    codex_says("assistant", "Done."),
)
GEMINI_TURN = {"id": "m2", "timestamp": NOON, "type": "gemini", "content": "x", "model": "gemini-x"}
RUN = {"trace_id": "t", "start_time": NOON, "end_time": NOON}


def otlp(*spans: tuple[str, Json]) -> bytes:
    """Write spans of one trace, each with its attributes."""
    written = [
        {
            "traceId": "t",
            "name": name,
            "startTimeUnixNano": str(10**18 + at),
            "endTimeUnixNano": str(10**18 + (1000 if name == "agent" else at + 1)),
            "attributes": [
                {
                    "key": key,
                    "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
                }
                for key, value in attributes.items()
            ],
        }
        for at, (name, attributes) in enumerate(spans)
    ]
    return jsonl({"resourceSpans": [{"scopeSpans": [{"spans": written}]}]})


AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 3}
ASKED = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Go"}]}])


def chat_span(**figures: object) -> tuple[str, Json]:
    """Write a call of a model by the GenAI conventions, with figures under their names."""
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": ASKED}
    return "chat", about | figures


CASES: dict[str, tuple[str, str, bytes, Usage]] = {
    "of each message of Claude Code once, as its last block says": (
        "claude-code",
        "s1.jsonl",
        jsonl(*CLAUDE),
        Usage(118, 22, 100, models=("claude-x", "claude-y")),
    ),
    "of Claude Code with the cost that old versions wrote": (
        "claude-code",
        "s1.jsonl",
        jsonl(*CLAUDE[:1], {**claude("m1", "a", input_tokens=1, output_tokens=2), "costUSD": 0.25}),
        Usage(1, 2, 0, 0.25, models=("claude-x",)),
    ),
    "of Codex as the last count says, after a count that began again": (
        "codex",
        "r.jsonl",
        jsonl(*CODEX),
        Usage(350, 15, 200, models=("gpt-x",)),
    ),
    "of Gemini CLI with thoughts, of a message that was written twice once": (
        "gemini-cli",
        "session-1.jsonl",
        jsonl(
            {"sessionId": "g1", "projectHash": "ab", "startTime": NOON},
            {"id": "m1", "timestamp": NOON, "type": "user", "content": "Go"},
            {**GEMINI_TURN, "tokens": {"input": 10, "output": 1, "cached": 4}},
            {
                **GEMINI_TURN,
                "tokens": {"input": 10, "output": 2, "cached": 4, "thoughts": 5, "tool": 1, "total": 18},
            },
        ),
        Usage(11, 7, 4, models=("gemini-x",)),
    ),
    "of Copilot by model from the end of the session": (
        "copilot-cli",
        "events.jsonl",
        jsonl(
            copilot_event("session.start", sessionId="c", selectedModel="gpt-x"),
            copilot_event("user.message", content="Go"),
            copilot_event("assistant.message", messageId="a", content="Done.", outputTokens=12),
            copilot_event(
                "session.shutdown",
                modelMetrics={"gpt-x": {"usage": {"inputTokens": 90, "outputTokens": 12, "cacheReadTokens": 60}}},
            ),
        ),
        Usage(90, 12, 60, models=("gpt-x",)),
    ),
    "of Copilot from its messages while the session runs": (
        "copilot-cli",
        "events.jsonl",
        jsonl(
            copilot_event("session.start", sessionId="c"),
            copilot_event("user.message", content="Go"),
            copilot_event("assistant.message", messageId="a", content="Half.", outputTokens=12),
            copilot_event("assistant.message", messageId="b", content="Done.", outputTokens=3),
        ),
        Usage(None, 15),
    ),
    "of what Claude Code printed as its result says, which no block repeats": (
        "claude-stream",
        "stream.jsonl",
        jsonl(
            *(
                stream_record(
                    "assistant",
                    message={"id": "m1", "model": "claude-x", "content": [block], "usage": {"output_tokens": 1}},
                )
                for block in pi_text("a") + pi_text("b")
            ),
            stream_record(
                "result",
                subtype="success",
                result="b",
                duration_ms=90,
                total_cost_usd=0.5,
                usage={"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 20},
            ),
        ),
        Usage(103, 20, 100, 0.5, 90.0, ("claude-x",)),
    ),
    "of what Claude Code printed without a result, each message once": (
        "claude-stream",
        "stream.jsonl",
        jsonl(
            *(
                stream_record(
                    "assistant",
                    message={"id": "m1", "model": "claude-x", "content": [block], "usage": {"output_tokens": 7}},
                )
                for block in pi_text("a") + pi_text("b")
            )
        ),
        Usage(None, 7, models=("claude-x",)),
    ),
    "of Claude Code's events, by its requests": (
        "otel",
        "events.jsonl",
        jsonl(
            claude_export(
                *(
                    claude_event(
                        "api_request",
                        at,
                        model="claude-x",
                        input_tokens="3",
                        output_tokens="2",
                        cache_read_tokens="100",
                        cost_usd="0.25",
                    )
                    for at in (1, 2)
                ),
                claude_event("assistant_response", 3, response="Done."),
            )
        ),
        Usage(206, 4, 200, 0.5, models=("claude-x",)),
    ),
    "of OpenCode with thoughts and cost": (
        "opencode",
        "rows.jsonl",
        opencode_rows(
            (
                (
                    {
                        "role": "assistant",
                        "modelID": "m",
                        "cost": 0.5,
                        "tokens": {"input": 3, "output": 2, "reasoning": 4, "cache": {"read": 100, "write": 10}},
                    },
                    [{"type": "text", "text": "Done."}],
                ),
            )
        ),
        Usage(113, 6, 100, 0.5, models=("m",)),
    ),
    "of Cursor's store": (
        "cursor-store",
        "chats.jsonl",
        cursor_rows({"type": 2, "text": "x", "tokenCount": {"inputTokens": 30, "outputTokens": 3}}),
        Usage(30, 3, models=("model-x",)),
    ),
    "of tau2-bench, the agent's alone": (
        "tau2-bench",
        "results.json",
        tau2_results(
            {"role": "user", "content": "Go", "usage": {"prompt_tokens": 9, "completion_tokens": 9}},
            {"role": "assistant", "content": "x", "usage": {"prompt_tokens": 30, "completion_tokens": 3}},
        ),
        Usage(30, 3, None, 0.01, 9000.0, ("model-x",)),
    ),
    "of Pi with its cost, of branches that were left too": (
        "pi",
        "p.jsonl",
        jsonl(
            {"type": "session", "version": 3, "id": "p", "timestamp": NOON, "cwd": "/x"},
            pi_entry("a", None, role="user", content="Go"),
            *(
                pi_entry(
                    name,
                    "a",
                    role="assistant",
                    content=pi_text(name),
                    model="model-x",
                    usage={"input": 1, "output": 2, "cacheRead": 30, "cacheWrite": 4, "cost": {"total": 0.5}},
                )
                for name in "bc"
            ),
        ),
        Usage(70, 4, 60, 1.0, models=("model-x",)),
    ),
    "of an ATIF run as a whole, and by its steps where that is silent": (
        "atif",
        "trajectory.json",
        json.dumps(
            {
                "schema_version": "ATIF-v1.7",
                "agent": {"name": "a", "version": "1", "model_name": "m"},
                "steps": [
                    {"step_id": 1, "source": "user", "message": "Go"},
                    *(
                        {
                            "step_id": step,
                            "source": "agent",
                            "message": "x",
                            "metrics": {"prompt_tokens": 10, "cached_tokens": 8, "cost_usd": 0.1},
                        }
                        for step in (2, 3)
                    ),
                ],
                "final_metrics": {"total_prompt_tokens": 25, "total_completion_tokens": 2},
            }
        ).encode(),
        Usage(25, 2, 16, 0.2, models=("m",)),
    ),
    "of mini-swe-agent with its cost and the time of its messages": (
        "mini-swe-agent",
        "i.traj.json",
        json.dumps(
            {
                "trajectory_format": "mini-swe-agent-1.1",
                "info": {"model_stats": {"instance_cost": 0.1}, "config": {"model": {"model_name": "m"}}},
                "messages": [
                    {"role": "user", "content": "Go", "extra": {"timestamp": 10.0}},
                    {
                        "role": "assistant",
                        "content": "x",
                        "extra": {
                            "timestamp": 12.5,
                            "response": {"usage": {"prompt_tokens": 7, "completion_tokens": 3}},
                        },
                    },
                ],
            }
        ).encode(),
        Usage(7, 3, None, 0.1, 2500.0, ("m",)),
    ),
    "of SWE-agent": (
        "swe-agent",
        "i.traj",
        json.dumps(
            {
                "trajectory": [{"action": "ls", "observation": "a"}],
                "info": {"model_stats": {"instance_cost": 1.5, "tokens_sent": 1000, "tokens_received": 50}},
            }
        ).encode(),
        Usage(1000, 50, None, 1.5),
    ),
    "of responses, of one that is logged again once": (
        "openai-responses",
        "r.jsonl",
        jsonl(
            *(
                {
                    "object": "response",
                    "id": "r1",
                    "model": "gpt-x",
                    "output": [{"type": "message", "id": "i", "role": "assistant", "content": "Done."}],
                    "usage": {
                        "input_tokens": 10,
                        "output_tokens": wrote,
                        "input_tokens_details": {"cached_tokens": 6},
                    },
                }
                for wrote in (1, 2)
            )
        ),
        Usage(10, 2, 6, models=("gpt-x",)),
    ),
    "of LangSmith without the runs that add up others": (
        "langsmith",
        "runs.jsonl",
        jsonl(
            {**RUN, "id": "1", "run_type": "chain", "prompt_tokens": 10, "completion_tokens": 2, "total_cost": 1},
            {
                **RUN,
                "id": "2",
                "run_type": "llm",
                "inputs": {"messages": [{"role": "user", "content": "Go"}]},
                "outputs": {"content": "Done."},
                "prompt_tokens": 10,
                "completion_tokens": 2,
                "total_cost": "0.02",
                "extra": {"metadata": {"ls_model_name": "m"}},
            },
        ),
        Usage(10, 2, None, 0.02, models=("m",)),
    ),
    "of Langfuse over all kinds of tokens": (
        "langfuse",
        "lf-observations.jsonl",
        jsonl(
            {
                "id": "o",
                "traceId": "t",
                "type": "GENERATION",
                "level": "DEFAULT",
                "startTime": NOON,
                "input": "Go",
                "output": "Done.",
                "model": "m",
                "usageDetails": {"input": 5, "input_cached_tokens": 20, "output": 3, "total": 28},
                "costDetails": {"input": 0.1, "output": 0.2, "total": 0.3},
            }
        ),
        Usage(25, 3, 20, 0.3, models=("m",)),
    ),
    "of the Agents SDK, of a response whose text is not there too": (
        "openai-agents",
        "spans.jsonl",
        jsonl(
            *(
                {
                    "object": "trace.span",
                    "id": kind,
                    "trace_id": "t",
                    "started_at": NOON,
                    "ended_at": NOON,
                    "span_data": {
                        "type": kind,
                        "model": "m",
                        "input": [{"role": "user", "content": "Go"}],
                        "output": [{"role": "assistant", "content": "Done."}],
                        "usage": {"input_tokens": 4, "output_tokens": 1},
                    },
                }
                for kind in ("generation", "response")
            )
        ),
        Usage(8, 2, models=("m",)),
    ),
    "of calls of models and not of the agent around them": (
        "otel",
        "t.jsonl",
        otlp(
            ("agent", AGENT),
            chat_span(**{"gen_ai.usage.input_tokens": 10, "gen_ai.usage.cache_read.input_tokens": 6}),
            chat_span(**{"gen_ai.usage.prompt_tokens": 20, "gen_ai.usage.completion_tokens": 3}),
        ),
        Usage(30, 3, 6, models=("m",)),
    ),
    "of the agent where no call of a model says it, of one within another once": (
        "otel",
        "t.jsonl",
        otlp(("agent", AGENT), ("inner", AGENT), chat_span()),
        Usage(30, 3),
    ),
    "of OpenInference with its cost": (
        "otel",
        "t.jsonl",
        otlp(
            (
                "llm",
                {
                    "openinference.span.kind": "LLM",
                    "llm.model_name": "m",
                    "llm.input_messages.0.message.role": "user",
                    "llm.input_messages.0.message.content": "Go",
                    "llm.token_count.prompt": 10,
                    "llm.token_count.completion": 2,
                    "llm.token_count.total": 12,
                    "llm.token_count.prompt_details.cache_read": 8,
                    "llm.cost.total": "0.01",
                },
            )
        ),
        Usage(10, 2, 8, 0.01, models=("m",)),
    ),
    "of OpenHands as its last event says": (
        "openhands",
        "events.json",
        json.dumps(
            [
                {"id": 0, "source": "user", "action": "message", "args": {"content": "Go"}},
                *(
                    {
                        "id": number,
                        "source": "agent",
                        "action": "run",
                        "args": {"command": "ls", "thought": ""},
                        "llm_metrics": {
                            "accumulated_cost": cost,
                            "accumulated_token_usage": {
                                "prompt_tokens": 1000 * number,
                                "completion_tokens": number,
                                "cache_read_tokens": 10,
                            },
                        },
                    }
                    for number, cost in ((1, 0.1), (2, 0.25))
                ),
            ]
        ).encode(),
        Usage(2000, 2, 10, 0.25),
    ),
    "of chat in the shapes of OpenAI and Anthropic": (
        "chat",
        "c.json",
        json.dumps(
            [
                {"role": "user", "content": "Go"},
                {"role": "assistant", "content": "a", "usage": {"prompt_tokens": 10, "completion_tokens": 2}},
                {
                    "role": "assistant",
                    "content": "b",
                    "usage": {"input_tokens": 1, "cache_read_input_tokens": 50, "output_tokens": 3},
                    "cost": 0.5,
                },
            ]
        ).encode(),
        Usage(61, 5, 50, 0.5),
    ),
    "of steps as the last line says": (
        "steps",
        "s.jsonl",
        jsonl(
            {"type": "step", "episode": "e", "text": "a", "usage": {"input_tokens": 5}},
            {"type": "step", "episode": "e", "text": "b", "usage": {"input_tokens": 9, "cost_usd": 0.1}},
        ),
        Usage(9, None, None, 0.1),
    ),
}


def read(tmp_path: Path, name: str, body: bytes) -> EpisodeRecord:
    """Read the one episode of a log, by the reader that takes it."""
    path = tmp_path / name
    path.write_bytes(body)
    (record,) = scan([path]).records
    return record


@pytest.mark.parametrize("case", CASES)
def test_usage(tmp_path: Path, case: str) -> None:
    log_format, name, body, usage = CASES[case]
    record = read(tmp_path, name, body)
    assert (record.format, record.usage) == (log_format, usage)


def test_every_format_is_among_the_cases() -> None:
    assert {reader.name for reader in READERS} == {log_format for log_format, *_ in CASES.values()} | SAYS_NOTHING


def test_usage_of_an_inspect_sample_over_its_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch)
    used = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 107, "input_tokens_cache_read": 100}
    says = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": "Done."}]
    sample = {"id": 1, "epoch": 1, "messages": says, "model_usage": {"m": used, "n": 7}, "total_time": 1.5}
    (record,) = scan([json_log(tmp_path, sample)]).records
    assert record.usage == Usage(105, 2, 100, None, 1500.0, ("m",))


@pytest.mark.parametrize("log_format", ["claude-code", "codex", "steps"])
def test_a_log_that_is_read_in_two_halves_took_the_same(tmp_path: Path, log_format: str) -> None:
    cases = [case for case in CASES.values() if case[0] == log_format]
    assert cases
    for _, name, body, usage in cases:
        lines = body.splitlines(keepends=True)
        for half in range(1, len(lines)):
            path = tmp_path / f"{half}-{name}"
            path.write_bytes(b"".join(lines[:half]))
            first = scan_on([path], {})
            path.write_bytes(body)
            second = scan_on([path], first.offsets)
            assert [record.usage for record in second.records] == [usage]
            assert second.text_bytes < len(body)


@pytest.mark.parametrize(("log_format", "at"), [("claude-code", "sessions"), ("codex", "")])
def test_a_log_that_an_older_version_read_in_part_is_read_again_for_its_usage(
    tmp_path: Path, log_format: str, at: str
) -> None:
    _, name, body, usage = next(case for case in CASES.values() if case[0] == log_format)
    lines = body.splitlines(keepends=True)
    path = tmp_path / name
    path.write_bytes(b"".join(lines[:-1]))
    ((offset_name, stored),) = scan_on([path], {}).offsets.items()
    offset = msgspec.msgpack.decode(stored, type=ReadOffset)
    state = msgspec.msgpack.decode(offset.state)
    for session in state[at].values() if at else [state]:
        del session["spent"]
    before = msgspec.msgpack.encode(replace(offset, state=msgspec.msgpack.encode(state)))
    path.write_bytes(body)
    (record,) = scan_on([path], {offset_name: before}).records
    assert record.usage == usage


@pytest.mark.parametrize(
    "odd", ['"many"', "[1]", "null", '{"input_tokens": [1], "output_tokens": {"a": -1}}', '{"input_tokens": -5}']
)
def test_usage_of_another_shape_loses_no_step(tmp_path: Path, odd: str) -> None:
    lines = jsonl(CLAUDE[0], claude("m1", "a")).replace(b'"usage": {}', b'"usage": ' + odd.encode())
    assert odd.encode() in lines
    record = read(tmp_path, "s1.jsonl", lines)
    assert (len(record.steps), record.usage) in ((2, None), (2, Usage(0, 0, 0, models=("claude-x",))))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.format}-{sample.name}")
def test_the_id_of_an_episode_does_not_hang_on_its_usage_or_folder(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / sample.name
    path.write_bytes(sample.body)
    records = scan([path], log_format=sample.format).records
    assert records
    for record in records:
        assert content_hash(replace(record, usage=Usage(1, 2), folder="/elsewhere")) == record.id
        assert decode(encode(record)) == record


def test_an_episode_that_an_older_version_stored_says_nothing_of_usage(tmp_path: Path) -> None:
    record = read(tmp_path, "s1.jsonl", jsonl(*CLAUDE))
    stored = msgspec.msgpack.decode(encode(record))
    del stored["usage"], stored["folder"]
    assert decode(msgspec.msgpack.encode(stored)) == replace(record, usage=None, folder="")
