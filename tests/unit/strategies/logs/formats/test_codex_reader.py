"""What the Codex reader knows beyond the common promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from registry.projection.live_versions import body_hash
from strategies.episodes.episode_records import prompt_key
from strategies.episodes.skill_use import BODY
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats.codex import CodexReader
from strategies.logs.formats.codex_schema import tool_output_of
from strategies.logs.formats_table import reader_for
from tests.sample_logs import CODEX, jsonl

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord

Record = dict[str, object]


def line(kind: str, **payload: object) -> Record:
    return {"timestamp": "2026-01-01T00:00:05Z", "type": kind, "payload": payload}


def item(kind: str, **payload: object) -> Record:
    return line("response_item", type=kind, **payload)


def event(kind: str, **payload: object) -> Record:
    return line("event_msg", type=kind, **payload)


def message(role: str, text: str) -> Record:
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def read(folder: Path, *records: Record, before: bytes = CODEX) -> tuple[EpisodeRecord, ReadTally]:
    path = folder / "rollout.jsonl"
    path.write_bytes(before + jsonl(*records))
    tally = ReadTally()
    (episode,) = CodexReader().read(LogFile(path), tally)
    return episode, tally


def test_session_tells_its_name_model_branch_prompt_and_end(tmp_path: Path) -> None:
    episode, tally = read(tmp_path)
    assert (episode.name, episode.run, episode.prompt_key) == ("c1", "gpt-x", prompt_key("Run the tests"))
    assert episode.labels == {"version": "0.50.0", "branch": "main"}
    assert (episode.started_at, episode.ended_by) == ("2026-01-01T00:00:00.000Z", "agent")
    assert (tally.unknown, tally.malformed) == ({}, [])


def test_shell_has_one_name_whatever_the_version_calls_it(tmp_path: Path) -> None:
    calls = (
        item("function_call", name="shell", arguments='{"command": ["bash", "-lc", "git status"]}', call_id="a"),
        item("function_call", name="shell_command", arguments='{"command": "git status"}', call_id="b"),
        item("local_shell_call", call_id="c", action={"type": "exec", "command": ["bash", "-lc", "git status"]}),
    )
    episode, _ = read(tmp_path, *calls)
    assert [step.action for step in episode.steps[-3:]] == ["shell:git status"] * 3
    assert len({step.turn for step in episode.steps[-3:]}) == 1


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ('{"output": "x", "metadata": {"exit_code": 2}}', "x", True),
        ('{"output": "Error: x", "metadata": {"exit_code": 0}}', "Error: x", False),
        ("Exit code: 1\nWall time: 1 seconds\nOutput:\nx", "x", True),
        ("Wall time: 1 seconds\nProcess exited with code 0\nOutput:\nerror: none", "error: none", False),
        ("apply_patch verification failed: no such line", "apply_patch verification failed: no such line", True),
        ("unsupported call: browse", "unsupported call: browse", True),
        ("Plan updated", "Plan updated", False),
        ({"content": "x", "success": False}, "x", True),
        ([{"type": "input_text", "text": "x"}], "x", False),
        ('{"a": 1}', '{"a": 1}', False),
    ],
)
def test_every_shape_of_an_answer_tells_text_and_failure(output: object, text: str, *, failed: bool) -> None:
    assert tool_output_of(json.dumps(output).encode()) == (text, failed)


@pytest.mark.parametrize(
    ("record", "template", "actor", "ended_by"),
    [
        (event("turn_aborted", reason="interrupted"), "user_interrupt", "user", "environment"),
        (event("turn_aborted", reason="replaced"), "turn_aborted", "user", "environment"),
        (event("thread_rolled_back", num_turns=1), "thread_rolled_back", "user", "agent"),
        (line("compacted", message=""), "context_overflow", "environment", "agent"),
        (
            event("error", message="x", codex_error_info="usage_limit"),
            "usage_limit: x",
            "environment",
            "environment",
        ),
        (event("error", message="x", codex_error_info={"http": {}}), "http: x", "environment", "environment"),
        (
            event("error", message="x", codex_error_info="context_window_exceeded"),
            "context_overflow: x",
            "environment",
            "limit",
        ),
    ],
)
def test_what_happens_to_the_session_is_noted(
    tmp_path: Path, record: Record, template: str, actor: str, ended_by: str
) -> None:
    episode, _ = read(tmp_path, record)
    last = episode.steps[-1]
    assert (last.kind, last.template, last.actor, episode.ended_by) == ("note", template, actor, ended_by)


def test_rejected_command_is_a_permission_denied(tmp_path: Path) -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="x")
    answer = item("function_call_output", call_id="x", output="exec command rejected by user")
    episode, _ = read(tmp_path, call, answer)
    assert (episode.steps[-1].error, episode.steps[-1].template) == (True, "permission_denied")


def test_injected_text_is_no_prompt_and_an_injected_skill_is_known_by_its_body(tmp_path: Path) -> None:
    skill = "<skill>\n<name>sql</name>\n<path>/s/sql/SKILL.md</path>\n---\nname: sql\n---\n# Look first\n</skill>"
    injected = [message("user", "<environment_context>\n</environment_context>"), message("user", skill)]
    episode, _ = read(tmp_path, *injected, message("user", "Go"), before=b"")
    assert episode.prompt_key == prompt_key("Go")
    assert episode.skills == (("sql", BODY + body_hash("# Look first")),)


def test_unknown_items_are_counted_and_bad_payloads_have_a_place(tmp_path: Path) -> None:
    bad = item("message", role=7)
    _, tally = read(tmp_path, item("brand_new"), event("brand_new"), line("brand_new"), bad)
    assert tally.unknown == {"response_item brand_new": 1, "event_msg brand_new": 1, "brand_new": 1}
    assert [bad_line.line for bad_line in tally.malformed] == [CODEX.count(b"\n") + 4]


def test_call_that_the_model_answers_itself_does_not_wait(tmp_path: Path) -> None:
    episode, _ = read(tmp_path, item("web_search_call", action={"query": "x"}), message("assistant", "Found"))
    assert (episode.steps[-2].action, episode.ended_by) == ("web_search", "agent")


def test_the_first_version_wrote_payloads_alone(tmp_path: Path) -> None:
    shell = {"name": "shell", "arguments": json.dumps({"command": ["bash", "-lc", "pytest -q"]}), "call_id": "c"}
    answer = json.dumps({"output": "1 failed", "metadata": {"exit_code": 1, "duration_seconds": 0.5}})
    path = tmp_path / "rollout-2025-05-07-x.jsonl"
    path.write_bytes(
        jsonl(
            {"id": "s1", "timestamp": "2025-05-07T17:24:21.123Z", "instructions": None, "git": {"branch": "main"}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Run the tests"}]},
            {"type": "function_call", "id": "f", **shell},
            {"type": "function_call_output", "call_id": "c", "output": answer},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One fails."}]},
        )
    )
    log, tally = LogFile(path), ReadTally()
    reader = reader_for(log)
    assert isinstance(reader, CodexReader)
    (episode,) = reader.read(log, tally)
    assert (tally.malformed, tally.unknown) == ([], {})
    assert (episode.name, episode.started_at, episode.ended_by) == ("s1", "2025-05-07T17:24:21.123Z", "agent")
    assert [(step.action, step.error) for step in episode.steps if step.kind == "call"] == [("shell:pytest", True)]
    (whole,) = reader.read_whole(log, [episode])
    assert [step.text for step in whole.steps if step.kind == "message"] == ["Run the tests", "One fails."]
