"""Small traces as tools export them, each telling the story of tests/agent_sessions.py."""

from __future__ import annotations

import json

from tests.sample_logs import Sample, attributes, jsonl, otel_export

ASKED, FAILED, DONE = "Run the tests", "1 failed: é", "One test fails."


def at(second: int) -> str:
    """Write a time of the trace."""
    return f"2026-01-01T12:00:{second:02}.000000+00:00"


def langsmith_run(kind: str, name: str, second: int, **fields: object) -> dict[str, object]:
    """Write a run: python/langsmith/schemas.py of langsmith-sdk."""
    times = {"start_time": at(second), "end_time": at(second + 1)}
    about = {"id": f"r{second}", "trace_id": "t1", "parent_run_id": "r0", "dotted_order": f"{second}"}
    return {**about, "run_type": kind, "name": name, "error": None, "status": "success", **times, **fields}


_MODEL = {"extra": {"metadata": {"ls_model_name": "model-x"}}}
_LANGCHAIN = {"lc": 1, "type": "constructor", "id": ["langchain", "messages", "HumanMessage"]}
LANGSMITH_RUNS = [
    langsmith_run("chain", "agent", 0, inputs={"input": ASKED}, outputs={"output": DONE}),
    langsmith_run(
        "llm",
        "ChatModel",
        1,
        inputs={"messages": [[{**_LANGCHAIN, "kwargs": {"content": ASKED}}]]},
        outputs={"generations": [[{"text": "Looking.", "message": {"kwargs": {"content": "Looking."}}}]]},
        **_MODEL,
    ),
    langsmith_run(
        "tool",
        "bash",
        3,
        inputs={"input": '{"command": "pytest -q"}'},
        outputs=None,
        error=FAILED,
        status="error",
    ),
    langsmith_run("tool", "read_file", 5, inputs={"path": "a.py"}, outputs={"output": {"content": "x = 1"}}),
    langsmith_run(
        "llm",
        "ChatModel",
        7,
        inputs={"messages": [{"role": "user", "content": ASKED}]},
        outputs={"choices": [{"message": {"role": "assistant", "content": DONE}}]},
        **_MODEL,
    ),
]


def langfuse_observation(kind: str, second: int, **fields: object) -> dict[str, object]:
    """Write an observation: packages/shared/src/domain/observations.ts of langfuse."""
    times = {"startTime": at(second), "endTime": at(second + 1)}
    return {"id": f"o{second}", "traceId": "t1", "type": kind, "level": "DEFAULT", **times, **fields}


_QUESTION = [{"role": "user", "content": ASKED}]
LANGFUSE = [
    langfuse_observation("SPAN", 0, name="agent", input=ASKED),
    langfuse_observation(
        "GENERATION",
        1,
        name="chat",
        model="model-x",
        input=json.dumps(_QUESTION),
        output={"role": "assistant", "content": "Looking."},
    ),
    langfuse_observation(
        "TOOL", 3, name="bash", input={"command": "pytest -q"}, level="ERROR", statusMessage=FAILED
    ),
    langfuse_observation("TOOL", 5, name="read_file", input={"path": "a.py"}, output="x = 1"),
    langfuse_observation(
        "GENERATION", 7, name="chat", model="model-x", input={"messages": _QUESTION}, output=DONE
    ),
]
_SNAKE = {
    "traceId": "trace_id",
    "startTime": "start_time",
    "endTime": "end_time",
    "statusMessage": "status_message",
}
LANGFUSE_STORED = [
    {
        _SNAKE.get(name, name): value.replace("T", " ").removesuffix("+00:00") if name.endswith("Time") else value
        for name, value in observation.items()
    }
    for observation in json.loads(json.dumps(LANGFUSE))
]


def agents_span(kind: str, second: int, error: str = "", **fields: object) -> dict[str, object]:
    """Write a span: src/agents/tracing of openai-agents-python."""
    return {
        "object": "trace.span",
        "id": f"s{second}",
        "trace_id": "t1",
        "started_at": at(second),
        "ended_at": at(second + 1),
        "span_data": {"type": kind, **fields},
        "error": {"message": error, "data": {}} if error else None,
    }


