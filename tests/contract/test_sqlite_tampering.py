"""Whoever changes a registry behind germline's back is found out, and the place is named."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from events.errors import CorruptLogError
from events.integrity import checks
from events.sqlite.log import SqliteLog
from events.sqlite.salvage import salvage
from events.sqlite.verify import verify_file
from events.store.envelope import Envelope, encode, seal
from events.store.protocol import StoredEpisode
from tests.contract.drafts import Pen, put

EVENTS = 7
COLUMNS = Envelope._fields
REST = ", ".join(COLUMNS[4:])
SOME_TEXT = hashlib.sha256(b"some text").hexdigest()
DROP_TRIGGERS = "SELECT 'DROP TRIGGER ' || name FROM sqlite_master WHERE type = 'trigger'"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a closed registry of seven events in three streams, with a row in each source table."""
    path = tmp_path_factory.mktemp("pristine") / "germline.db"
    pen = Pen()
    with closing(SqliteLog.open(path, create=True)) as log:
        for stream in ("registry", "gene:a", "registry", "gene:b", "gene:a", "registry", "gene:a"):
            put(log, pen.draft(stream))
        log.put_blob(b"some text", kind="evidence")
        log.put_episodes([StoredEpisode("e1", "a.jsonl", b"{}")])
        log.put_map("a.jsonl", b"10")
    return path


