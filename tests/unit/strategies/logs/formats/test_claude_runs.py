"""What Claude Code writes beside plain sessions: what it prints, what sub-agents do, branches, and events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strategies.episodes.step_marks import PERMISSION_DENIED, USER_INTERRUPT
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats_table import reader_for, reader_named
from strategies.logs.scan import scan, scan_on
from strategies.logs.transcripts import read_transcripts
from tests.agent_sessions import (
    CLAUDE_STREAM,
    STREAM_INIT,
    block,
    stream_record,
    stream_results,
    stream_turn,
)
from tests.sample_logs import jsonl
from tests.trace_exports import claude_event, claude_export

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.episode import Episode, EpisodeRecord

CALL = block("tool_use", id="k1", name="Bash", input={"command": "pytest -q"})


def read(folder: Path, log_format: str, *records: object) -> list[Episode]:
    path = folder / "log.jsonl"
    path.write_bytes(jsonl(*records))
    return list(reader_named(log_format).read(LogFile(path), ReadTally()))  # type: ignore[arg-type]


def scanned(folder: Path, *records: object) -> tuple[EpisodeRecord, ...]:
    path = folder / "session.jsonl"
    path.write_bytes(jsonl(*records))
    return scan([path]).records


@pytest.mark.parametrize(
    ("end", "ended_by", "failures"),
    [
        ({"subtype": "success", "is_error": False, "result": "Done"}, "agent", []),
        ({"subtype": "error_max_turns", "is_error": True}, "limit", []),
        ({"subtype": "error_max_budget_usd", "is_error": True, "errors": ["spent"]}, "limit", []),
        ({"subtype": "error_during_execution", "is_error": True, "errors": ["boom"]}, "environment", ["boom"]),
        ({"subtype": "success", "is_error": True, "result": "API Error: 500"}, "environment", ["API Error: 500"]),
        ({"subtype": "success", "is_error": False, "terminal_reason": "aborted_tools"}, "environment", [""]),
    ],
)
def test_the_result_record_says_how_a_run_ended(
    tmp_path: Path, end: dict[str, Any], ended_by: str, failures: list[str]
) -> None:
    turn = stream_turn("m", CALL)
    (episode,) = read(tmp_path, "claude-stream", STREAM_INIT, turn, stream_record("result", **end))
    assert episode.ended_by == ended_by
    notes = [step for step in episode.steps if step.error_type]
    assert [step.error_text for step in notes] == failures


def test_a_call_that_the_result_record_lists_as_denied_is_denied_once(tmp_path: Path) -> None:
    refused = "Claude requested permissions to use Bash, but you haven't granted it yet."
    (episode,) = read(
        tmp_path,
        "claude-stream",
        STREAM_INIT,
        stream_turn("m", CALL, block("tool_use", id="k2", name="Read", input={})),
        stream_results(block("tool_result", tool_use_id="k1", content=refused, is_error=True)),
        stream_record(
            "result", subtype="success", permission_denials=[{"tool_use_id": "k1"}, {"tool_use_id": "?"}]
        ),
    )
    assert [(step.tool, step.error, step.error_type) for step in episode.steps] == [
        ("Bash", True, PERMISSION_DENIED),
        ("Read", False, ""),
    ]


def test_what_a_sub_agent_does_is_its_own_episode_and_its_task_is_no_word_of_a_person(tmp_path: Path) -> None:
    parent, child = read(
        tmp_path,
        "claude-stream",
        STREAM_INIT,
        stream_turn("m", block("tool_use", id="t", name="Task", input={"prompt": "Find it"})),
        stream_results(block("text", text="Find it. No, use grep instead."), parent="t"),
        stream_turn("c", CALL, parent="t"),
        stream_results(block("tool_result", tool_use_id="k1", content="none", is_error=True), parent="t"),
        stream_results(block("tool_result", tool_use_id="t", content="Nothing.")),
    )
    assert [step.action for step in parent.steps] == ["Task"]
    assert (child.id, child.labels["parent"]) == ("st1/t", "st1")
    assert child.prompt == "Find it. No, use grep instead."
    assert [(step.actor, step.error) for step in child.steps] == [("environment", False), ("agent", True)]


def test_the_last_message_counts_once_and_a_run_that_tells_it_in_its_result_alone_is_read(tmp_path: Path) -> None:
    alone = stream_record("result", subtype="success", is_error=False, result="42")
    (episode,) = read(tmp_path, "claude-stream", alone)
    assert [step.text for step in episode.steps] == ["42"]
    array = tmp_path / "out.json"
    array.write_text(json.dumps([json.loads(line) for line in CLAUDE_STREAM.splitlines()]))
    (record,) = scan([array]).records
    assert (record.format, len(record.steps)) == ("claude-stream", 4)


def test_output_saved_under_any_name_is_known_and_other_lines_in_it_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "claude-code.txt"
    path.write_bytes(b"warning: no stdin\n" + CLAUDE_STREAM)
    logs_scan = scan([path])
    assert ([record.format for record in logs_scan.records], len(logs_scan.malformed)) == (["claude-stream"], 1)


def line(
    kind: str, name: str, parent: str | None, content: object, session: str = "s", **more: object
) -> dict[str, object]:
    message = {"role": kind, "id": f"m-{name}", "content": content}
    return {"type": kind, "uuid": name, "parentUuid": parent, "sessionId": session, "message": message, **more}


def text_blocks(text: str) -> list[dict[str, object]]:
    return [block("text", text=text)]


TURNS = (
    line("user", "a", None, "Count the files"),
    line("assistant", "b", "a", text_blocks("There are two.")),
    line("user", "c", "b", "Delete them"),
    line("assistant", "d", "c", [CALL]),
    line("user", "e", "d", [block("tool_result", tool_use_id="k1", content="boom", is_error=True)]),
)


def test_a_turn_that_was_rewound_is_no_part_of_the_session_however_it_is_read(tmp_path: Path) -> None:
    again = (line("user", "f", "b", "Rename them"), line("assistant", "g", "f", text_blocks("Done.")))
    (record,) = scanned(tmp_path, *TURNS, *again)
    assert [(step.actor, step.error) for step in record.steps] == [
        ("user", False), ("agent", False), ("user", False), ("agent", False),
    ]  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(*TURNS))
    offsets = scan_on([path], {}).offsets
    path.write_bytes(jsonl(*TURNS, *again))
    assert [other.id for other in scan_on([path], offsets).records] == [record.id]


def test_a_rewind_to_the_start_gives_the_session_another_task(tmp_path: Path) -> None:
    (record,) = scanned(tmp_path, *TURNS, line("user", "f", None, "Rename them"))
    (plain,) = scanned(tmp_path, line("user", "f", None, "Rename them"))
    assert (record.task, len(record.steps)) == (plain.task, 1)


def test_where_no_record_names_the_one_it_follows_nothing_was_rewound(tmp_path: Path) -> None:
    (record,) = scanned(
        tmp_path,
        line("user", "a", None, "Rename them"),
        line("assistant", "b", None, [CALL]),
        line("user", "c", None, "And test it"),
        line("assistant", "d", None, [{**CALL, "id": "k2"}]),
    )
    assert len(record.steps) == 4


def test_results_of_calls_made_together_hang_on_different_records_and_are_no_branches(tmp_path: Path) -> None:
    (record,) = scanned(
        tmp_path,
        TURNS[0],
        line("assistant", "b", "a", [CALL]),
        line("assistant", "c", "b", [{**CALL, "id": "k2"}]),
        line("user", "d", "b", [block("tool_result", tool_use_id="k1", content="boom", is_error=True)]),
        line("user", "e", "c", [block("tool_result", tool_use_id="k2", content="ok")]),
        line("user", "f", "e", "Go on"),
    )
    assert [step.error for step in record.steps] == [False, True, False, False]


def test_summaries_hooks_and_reminders_are_not_the_persons_words(tmp_path: Path) -> None:
    injected = [
        "<session-start-hook>x",
        "<ide_opened_file>x",
        "<command-name>/clear</command-name>",
        "<bash-stdout>x",
    ]
    (record,) = scanned(
        tmp_path,
        *(line("user", f"i{number}", None, text) for number, text in enumerate(injected)),
        line("user", "z", None, "This session is continued. No, use pnpm.", isCompactSummary=True),
        line("user", "y", "z", "Caveat: use pnpm, not npm", isMeta=True),
        *TURNS,
    )
    (plain,) = scanned(tmp_path, *TURNS)
    assert (record.task, len(record.steps)) == (plain.task, len(plain.steps))


def test_what_a_session_copied_from_another_is_counted_there(tmp_path: Path) -> None:
    copied = [
        {**record, "sessionId": "f", "forkedFrom": {"sessionId": "s", "messageUuid": "a"}} for record in TURNS
    ]
    first, fork = scanned(tmp_path, *TURNS, *copied, line("user", "h", "e", "Go on", session="f"))
    assert (len(first.steps), len(fork.steps)) == (4, 1)


def test_a_sub_agents_file_names_its_parent_and_holds_no_word_of_a_person(tmp_path: Path) -> None:
    about: dict[str, Any] = {"isSidechain": True, "agentId": "x1"}
    task = line("user", "a", None, "No, use grep instead", **about)
    (child,) = scanned(tmp_path, task, line("assistant", "b", "a", text_blocks("Fine."), **about))
    assert (child.name, child.labels["parent"]) == ("s/x1", "s")
    assert [(step.actor, step.marks) for step in child.steps] == [("environment", ()), ("agent", ())]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("sessions-index.json", {"version": 1, "entries": [{"sessionId": "s", "firstPrompt": '"type": x'}]}),
        ("agent-a1.meta.json", {"agentType": "Explore", "toolUseId": "k1", "description": "d"}),
        ("history.jsonl", {"display": "x", "timestamp": 1, "project": "/x", "sessionId": "s"}),
    ],
)
def test_what_lies_beside_sessions_is_taken_for_no_log(tmp_path: Path, name: str, body: dict[str, object]) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(body))
    assert reader_for(LogFile(path)) is None


def test_events_know_denials_skills_and_errors_and_what_is_redacted_is_no_text(tmp_path: Path) -> None:
    (episode,) = read(
        tmp_path,
        "otel",
        claude_export(
            claude_event("user_prompt", 1, prompt="<REDACTED>"),
            claude_event("skill_activated", 2, skill__name="plugin:git-helper"),
            claude_event("skill_activated", 3, skill__name="custom_skill"),
            claude_event(
                "tool_decision", 4, tool_use_id="a", tool_name="Bash", decision="reject", source="user_reject"
            ),
            claude_event(
                "tool_decision", 5, tool_use_id="b", tool_name="Bash", decision="reject", source="user_abort"
            ),
            claude_event(
                "tool_decision", 6, tool_use_id="c", tool_name="Edit", decision="accept", source="config"
            ),
            claude_event("tool_result", 7, tool_use_id="c", tool_name="Edit", success="true"),
            claude_event("assistant_response", 8, response="<REDACTED>"),
            claude_event("api_error", 9, error="overloaded", status_code="529"),
            claude_event("hook_execution_start", 10, hook_event="Stop"),
        ),
    )
    assert episode.prompt == ""
    assert episode.skills == (("git-helper", ""),)
    assert [(step.tool, step.error, step.error_type) for step in episode.steps] == [
        ("Bash", True, PERMISSION_DENIED),
        ("Bash", True, USER_INTERRUPT),
        ("Edit", False, ""),
        ("", True, "API Error 529"),
    ]
    assert episode.ended_by == "environment"


def test_sessions_that_the_resource_names_are_kept_apart(tmp_path: Path) -> None:
    event = claude_event("tool_result", 1, tool_use_id="a", tool_name="Bash", success="true")
    other = json.loads(json.dumps(claude_export(event)).replace("ce1", "ce2"))
    episodes = read(tmp_path, "otel", claude_export(event), other)
    assert [(episode.id, len(episode.steps)) for episode in episodes] == [("ce1", 1), ("ce2", 1)]


def test_what_calls_gave_back_and_lies_in_files_beside_a_session_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(jsonl(*TURNS))
    kept = tmp_path / "s" / "tool-results" / "k1.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("2026-01-01T00:00:00Z ERROR it broke\n" * 3)
    child = tmp_path / "s" / "subagents" / "agent-x1.jsonl"
    child.parent.mkdir()
    child.write_bytes(jsonl({**TURNS[0], "isSidechain": True, "agentId": "x1"}))
    (child.parent / "agent-x1.meta.json").write_text('{"agentType": "Explore", "toolUseId": "k1"}')
    (tmp_path / "sessions-index.json").write_text('{"version": 1, "entries": [{"sessionId": "s", "type": "x"}]}')
    logs_scan = scan([tmp_path])
    assert sorted(record.name for record in logs_scan.records) == ["s", "s/x1"]
    assert (logs_scan.empty, logs_scan.malformed) == ((), ())


def test_a_transcript_leaves_out_what_was_rewound_and_tells_the_task_of_a_sub_agent(tmp_path: Path) -> None:
    again = (line("user", "f", "b", "Rename them"), line("assistant", "g", "f", text_blocks("Done.")))
    about: dict[str, Any] = {"isSidechain": True, "agentId": "x1"}
    task = line("user", "h", None, "Find it", **about)
    records = scanned(tmp_path, *TURNS, *again, task, line("assistant", "i", "h", text_blocks("There."), **about))
    session, child = read_transcripts(records, frozenset())
    assert session is not None
    assert [step.text for step in session.steps] == ["Count the files", "There are two.", "Rename them", "Done."]
    assert child is not None
    assert child.task == "Find it"
