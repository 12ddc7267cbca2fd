"""What every format promises to rules of `[[outcome]]`: a rule reads the same thing, whoever wrote the log."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from strategies.episodes.episode import EpisodeOutcome
from strategies.episodes.outcome_rules import outcome_rules
from strategies.episodes.world_outcomes import world_outcomes
from strategies.logs import outcomes_by_rule
from strategies.logs.formats_table import READERS
from strategies.logs.scan import scan, scan_on
from tests import agent_sessions, trace_exports
from tests.inspect_stand_in import json_body, stand_in
from tests.sample_logs import jsonl, otel_export, otel_span

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.outcome_rules import OutcomeRule

Record = dict[str, object]

SAID = "All is green now."
LABELS = {
    "copilot-store": ("branch", "main"),
    "atif": ("agent", "main"),
    "mini-swe-agent": ("version", "2"),
    "tau2-bench": ("trial", "0"),
}
ARGUMENT = '{"command": "make check"}'


@dataclass(frozen=True)
class Told:
    """A log that tells no outcome: its last call gave back `gave`, and where agents speak, SAID is said last.

    `answers` tells a format that says what calls gave back.
    """

    format: str
    name: str
    body: bytes
    gave: str
    label: tuple[str, str] = ("", "")
    speaks: bool = True
    answers: bool = True


def steps_log(gave: str) -> bytes:
    return jsonl(
        {"type": "episode", "episode": "a", "labels": {"verdict": "main"}},
        {"type": "step", "episode": "a", "tool": "bash", "text": "make check", "result": gave},
        {"type": "step", "episode": "a", "kind": "message", "text": SAID},
    )


def claude_log(gave: str) -> bytes:
    """Write a session in which another call goes on beside the last one, and a sub-agent speaks in between."""

    def line(kind: str, *content: Record) -> Record:
        return {"type": kind, "sessionId": "s", "gitBranch": "main", "message": {"content": content}}

    calls: list[Record] = [
        {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "make check"}} for name in ("a", "b")
    ]
    last: Record = {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": gave}]}
    return jsonl(
        line("assistant", *calls),
        {**line("assistant", {"type": "text", "text": "aside"}), "isSidechain": True, "agentId": "x"},
        line("user", {**last, "is_error": gave.endswith("3")}),
        line("user", {"type": "tool_result", "tool_use_id": "a", "content": "exit code 7"}),
        line("assistant", {"type": "text", "text": "So:"}, {"type": "text", "text": SAID}),
    )


def codex_log(gave: str) -> bytes:
    def item(kind: str, **payload: object) -> Record:
        return {"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": {"type": kind, **payload}}

    meta = {"id": "c", "git": {"branch": "main"}}
    return jsonl(
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": meta},
        item("function_call", name="shell", call_id="k", arguments=ARGUMENT),
        item("function_call_output", call_id="k", output=gave),
        item("message", role="assistant", content=[{"type": "output_text", "text": SAID}]),
    )


def messages(gave: str) -> list[Record]:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": ARGUMENT}}
    return [
        {"role": "user", "content": "Check it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": gave},
        {"role": "assistant", "content": SAID},
    ]


def openhands(gave: str) -> list[Record]:
    return [
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "make check"}},
        {"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": gave, "extras": {}},
        {"id": 3, "source": "agent", "action": "message", "args": {"content": SAID}},
    ]


def otel_log(gave: str) -> bytes:
    output_messages = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": SAID}]}])
    tool = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "bash", "gen_ai__agent__name": "main"}
    model = {"gen_ai__operation__name": "chat", "gen_ai__output__messages": output_messages}
    called = otel_span(1, 2, gen_ai__tool__call__arguments=ARGUMENT, gen_ai__tool__call__result=gave, **tool)
    return jsonl(otel_export(called, otel_span(3, 4, **model)))


def inspect_log(gave: str) -> bytes:
    call = {"id": "k", "function": "bash", "arguments": {"command": "make check"}}
    chat_messages = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "k", "content": gave},
        {"role": "assistant", "content": SAID},
    ]
    return json_body([{"id": "a", "epoch": 2, "messages": chat_messages}]).encode()


def logs(gave: str) -> list[Told]:
    actions = json.dumps([{"turn_history": {"actions": ["make check"], "observations": [gave]}}]).encode()
    trajectory = json.dumps({"trajectory": [{"action": "make check", "observation": gave}]}).encode()
    plain = f"2026-01-01T00:00:00Z start\n2026-01-01T00:00:01Z ERROR {gave}\n2026-01-01T00:00:02Z more\n".encode()
    talk = {"trial": 1, "messages": messages(gave)}
    return [
        Told("steps", "own.jsonl", steps_log(gave), gave, ("verdict", "main")),
        Told("claude-code", "session.jsonl", claude_log(gave), gave, ("branch", "main")),
        Told("codex", "rollout.jsonl", codex_log(gave), gave, ("branch", "main")),
        Told("otel", "traces.jsonl", otel_log(gave), gave, ("agent", "main")),
        Told("inspect", "log.json", inspect_log(gave), gave, ("trial", "2")),
        Told("action-observation", "run.json", actions, gave, speaks=False),
        Told("openhands", "events.jsonl", jsonl(*openhands(gave)), gave),
        Told("openhands", "run.json", json.dumps(openhands(gave)).encode(), gave),
        Told("openhands", "output.jsonl", jsonl({"instance_id": "i", "history": openhands(gave)}), gave),
        Told("swe-agent", "task.traj", trajectory, gave, speaks=False),
        Told("chat", "talk.json", json.dumps(talk).encode(), gave, ("trial", "1")),
        Told("chat", "talks.jsonl", jsonl(talk), gave, ("trial", "1")),
        Told("chat", "talk.jsonl", jsonl(*messages(gave)), gave),
        Told("plain-text", "ci.log", plain, gave, ("exit_status", gave[-1]), speaks=False),
        *(
            Told(
                name,
                "run.json" if body.startswith((b'{"schema', b'{"info', b"{\n")) else "run.jsonl",
                body,
                gave,
                {"atif": ("agent", "main"), "mini-swe-agent": ("version", "2"), "tau2-bench": ("trial", "0")}.get(
                    name, ("", "")
                ),
                answers=name not in {"cursor", "copilot-store"},
            )
            for name, body in (agent_sessions.checked(gave, SAID) | trace_exports.checked(gave, SAID)).items()
        ),
    ]


LOGS = [*logs("all checks ran, exit code 0"), *logs("3 of 4 checks ran, exit code 3")]


NO_COMMANDS = {"action-observation", "plain-text"}
"""Formats whose steps have no tool that would run a test."""


def named(log: Told) -> str:
    return f"{log.format}-{log.name}-{log.gave[-1]}"


every_log = pytest.mark.parametrize("log", LOGS, ids=named)


@pytest.fixture(autouse=True)
def inspect_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch)


def rule(where: str, pattern: str, *, label: str = "") -> tuple[OutcomeRule, ...]:
    return outcome_rules([{"where": where, "pattern": pattern, "value": 0.25, "source": "ci", "label": label}])


def outcome(path: Path, log: Told, rules: tuple[OutcomeRule, ...]) -> EpisodeOutcome | None:
    """Give the outcome of the log's episode; read whole, and as the first part of a log that goes on."""
    records = scan([path], log_format=log.format, rules=rules).records
    assert records == scan_on([path], {}, log_format=log.format, rules=rules).records
    (record,) = (episode for episode in records if not episode.name.endswith("/x"))
    return record.outcome


