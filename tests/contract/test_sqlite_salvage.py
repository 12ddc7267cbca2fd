"""A damaged registry: what is refused, what is named, and how much of it a repair brings back."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from events.errors import CorruptLogError
from events.sqlite.log import SqliteLog
from events.sqlite.salvage import Salvage, salvage
from events.sqlite.verify import verify_file
from events.sqlite.wal_salvage import left_out
from events.store.protocol import StoredEpisode
from tests.contract.drafts import Pen, put

if TYPE_CHECKING:
    from pathlib import Path

FRAME_BYTES = 24 + 4_096
LOG_HEADER_BYTES = 32
EVENTS = 12


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Give the files of a registry of which a killed process left half in the log of the database."""
    path = tmp_path_factory.mktemp("pristine") / "registry.db"
    pen = Pen()
    with closing(SqliteLog.open(path, create=True)) as log:
        fill(log, pen)
    with closing(SqliteLog.open(path)) as log:
        fill(log, pen)
        return {name: path.with_name(name).read_bytes() for name in ("registry.db", "registry.db-wal")}


@pytest.fixture
def path(pristine: dict[str, bytes], tmp_path: Path) -> Path:
    for name, body in pristine.items():
        (tmp_path / name).write_bytes(body)
    return tmp_path / "registry.db"


