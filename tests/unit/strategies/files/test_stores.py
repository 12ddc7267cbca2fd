"""Stores of sessions are read as they are at the moment, and nothing of them or beside them changes."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from events.errors import UnreadableLogError
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally, Span
from strategies.files.project_sessions import ProjectSessions
from strategies.files.reread import read_places, read_span
from strategies.logs.formats_table import reader_for, reader_named
from strategies.logs.scan import scan, scan_on
from strategies.logs.transcripts import read_transcripts
from tests.agent_sessions import COPILOT
from tests.session_stores import (
    TURNS,
    copilot_store,
    cursor_store,
    opencode_folder,
    opencode_session,
    opencode_store,
    opencode_turn,
)

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.episode import Episode


def episodes(path: Path) -> list[Episode]:
    reader = reader_for(LogFile(path))
    assert reader is not None
    return list(reader.read(LogFile(path), ReadTally()))  # type: ignore[arg-type]


def state_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_store_gives_its_sessions_and_nothing_of_it_or_beside_it_changes(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"), ("ses_b", "/y"))
    before = state_of(tmp_path)
    logs_scan = scan([path])
    assert [(record.name, len(record.steps), record.ended_by) for record in logs_scan.records] == [
        ("ses_a", 5, "agent"),
        ("ses_b", 5, "agent"),
    ]
    assert (logs_scan.errors, logs_scan.malformed, logs_scan.unknown) == (2, (), {})
    (first, _) = episodes(path)
    assert (first.prompt, first.run, first.started_at) == ("Run the tests", "model-x", "2026-01-01T12:00:00+00:00")
    assert [step.duration_ms for step in first.steps if step.kind == "call"] == [1000.0, 1000.0]
    assert state_of(tmp_path) == before


def test_a_store_that_is_being_written_is_read_as_far_as_it_was_committed(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"), wal=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        opencode_session(writer, "ses_b", "/x")  # committed, and in the log alone
        writer.execute("BEGIN IMMEDIATE")
        opencode_session(writer, "ses_c", "/x")
        before = state_of(tmp_path)
        assert [record.name for record in scan([path]).records] == ["ses_a", "ses_b"]
        assert state_of(tmp_path) == before
        opencode_session(writer, "ses_d", "/x")
        writer.execute("COMMIT")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert len(scan([path]).records) == 4


def test_an_old_store_in_the_middle_of_a_change_is_read_as_it_was_before(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"))
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")  # so that pages reach the file before the commit
        writer.execute("BEGIN EXCLUSIVE")
        for number in range(40):
            opencode_session(writer, f"ses_{number}", "/x")
        assert [record.name for record in scan([path]).records] == ["ses_a"]
        writer.execute("ROLLBACK")


def test_a_store_that_did_not_change_is_not_read_again_and_one_whose_log_grew_is(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"), wal=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        opencode_session(writer, "ses_b", "/x")
        first = scan_on([path], {})
        assert scan_on([path], first.offsets).unchanged == (str(path),)
        opencode_turn(writer, "ses_b", 9, {"role": "user"}, [{"type": "text", "text": "Go on"}])
        again = scan_on([path], first.offsets)
        assert {record.name: len(record.steps) for record in again.records} == {"ses_a": 5, "ses_b": 6}
        assert again.moved == {}


def test_places_stay_while_other_sessions_come_and_go_and_end_with_their_row(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"), ("ses_b", "/x"))
    kept = {step.span: read_span(str(path), step.span) for step in scan([path]).records[1].steps}
    assert all(b"ses_b" in raw and json.loads(raw) for raw in kept.values())
    assert any("1 failed: é".encode() in raw for raw in kept.values())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM part WHERE session_id = 'ses_a'")
        opencode_session(connection, "ses_c", "/x")
    assert {span: read_span(str(path), span) for span in kept} == kept
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM part")
        connection.execute("DELETE FROM message")
    assert {read_span(str(path), span) for span in kept} == {b""}
    assert read_span(str(path), Span(2**52, 2**52 + 9, 1)) == b""


def test_the_text_of_a_row_is_what_its_call_gave_back(tmp_path: Path) -> None:
    stores = [
        opencode_store(tmp_path / "opencode.db", ("ses_a", "/x")),
        cursor_store(tmp_path / "state.vscdb", "c"),
    ]
    failed = [(str(path), step.span) for path in stores for step in scan([path]).records[0].steps if step.error]
    assert [text for _, text in read_places(failed)] == ["1 failed: é"] * 2


def test_in_a_project_its_own_sessions_of_a_store_count_and_the_others_once_all_are_asked_for(
    tmp_path: Path,
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", str(mine / "below")), ("ses_b", "/elsewhere"))
    only = ProjectSessions(mine)
    assert only(path)
    assert not ProjectSessions(tmp_path / "other")(path)
    scoped = scan_on([tmp_path], {}, only=only)
    assert [record.name for record in scoped.records] == ["ses_a"]
    assert scan_on([tmp_path], scoped.offsets, only=only).unchanged == (str(path),)
    assert [record.name for record in scan_on([tmp_path], scoped.offsets).records] == ["ses_a", "ses_b"]


def test_what_was_undone_is_left_out_a_sub_agent_names_its_parent_and_its_task_is_nobodys_word(
    tmp_path: Path,
) -> None:
    path = opencode_store(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        opencode_session(connection, "ses_a", "/x", revert='{"messageID": "msg_ses_a_002"}')
        opencode_session(connection, "ses_b", "/x", parent="ses_a")
        opencode_session(
            connection, "ses_c", "/x", revert='{"messageID": "msg_ses_c_001", "partID": "prt_msg_ses_c_001_003"}'
        )
    undone, child, partly = episodes(path)
    assert [len(episode.steps) for episode in (undone, child, partly)] == [4, 5, 3]
    assert (child.labels["parent"], child.steps[0].actor) == ("ses_a", "environment")


@pytest.mark.parametrize(
    ("message", "part", "error_types", "ended_by"),
    [
        (
            {"error": {"name": "MessageAbortedError", "data": {"message": "x"}}},
            {},
            ["user_interrupt"],
            "environment",
        ),
        ({"error": {"name": "APIError", "data": {"message": "x"}}}, {}, ["APIError"], "environment"),
        ({"finish": "length"}, {"type": "text", "text": "a"}, [""], "limit"),
        ({}, {"type": "tool", "tool": "bash", "callID": "1", "state": {"status": "running"}}, [""], "unknown"),
        (
            {},
            {
                "type": "tool",
                "tool": "bash",
                "callID": "1",
                "state": {
                    "status": "error",
                    "error": "The user rejected permission to use this specific tool call.",
                },
            },
            ["permission_denied"],
            "unknown",
        ),
        (
            {},
            {
                "type": "tool",
                "tool": "bash",
                "callID": "1",
                "state": {"status": "error", "error": "Tool execution aborted", "metadata": {"interrupted": True}},
            },
            ["user_interrupt"],
            "unknown",
        ),
        ({}, {"type": "compaction", "auto": True}, ["context_overflow"], "unknown"),
    ],
)
def test_how_a_message_ended_is_known(
    tmp_path: Path, message: dict[str, object], part: dict[str, object], error_types: list[str], ended_by: str
) -> None:
    path = opencode_store(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        opencode_session(connection, "ses_a", "/x", (({"role": "assistant", **message}, [part] if part else []),))
    (episode,) = episodes(path)
    assert ([step.error_type for step in episode.steps], episode.ended_by) == (error_types, ended_by)


def test_the_store_of_copilot_tells_turns_and_a_session_whose_events_lie_beside_it_is_read_there(
    tmp_path: Path,
) -> None:
    path = copilot_store(tmp_path / "session-store.db", "c1", str(tmp_path))
    (episode,) = episodes(path)
    assert (episode.id, episode.prompt, episode.ended_by) == ("c1", "Run the tests", "agent")
    assert episode.labels == {"branch": "main"}
    assert [step.text for step in episode.steps] == [
        "Run the tests",
        "One fails.",
        "Mend it",
        '{"path":"a.py"}',
        "It is mended.",
    ]
    assert ProjectSessions(tmp_path)(path)
    events = tmp_path / "session-state" / "c1" / "events.jsonl"
    events.parent.mkdir(parents=True)
    events.write_bytes(COPILOT)
    assert episodes(path) == []
    assert scan([path]).empty == ()


def test_of_cursors_store_the_chats_alone_are_read_and_no_place_reaches_the_tokens_beside_them(
    tmp_path: Path,
) -> None:
    path = cursor_store(tmp_path / "state.vscdb", "chat1")
    (episode,) = episodes(path)
    assert (episode.id, episode.run, episode.prompt, episode.ended_by) == (
        "chat1",
        "model-x",
        "Run the tests",
        "agent",
    )
    assert [(step.tool, step.error, step.text or step.result) for step in episode.steps] == [
        ("", False, "Run the tests"),
        ("run_terminal_cmd", True, "{}"),
        ("", False, "One test fails."),
    ]
    assert b"token" not in LogFile(path).head(2**20)
    token = len(b'{"table":"cursorDiskKV","key":"cursorAuth/accessToken","value":"the-token"}')
    for key in range(40):
        assert read_span(str(path), Span(key << 24, (key << 24) + token, 1)) == b""
    assert not ProjectSessions(tmp_path)(path)


def test_a_folder_of_files_gives_the_same_episode_as_the_store_that_followed_it(tmp_path: Path) -> None:
    session = opencode_folder(tmp_path / "storage", "ses_a", "/x")
    store = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"))
    (old,), (new,) = scan([tmp_path / "storage"]).records, scan([store]).records
    assert old.id == new.id
    assert [json.loads(read_span(old.source, step.span))["table"] for step in old.steps] == ["part"] * 5
    assert ProjectSessions(tmp_path)(session) is False
    assert scan([tmp_path]).duplicates == 1


def test_a_damaged_row_is_counted_and_a_damaged_store_is_named(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE part SET data = '{\"type\": 1' WHERE id LIKE '%_000_000'")
        connection.execute("UPDATE part SET data = x'ff' WHERE id LIKE '%_000_001'")
    logs_scan = scan([path])
    assert (len(logs_scan.malformed), [len(record.steps) for record in logs_scan.records]) == (2, [4])
    path.write_bytes(path.read_bytes()[:8000])
    with pytest.raises(UnreadableLogError, match="SQLite cannot read it"):
        scan([path])


def test_what_only_looks_like_a_table_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE message (id, session_id, data); CREATE TABLE part (id, session_id, data);"
            "CREATE VIEW session AS"
            " WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
        )
    assert reader_for(LogFile(path)) is None


def test_a_database_of_another_kind_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE session (id, token)")
    assert scan([tmp_path]).skipped == (str(path),)


def test_rows_written_to_a_file_are_read_as_rows(tmp_path: Path) -> None:
    store = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"))
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LogFile(store).head(2**20))
    (record,) = scan([path]).records
    assert record.id == scan([store]).records[0].id
    assert len(TURNS) == 3
    assert reader_named("opencode").name == record.format


def test_links_and_pipes_beside_a_store_are_not_opened(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"))
    os.mkfifo(tmp_path / "opencode.db-wal")
    assert len(scan([path]).records) == 1
    session = opencode_folder(tmp_path / "storage", "ses_b", "/x")
    part = next((tmp_path / "storage" / "part").rglob("*_000_000.json"))
    elsewhere = tmp_path / "elsewhere.json"
    part.rename(elsewhere)
    part.symlink_to(elsewhere)
    os.mkfifo(part.with_name("prt_z.json"))
    assert [len(record.steps) for record in scan([session]).records] == [4]


def test_a_row_that_is_too_long_is_counted(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"))
    with closing(sqlite3.connect(path)) as connection, connection:
        long = json.dumps({"type": "text", "text": "x" * 2**24})
        connection.execute("UPDATE part SET data = ? WHERE id LIKE '%_000_000'", (long,))
    logs_scan = scan([path])
    assert (len(logs_scan.malformed), [len(record.steps) for record in logs_scan.records]) == (1, [4])


def test_episodes_of_a_store_are_read_back_with_their_texts(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"), ("ses_b", "/y"))
    transcripts = read_transcripts(scan([path]).records, frozenset())
    assert [transcript.task if transcript else None for transcript in transcripts] == ["Run the tests"] * 2


def test_episodes_of_a_store_keep_the_folder_that_each_ran_in(tmp_path: Path) -> None:
    path = opencode_store(tmp_path / "opencode.db", ("ses_a", "/x"), ("ses_b", "/y"))
    assert [record.folder for record in scan([path]).records] == ["/x", "/y"]
