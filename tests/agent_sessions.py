"""Small sessions of coding agents in the files that they write, each telling the story of tests/sample_logs.py."""

from __future__ import annotations

import json

from tests.sample_logs import Sample, jsonl
from tests.session_stores import opencode_rows, rows_of, tool

NOON = "2026-01-01T12:00:00.000Z"

# packages/core/src/services/chatRecordingTypes.ts of gemini-cli
_GEMINI_ASKED = {"id": "m1", "timestamp": NOON, "type": "user", "content": [{"text": "Run the tests"}]}
_GEMINI_CALLED = {
    "id": "t1",
    "name": "run_shell_command",
    "args": {"command": "pytest -q"},
    "status": "error",
    "timestamp": "2026-01-01T12:00:02.000Z",
    "result": [
        {"functionResponse": {"id": "t1", "name": "run_shell_command", "response": {"error": "1 failed: é"}}}
    ],
}
_GEMINI_READ = {
    "id": "t2",
    "name": "read_file",
    "args": {"file_path": "a.py"},
    "status": "success",
    "timestamp": "2026-01-01T12:00:03.000Z",
    "result": [{"functionResponse": {"id": "t2", "name": "read_file", "response": {"output": "x = 1"}}}],
}
_GEMINI_TURN = {
    "id": "m2",
    "timestamp": NOON,
    "type": "gemini",
    "content": "Looking.",
    "model": "gemini-x",
    "toolCalls": [_GEMINI_CALLED, _GEMINI_READ],
    "tokens": {"input": 10, "output": 2, "cached": 0, "total": 12},
}
_GEMINI_END = {"id": "m3", "timestamp": NOON, "type": "gemini", "content": "One test fails.", "model": "gemini-x"}
_GEMINI_HEAD = {"sessionId": "g1", "projectHash": "ab12", "startTime": NOON, "lastUpdated": NOON}

GEMINI = jsonl(
    {**_GEMINI_HEAD, "kind": "main"},
    _GEMINI_ASKED,
    {**_GEMINI_TURN, "toolCalls": []},
    _GEMINI_TURN,
    {"id": "m8", "timestamp": NOON, "type": "user", "content": "/stats"},
    {"id": "m9", "timestamp": NOON, "type": "user", "content": "This is taken back"},
    {"$rewindTo": "m9"},
    {"$set": {"lastUpdated": NOON}},
    _GEMINI_END,
)
GEMINI_DOCUMENT = json.dumps(
    {**_GEMINI_HEAD, "messages": [_GEMINI_ASKED, _GEMINI_TURN, _GEMINI_END]}, ensure_ascii=False, indent=2
).encode()


def copilot_event(kind: str, **data: object) -> dict[str, object]:
    """Write an event of GitHub Copilot: docs/features/streaming-events.md of copilot-sdk."""
    return {"id": "e", "timestamp": NOON, "parentId": None, "type": kind, "data": data}


COPILOT = jsonl(
    copilot_event("session.start", sessionId="cp1", selectedModel="gpt-x", copilotVersion="1"),
    copilot_event("user.message", content="Run the tests"),
    copilot_event("assistant.turn_start", turnId="0"),
    copilot_event(
        "assistant.message",
        messageId="a1",
        content="Looking.",
        toolRequests=[
            {"toolCallId": "k1", "name": "bash", "arguments": {"command": "pytest -q"}, "type": "function"},
            {"toolCallId": "k2", "name": "view", "arguments": {"path": "a.py"}},
        ],
        outputTokens=12,
    ),
    copilot_event("tool.execution_start", toolCallId="k1", toolName="bash", arguments={"command": "pytest -q"}),
    copilot_event("tool.execution_complete", toolCallId="k1", success=False, error={"message": "1 failed: é"}),
    copilot_event("tool.execution_complete", toolCallId="k2", success=True, result={"content": "x = 1"}),
    copilot_event("skill.invoked", name="git-helper", path="/s/SKILL.md", trigger="agent-invoked"),
    copilot_event("assistant.message", messageId="a2", content="One test fails."),
)


def pi_entry(name: str, parent: str | None, **message: object) -> dict[str, object]:
    """Write a message of Pi: packages/coding-agent/docs/session.md of pi-mono."""
    return {"type": "message", "id": name, "parentId": parent, "timestamp": NOON, "message": message}


def pi_text(text: str) -> list[dict[str, str]]:
    """Write the content of a message that is text alone."""
    return [{"type": "text", "text": text}]