@pytest.fixture
def path(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(pristine, tmp_path / "germline.db"))


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody would who knows SQLite: without the triggers in the way."""
    with closing(sqlite3.connect(path)) as connection:
        for (drop,) in connection.execute(DROP_TRIGGERS).fetchall():
            connection.execute(drop)
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
        connection.commit()


def blamed(path: Path) -> set[int]:
    """Verify, and return the positions that are named."""
    with closing(SqliteLog.open(path, read_only=True)) as log:
        return {problem.position for problem in log.verify().problems}


@pytest.mark.parametrize("position", range(1, EVENTS + 1))
@pytest.mark.parametrize("column", [column for column in COLUMNS if column != "position"])
def test_a_byte_changed_in_any_column_of_any_event_is_named(path: Path, column: str, position: int) -> None:
    changes = {
        "version": "version + 1000",
        "schema": "schema + 1",
        "payload": "CAST(replace(CAST(payload AS TEXT), 'why not', 'why Not') AS BLOB)",
    }
    change = changes.get(column, f"'~' || substr({column}, 2)")
    tamper(path, f"UPDATE events SET {column} = {change} WHERE position = {position}")
    assert blamed(path) == {position}


@pytest.mark.parametrize("position", range(1, EVENTS + 1))
def test_a_changed_position_is_named_as_missing_where_it_was_and_wrong_where_it_is(
    path: Path, position: int
) -> None:
    tamper(path, f"UPDATE events SET position = position + 100 WHERE position = {position}")
    assert {position, position + 100} <= blamed(path)


@pytest.mark.parametrize("position", range(1, EVENTS))
def test_a_deleted_event_other_than_the_last_is_named(path: Path, position: int) -> None:
    tamper(path, f"DELETE FROM events WHERE position = {position}")
    assert blamed(path) == {position}


def test_a_deleted_range_is_named_by_its_first_event(path: Path) -> None:
    tamper(path, "DELETE FROM events WHERE position BETWEEN 2 AND 5")
    with closing(SqliteLog.open(path, read_only=True)) as log:
        assert [p.what for p in log.verify().problems] == ["event 2 to 5 is missing"]


@pytest.mark.parametrize(("position", "other"), [(1, 2), (3, 6), (2, 7)])
def test_a_swapped_pair_is_named(path: Path, position: int, other: int) -> None:
    tamper(
        path,
        f"UPDATE events SET position = -1 WHERE position = {position}",
        f"UPDATE events SET position = {position} WHERE position = {other}",
        f"UPDATE events SET position = {other} WHERE position = -1",
    )
    assert {position, other} <= blamed(path)


@pytest.mark.parametrize("position", range(1, EVENTS))
def test_an_event_rewritten_with_a_fitting_hash_is_given_away_by_the_next(path: Path, position: int) -> None:
    tamper(path, f"UPDATE events SET actor = 'person:mallory' WHERE position = {position}")
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute(f"SELECT * FROM events WHERE position = {position}").fetchone()
        joined = "\x1f".join(map(str, row[:10]))
        digest = hashlib.sha256(row[10].encode() + joined.encode() + row[12]).hexdigest()
        connection.execute("UPDATE events SET hash = ? WHERE position = ?", (digest, position))
        connection.commit()
    assert blamed(path) == {position + 1}


OF_ANOTHER_KIND = {
    "a text as bytes": "actor = CAST(actor AS BLOB)",
    "a hash as bytes": "previous_hash = CAST(previous_hash AS BLOB)",
    "the payload as a text": "payload = CAST(payload AS TEXT)",
    "a number as a text": "schema = CAST(schema AS TEXT)",
    "a version as a text": "version = CAST(version AS TEXT)",
    "a version as bytes": "version = CAST(CAST(version AS TEXT) AS BLOB)",
    "a version as a fraction": "version = CAST(version AS REAL)",
    "more text behind a NUL": "actor = actor || char(0) || 'x'",
    "text that is not UTF-8": "at = CAST(CAST(at AS BLOB) || x'ff' AS TEXT)",
    "nothing where a text was": "causation = NULL",
}


@pytest.mark.parametrize("change", OF_ANOTHER_KIND.values(), ids=OF_ANOTHER_KIND)
def test_a_value_of_another_kind_is_found_though_its_bytes_be_those_that_were_hashed(
    path: Path, change: str
) -> None:
    tamper(path, "UPDATE events SET actor = actor WHERE position = 1")  # takes the triggers away
    declared = declares(path, f"CREATE TABLE events ({COLUMNS[0]} INTEGER PRIMARY KEY, {', '.join(COLUMNS[1:])})")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE events SET {change} WHERE position = 4")
        connection.commit()
    declares(path, declared)
    assert verify_file(str(path)).problems


def declares(path: Path, statement: str) -> str:
    """Let the table of events say that it was made by this statement; returns what it said before."""
    with closing(sqlite3.connect(path)) as connection:
        ((before,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'events'").fetchall()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'events'", (statement,))
        connection.commit()
    return str(before)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blobs SET body = x'00'",
        "UPDATE episodes SET body = x'00'",
        "UPDATE checkpoints SET body = x'00'",
        "DELETE FROM events WHERE position = 4",
        "UPDATE events SET hash = upper(hash) WHERE position = 7",
    ],
)
def test_what_does_not_hold_in_any_table_is_found(path: Path, statement: str) -> None:
    tamper(path, statement)
    assert verify_file(str(path)).problems


def test_bytes_moved_from_one_column_to_the_next_are_named(path: Path) -> None:
    tamper(
        path,
        "UPDATE events SET correlation = correlation || substr(CAST(payload AS TEXT), 1, 5),"
        " payload = substr(payload, 6) WHERE position = 4",
    )
    assert blamed(path) == {4}


def test_a_chain_made_with_a_wrong_stream_version_is_named(path: Path) -> None:
    draft = Pen("forged").draft("gene:a")
    with closing(SqliteLog.open(path)) as log:
        head = log.head()
    forged = seal(
        [(draft, encode(draft.event))], position=head.position, previous=head.hash, versions={"gene:a": 11}
    )
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(COLUMNS))})", forged[0])
        connection.commit()
    with closing(SqliteLog.open(path, read_only=True)) as log:
        (problem,) = log.verify().problems
    assert (problem.position, problem.what) == (8, "event 8 is version 12 of gene:a, which was at 3")


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE blobs SET body = x'00'", "blob "),
        ("UPDATE blobs SET kind = 'filf'", f"blob {SOME_TEXT} is kept as 'filf'"),
        ("UPDATE blobs SET kind = CAST(x'ff' AS TEXT)", "blob "),
        ("UPDATE episodes SET body = x'00'", "episode e1 "),
        ("UPDATE episodes SET source = 'b.jsonl'", "episode e1 "),
        ("UPDATE episodes SET episode = 'e2'", "episode e2 "),
        ("UPDATE checkpoints SET body = x'00'", "map a.jsonl "),
        ("UPDATE checkpoints SET name = 'b.jsonl'", "map b.jsonl "),
        ("UPDATE checkpoints SET content_hash = 'none'", "map a.jsonl "),
    ],
)
def test_a_changed_row_of_another_source_table_is_named(path: Path, statement: str, named: str) -> None:
    tamper(path, statement)
    with closing(SqliteLog.open(path, read_only=True)) as log:
        (problem,) = log.verify().problems
    assert problem.position == 0
    assert problem.what.startswith(named)


def test_an_erased_blob_is_no_problem(path: Path) -> None:
    tamper(path, "DELETE FROM blobs")
    assert blamed(path) == set()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET actor = actor",
        "DELETE FROM events WHERE position = 7",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT * FROM events WHERE position = 3",
        "REPLACE INTO events SELECT * FROM events",
        "UPDATE OR REPLACE events SET position = 3 WHERE position = 4",
        f"INSERT INTO events SELECT 9, 'new', 'new', 1, {REST} FROM events WHERE position = 3",
        f"INSERT INTO events SELECT NULL, 'new', 'new', 1, {REST} FROM events WHERE position = 3",
        f"INSERT OR REPLACE INTO events SELECT 8, event_id, 'new', 1, {REST} FROM events WHERE position = 3",
        f"INSERT OR REPLACE INTO events SELECT 8, 'new', stream, version, {REST} FROM events WHERE position = 3",
        "UPDATE blobs SET kind = 'file'",
        "INSERT OR REPLACE INTO blobs SELECT name, kind, x'00' FROM blobs",
        "UPDATE episodes SET body = x'00'",
        "INSERT OR REPLACE INTO episodes SELECT episode, source, x'00', content_hash FROM episodes",
    ],
)
def test_the_database_itself_refuses(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        before = list(connection.iterdump())
        with pytest.raises(sqlite3.IntegrityError, match="ever"):
            connection.execute(statement)
        connection.rollback()
        assert list(connection.iterdump()) == before


def test_a_trigger_that_was_disarmed_is_named(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        disarmed = "replace(sql, 'BEGIN', 'WHEN 0 BEGIN')"
        assert connection.execute(
            f"UPDATE sqlite_master SET sql = {disarmed} WHERE name = 'events_refuse_delete'"
        ).rowcount
        connection.commit()
    with closing(SqliteLog.open(path, read_only=True)) as log:
        assert any("events_refuse_delete is no longer what was made" in p.what for p in log.verify().problems)


def test_a_table_of_another_kind_than_declared_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="cannot store"):
        connection.execute("INSERT INTO checkpoints VALUES ('c', 'text where bytes belong', 'hash')")


def test_damaged_pages_are_a_finding_not_an_error(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with closing(SqliteLog.open(path, read_only=True)) as log:
        (problem,) = log.verify().problems
    assert "cannot be read beyond" in problem.what


def test_an_index_that_disagrees_with_the_events_is_found(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events_by_stream'")
    content = path.read_bytes()
    start, stop = (root - 1) * 4096, root * 4096
    path.write_bytes(content[:start] + content[start:stop].replace(b"gene:b", b"gene:c") + content[stop:])
    with closing(SqliteLog.open(path, read_only=True)) as log:
        assert log.stream_versions(["gene:b"]) == {"gene:b": 0}, "which is why verify asks about indexes"
        assert any("events_by_stream" in problem.what for problem in log.verify().problems)


def test_a_log_with_very_many_problems_tells_the_first_and_counts_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_MOST", 50)
    path = tmp_path / "germline.db"
    with closing(SqliteLog.open(path, create=True)) as log:
        put(log, *Pen().drafts(60))
    tamper(path, "UPDATE events SET actor = 'person:mallory'")
    with closing(SqliteLog.open(path, read_only=True)) as log:
        problems = log.verify().problems
    assert [problem.position for problem in problems] == [*range(1, 51), 0]
    assert problems[-1].what == "10 further problems"


@pytest.mark.parametrize("named", [b'CREATE TABLE "events"', b'"previous_hash" TEXT', b'INDEX "events_by_type"'])
def test_a_damaged_name_in_the_schema_is_told_though_the_complaint_is_no_text(path: Path, named: bytes) -> None:
    at = path.read_bytes().index(named) + len(named) - 4
    damaged = bytearray(path.read_bytes())
    damaged[at] ^= 0x80
    path.write_bytes(damaged)
    with pytest.raises(CorruptLogError, match="damaged"), closing(SqliteLog.open(path, read_only=True)) as log:
        log.head()
    assert verify_file(str(path)).problems
    assert salvage(path, path.with_name("new.db")).trouble


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    "made",
    [
        (
            "CREATE VIEW documents AS WITH RECURSIVE seq(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM seq)"
            " SELECT 'live' AS view, 'x' AS \"key\", n AS seq, x'' AS body FROM seq"
        ),
        "CREATE VIRTUAL TABLE documents USING fts5(view, key, seq, body)",
    ],
)
def test_a_query_in_the_place_of_a_table_is_refused_before_it_runs(
    path: Path, made: str, *, read_only: bool
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE documents")
        connection.execute(made)
        connection.commit()
    with pytest.raises(CorruptLogError, match="holds a view or a virtual table"):
        SqliteLog.open(path, read_only=read_only)