def written(folder: Path, log: Told) -> Path:
    path = folder / log.name
    path.write_bytes(log.body)
    return path


def last_text(log: Told) -> str:
    return f"{SAID if log.speaks else log.gave}$"


def test_there_is_a_log_of_every_format() -> None:
    assert {reader.name for reader in READERS} == {log.format for log in LOGS}


@every_log
def test_a_rule_over_the_final_text_reads_what_was_said_last(tmp_path: Path, log: Told) -> None:
    path = written(tmp_path, log)
    assert outcome(path, log, rule("final_text", last_text(log))) == EpisodeOutcome(0.25, "ci")
    assert outcome(path, log, rule("final_text", "aside|So:")) is None


@pytest.mark.parametrize("log", [log for log in LOGS if log.answers], ids=named)
def test_a_rule_over_the_exit_status_reads_what_the_last_call_gave_back(tmp_path: Path, log: Told) -> None:
    path = written(tmp_path, log)
    assert outcome(path, log, rule("exit_status", f"^{log.gave[-1]}$")) == EpisodeOutcome(0.25, "ci")
    assert outcome(path, log, rule("exit_status", "^[^03]")) is None


@every_log
def test_a_rule_over_a_label_reads_it(tmp_path: Path, log: Told) -> None:
    name, value = log.label
    episode_outcome = outcome(written(tmp_path, log), log, rule("label", f"^{value}$", label=name or "any"))
    assert episode_outcome == (EpisodeOutcome(0.25, "ci") if name else None)


def test_a_rule_over_a_label_reads_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = next(log for log in LOGS if log.format == "claude-code")
    monkeypatch.setattr(outcomes_by_rule, "spans_of", lambda *_: pytest.fail("the log is read again"))
    assert outcome(written(tmp_path, log), log, rule("label", "main", label="branch")) == EpisodeOutcome(
        0.25, "ci"
    )


@every_log
def test_a_rule_for_another_format_is_not_asked(tmp_path: Path, log: Told) -> None:
    other = [{"where": "final_text", "pattern": ".", "value": 1, "source": "ci", "format": "other"}]
    assert outcome(written(tmp_path, log), log, outcome_rules(other)) is None


@pytest.mark.parametrize("log", [log for log in LOGS if log.format != "inspect"], ids=named)
def test_a_packed_log_tells_the_same(tmp_path: Path, log: Told) -> None:
    path = tmp_path / f"{log.name}.gz"
    path.write_bytes(gzip.compress(log.body))
    asked = [rule("final_text", last_text(log)), rule("exit_status", f"^{log.gave[-1]}$")]
    for rules in asked if log.answers else asked[:1]:
        assert outcome(path, log, rules) == EpisodeOutcome(0.25, "ci")


@pytest.mark.parametrize("log", [log for log in LOGS if log.answers and log.format not in NO_COMMANDS], ids=named)
def test_the_last_check_hints_at_what_its_exit_status_says(tmp_path: Path, log: Told) -> None:
    records = scan([written(tmp_path, log)]).records
    says = [hints["last_check"] for hints in world_outcomes(records, {}).values() if "last_check" in hints]
    assert says == [float(log.gave.endswith("code 0"))]


@pytest.mark.parametrize("log_format", ["claude-code", "codex"])
def test_what_a_call_gave_back_counts_where_nothing_was_said(tmp_path: Path, log_format: str) -> None:
    log = next(log for log in LOGS if log.format == log_format)
    lines = log.body.splitlines(keepends=True)
    path = tmp_path / log.name
    path.write_bytes(b"".join(lines[:-1]))
    assert outcome(path, log, rule("final_text", f"^{log.gave}$")) == EpisodeOutcome(0.25, "ci")
    path.write_bytes(b"".join(lines[:-3]) if log_format == "claude-code" else b"".join(lines[:-2]))
    assert outcome(path, log, rule("final_text", ".")) is None