def fill(log: SqliteLog, pen: Pen) -> None:
    for _ in range(EVENTS // 2):
        receipt = put(log, pen.draft())
        number = receipt.envelopes[-1].position
        log.put_blob(b"text %d" % number, kind="evidence")
        log.put_episodes([StoredEpisode(f"e{number:03}", "a.jsonl", b"{}")])
        log.put_map("a.jsonl", b"%d" % number)


def flip(path: Path, at: int) -> None:
    body = bytearray(path.read_bytes())
    body[at] ^= 4
    path.write_bytes(bytes(body))


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def salvaged(path: Path) -> Salvage:
    new = path.with_name("new.db")
    rescued = salvage(path, new)
    assert not verify_file(str(new)).problems
    with closing(SqliteLog.open(new)) as log:
        assert log.head() == rescued.head
        put(log, Pen("after").draft())
    return rescued


def test_a_registry_that_holds_is_brought_over_as_it_is(path: Path) -> None:
    rescued = salvaged(path)
    assert (rescued.head.position, rescued.beyond, rescued.trouble, rescued.mended) == (EVENTS, (), (), False)
    assert (rescued.kept, rescued.dropped) == ({"blobs": EVENTS, "episodes": EVENTS, "checkpoints": 1}, {})


def test_a_bit_in_the_log_is_named_stops_writers_and_costs_no_event(path: Path) -> None:
    flip(log_of(path), LOG_HEADER_BYTES + 24 + 100)
    before = log_of(path).read_bytes()
    assert left_out(path) > 2
    (problem,) = verify_file(str(path)).problems
    assert "transactions behind that are not read" in problem.what
    with pytest.raises(CorruptLogError, match="stand behind the damage") as caught:
        SqliteLog.open(path)
    assert caught.value.hint == "germline doctor --repair --dry-run"
    rescued = salvaged(path)
    assert (rescued.head.position, rescued.mended) == (EVENTS, True)
    assert log_of(path).read_bytes() == before, "a damaged registry is only read"


@pytest.mark.parametrize("at", [9, 17])
def test_a_bit_in_the_header_of_the_log_costs_no_event(path: Path, at: int) -> None:
    flip(log_of(path), at)
    assert verify_file(str(path)).problems
    assert salvaged(path).head.position == EVENTS


@pytest.mark.parametrize("at", [0, 18, 21, 95])
def test_a_bit_at_the_top_of_the_database_costs_no_event(path: Path, at: int) -> None:
    SqliteLog.open(path).close()  # the log is written back
    flip(path, at)
    assert salvaged(path).head.position == EVENTS


def test_a_torn_last_transaction_is_passed_over_by_writers_and_named_by_verify(path: Path) -> None:
    log = log_of(path)
    flip(log, log.stat().st_size - 100)
    assert left_out(path) == 1
    assert any("1 transactions behind" in problem.what for problem in verify_file(str(path)).problems)
    with closing(SqliteLog.open(path)) as opened:
        assert opened.head().position == EVENTS
        put(opened, Pen("after").draft())
    assert not verify_file(str(path)).problems


def test_a_log_that_another_process_is_writing_to_is_not_taken_for_damaged(path: Path) -> None:
    with closing(SqliteLog.open(path)) as log:
        for _ in range(3):
            fill(log, Pen(f"more{_}"))
            assert left_out(path) == 0
            log._session.rows("PRAGMA wal_checkpoint(RESTART)")
            put(log, Pen(f"again{_}").draft())
            assert left_out(path) == 0
    assert left_out(path) == 0


def test_events_behind_a_changed_one_are_listed_and_rows_that_do_not_hold_are_left(path: Path) -> None:
    SqliteLog.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER events_refuse_update")
        connection.execute("DROP TRIGGER blobs_refuse_update")
        connection.execute("UPDATE events SET actor = 'person:mallory' WHERE position = 9")
        connection.execute("UPDATE blobs SET body = x'00' WHERE rowid = 2")
        connection.execute("UPDATE checkpoints SET content_hash = 'x'")
        connection.commit()
    rescued = salvaged(path)
    assert rescued.head.position == 8
    assert [position for position, _ in rescued.beyond] == [9, 10, 11, 12]
    assert {kind for _, kind in rescued.beyond} == {"PresetSwitched"}
    assert rescued.dropped == {"blobs": 1, "checkpoints": 1}


def test_a_text_whose_kind_damage_took_is_kept_as_of_an_unknown_one(path: Path) -> None:
    SqliteLog.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER blobs_refuse_update")
        connection.execute("UPDATE blobs SET kind = 'evidende' WHERE rowid = 2")
        connection.execute("UPDATE blobs SET kind = CAST(x'e576' AS TEXT) WHERE rowid = 3")
        connection.commit()
    assert sum("is kept as" in problem.what for problem in verify_file(str(path)).problems) == 2
    rescued = salvaged(path)
    assert (rescued.kept["blobs"], rescued.dropped) == (EVENTS, {})
    with closing(SqliteLog.open(path.with_name("new.db"), read_only=True)) as log:
        assert Counter(log.blob_kinds().values()) == {"evidence": EVENTS - 2, "unknown": 2}
        assert not [problem for problem in log.verify().problems if "blob" in problem.what]


@pytest.mark.parametrize("column", ["hash", "version", "correlation"])
def test_a_column_that_damage_made_nothing_of_is_a_finding_not_an_error(path: Path, column: str) -> None:
    SqliteLog.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE type = 'trigger'")
        connection.execute("UPDATE sqlite_master SET sql = replace(replace(sql, 'NOT NULL', ''), 'STRICT', '')")
        connection.commit()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE events SET {column} = NULL WHERE position IN (5, 12)")
        connection.execute("UPDATE episodes SET body = NULL WHERE rowid = 3")
        connection.execute("UPDATE blobs SET body = 7 WHERE rowid = 3")
        connection.commit()
    problems = verify_file(str(path)).problems
    assert 5 in {problem.position for problem in problems}
    assert salvaged(path).head.position == 4


@pytest.mark.parametrize(("readable", "recovered"), [(True, 10), (False, 9)])
def test_half_of_a_command_is_left_where_nobody_knows_the_rest(
    tmp_path: Path, *, readable: bool, recovered: int
) -> None:
    path, pen = tmp_path / "registry.db", Pen()
    with closing(SqliteLog.open(path, create=True)) as log:
        put(log, *pen.drafts(9))
        put(log, pen.draft(at="2026-11-22T09:00:00.000000Z"))
        put(log, *(pen.draft(at="2026-11-22T10:00:00.000000Z") for _ in range(3)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER events_refuse_update")
        connection.execute("DROP TRIGGER events_refuse_delete")
        connection.execute("UPDATE events SET actor = 'person:mallory' WHERE position = 12")
        if not readable:
            connection.execute("DELETE FROM events WHERE position = 11")
        connection.commit()
    rescued = salvaged(path)
    assert rescued.head.position == recovered
    assert [position for position, _ in rescued.beyond] == ([11, 12, 13] if readable else [10, 12, 13])


def test_where_nothing_can_be_read_nothing_is_recovered(path: Path) -> None:
    path.write_bytes(b"no database at all, " * 1_000)
    log_of(path).unlink()
    rescued = salvage(path, path.with_name("new.db"))
    assert (rescued.head.position, rescued.kept) == (0, {})
    assert rescued.trouble
