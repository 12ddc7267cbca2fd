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
        """Tell whether it is line-delimited."""
        return self.name.endswith(".jsonl")


def jsonl(*records: object) -> bytes:
    """Write records as JSON Lines."""
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


STEPS = jsonl(
    {"type": "episode", "episode": "a", "dataset": "d", "task": 1, "run": "r", "difficulty": "easy", "extra": {}},
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

SAMPLES = (
    Sample("steps", "own.jsonl", STEPS, 2, 3, 1),
    Sample("claude-code", "session.jsonl", CLAUDE, 1, 5, 1),
    Sample("action-observation", "run_x.json", INTERCODE, 2, 4, 1),
    Sample("swe-agent", "task.traj", SWE, 1, 3, 1),
    Sample("chat", "talk.json", CHAT, 2, 6, 1),
    Sample("chat", "talks.jsonl", CHAT_LINES, 2, 6, 2),
)