PI = jsonl(
    {"type": "session", "version": 3, "id": "p1", "timestamp": NOON, "cwd": "/x"},
    pi_entry("a", None, role="user", content="Run the tests"),
    {"type": "model_change", "id": "b", "parentId": "a", "timestamp": NOON, "provider": "p", "modelId": "m"},
    pi_entry("x", "b", role="assistant", content=pi_text("Of a branch that was left."), model="model-x"),
    pi_entry(
        "c",
        "b",
        role="assistant",
        content=[
            *pi_text("Looking."),
            {"type": "toolCall", "id": "k1", "name": "bash", "arguments": {"command": "pytest -q"}},
            {"type": "toolCall", "id": "k2", "name": "read", "arguments": {"path": "a.py"}},
        ],
        model="model-x",
        stopReason="toolUse",
    ),
    pi_entry("d", "c", role="toolResult", toolCallId="k1", content=pi_text("1 failed: é"), isError=True),
    pi_entry("e", "d", role="toolResult", toolCallId="k2", content=pi_text("x = 1"), isError=False),
    pi_entry("f", "e", role="assistant", content=pi_text("One test fails."), model="model-x", stopReason="stop"),
)

# Third-party readers of agent-transcripts: neither ids, nor times, nor results
CURSOR = jsonl(
    {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>\nRun the tests\n</user_query>"}]},
    },
    {
        "role": "assistant",
        "message": {
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "name": "Shell", "input": {"command": "pytest -q"}},
            ]
        },
    },
    {"type": "turn_ended", "status": "error"},
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "It broke off."}]}},
)

# Harbor's documentation of the format
ATIF = json.dumps(
    {
        "schema_version": "ATIF-v1.7",
        "session_id": "s1",
        "agent": {"name": "agent-x", "version": "1.0", "model_name": "model-x"},
        "steps": [
            {"step_id": 1, "timestamp": NOON, "source": "user", "message": "Run the tests"},
            {
                "step_id": 2,
                "timestamp": NOON,
                "source": "agent",
                "message": "Looking.",
                "tool_calls": [
                    {"tool_call_id": "k1", "function_name": "bash", "arguments": {"command": "pytest -q"}},
                    {"tool_call_id": "k2", "function_name": "read", "arguments": {"path": "a.py"}},
                ],
                "observation": {
                    "results": [
                        {"source_call_id": "k1", "content": "Traceback (most recent call last)\nValueError: é"},
                        {"source_call_id": "k2", "content": "x = 1"},
                    ]
                },
                "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": 0.01},
            },
            {"step_id": 3, "source": "agent", "message": "One test fails."},
        ],
        "final_metrics": {"total_prompt_tokens": 10, "total_completion_tokens": 2, "total_cost_usd": 0.01},
    },
    ensure_ascii=False,
    indent=1,
).encode()

