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


def rows_of(kind: str, *rows: dict[str, object]) -> bytes:
    """Write rows of a store to a file, as the store is read."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in ({"store": kind}, *rows))
    return "".join(f"{line}\n" for line in lines).encode()


def opencode_rows(turns: tuple[tuple[dict[str, object], list[dict[str, object]]], ...] = TURNS) -> bytes:
    """Write a session as the rows that a store is read as, in a file."""
    rows: list[dict[str, object]] = [{"table": "session", "id": "ses_a", "directory": "/x"}]
    parts: list[dict[str, object]] = []
    for number, (message, held) in enumerate(turns):
        rows.append({"table": "message", "id": f"m{number}", "data": message})
        parts += [
            {"table": "part", "id": f"p{at}", "message_id": f"m{number}", "data": part}
            for at, part in enumerate(held)
        ]
    return rows_of("opencode", *rows, *parts)


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


def copilot_store(path: Path, name: str, folder: str) -> Path:
    """Write the store of GitHub Copilot CLI: the tables that third-party readers of it agree on."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, branch TEXT, created_at TEXT, updated_at TEXT);
            CREATE TABLE turns (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, turn_index INTEGER,
                user_message TEXT, assistant_response TEXT, timestamp TEXT);
            CREATE TABLE session_files (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, file_path TEXT,
                tool_name TEXT, turn_index INTEGER, first_seen_at TEXT);
        """)
        connection.execute("INSERT INTO sessions VALUES (?, ?, 'main', '2026-01-01 12:00:00', '')", (name, folder))
        for number, (asked, answered) in enumerate(
            [("Run the tests", "One fails."), ("Mend it", "It is mended.")]
        ):
            connection.execute(
                "INSERT INTO turns (session_id, turn_index, user_message, assistant_response, timestamp)"
                " VALUES (?, ?, ?, ?, '2026-01-01T12:00:01Z')",
                (name, number, asked, answered),
            )
        connection.execute(
            "INSERT INTO session_files (session_id, file_path, tool_name, turn_index)"
            " VALUES (?, 'a.py', 'edit', 1)",
            (name,),
        )
    return path


def cursor_store(path: Path, name: str) -> Path:
    """Write the store of Cursor, with a token in it: the keys that third-party readers of it agree on."""
    bubbles: dict[str, dict[str, object]] = {
        "b2": {"type": 2, "text": "One test fails.", "createdAt": "2026-01-01T12:00:03Z"},
        "b0": {"type": 1, "text": "Run the tests", "createdAt": "2026-01-01T12:00:01Z"},
        "b1": {
            "type": 2,
            "text": "",
            "toolFormerData": {
                "name": "run_terminal_cmd",
                "status": "error",
                "rawArgs": "{}",
                "result": "1 failed: é",
            },
        },
        "b9": {"type": 2, "text": "Of a branch that was left."},
    }
    composer = {
        "fullConversationHeadersOnly": [{"bubbleId": bubble} for bubble in ("b0", "b1", "b2")],
        "modelConfig": {"modelName": "model-x"},
        "createdAt": AT,
    }
    rows: dict[str, object] = {f"bubbleId:{name}:{bubble}": held for bubble, held in bubbles.items()}
    rows |= {f"composerData:{name}": composer, "cursorAuth/accessToken": "the-token"}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for key, held in rows.items():
            connection.execute(
                "INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(held, ensure_ascii=False))
            )
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
