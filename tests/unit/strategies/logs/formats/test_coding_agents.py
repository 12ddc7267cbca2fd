"""What the readers of coding agents' own files know beyond the common promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strategies.episodes.step_marks import PERMISSION_DENIED, USER_INTERRUPT
from strategies.files.default_locations import usual_logs
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.files.project_sessions import ProjectSessions
from strategies.logs.formats_table import reader_for, reader_named
from strategies.logs.scan import scan
from tests.agent_sessions import (
    COPILOT,
    CURSOR,
    GEMINI,
    NOON,
    PI,
    SESSIONS,
    VSCODE,
    copilot_event,
    pi_entry,
    pi_text,
    tau2_results,
    vscode_call,
    vscode_request,
    vscode_session,
    vscode_terminal,
)
from tests.sample_logs import CLAUDE, Sample, jsonl
from tests.session_stores import opencode_rows

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.episode import Episode


def read(folder: Path, log_format: str, body: bytes, name: str = "session.jsonl") -> Episode:
    path = folder / name
    path.write_bytes(body)
    (episode,) = reader_named(log_format).read(LogFile(path), ReadTally())
    return episode  # type: ignore[return-value]


def calls(episode: Episode) -> list[tuple[str, str, bool, str]]:
    return [
        (step.action, step.result, step.error, step.error_type) for step in episode.steps if step.kind == "call"
    ]


@pytest.mark.parametrize("sample", SESSIONS, ids=lambda sample: sample.name)
def test_the_task_the_failing_call_and_its_text_are_known(tmp_path: Path, sample: Sample) -> None:
    episode = read(tmp_path, sample.format, sample.body, sample.name)
    asked = {"Run the tests", "Fix the bug"} if sample.format != "claude-stream" else {""}  # it echoes no prompt
    assert episode.prompt in asked
    failed = [step for step in episode.steps if step.error]
    if sample.format == "copilot-store":  # nor does this
        assert failed == []
    elif sample.format == "cursor":  # its files say no result
        assert [step.error_type for step in failed] == ["error"]
    else:
        assert [step.action.partition(":")[2] for step in failed] == ["pytest"]
        assert "é" in failed[0].error_text
    assert episode.ended_by == "agent"


@pytest.mark.parametrize(
    ("log_format", "name", "run"),
    [("gemini-cli", "g1", "gemini-x"), ("copilot-cli", "cp1", "gpt-x"), ("pi", "p1", "model-x")],
)
def test_a_session_tells_its_name_its_model_and_when_it_began(
    tmp_path: Path, log_format: str, name: str, run: str
) -> None:
    body = {"gemini-cli": GEMINI, "copilot-cli": COPILOT, "pi": PI}[log_format]
    episode = read(tmp_path, log_format, body)
    assert (episode.id, episode.run, episode.started_at) == (name, run, NOON)


def test_gemini_takes_back_what_was_rewound_and_keeps_the_last_form_of_a_message(tmp_path: Path) -> None:
    texts = [step.text for step in read(tmp_path, "gemini-cli", GEMINI).steps]
    assert "This is taken back" not in texts
    assert "/stats" not in texts
    unknown = read(tmp_path, "gemini-cli", GEMINI + jsonl({"$rewindTo": "?"}, *json_lines(GEMINI)[1:2]))
    assert [step.text for step in unknown.steps] == ["Run the tests"]
    replaced = GEMINI + jsonl({"$set": {"messages": [{"id": "z", "type": "user", "content": "Once more"}]}})
    assert [step.text for step in read(tmp_path, "gemini-cli", replaced).steps] == ["Once more"]


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        *(("/etc/nginx/nginx.conf is wrong", True), ("Fix /compress", True)),
        *(("/compress", False), (" /chat save mine", False), ("/mcp:list now", False), ("?", False)),
    ],
)
def test_a_message_to_gemini_that_begins_with_a_path_is_no_command(
    tmp_path: Path, text: str, *, is_asked: bool
) -> None:
    typed = {"id": "m9", "timestamp": NOON, "type": "user", "content": text}
    steps = read(tmp_path, "gemini-cli", GEMINI + jsonl(typed)).steps
    assert (text in [step.text for step in steps]) is is_asked


def test_a_call_that_the_person_stopped_in_gemini_is_denied_and_a_loaded_skill_is_known(tmp_path: Path) -> None:
    def called(**fields: object) -> dict[str, object]:
        return {"id": "k", "args": {}, "timestamp": NOON, **fields}

    turn = {
        "id": "m",
        "timestamp": NOON,
        "type": "gemini",
        "content": "",
        "toolCalls": [
            called(name="activate_skill", args={"name": "sql-analyst"}, status="success", result="ok"),
            called(id="l", name="run_shell_command", status="cancelled", args={"command": "rm -r x"}),
        ],
    }
    episode = read(tmp_path, "gemini-cli", json_head(GEMINI) + jsonl(turn))
    assert calls(episode)[1] == ("shell:rm", "", True, PERMISSION_DENIED)
    assert episode.skills == (("sql-analyst", ""),)


def test_copilot_knows_skills_interrupts_denials_and_calls_that_no_message_requested(tmp_path: Path) -> None:
    more = jsonl(
        copilot_event("tool.execution_start", toolCallId="s", toolName="bash", arguments={"command": "ls"}),
        copilot_event(
            "tool.execution_complete", toolCallId="s", success=False, error={"code": "denied", "message": "no"}
        ),
        copilot_event("abort", reason="user initiated"),
    )
    episode = read(tmp_path, "copilot-cli", COPILOT + more)
    assert calls(episode)[-1] == ("bash:ls", "no", True, PERMISSION_DENIED)
    assert episode.steps[-1].error_type == USER_INTERRUPT
    assert (episode.skills, episode.ended_by) == ((("git-helper", ""),), "environment")


def test_of_a_pi_tree_the_branch_that_ends_last_counts_and_of_a_plain_list_every_line(tmp_path: Path) -> None:
    assert "Of a branch that was left." not in [step.text for step in read(tmp_path, "pi", PI).steps]
    plain = jsonl(
        {"type": "session", "id": "p2", "timestamp": NOON, "cwd": "/x"},
        {"type": "message", "timestamp": NOON, "message": {"role": "user", "content": "Hi"}},
        {"type": "message", "timestamp": NOON, "message": {"role": "assistant", "content": pi_text("Hello")}},
    )
    assert [step.text for step in read(tmp_path, "pi", plain).steps] == ["Hi", "Hello"]
    stopped = PI + jsonl(pi_entry("g", "f", role="assistant", content=[], stopReason="aborted"))
    episode = read(tmp_path, "pi", stopped)
    assert (episode.steps[-1].error_type, episode.ended_by) == (USER_INTERRUPT, "environment")
    circle = PI + jsonl(pi_entry("h", "h", role="user", content="x"))
    assert [step.text for step in read(tmp_path, "pi", circle).steps] == ["x"]


def test_cursor_files_are_known_by_their_folder_or_their_tags_and_claude_sessions_stay_claudes(
    tmp_path: Path,
) -> None:
    bare = CURSOR.replace(b"<user_query>\\n", b"").replace(b"\\n</user_query>", b"")
    plain = tmp_path / "x.jsonl"
    plain.write_bytes(bare)
    assert getattr(reader_for(LogFile(plain)), "name", "") == "chat"
    there = tmp_path / "agent-transcripts" / "a" / "a.jsonl"
    there.parent.mkdir(parents=True)
    there.write_bytes(bare)
    assert getattr(reader_for(LogFile(there)), "name", "") == "cursor"
    there.write_bytes(CLAUDE)
    assert getattr(reader_for(LogFile(there)), "name", "") == "claude-code"


def test_their_folders_are_looked_at_without_being_named(tmp_path: Path) -> None:
    folders = {
        "Gemini CLI": ".gemini/tmp",
        "GitHub Copilot CLI": ".copilot/session-state",
        "Pi": ".pi/agent/sessions",
        "Cursor": ".cursor/projects",
    }
    for folder in folders.values():
        (tmp_path / folder).mkdir(parents=True)
    assert usual_logs(tmp_path) == [(name, tmp_path / folder) for name, folder in folders.items()]


def json_lines(body: bytes) -> list[object]:
    return [json.loads(line) for line in body.splitlines()]


def json_head(body: bytes) -> bytes:
    return body.splitlines(keepends=True)[0]


@pytest.mark.parametrize(
    ("fields", "outcome", "ended_by"),
    [
        ({}, 1.0, "agent"),
        ({"termination_reason": "user_stop", "reward_info": {"reward": 0}}, 0.0, "environment"),
        ({"termination_reason": "max_steps"}, 1.0, "limit"),
        ({"termination_reason": "infrastructure_error"}, None, "environment"),
        ({"reward_info": None}, None, "agent"),
        ({"reward_info": {"reward": 2}}, None, "agent"),
    ],
)
def test_a_simulation_of_tau2_bench_tells_its_task_its_reward_and_its_end(
    tmp_path: Path, fields: dict[str, object], outcome: float | None, ended_by: str
) -> None:
    episode = read(
        tmp_path, "tau2-bench", tau2_results({"role": "user", "content": "Hi"}, **fields), "results.json"
    )
    assert (episode.id, episode.dataset, episode.task, episode.run) == ("sim1", "airline", "t7", "model-x")
    assert (episode.outcome.value if episode.outcome else None) == outcome
    assert (episode.ended_by, episode.labels) == (ended_by, {"trial": "0"})


@pytest.mark.parametrize(
    ("part", "call"),
    [
        (vscode_call("read", "k", isConfirmed={"type": 0}), ("read", "", True, PERMISSION_DENIED)),
        (vscode_call("read", "k", isConfirmed=False), ("read", "", True, PERMISSION_DENIED)),
        (vscode_call("read", "k", isComplete=False, isConfirmed=None), ("read", "", False, "")),
        (
            vscode_call("mcp", "k", resultDetails={"input": "{}", "output": "no", "isError": True}),
            ("mcp", "no", True, ""),
        ),
        (vscode_call("sub", "k", toolSpecificData={"kind": "subagent", "result": "ok"}), ("sub", "ok", False, "")),
        (vscode_terminal("k", "ls", "a", 0), ("shell:ls", "a", False, "")),
    ],
)
def test_a_call_of_vs_code_that_was_denied_failed_or_still_runs_is_known_as_that(
    tmp_path: Path, part: dict[str, object], call: tuple[str, str, bool, str]
) -> None:
    body = jsonl({"kind": 0, "v": vscode_session(vscode_request(part))})
    assert calls(read(tmp_path, "vscode-chat", body)) == [call]


@pytest.mark.parametrize(
    ("fields", "error_type", "ended_by"),
    [
        ({"isCanceled": True}, USER_INTERRUPT, "environment"),
        ({"result": {"errorDetails": {"message": "Canceled", "code": "canceled"}}}, USER_INTERRUPT, "environment"),
        ({"result": {"errorDetails": {"message": "quota", "code": "quota"}}}, "quota", "environment"),
    ],
)
def test_a_request_of_vs_code_that_broke_off_is_known_as_that(
    tmp_path: Path, fields: dict[str, object], error_type: str, ended_by: str
) -> None:
    body = jsonl({"kind": 0, "v": vscode_session(vscode_request({"value": "Well,"}, **fields))})
    episode = read(tmp_path, "vscode-chat", body)
    assert (episode.steps[-1].error_type, episode.ended_by) == (error_type, ended_by)


def test_what_vs_code_took_back_is_no_part_of_a_session_and_its_own_notices_are_no_word_of_a_person(
    tmp_path: Path,
) -> None:
    notice = vscode_request({"value": "Noted."}, isSystemInitiated=True)
    cut = {"kind": 2, "k": ["requests"], "i": 1, "v": [notice]}
    lost = {"kind": 1, "k": ["requests", 9, "response"], "v": []}
    taken_back = {"kind": 2, "k": ["requests"], "v": [vscode_request()]}
    episode = read(tmp_path, "vscode-chat", VSCODE + jsonl(taken_back, cut, lost))
    assert [step.text for step in episode.steps if step.kind != "call"][-2:] == ["One test fails.", "Noted."]
    assert len([step for step in episode.steps if step.actor == "user"]) == 1
    assert scan([tmp_path / "session.jsonl"]).unknown == {"change of what is not there": 1}


def test_a_chat_of_vs_code_belongs_to_the_folder_that_its_workspace_names(tmp_path: Path) -> None:
    mine = tmp_path / "my app"
    storage = tmp_path / ".config" / "Code" / "User" / "workspaceStorage" / "ab"
    (storage / "chatSessions").mkdir(parents=True)
    mine.mkdir()
    chat = storage / "chatSessions" / "vc1.jsonl"
    chat.write_bytes(VSCODE)
    (storage / "workspace.json").write_text(json.dumps({"folder": mine.as_uri()}))
    assert usual_logs(tmp_path) == [("VS Code", chat.parent)]
    assert ProjectSessions(mine)(chat)
    assert not ProjectSessions(tmp_path / "other")(chat)
    (storage / "workspace.json").write_text('{"folder": "vscode-remote://host/x"}')
    assert not ProjectSessions(mine)(chat)


def test_a_command_that_failed_is_known_where_the_call_itself_is_a_success(tmp_path: Path) -> None:
    shown = "Command: pytest\nDirectory: (root)\nOutput: 1 failed\nExit Code: 1\nSignal: (none)"
    result = [{"functionResponse": {"response": {"output": shown}}}]
    call = {"id": "c", "name": "run_shell_command", "args": {}, "result": result, "status": "success"}
    about = {"sessionId": "s", "projectHash": "h", "startTime": NOON}
    for code, failed in (("1", True), ("0", False), ("137", True)):
        result[0]["functionResponse"]["response"]["output"] = shown.replace("Code: 1", f"Code: {code}")
        body = jsonl(about, {"id": "m", "type": "gemini", "content": "", "toolCalls": [call]})
        assert [error for *_, error, _ in calls(read(tmp_path, "gemini-cli", body))] == [failed]


def test_what_was_typed_into_gemini_is_no_session_of_claude(tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    entry = {"sessionId": "s", "messageId": 0, "type": "user", "message": "Run the tests", "timestamp": NOON}
    path.write_text(json.dumps([entry, {**entry, "messageId": 1}]))
    assert reader_for(LogFile(path)) is None


def test_mini_swe_agent_before_version_two_names_commands_only_in_what_the_model_wrote(tmp_path: Path) -> None:
    def message(role: str, text: str) -> dict[str, object]:
        return {"role": role, "content": text}

    messages = [
        message("system", "s"),
        message("user", "Fix the bug"),
        message("assistant", "THOUGHT: run\n\n```bash\npytest -q\n```"),
        message("user", "<returncode>1</returncode>\n<output>\n1 failed\n</output>"),
        message("assistant", "Two:\n```bash\nls\n```\n```bash\npwd\n```"),
        message("user", "Please always provide EXACTLY ONE action"),
        message("assistant", "```bash\nls\n```"),
        {**message("user", "<returncode>0</returncode>\n<output>\na.py\n</output>"), "extra": {"timestamp": 1.5}},
        message("assistant", "```bash\nsleep 99\n```"),
        message("user", "The last command <command>sleep 99</command> timed out and has been killed."),
    ]
    body = json.dumps({"trajectory_format": "mini-swe-agent-1", "info": {}, "messages": messages})
    episode = read(tmp_path, "mini-swe-agent", body.encode(), "a.traj.json")
    assert [(step.action, step.error) for step in episode.steps if step.kind == "call"] == [
        ("bash:pytest", True),
        ("bash:ls", False),
        ("bash:sleep", True),
    ]
    assert [step.text for step in episode.steps if step.actor == "user"] == [
        "Fix the bug",
        "Please always provide EXACTLY ONE action",
    ]
    assert episode.started_at == "1970-01-01T00:00:01.500000+00:00"


@pytest.mark.parametrize(("code", "failed"), [(0, False), (1, True), (-1, True), (None, False)])
def test_a_command_of_opencode_failed_by_its_exit_code(tmp_path: Path, code: int | None, *, failed: bool) -> None:
    state = {
        "status": "completed",
        "input": {"command": "pytest"},
        "output": "1 failed",
        "metadata": {"exit": code},
    }
    turn: tuple[dict[str, object], list[dict[str, object]]] = (
        {"role": "assistant"},
        [{"type": "tool", "callID": "c", "tool": "bash", "state": state}],
    )
    assert calls(read(tmp_path, "opencode", opencode_rows((turn,)))) == [("bash:pytest", "1 failed", failed, "")]


def test_a_simulation_of_tau2_bench_lasts_from_its_start_to_its_end(tmp_path: Path) -> None:
    times = {"start_time": "2026-01-01T12:00:00", "end_time": "2026-01-01T12:01:30", "duration": None}
    body = tau2_results({"role": "user", "content": "Hi"}, **times)
    usage = read(tmp_path, "tau2-bench", body, "results.json").usage
    assert usage is not None
    assert usage.duration_ms == 90_000
