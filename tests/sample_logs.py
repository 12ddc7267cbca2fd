"""Small logs of every format, each telling the same kind of story: a call fails, another works."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """A log by its format and file name, and what it holds."""

    format: str
    name: str
    body: bytes
    episodes: int
    steps: int
    errors: int

    @property
    def lines(self) -> bool:
        """Tell whether it is line-delimited JSON."""
        return self.name.endswith(".jsonl")

    @property
    def nested(self) -> bool:
        """Tell whether a line holds a whole run, or several spans, and steps stand inside of it."""
        return self.name in {"output.jsonl", "lines.jsonl"} or self.format == "otel"

    @property
    def replaces(self) -> bool:
        """Tell whether a record that comes a second time takes the place of the first."""
        return self.format in {"gemini-cli", "openai-responses", "vscode-chat"}

    @property
    def text(self) -> bool:
        """Tell whether it is plain text, in which no line is malformed."""
        return self.name.endswith(".log")


def jsonl(*records: object) -> bytes:
    """Write records as JSON Lines."""
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


STEPS = jsonl(
    {
        "type": "episode",
        "episode": "a",
        "dataset": "d",
        "task": 1,
        "run": "r",
        "difficulty": "easy",
        "prompt": "Which?",
    },
    {
        "type": "step",
        "episode": "a",
        "tool": "sql",
        "text": "SELECT 1",
        "error": True,
        "error_text": "no such table: é",
    },
    {"type": "step", "episode": "a", "tool": "sql", "text": "PRAGMA x", "result": "ok"},
    {"type": "outcome", "episode": "a", "value": 1, "source": "tests", "ended_by": "agent"},
    {"type": "step", "episode": "b", "kind": "message", "text": "hello"},
)

CLAUDE = jsonl(
    {"type": "summary", "summary": "s", "leafUuid": "u"},
    {"type": "user", "uuid": "1", "sessionId": "s1", "message": {"role": "user", "content": "List the files"}},
    {
        "type": "assistant",
        "uuid": "2",
        "sessionId": "s1",
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {
            "id": "m1",
            "model": "model-x",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git status -s"}},
                {"type": "tool_use", "id": "t2", "name": "Read", "input": {"file_path": "/x"}},
            ],
        },
    },
    {
        "type": "user",
        "uuid": "3",
        "sessionId": "s1",
        "timestamp": "2026-01-01T00:00:01.500Z",
        "message": {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": "fatal: not a git repository",
                    "is_error": True,
                },
                {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "ok"}]},
            ],
        },
    },
    {
        "type": "assistant",
        "uuid": "4",
        "sessionId": "s1",
        "message": {"id": "m2", "content": [{"type": "text", "text": "It is not a repository."}]},
    },
)

INTERCODE = json.dumps(
    {
        "0": {
            "environment": "ic_sql",
            "dataset": "d",
            "task_id": 0,
            "query": 'Who is "first"?',
            "turn_history": {
                "thoughts": ["[", '{"actions": "'],
                "actions": ["execute[SELECT a\nFROM t]", "submit"],
                "observations": [
                    "Error executing query: Table 'x.t' doesn't exist",
                    "Error executing query: again",
                ],
                "rewards": [0, 0.0],
                "valid_action": [False, True],
            },
            "summary": {"max_reward": 0.0, "turns_taken": 2, "turns_max": 10},
            "hardness": "easy",
        },
        "1": {
            "environment": "ic_sql",
            "dataset": "d",
            "task_id": 1,
            "query": "Second",
            "turn_history": {
                "actions": ["SHOW TABLES", "SELECT é FROM \\u"],
                "observations": ["[]", "[(1,)]"],
                "rewards": [0, 1.0],
                "valid_action": [True, True],
            },
            "summary": {"max_reward": 1.0, "turns_max": 10},
        },
    },
    indent=2,
).encode()

SWE = json.dumps(
    {
        "environment": "main",
        "trajectory": [
            {
                "action": "edit 1:2\nx\n",
                "observation": "Traceback (most recent call last)\nValueError: x",
                "thought": "t",
            },
            {"action": "git diff", "observation": "", "execution_time": 0.5},
            {"action": "submit", "observation": "diff"},
        ],
        "history": [{"role": "system", "content": "s"}, {"role": "user", "content": "Fix the bug"}],
        "info": {"exit_status": "submitted"},
    },
    indent=1,
).encode()

TALK = [
    {"role": "system", "content": "policy"},
    {"role": "user", "content": "Book a flight"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "book", "arguments": '{"to": "é"}'}, "type": "function"}],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "book", "content": "Error: payment 12 does not add up"},
    {"role": "assistant", "content": "It did not work."},
    {"role": "user", "content": "Goodbye"},
]

GOLD = {"task": {"actions": [{"name": "gold_action", "kwargs": {}}]}}

CHAT = json.dumps(
    [
        {"task_id": 0, "trial": 0, "reward": 0.0, "info": GOLD, "traj": TALK},
        {"task_id": 0, "trial": 1, "reward": 1.0, "info": GOLD, "traj": TALK[:3]},
    ],
    indent=2,
).encode()

CHAT_LINES = jsonl(
    {"task_id": "t", "model": "m", "messages": TALK, "success": True},
    {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "look", "input": {"a": 1}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "x", "is_error": True, "content": "no"}],
            },
        ]
    },
)

CODEX = jsonl(
    {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "type": "session_meta",
        "payload": {"id": "c1", "cwd": "/x", "cli_version": "0.50.0", "git": {"branch": "main"}},
    },
    {"timestamp": "2026-01-01T00:00:00.100Z", "type": "turn_context", "payload": {"model": "gpt-x", "cwd": "/x"}},
    {
        "timestamp": "2026-01-01T00:00:01.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Run the tests"}],
        },
    },
    {
        "timestamp": "2026-01-01T00:00:02.000Z",
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "name": "exec_command",
            "arguments": '{"cmd": "pytest -q"}',
            "call_id": "k1",
        },
    },
    {
        "timestamp": "2026-01-01T00:00:02.500Z",
        "type": "response_item",
        "payload": {
            "type": "function_call_output",
            "call_id": "k1",
            "output": "Wall time: 0.4 seconds\nProcess exited with code 1\nOutput:\n1 failed: é",
        },
    },
    {
        "timestamp": "2026-01-01T00:00:03.000Z",
        "type": "response_item",
        "payload": {
            "type": "custom_tool_call",
            "name": "apply_patch",
            "input": "*** Begin Patch",
            "call_id": "k2",
        },
    },
    {
        "timestamp": "2026-01-01T00:00:03.100Z",
        "type": "response_item",
        "payload": {
            "type": "custom_tool_call_output",
            "call_id": "k2",
            "output": '{"output": "Success.", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}',
        },
    },
    {
        "timestamp": "2026-01-01T00:00:04.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Fixed."}],
        },
    },
    {"timestamp": "2026-01-01T00:00:04.100Z", "type": "event_msg", "payload": {"type": "task_complete"}},
)


def attributes(**values: str | float) -> list[dict[str, object]]:
    """Write attributes as OTLP does; `__` in a name stands for a dot."""
    return [
        {
            "key": name.replace("__", "."),
            "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": value},
        }
        for name, value in values.items()
    ]


def otel_span(start: int, end: int, failure: str = "", **values: str | float) -> dict[str, object]:
    """Write a span of the one trace of the sample, failed if it says why. Units: seconds."""
    return {
        "traceId": "t1",
        "spanId": f"{start:016x}",
        "name": "span",
        "startTimeUnixNano": str(start * 10**9),
        "endTimeUnixNano": str(end * 10**9),
        "attributes": attributes(**values),
        "status": {"code": 2, "message": failure} if failure else {},
    }


def otel_export(*spans: dict[str, object]) -> dict[str, object]:
    """Write what an exporter sends at once."""
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


OTEL = jsonl(
    otel_export(
        otel_span(
            13,
            15,
            "no such table: é",
            gen_ai__tool__call__arguments='{"query": "SELECT 1"}',
            error__type="OperationalError",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="sql",
        ),
        otel_span(1, 2, http__method="GET"),
    ),
    {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {
                        "logRecords": [
                            {
                                "timeUnixNano": "30000000000",
                                "eventName": "gen_ai.evaluation.result",
                                "traceId": "t1",
                                "attributes": attributes(
                                    gen_ai__evaluation__name="correct", gen_ai__evaluation__score__value=1.0
                                ),
                            }
                        ]
                    }
                ]
            }
        ]
    },
    otel_export(
        otel_span(
            11,
            12,
            gen_ai__operation__name="chat",
            gen_ai__conversation__id="conv-1",
            gen_ai__request__model="model-x",
            gen_ai__skill__name="sql-analyst",
            gen_ai__skill__version="3",
            gen_ai__input__messages='[{"role": "user", "parts": [{"type": "text", "content": "How many?"}]}]',
        )
    ),
    otel_export(
        otel_span(
            16,
            17,
            gen_ai__tool__call__arguments='{"query": "SHOW TABLES"}',
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="sql",
        )
    ),
)

OPENHANDS = [
    {
        "id": 0,
        "timestamp": "2026-01-01T00:00:00.000000",
        "source": "user",
        "action": "message",
        "args": {"content": "Fix it", "wait_for_response": False},
    },
    {
        "id": 1,
        "timestamp": "2026-01-01T00:00:01.000000",
        "source": "agent",
        "action": "run",
        "args": {"command": "git status", "thought": "", "blocking": False},
        "tool_call_metadata": {"function_name": "execute_bash", "model_response": {"id": "r1"}},
    },
    {
        "id": 2,
        "timestamp": "2026-01-01T00:00:02.000000",
        "source": "agent",
        "cause": 1,
        "observation": "run",
        "content": "fatal: not a git repository: é",
        "extras": {"command": "git status", "metadata": {"exit_code": 128}},
        "success": False,
    },
    {
        "id": 3,
        "source": "agent",
        "action": "finish",
        "args": {"final_thought": "Done", "outputs": {}},
    },
]

OPENHANDS_SDK = [
    {"kind": "SystemPromptEvent", "id": "s", "source": "agent", "system_prompt": {"text": "x"}},
    {
        "kind": "MessageEvent",
        "id": "a",
        "source": "user",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": "Fix it"}]},
        "activated_skills": ["git-helper"],
    },
    {
        "kind": "ActionEvent",
        "id": "b",
        "source": "agent",
        "thought": [{"type": "text", "text": "Look."}],
        "action": {"kind": "ExecuteBashAction", "command": "git status"},
        "tool_name": "execute_bash",
        "tool_call_id": "k1",
        "tool_call": {"id": "k1", "name": "execute_bash", "arguments": '{"command": "git status"}'},
        "llm_response_id": "r1",
    },
    {
        "kind": "ObservationEvent",
        "id": "c",
        "source": "environment",
        "tool_name": "execute_bash",
        "tool_call_id": "k1",
        "action_id": "b",
        "observation": {
            "kind": "ExecuteBashObservation",
            "content": [{"type": "text", "text": "fatal: not a git repository"}],
            "metadata": {"exit_code": 128},
        },
    },
]

OPENHANDS_RESULTS = jsonl(
    *(
        {
            "instance_id": name,
            "instruction": "Fix it",
            "metadata": {"agent_class": "CodeActAgent", "llm_config": {"model": "model-x"}, "dataset": "swe"},
            "history": OPENHANDS,
            "test_result": {"report": {"resolved": resolved}},
        }
        for name, resolved in (("a__1", True), ("b__2", False))
    )
)

CI = """\
2026-01-01T00:00:00.1000000Z ##[group]Run pytest
2026-01-01T00:00:01.1000000Z INFO 0 failures so far
2026-01-01T00:00:02.1000000Z \x1b[31mERROR\x1b[0m loader: é is broken
2026-01-01T00:00:02.1000000Z Traceback (most recent call last):
2026-01-01T00:00:02.1000000Z   File "/x/app/load.py", line 3, in load
2026-01-01T00:00:02.1000000Z     parse()
2026-01-01T00:00:02.1000000Z ValueError: bad row 42
2026-01-01T00:00:03.1000000Z FAILED tests/test_load.py::test_rows
2026-01-01T00:00:03.1000000Z ===== 1 failed, 2 passed in 0.12s =====
2026-01-01T00:00:03.1000000Z ##[error]Process completed with exit code 1.
2026-01-01T00:00:04.1000000Z Cleaning up orphan processes
2026-01-01T00:10:00.1000000Z second job of the run
2026-01-01T00:10:01.1000000Z ===== 2 passed in 0.12s =====
""".encode()

SAMPLES = (
    Sample("steps", "own.jsonl", STEPS, 2, 3, 1),
    Sample("claude-code", "session.jsonl", CLAUDE, 1, 5, 1),
    Sample("action-observation", "run_x.json", INTERCODE, 2, 4, 1),
    Sample("swe-agent", "task.traj", SWE, 1, 3, 1),
    Sample("codex", "rollout.jsonl", CODEX, 1, 4, 1),
    Sample("otel", "traces.jsonl", OTEL, 1, 3, 1),
    Sample("openhands", "events.jsonl", jsonl(*OPENHANDS), 1, 3, 1),
    Sample("openhands", "sdk.jsonl", jsonl(*OPENHANDS_SDK), 1, 3, 1),
    Sample("openhands", "trajectory.json", json.dumps(OPENHANDS, indent=1).encode(), 1, 3, 1),
    Sample("openhands", "output.jsonl", OPENHANDS_RESULTS, 2, 6, 2),
    Sample("plain-text", "ci.log", CI, 2, 2, 2),
    Sample("chat", "talk.json", CHAT, 2, 6, 1),
    Sample("chat", "talks.jsonl", CHAT_LINES, 2, 6, 2),
)