# docs/usage/output_files.md of mini-swe-agent
MINI_SWE = json.dumps(
    {
        "info": {
            "model_stats": {"instance_cost": 0.1, "api_calls": 2},
            "config": {"model": {"model_name": "model-x"}},
            "mini_version": "2.4.6",
            "exit_status": "Submitted",
            "submission": "diff",
        },
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Fix the bug"},
            {
                "role": "assistant",
                "content": "Looking.",
                "extra": {"actions": [{"command": "pytest -q"}], "cost": 0.1, "timestamp": 1.0},
            },
            {"role": "user", "content": "<returncode>1</returncode>1 failed: é", "extra": {"returncode": 1}},
            {"role": "assistant", "content": "", "extra": {"actions": [{"command": "git diff"}]}},
            {"role": "user", "content": "<returncode>0</returncode>", "extra": {"returncode": 0}},
            {"role": "exit", "content": "Submitted", "extra": {"exit_status": "Submitted"}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
    },
    ensure_ascii=False,
    indent=1,
).encode()


def stream_record(kind: str, parent: str | None = None, **fields: object) -> dict[str, object]:
    """Write a record of stream-json: _internal/message_parser.py of anthropics/claude-agent-sdk-python."""
    return {"type": kind, "session_id": "st1", "uuid": "u", "parent_tool_use_id": parent, **fields}


def stream_turn(
    name: str, *blocks: dict[str, object], parent: str | None = None, **fields: object
) -> dict[str, object]:
    """Write what the agent says and calls at once."""
    message = {"id": name, "model": "model-x", "role": "assistant", "content": list(blocks), "usage": {}}
    return stream_record("assistant", parent, message=message, **fields)


def stream_results(*blocks: dict[str, object], parent: str | None = None, **fields: object) -> dict[str, object]:
    """Write what came back, or what the harness says in the person's place."""
    return stream_record("user", parent, message={"role": "user", "content": list(blocks)}, **fields)


def block(kind: str, **fields: object) -> dict[str, object]:
    """Write a piece of a message of Claude."""
    return {"type": kind, **fields}


STREAM_INIT = stream_record(
    "system",
    subtype="init",
    cwd="/x",
    tools=["Bash"],
    model="model-x",
    claude_code_version="2.1.240",
    skills=["a"],
)
CLAUDE_STREAM = jsonl(
    STREAM_INIT,
    stream_turn("m1", block("text", text="Looking.")),
    stream_turn("m1", block("tool_use", id="k1", name="Bash", input={"command": "pytest -q"})),
    stream_turn("m1", block("tool_use", id="k2", name="Read", input={"file_path": "a.py"})),
    stream_results(block("tool_result", tool_use_id="k1", content="1 failed: é", is_error=True)),
    stream_results(block("tool_result", tool_use_id="k2", content=[block("text", text="x = 1")])),
    stream_turn("m2", block("text", text="One test fails.")),
    stream_record(
        "result",
        subtype="success",
        is_error=False,
        duration_ms=10,
        num_turns=2,
        result="One test fails.",
        total_cost_usd=0.01,
        usage={"input_tokens": 10, "output_tokens": 2},
        permission_denials=[],
    ),
)


def tau2_results(*messages: dict[str, object], **fields: object) -> bytes:
    """Write a run of one simulation: src/tau2/data_model/{simulation,message}.py of tau2-bench."""
    simulation = {
        "id": "sim1",
        "task_id": "t7",
        "trial": 0,
        "start_time": "2026-01-01T12:00:00.000000",
        "end_time": "2026-01-01T12:00:09.000000",
        "duration": 9.0,
        "termination_reason": "agent_stop",
        "agent_cost": 0.01,
        "reward_info": {"reward": 1.0, "reward_breakdown": {"DB": 1.0}},
        **fields,
        "messages": list(messages),
    }
    info = {
        "git_commit": "ab12",
        "num_trials": 1,
        "user_info": {"implementation": "user_simulator", "llm": "model-u"},
        "agent_info": {"implementation": "llm_agent", "llm": "model-x"},
        "environment_info": {"domain_name": "airline", "policy": "p"},
    }
    run = {"timestamp": NOON, "info": info, "tasks": [{"id": "t7"}], "simulations": [simulation]}
    return json.dumps(run, ensure_ascii=False, indent=2).encode()


TAU2 = tau2_results(
    {"role": "user", "content": "Run the tests", "turn_idx": 0, "timestamp": NOON},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [
            {"id": "k1", "name": "bash", "arguments": {"command": "pytest -q"}, "requestor": "assistant"},
            {"id": "k2", "name": "read", "arguments": {"path": "a.py"}, "requestor": "assistant"},
        ],
        "timestamp": NOON,
    },
    {"id": "k1", "role": "tool", "content": "1 failed: é", "requestor": "assistant", "error": True},
    {"id": "k2", "role": "tool", "content": "x = 1", "requestor": "assistant", "error": False},
    {"role": "user", "content": None, "tool_calls": [{"id": "u", "name": "check", "requestor": "user"}]},
    {"id": "u", "role": "tool", "content": "on", "requestor": "user", "error": False},
    {"role": "assistant", "content": "One test fails.", "timestamp": NOON},
    {"role": "user", "content": "###STOP###", "timestamp": NOON},
)


def vscode_request(*parts: dict[str, object], **fields: object) -> dict[str, object]:
    """Write a request of a chat session of VS Code: chat/common/model/chatModel.ts."""
    return {
        "requestId": "request_1",
        "timestamp": 1_767_268_800_000,
        "message": {"text": "Run the tests", "parts": []},
        "agent": {"id": "github.copilot", "extensionId": {"value": "GitHub.copilot-chat"}},
        "modelId": "copilot/model-x",
        "response": list(parts),
        **fields,
    }


def vscode_call(name: str, call: str, **fields: object) -> dict[str, object]:
    """Write a call as a part of an answer."""
    return {
        "kind": "toolInvocationSerialized",
        "toolId": name,
        "toolCallId": call,
        "isComplete": True,
        "isConfirmed": {"type": 1},
        "invocationMessage": {"value": f"Calling {name}"},
        **fields,
    }