_LOOKING = [{"role": "assistant", "content": "Looking."}]
AGENTS = [
    {"object": "trace", "id": "t1", "workflow_name": "w"},
    agents_span("agent", 0, name="agent"),
    agents_span(
        "generation", 1, input=_QUESTION, output=[{"role": "assistant", "content": "Looking."}], model="m"
    ),
    agents_span("function", 3, FAILED, name="bash", input='{"command": "pytest -q"}'),
    agents_span("function", 5, name="read_file", input='{"path": "a.py"}', output="x = 1"),
    agents_span("generation", 7, input=_QUESTION, output=[{"role": "assistant", "content": DONE}], model="m"),
]


def phoenix_span(second: int, failure: str = "", **values: str) -> dict[str, object]:
    """Write a span by the specification of OpenInference; `__` in a name stands for a dot."""
    exception = {"name": "exception", "attributes": attributes(exception__message=failure)}
    return {
        "traceId": "t1",
        "spanId": f"{second:016x}",
        "name": "span",
        "startTimeUnixNano": str(second * 10**9),
        "endTimeUnixNano": str((second + 1) * 10**9),
        "attributes": attributes(**values),
        "events": [exception] if failure else [],
        "status": {"code": 2} if failure else {"code": 1},
    }


_ASKING = {
    "openinference__span__kind": "LLM",
    "llm__model_name": "model-x",
    "session__id": "s1",
    "llm__input_messages__0__message__role": "user",
    "llm__input_messages__0__message__content": ASKED,
    "llm__output_messages__0__message__role": "assistant",
}
_CALLING = {"llm__output_messages__0__message__tool_calls__0__tool_call__function__name": "bash"}
_TOOL = {"openinference__span__kind": "TOOL"}
PHOENIX = jsonl(
    otel_export(
        phoenix_span(1, llm__output_messages__0__message__content="Looking.", **_CALLING, **_ASKING),
        phoenix_span(3, FAILED, tool__name="bash", input__value='{"command": "pytest -q"}', **_TOOL),
        phoenix_span(5, tool__name="read_file", input__value='{"path": "a.py"}', output__value="x = 1", **_TOOL),
    ),
    otel_export(phoenix_span(7, llm__output_messages__0__message__content=DONE, **_ASKING)),
)

_TRACELOOP_TOOL = {"traceloop__span__kind": "tool", "traceloop__entity__name": "bash"}
_TRACELOOP_MODEL = {
    "gen_ai__request__model": "model-x",
    "gen_ai__prompt__0__role": "user",
    "gen_ai__prompt__0__content": ASKED,
    "gen_ai__completion__0__role": "assistant",
}
TRACELOOP = jsonl(
    otel_export(
        phoenix_span(1, gen_ai__completion__0__content="Looking.", **_TRACELOOP_MODEL),
        phoenix_span(3, FAILED, traceloop__entity__input='{"command": "pytest -q"}', **_TRACELOOP_TOOL),
        phoenix_span(5, traceloop__entity__input='{"command": "ls"}', **_TRACELOOP_TOOL),
        phoenix_span(7, gen_ai__completion__0__content=DONE, **_TRACELOOP_MODEL),
    )
)


def item(kind: str, **fields: object) -> dict[str, object]:
    """Write an item of a response: types/responses of openai-python."""
    return {"type": kind, "id": f"i{kind}", **fields}


def response(name: str, *output: dict[str, object], **fields: object) -> dict[str, object]:
    """Write a response."""
    return {
        "object": "response",
        "id": name,
        "model": "model-x",
        "status": "completed",
        "output": output,
        **fields,
    }


def responses(failed: str, done: str) -> bytes:
    """Write a conversation in which a command gave back the first text, and the second was said last."""
    shell = {"call_id": "k1", "name": "bash", "arguments": '{"command": "pytest -q"}'}
    looking = [{"type": "output_text", "text": "Looking."}]
    return jsonl(
        response(
            "resp_1",
            {"type": "reasoning", "id": "rs", "summary": []},
            item("message", role="assistant", content=looking),
            item("function_call", **shell),
            {"type": "apply_patch_call", "id": "p", "call_id": "k2", "operation": {"type": "update_file"}},
            input=ASKED,
        ),
        {"type": "function_call_output", "call_id": "k1", "output": failed},
        {"type": "apply_patch_call_output", "call_id": "k2", "output": "Done!", "status": "completed"},
        response("resp_2", {"type": "message", "id": "m2", "role": "assistant", "content": done}),
    )


