"""Logs with secrets in them: every format, every field that a reader looks at, and the names of the files."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import TYPE_CHECKING

from tests.inspect_stand_in import HEADER, Record, archive_body, json_body
from tests.sample_logs import attributes, otel_export, otel_span
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

SHORT = "tr0ub" + "&dor"
WRAPPED = b64encode(f"password={SHORT}\n".encode()).decode()

SECRETS = (
    SHORT,
    WRAPPED,
    CLOUD_KEY,
    TOKEN,
    TOKEN[:20],
    PRIVATE_KEY,
    KEY_BODY,
    KEY_BODY[::-1],
    JWT,
    JWT_BODY,
    PASSWORD,
    API_KEY,
)
"""What must be nowhere afterwards; of those with parts, the parts that tell."""

SPOKEN = (
    f"fatal: cannot reach {URL} as {CLOUD_KEY}",
    f"error: bad credentials {TOKEN} for the service",
    f"Error: invalid key\n{PRIVATE_KEY}\nrefused",
    f"Error: token expired: {JWT}",
    f"error: curl -u ada:{SHORT} https://example.org gave 403",
    f"error: sshpass -p {SHORT} ssh ada@example.org was refused",
    f"error: mysql -u root -p{SHORT} shop gave 1045",
    f"error: the password is {SHORT} and it was refused",
    f"error: Cookie: theme=dark; session={SHORT}",
    f"error: cannot decode {WRAPPED} of pwd={SHORT}",
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
        "started_at": TOKEN,
    }
    calls: list[dict[str, object]] = [
        {
            "type": "step",
            "episode": name,
            "tool": CLOUD_KEY if number % 2 else "bash",
            "head": CLOUD_KEY,
            "text": f"curl -H 'Authorization: Bearer {JWT}' {URL}",
            "error": True,
            "error_text": text,
            "error_type": f"Refused {CLOUD_KEY}" if at == 0 else "",
            "started_at": f"1 {CLOUD_KEY}",
        }
        for at, text in enumerate(SPOKEN)
    ]
    end = {"type": "outcome", "episode": name, "value": number % 2, "source": "tests"}
    unknown = {"type": f"{number} {TOKEN}", "episode": name}
    odd = [{"type": "step", "episode": name, "kind": TOKEN}, {**end, "source": TOKEN}, unknown]
    running = [{**record, "episode": f"still running {number} {JWT}"} for record in (about, calls[0])]
    return _lines([about, *calls, *odd, end, *running])


def claude_code(number: int) -> str:
    session = {
        "sessionId": f"{number} {TOKEN}",
        "timestamp": f"{number} {CLOUD_KEY}",
        "cwd": f"/home/{TOKEN}",
        "gitBranch": f"fix-{CLOUD_KEY}",
        "version": JWT,
    }
    records: list[object] = [
        {"type": "user", "uuid": "u", **session, "message": {"role": "user", "content": f"{number}: use {URL}"}},
        {"type": f"{number} {TOKEN}", **session},
    ]
    for at, text in enumerate(SPOKEN):
        call_id = f"{at} {TOKEN}"
        use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": f"{CLOUD_KEY} {TOKEN}"}}
        message = {"id": f"{at} {JWT}", "model": f"model {TOKEN}", "content": [{"type": "text", "text": JWT}, use]}
        result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": True}
        records += [
            {"type": "assistant", "uuid": f"a{at}", **session, "message": message},
            {"type": "user", "uuid": f"r{at}", **session, "message": {"role": "user", "content": [result]}},
        ]
    waiting = {"type": "tool_use", "id": f"{number} {TOKEN}", "name": TOKEN, "input": {}}
    aside = {"type": "assistant", "uuid": f"{number} {JWT}", "parentUuid": TOKEN, "isSidechain": True, **session}
    return _lines([*records, {**aside, "message": {"id": JWT, "content": [waiting]}}])


def codex(number: int) -> str:
    meta = {"id": f"{number} {TOKEN}", "cwd": TOKEN, "cli_version": JWT, "git": {"branch": f"fix-{CLOUD_KEY}"}}
    records: list[object] = [
        {"timestamp": TOKEN, "type": "session_meta", "payload": meta},
        {"timestamp": JWT, "type": "turn_context", "payload": {"model": f"model {TOKEN}"}},
        {"timestamp": JWT, "type": "event_msg", "payload": {"type": f"{number} {TOKEN}"}},
        {"timestamp": JWT, "type": "event_msg", "payload": {"type": "error", "codex_error_info": {CLOUD_KEY: 1}}},
    ]
    for at, text in enumerate(SPOKEN):
        arguments = json.dumps({"command": ["bash", "-lc", f"deploy --token {TOKEN}"]})
        call_id = f"{at} {CLOUD_KEY}"
        name = f"do-{TOKEN}" if number % 2 else "shell"
        call = {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}
        output = {
            "type": "function_call_output",
            "call_id": call_id,
            "output": f"{text}\nProcess exited with code 1",
        }
        records += [
            {"timestamp": f"{at} {CLOUD_KEY}", "type": "response_item", "payload": payload}
            for payload in (call, output)
        ]
    waiting = {"type": "function_call", "name": "shell", "arguments": f'"{TOKEN}"', "call_id": TOKEN}
    return _lines([*records, {"timestamp": TOKEN, "type": "response_item", "payload": waiting}])


def chat(number: int) -> str:
    talk: list[object] = [{"role": "user", "content": f"{number}: {PRIVATE_KEY}"}]
    for at, text in enumerate(SPOKEN):
        function = {"name": f"call_{TOKEN}", "arguments": json.dumps({"key": API_KEY})}
        call_id = f"{at} {CLOUD_KEY}"
        talk += [
            {"role": "assistant", "content": JWT, "tool_calls": [{"id": call_id, "function": function}]},
            {"role": "tool", "tool_call_id": call_id, "name": TOKEN, "content": text},
        ]
    talk.append({"role": f"{number} {TOKEN}", "content": JWT})
    about = {"id": f"{number} {API_KEY}", "task_id": f"{number} {TOKEN}", "trial": CLOUD_KEY, "reward": 0.0}
    named = {"dataset": TOKEN, "run": f"run {TOKEN}", "model": JWT, "difficulty": f"hard {CLOUD_KEY}"}
    return json.dumps([{**about, **named, "traj": talk}])


def action_observation(number: int) -> str:
    history = {
        "actions": [f"execute[SELECT '{TOKEN}']" for _ in SPOKEN],
        "observations": [f"Error executing query: {text}" for text in SPOKEN],
        "rewards": [0 for _ in SPOKEN],
        "valid_action": [False for _ in SPOKEN],
    }
    run = {"environment": f"ic_{TOKEN}", "task_id": f"{number} {TOKEN}", "query": URL, "hardness": CLOUD_KEY}
    name = f"{number} {TOKEN}"
    return json.dumps({name: {**run, "dataset": JWT, "turn_history": history, "summary": {"max_reward": 0.0}}})


def swe_agent(number: int) -> str:
    trajectory = [
        {"action": f"{CLOUD_KEY} --token {TOKEN}", "observation": f"{text}\nValueError: x"} for text in SPOKEN
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
    return "".join(f"{day}T00:00:0{at}Z ERROR job {number}: {text}\n" for at, text in enumerate(SPOKEN))


def otel(number: int) -> str:
    talk = json.dumps([{"role": "user", "parts": [{"type": "text", "content": f"{number}: {PRIVATE_KEY}"}]}])
    asked = otel_span(
        1,
        2,
        gen_ai__operation__name="chat",
        gen_ai__conversation__id=f"{number} {TOKEN}",
        gen_ai__request__model=f"model {CLOUD_KEY}",
        gen_ai__agent__name=f"agent {TOKEN}",
        gen_ai__skill__name=f"skill {TOKEN}",
        gen_ai__skill__version=JWT,
        gen_ai__input__messages=talk,
        gen_ai__response__id=TOKEN,
    )
    calls = [
        otel_span(
            3 + 2 * at,
            4 + 2 * at,
            text,
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=CLOUD_KEY if at == 1 else "get_page",
            gen_ai__tool__call__id=f"{at} {TOKEN}",
            gen_ai__tool__call__arguments=json.dumps({"body": json.dumps({"password": PASSWORD, "to": URL})}),
            gen_ai__tool__call__result=f"{text} {JWT}",
            **({"error__type": f"Refused {CLOUD_KEY}"} if at == 0 else {}),
        )
        for at, text in enumerate((*SPOKEN, "", ""))
    ]
    for span in (asked, *calls):
        span |= {"name": f"span {TOKEN}", "traceId": f"{number} {API_KEY}"}
    judged = {
        "eventName": "gen_ai.evaluation.result",
        "traceId": f"{number} {API_KEY}",
        "attributes": attributes(
            gen_ai__evaluation__name=f"right {TOKEN}", gen_ai__evaluation__score__label=f"no {CLOUD_KEY}"
        ),
    }
    events = {"resourceLogs": [{"scopeLogs": [{"logRecords": [judged]}]}]}
    return _lines([otel_export(*calls), otel_export(asked), events])


def openhands(number: int) -> str:
    asked = {"id": TOKEN, "timestamp": TOKEN, "source": "user", "action": "message", "args": {"content": JWT}}
    records: list[object] = [asked, {"source": "agent", "action": f"{number} {TOKEN}", "args": {}}]
    for at, text in enumerate(SPOKEN):
        call_id = f"{at} {CLOUD_KEY}"
        metadata = {"function_name": TOKEN if at % 2 else "execute_bash", "model_response": {"id": TOKEN}}
        thought = {"command": f"deploy --token {TOKEN}", "thought": f"use {URL}"}
        records += [
            {"id": call_id, "source": "agent", "action": "run", "args": thought, "tool_call_metadata": metadata},
            {"cause": call_id, "timestamp": JWT, "observation": "error", "content": text},
        ]
    recall = {
        "source": "environment",
        "observation": "recall",
        "extras": {"microagent_knowledge": [{"name": JWT}]},
    }
    failed = {"kind": "ConversationErrorEvent", "source": "agent", "code": TOKEN, "detail": f"{URL} is down"}
    unknown = {"kind": f"{number} {TOKEN}", "source": "agent"}
    about = {"instance_id": f"{number} {TOKEN}", "instruction": PRIVATE_KEY, "resolved": False}
    metadata = {"agent_class": CLOUD_KEY, "llm_config": {"model": JWT}, "dataset": TOKEN}
    return _lines([{**about, "metadata": metadata, "history": [*records, recall, failed, unknown]}])


def claude_stream(number: int) -> str:
    session = {"session_id": f"{number} {TOKEN}", "uuid": JWT}
    init = {
        "type": "system",
        "subtype": "init",
        "model": f"model {TOKEN}",
        "claude_code_version": JWT,
        "cwd": TOKEN,
    }
    records: list[object] = [{**init, **session}, {"type": f"{number} {TOKEN}", **session}]
    for at, text in enumerate(SPOKEN):
        call_id = f"{at} {TOKEN}"
        use = {
            "type": "tool_use",
            "id": call_id,
            "name": TOKEN if at % 2 else "Bash",
            "input": {"command": CLOUD_KEY},
        }
        message = {"id": f"{at} {JWT}", "model": f"model {TOKEN}", "content": [{"type": "text", "text": JWT}, use]}
        result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": True}
        records += [
            {"type": "assistant", "message": message, **session},
            {"type": "user", "message": {"role": "user", "content": [result]}, **session},
        ]
    aside = {"type": "assistant", "parent_tool_use_id": TOKEN, "error": CLOUD_KEY, **session}
    end = {"type": "result", "subtype": f"error_{TOKEN}", "is_error": True, "errors": [URL], **session}
    return _lines([*records, {**aside, "message": {"content": [{"type": "text", "text": JWT}]}}, end])


def opencode(number: int) -> str:
    session = {"table": "session", "id": f"{number} {TOKEN}", "parent_id": f"{number} {JWT}", "directory": TOKEN}
    message = {
        "role": "assistant",
        "modelID": f"model {TOKEN}",
        "error": {"name": CLOUD_KEY, "data": {"message": URL}},
    }
    records: list[object] = [{"table": "message", "id": TOKEN, "data": message}]
    for at, text in enumerate(SPOKEN):
        state = {"status": "error", "input": {"command": f"{CLOUD_KEY} {TOKEN}"}, "error": text}
        part = {"type": "tool", "callID": f"{at} {TOKEN}", "tool": TOKEN if at % 2 else "bash", "state": state}
        records.append({"table": "part", "id": f"{at} {JWT}", "message_id": TOKEN, "data": part})
    records.append({"table": "part", "id": JWT, "message_id": TOKEN, "data": {"type": f"{number} {TOKEN}"}})
    lines = (json.dumps(record, separators=(",", ":")) for record in ({"store": "opencode"}, session, *records))
    return "".join(f"{line}\n" for line in lines)


def _inspect_log(number: int) -> tuple[list[Record], Record]:
    messages: list[Record] = [{"role": "user", "content": f"{number}: {PRIVATE_KEY}"}]
    for at, text in enumerate(SPOKEN):
        call_id = f"{at} {CLOUD_KEY}"
        arguments = {"body": json.dumps({"password": PASSWORD, "to": URL})}
        call = {"id": call_id, "function": TOKEN if at == 1 else "get_page", "arguments": arguments}
        error = {"type": f"kind {TOKEN}", "message": text}
        messages += [
            {"role": "assistant", "content": JWT, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": "", "error": error},
        ]
    messages.append({"role": f"{number} {TOKEN}", "content": JWT})
    events = [{"event": "tool", "id": f"0 {CLOUD_KEY}", "timestamp": TOKEN, "completed": JWT}]
    name = f"{number} {TOKEN}"
    sample: Record = {"id": name, "epoch": 1, "messages": messages, "events": events, "started_at": TOKEN}
    failure = {"error": {"message": f"cannot reach {URL}"}, "scores": {TOKEN: {"value": f"no {CLOUD_KEY}"}}}
    header = {**HEADER, "task": TOKEN, "model": f"model {CLOUD_KEY}", "dataset": {"name": JWT}}
    return [{**sample, **failure}], header


def inspect_json(number: int) -> str:
    samples, header = _inspect_log(number)
    return json_body(samples, header)


def inspect_archive(number: int) -> bytes:
    samples, header = _inspect_log(number)
    return archive_body(samples, header)


FORMATS: dict[str, tuple[str, Callable[[int], str | bytes]]] = {
    "steps": ("own.jsonl", steps),
    "claude-code": ("session.jsonl", claude_code),
    "claude-stream": ("stream.jsonl", claude_stream),
    "opencode": ("rows.jsonl", opencode),
    "codex": ("rollout.jsonl", codex),
    "chat": ("talk.json", chat),
    "action-observation": ("run.json", action_observation),
    "swe-agent": ("task.traj", swe_agent),
    "plain-text": ("service.log", plain_text),
    "otel": ("traces.jsonl", otel),
    "openhands": ("output.jsonl", openhands),
    "inspect": ("log.json", inspect_json),
    "inspect, packed": ("log.eval", inspect_archive),
}
"""How a log of each format is called, and what writes the n-th of them."""


def planted_name(number: int, name: str) -> str:
    """Give the path of a log, below a folder of logs, with secrets in the names of its folder and its file."""
    return f"{number} password={PASSWORD}/{number}-{TOKEN}-{name}"


def planted_recordings(folder: Path) -> Path:
    """Write half of the demo's recordings again, with secrets in every error and every action."""
    folder.mkdir(parents=True)
    for source in sorted(recordings().glob("[hm]*.jsonl.gz")):
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