def vscode_terminal(call: str, command: str, output: str, code: int) -> dict[str, object]:
    """Write a call of the terminal."""
    return vscode_call(
        "run_in_terminal",
        call,
        toolSpecificData={
            "kind": "terminal",
            "commandLine": {"original": command},
            "terminalCommandOutput": {"text": output},
            "terminalCommandState": {"exitCode": code},
        },
    )


def vscode_session(*requests: dict[str, object]) -> dict[str, object]:
    """Write a whole chat session."""
    about = {"version": 3, "responderUsername": "GitHub Copilot", "sessionId": "vc1"}
    return {**about, "creationDate": 1_767_268_800_000, "requests": list(requests)}


_VSCODE_PARTS: tuple[dict[str, object], ...] = (
    {"value": "Look"},
    {"value": "ing."},
    {"kind": "thinking", "value": "hm"},
    vscode_terminal("k1", "pytest -q", "1 failed: é", 1),
    vscode_call("read", "k2", resultDetails={"input": "a.py", "output": [{"type": "embed", "value": "x = 1"}]}),
    {"value": "One test fails."},
)
_READING = {**_VSCODE_PARTS[4], "isComplete": False, "resultDetails": None}
VSCODE = jsonl(
    {"kind": 0, "v": vscode_session()},
    {"kind": 2, "k": ["requests"], "v": [vscode_request(_VSCODE_PARTS[0])]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [*_VSCODE_PARTS[1:4], _READING]},
    {"kind": 1, "k": ["customTitle"], "v": "Tests"},
    {"kind": 1, "k": ["requests", 0, "response", 4, "resultDetails"], "v": _VSCODE_PARTS[4]["resultDetails"]},
    {"kind": 1, "k": ["requests", 0, "response", 4, "isComplete"], "v": True},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "This is taken back."}]},
    {"kind": 2, "k": ["requests", 0, "response"], "i": 5, "v": [_VSCODE_PARTS[5]]},
    {"kind": 3, "k": ["customTitle"]},
)
VSCODE_DOCUMENT = json.dumps(vscode_session(vscode_request(*_VSCODE_PARTS)), ensure_ascii=False, indent=2).encode()


COPILOT_STORE = rows_of(
    "copilot-store",
    {"table": "sessions", "id": "c1", "cwd": "/x", "branch": "main", "created_at": "2026-01-01 12:00:00"},
    {"table": "session_files", "turn_index": 0, "file_path": "a.py", "tool_name": "edit"},
    {"table": "turns", "turn_index": 0, "user_message": "Run the tests", "assistant_response": "One fails."},
    {"table": "turns", "turn_index": 1, "user_message": "Why?", "assistant_response": "It is old."},
)


def cursor_rows(*bubbles: dict[str, object]) -> bytes:
    """Write a chat of Cursor as the rows that its store is read as."""
    headers = [{"bubbleId": f"b{number}"} for number in range(len(bubbles))]
    rows: list[dict[str, object]] = [
        {"table": "cursorDiskKV", "key": f"bubbleId:cs1:b{number}", "value": bubble}
        for number, bubble in enumerate(bubbles)
    ]
    composer = {"fullConversationHeadersOnly": headers, "modelConfig": {"modelName": "model-x"}}
    return rows_of(
        "cursor-store",
        {"table": "cursorDiskKV", "key": "composerData:cs1", "value": composer},
        *rows,
    )


def cursor_call(name: str, given: dict[str, str], status: str, result: str) -> dict[str, object]:
    """Write a call as a bubble."""
    data = {"name": name, "status": status, "rawArgs": json.dumps(given), "result": result}
    return {"type": 2, "text": "", "toolFormerData": data}


CURSOR_STORE = cursor_rows(
    {"type": 1, "text": "Run the tests"},
    {"type": 2, "text": "Looking."},
    cursor_call("run_terminal_cmd", {"command": "pytest -q"}, "error", "1 failed: é"),
    cursor_call("read_file", {"path": "a.py"}, "completed", "x = 1"),
    {"type": 2, "text": "One test fails."},
)


