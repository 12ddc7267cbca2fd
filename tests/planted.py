"""Logs with secrets in them: every format, every field that a person or a tool may write a secret into."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from tests.terminal import recordings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Put together at run time: scanners of repositories would take them for real.
CLOUD_KEY = "AKIA" + "QWERTYUIOPASDFGH"
TOKEN = "ghp_" + "S3cr3tT0k3nS3cr3tT0k3nS3cr3tT0k3nXyz9"
KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PRIVATE_KEY = f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n{KEY_BODY[::-1]}\n-----END PRIVATE KEY-----"
JWT_BODY = "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ"
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + JWT_BODY + ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
PASSWORD = "hunter2-" + "horse-battery"
URL = f"postgres://ada:{PASSWORD}@db.example/shop"
API_KEY = "sk-proj-" + "Vv7Vv7Vv7Vv7Vv7Vv7Vv7Vv7"

SECRETS = (CLOUD_KEY, TOKEN, PRIVATE_KEY, KEY_BODY, KEY_BODY[::-1], JWT, JWT_BODY, PASSWORD, API_KEY)
"""What must be nowhere afterwards; of those with parts, the parts that tell."""

SPOKEN = (
    f"fatal: cannot reach {URL} as {CLOUD_KEY}",
    f"error: bad credentials {TOKEN} for the service",
    f"Error: invalid key\n{PRIVATE_KEY}\nrefused",
    f"Error: token expired: {JWT}",
    f'Error: request failed {{"api_key": "{API_KEY}", "password": "{PASSWORD}"}}',
)
"""Error texts: each recurs in every episode, so that all of them become signals with evidence."""


def _lines(records: list[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def steps(number: int) -> str:
    name = f"run {number} {TOKEN}"
    about = {
        "type": "episode",
        "episode": name,
        "dataset": f"set {CLOUD_KEY}",
        "task": f"task {number} {API_KEY}",
        "run": f"agent {TOKEN}",
        "difficulty": JWT,
        "prompt": PRIVATE_KEY,
        "labels": {"api_token": "plain-but-called-a-token", "note": f"see {URL}", CLOUD_KEY: "x"},
        "skills": [[f"skill {TOKEN}", JWT]],
    }
    calls: list[object] = [
        {
            "type": "step",
            "episode": name,
            "tool": CLOUD_KEY if number % 2 else "bash",
            "head": CLOUD_KEY,
            "text": f"curl -H 'Authorization: Bearer {JWT}' {URL}",
            "error": True,
            "error_text": said,
            "error_type": f"Refused {CLOUD_KEY}" if at == 0 else "",
        }
        for at, said in enumerate(SPOKEN)
    ]
    end = {"type": "outcome", "episode": name, "value": number % 2, "source": "tests"}
    unknown = {"type": TOKEN[:40], "episode": name}
    return _lines([about, *calls, {"type": "step", "episode": name, "kind": TOKEN}, unknown, end])


def claude_code(number: int) -> str:
    session = {"sessionId": f"s{number}", "cwd": f"/home/{TOKEN}", "gitBranch": f"fix-{CLOUD_KEY}"}
    records: list[object] = [
        {"type": "user", "uuid": "u", **session, "message": {"role": "user", "content": f"{number}: use {URL}"}}
    ]
    for at, said in enumerate(SPOKEN):
        use = {"type": "tool_use", "id": f"t{at}", "name": "Bash", "input": {"command": f"{CLOUD_KEY} {TOKEN}"}}
        message = {"id": f"m{at}", "model": f"model {TOKEN}", "content": [{"type": "text", "text": JWT}, use]}
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": said, "is_error": True}
        records += [
            {"type": "assistant", "uuid": f"a{at}", **session, "message": message},
            {"type": "user", "uuid": f"r{at}", **session, "message": {"role": "user", "content": [result]}},
        ]
    return _lines(records)


def codex(number: int) -> str:
    records: list[object] = [
        {
            "timestamp": "2026-01-01T00:00:00Z",
            "type": "session_meta",
            "payload": {"id": f"c{number}", "cwd": TOKEN},
        }
    ]
    for at, said in enumerate(SPOKEN):
        arguments = json.dumps({"command": ["bash", "-lc", f"deploy --token {TOKEN}"]})
        call = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": f"c{at}"}
        output = {
            "type": "function_call_output",
            "call_id": f"c{at}",
            "output": f"{said}\nProcess exited with code 1",
        }
        records += [
            {"timestamp": f"2026-01-01T00:00:0{at}Z", "type": "response_item", "payload": payload}
            for payload in (call, output)
        ]
    return _lines(records)


def chat(number: int) -> str:
    talk: list[object] = [{"role": "user", "content": f"{number}: {PRIVATE_KEY}"}]
    for at, said in enumerate(SPOKEN):
        function = {"name": "call_api", "arguments": json.dumps({"key": API_KEY})}
        talk += [
            {"role": "assistant", "content": JWT, "tool_calls": [{"id": f"c{at}", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{at}", "name": "call_api", "content": said},
        ]
    return json.dumps([{"task_id": f"{number} {TOKEN}", "trial": CLOUD_KEY, "reward": 0.0, "traj": talk}])


def action_observation(number: int) -> str:
    history = {
        "actions": [f"execute[SELECT '{TOKEN}']" for _ in SPOKEN],
        "observations": [f"Error executing query: {said}" for said in SPOKEN],
        "rewards": [0 for _ in SPOKEN],
        "valid_action": [False for _ in SPOKEN],
    }
    run = {"environment": "ic_sql", "task_id": f"{number} {TOKEN}", "query": URL, "hardness": CLOUD_KEY}
    return json.dumps({str(number): {**run, "turn_history": history, "summary": {"max_reward": 0.0}}})


def swe_agent(number: int) -> str:
    trajectory = [
        {"action": f"{CLOUD_KEY} --token {TOKEN}", "observation": f"{said}\nValueError: x"} for said in SPOKEN
    ]
    history = [{"role": "user", "content": f"{number}: {PRIVATE_KEY}"}]
    return json.dumps(
        {
            "environment": f"main {TOKEN}",
            "trajectory": trajectory,
            "history": history,
            "info": {"exit_status": JWT},
        }
    )


def plain_text(number: int) -> str:
    day = f"2026-01-0{number + 1}"
    return "".join(f"{day}T00:00:0{at}Z ERROR job {number}: {said}\n" for at, said in enumerate(SPOKEN))


FORMATS: dict[str, tuple[str, Callable[[int], str]]] = {
    "steps": ("own.jsonl", steps),
    "claude-code": ("session.jsonl", claude_code),
    "codex": ("rollout.jsonl", codex),
    "chat": ("talk.json", chat),
    "action-observation": ("run.json", action_observation),
    "swe-agent": ("task.traj", swe_agent),
    "plain-text": ("service.log", plain_text),
}
"""How a log of each format is called, and what writes the n-th of them."""


def planted_recordings(folder: Path) -> Path:
    """Write the demo's recordings anew, with secrets in every error and every action."""
    folder.mkdir(parents=True)
    for source in sorted(recordings().glob("*.jsonl.gz")):
        lines = gzip.decompress(source.read_bytes()).decode().splitlines()
        with gzip.open(folder / source.name, "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(record) + "\n" for record in _planted(lines))
    return folder


def _planted(lines: list[str]) -> Iterator[dict[str, object]]:
    for line in lines:
        record = json.loads(line)
        if record["type"] == "step":
            record["text"] = f"{record.get('text', '')} -- {URL} {TOKEN}"
            if record.get("error"):
                record["error_text"] = f"{record['error_text']}\n{CLOUD_KEY} {JWT}\n{PRIVATE_KEY}"
        yield record
