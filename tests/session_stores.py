"""Small stores of sessions as agents keep them, each telling the story of tests/agent_sessions.py."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# packages/opencode/src/session/session.sql.ts of anomalyco/opencode
OPENCODE_TABLES = """
    CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
    CREATE TABLE session (
        id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
        title text NOT NULL, revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (
        id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (
        id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
        data text NOT NULL);
    CREATE INDEX part_session_idx ON part (session_id);
"""
AT = 1_767_268_800_000


def tool(name: str, status: str, given: dict[str, str], **state: object) -> dict[str, object]:
    """Write a call as a part: message-v2.ts."""
    times = {"start": AT + 1000, "end": AT + 2000}
    return {
        "type": "tool",
        "callID": f"k{name}",
        "tool": name,
        "state": {"status": status, "input": given, "metadata": {}, "time": times, **state},
    }


TURNS: tuple[tuple[dict[str, object], list[dict[str, object]]], ...] = (
    (
        {"role": "user", "time": {"created": AT}, "agent": "build"},
        [{"type": "text", "text": "Run the tests"}, {"type": "text", "text": "Called x", "synthetic": True}],
    ),
    (
        {"role": "assistant", "time": {"created": AT + 1}, "modelID": "model-x", "providerID": "p", "cost": 0.1},
        [
            {"type": "step-start"},
            {"type": "text", "text": "Looking."},
            tool("bash", "error", {"command": "pytest -q"}, error="1 failed: é"),
            tool("read", "completed", {"filePath": "a.py"}, output="x = 1"),
            {"type": "step-finish", "reason": "tool-calls", "cost": 0.1, "tokens": {"input": 10, "output": 2}},
        ],
    ),
    (
        {"role": "assistant", "time": {"created": AT + 2}, "modelID": "model-x", "finish": "stop"},
        [{"type": "text", "text": "One test fails."}],
    ),
)


def opencode_rows(turns: tuple[tuple[dict[str, object], list[dict[str, object]]], ...] = TURNS) -> bytes:
    """Write a session as the rows that a store is read as, in a file."""
    rows: list[dict[str, object]] = [{"store": "opencode"}, {"table": "session", "id": "ses_a", "directory": "/x"}]
    parts: list[dict[str, object]] = []
    for number, (message, held) in enumerate(turns):
        rows.append({"table": "message", "id": f"m{number}", "data": message})
        parts += [
            {"table": "part", "id": f"p{at}", "message_id": f"m{number}", "data": part}
            for at, part in enumerate(held)
        ]
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows + parts)
    return "".join(f"{line}\n" for line in lines).encode()


def opencode_session(
    connection: sqlite3.Connection,
    name: str,
    folder: str,
    turns: tuple[tuple[dict[str, object], list[dict[str, object]]], ...] = TURNS,
    *,
    parent: str | None = None,
    revert: str | None = None,
) -> None:
    """Add a session to an open store."""
    connection.execute(
        "INSERT INTO session VALUES (?, 'p', ?, ?, 'title', ?, ?, ?)", (name, parent, folder, revert, AT, AT)
    )
    for number, (message, parts) in enumerate(turns):
        opencode_turn(connection, name, number, message, parts)


def opencode_turn(
    connection: sqlite3.Connection,
    name: str,
    number: int,
    message: dict[str, object],
    parts: list[dict[str, object]],
) -> None:
    """Add a message and its parts to a session of an open store."""
    turn = f"msg_{name}_{number:03}"
    row = (turn, name, AT + number, json.dumps(message, ensure_ascii=False))
    connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
    for place, part in enumerate(parts):
        written = json.dumps(part, ensure_ascii=False)
        connection.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?)", (f"prt_{turn}_{place:03}", turn, name, AT, written)
        )


def opencode_store(path: Path, *sessions: tuple[str, str], wal: bool = False) -> Path:
    """Write a store of OpenCode with these sessions: name, and the folder that each ran in."""
    with closing(sqlite3.connect(path)) as connection, connection:
        if wal:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(OPENCODE_TABLES)
        for name, folder in sessions:
            opencode_session(connection, name, folder)
    return path


def opencode_folder(storage: Path, name: str, folder: str) -> Path:
    """Write a session as versions before the store did: one file a session, a message and a part."""
    session = storage / "session" / "p1" / f"{name}.json"
    files: dict[Path, dict[str, object]] = {
        session: {"id": name, "projectID": "p1", "directory": folder, "time": {"created": AT, "updated": AT}}
    }
    for number, (message, parts) in enumerate(TURNS):
        turn = f"msg_{name}_{number:03}"
        files[storage / "message" / name / f"{turn}.json"] = {"id": turn, "sessionID": name, **message}
        for place, part in enumerate(parts):
            ids = {"id": f"prt_{turn}_{place:03}", "sessionID": name, "messageID": turn}
            files[storage / "part" / turn / f"{ids['id']}.json"] = {**ids, **part}
    for path, held in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(held, indent=2, ensure_ascii=False), encoding="utf-8")
    return session