def checked(gave: str, text: str) -> dict[str, bytes]:
    """Write a session of each format in which a check gave this back, and the agent said something last."""
    shell = {"command": "make check"}
    gemini = {**_GEMINI_CALLED, "args": shell, "status": "success", "result": gave}
    copilot = {"toolCallId": "k1", "name": "bash", "arguments": shell}
    pi = {"type": "toolCall", "id": "k1", "name": "bash", "arguments": shell}
    atif = {"tool_call_id": "k1", "function_name": "bash", "arguments": shell}
    steps = [
        {"source": "agent", "tool_calls": [atif], "observation": {"results": [{"content": gave}]}},
        {"source": "agent", "message": text},
    ]
    mini = [
        {"role": "assistant", "content": "", "extra": {"actions": [shell]}},
        {"role": "user", "content": gave, "extra": {"returncode": 0}},
        {"role": "assistant", "content": text},
    ]
    return {
        "gemini-cli": jsonl(
            _GEMINI_HEAD, {**_GEMINI_TURN, "toolCalls": [gemini]}, {**_GEMINI_END, "content": text}
        ),
        "copilot-cli": jsonl(
            copilot_event("assistant.message", messageId="a", content="", toolRequests=[copilot]),
            copilot_event("tool.execution_complete", toolCallId="k1", success=True, result={"content": gave}),
            copilot_event("assistant.message", messageId="b", content=text),
        ),
        "pi": jsonl(
            {"type": "session", "id": "p1", "timestamp": NOON, "cwd": "/x"},
            pi_entry("c", None, role="assistant", content=[pi]),
            pi_entry("d", "c", role="toolResult", toolCallId="k1", content=pi_text(gave)),
            pi_entry("e", "d", role="assistant", content=pi_text(text)),
        ),
        "claude-stream": jsonl(
            STREAM_INIT,
            stream_turn("a", block("tool_use", id="k1", name="Bash", input=shell)),
            stream_results(block("tool_result", tool_use_id="k1", content=gave)),
            stream_turn("b", block("text", text=text)),
        ),
        "opencode": opencode_rows(
            (
                (
                    {"role": "assistant"},
                    [
                        {"type": "step-start"},
                        tool("bash", "completed", shell, output=gave),
                        {"type": "step-start"},
                        {"type": "text", "text": text},
                    ],
                ),
            )
        ),
        "tau2-bench": tau2_results(
            {"role": "assistant", "content": "", "tool_calls": [{"id": "k1", "name": "bash", "arguments": shell}]},
            {"role": "tool", "id": "k1", "content": gave},
            {"role": "assistant", "content": text},
            reward_info=None,
        ),
        "copilot-store": COPILOT_STORE.replace(b"It is old.", text.encode()),
        "cursor-store": cursor_rows(
            cursor_call("run_terminal_cmd", shell, "completed", gave), {"type": 2, "text": text}
        ),
        "vscode-chat": jsonl(
            {
                "kind": 0,
                "v": vscode_session(vscode_request(vscode_terminal("k", "make check", gave, 0), {"value": text})),
            }
        ),
        "cursor": jsonl({"role": "assistant", "message": {"content": text}}),
        "atif": json.dumps({"schema_version": "ATIF-v1.7", "agent": {"name": "main"}, "steps": steps}).encode(),
        "mini-swe-agent": json.dumps(
            {"info": {"mini_version": "2"}, "messages": mini, "trajectory_format": "mini-swe-agent-1.1"}
        ).encode(),
    }


SESSIONS = (
    Sample("gemini-cli", "gemini.jsonl", GEMINI, 1, 5, 1),
    Sample("gemini-cli", "gemini.json", GEMINI_DOCUMENT, 1, 5, 1),
    Sample("copilot-cli", "copilot.jsonl", COPILOT, 1, 5, 1),
    Sample("claude-stream", "stream.jsonl", CLAUDE_STREAM, 1, 4, 1),
    Sample("pi", "pi.jsonl", PI, 1, 5, 1),
    Sample("cursor", "cursor.jsonl", CURSOR, 1, 5, 1),
    Sample("atif", "trajectory-atif.json", ATIF, 1, 5, 1),
    Sample("vscode-chat", "chat.jsonl", VSCODE, 1, 5, 1),
    Sample("vscode-chat", "chat.json", VSCODE_DOCUMENT, 1, 5, 1),
    Sample("copilot-store", "store.jsonl", COPILOT_STORE, 1, 5, 0),
    Sample("cursor-store", "chats.jsonl", CURSOR_STORE, 1, 5, 1),
    Sample("opencode", "rows.jsonl", opencode_rows(), 1, 5, 1),
    Sample("tau2-bench", "results.json", TAU2, 1, 5, 1),
    Sample("mini-swe-agent", "task.traj.json", MINI_SWE, 1, 4, 1),
)