def checked(gave: str, text: str) -> dict[str, bytes]:
    """Write a trace of each tool in which a check gave this back, and the agent said something last."""
    shell = {"command": "make check"}
    return {
        "langsmith": jsonl(
            langsmith_run("tool", "bash", 1, inputs=shell, outputs={"output": gave}),
            langsmith_run("llm", "m", 3, inputs={}, outputs={"messages": [{"role": "ai", "content": text}]}),
        ),
        "langfuse": jsonl(
            langfuse_observation("TOOL", 1, name="bash", input=shell, output=gave),
            langfuse_observation("GENERATION", 3, name="chat", output=text),
        ),
        "openai-agents": jsonl(
            agents_span("function", 1, name="bash", input=json.dumps(shell), output=gave),
            agents_span("generation", 3, output=[{"role": "assistant", "content": text}]),
        ),
        "openai-responses": jsonl(
            response("a", item("shell_call", call_id="k", action=shell)),
            item("shell_call_output", call_id="k", output=[{"stdout": gave, "outcome": {"type": "exit"}}]),
            response("b", item("message", role="assistant", content=text)),
        ),
    }


def claude_event(name: str, second: int, **values: str | float) -> dict[str, object]:
    """Write an event of Claude Code: its documentation, "Monitoring", events."""
    named = {"event__name": name, "session__id": "ce1", "event__sequence": float(second), **values}
    return {
        "timeUnixNano": str(second * 10**9),
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": attributes(**named),
    }


def claude_export(*events: dict[str, object]) -> dict[str, object]:
    """Write what Claude Code sends at once."""
    resource = {"attributes": attributes(service__name="claude-code")}
    scopes = [{"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": list(events)}]
    return {"resourceLogs": [{"resource": resource, "scopeLogs": scopes}]}


CLAUDE_EVENTS = jsonl(
    claude_export(
        claude_event(
            "tool_result",
            5,
            tool_name="Bash",
            tool_use_id="k1",
            success="false",
            duration_ms="1500",
            error=FAILED,
            tool_parameters='{"bash_command": "pytest", "full_command": "pytest -q"}',
        ),
        claude_event("tool_result", 6, tool_name="Read", tool_use_id="k2", success="true", duration_ms="10"),
    ),
    claude_export(
        claude_event("user_prompt", 1, prompt=ASKED, prompt_length="13"),
        claude_event("api_request", 2, model="model-x", input_tokens="10", output_tokens="2", cost_usd="0.01"),
        claude_event("assistant_response", 3, response="Looking.", model="model-x"),
    ),
    claude_export(
        claude_event("api_request", 7, model="model-x", input_tokens="10", output_tokens="2"),
        claude_event("assistant_response", 8, response=DONE, model="model-x"),
    ),
)

CLAUDE_EVENTS_DOCUMENT = json.dumps(
    {"resourceLogs": [held for line in CLAUDE_EVENTS.splitlines() for held in json.loads(line)["resourceLogs"]]},
    ensure_ascii=False,
    indent=2,
).encode()

TRACES = (
    Sample("langsmith", "runs.jsonl", jsonl(*LANGSMITH_RUNS), 1, 5, 1),
    Sample("langsmith", "runs.json", json.dumps(LANGSMITH_RUNS, indent=1).encode(), 1, 5, 1),
    Sample("langfuse", "observations.json", json.dumps(LANGFUSE, indent=1).encode(), 1, 5, 1),
    Sample("langfuse", "observations.jsonl", jsonl(*LANGFUSE_STORED), 1, 5, 1),
    Sample("openai-agents", "agents.jsonl", jsonl(*AGENTS), 1, 5, 1),
    Sample("openai-agents", "agents.json", json.dumps({"data": AGENTS}, indent=1).encode(), 1, 5, 1),
    Sample("otel", "phoenix.jsonl", PHOENIX, 1, 5, 1),
    Sample("otel", "traceloop.jsonl", TRACELOOP, 1, 5, 1),
    Sample("openai-responses", "responses.jsonl", responses("Error: 1 failed: é", DONE), 1, 5, 1),
    Sample("otel", "claude-events.json", CLAUDE_EVENTS_DOCUMENT, 1, 5, 1),
    Sample("otel", "claude-events.jsonl", CLAUDE_EVENTS, 1, 5, 1),
)
