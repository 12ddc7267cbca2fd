"""What one append asks of the database, alone and beside others: when it looks first, and how it waits."""

from __future__ import annotations

from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING

import pytest

from events.errors import BusyError, ConflictError, StorageError
from events.sqlite import session
from events.sqlite.log import SqliteLog
from tests.contract.drafts import Pen, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "germline.db"
    SqliteLog.open(path, create=True).close()
    return path


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    with closing(SqliteLog.open(path)) as log:
        yield log


@pytest.fixture
def other(path: Path) -> Iterator[SqliteLog]:
    with closing(SqliteLog.open(path, patience_s=0.02)) as log:
        yield log


def asked_by_append(log: SqliteLog, pen: Pen, version: int) -> list[str]:
    """Append one event to the stream "a", and return the first words of the statements that this took."""
    asked: list[str] = []
    log._session.connection.set_trace_callback(asked.append)
    log.append([pen.draft("a")], expected={"a": version})
    log._session.connection.set_trace_callback(None)
    # A statement that is prepared again, because the schema was read meanwhile, is told twice.
    return list(dict.fromkeys(statement.split()[0] for statement in asked if not statement.startswith("--")))


def test_who_is_alone_appends_one_event_in_one_statement(log: SqliteLog) -> None:
    pen = Pen()
    assert asked_by_append(log, pen, 0) == ["BEGIN", "SELECT", "INSERT", "COMMIT"]
    assert [asked_by_append(log, pen, version) for version in (1, 2)] == [["INSERT"]] * 2
    assert log.verify().problems == ()


def test_one_event_by_itself_leaves_no_lock_and_is_seen_by_others_at_once(
    log: SqliteLog, other: SqliteLog
) -> None:
    mine, theirs = Pen("mine"), Pen("theirs")
    for version in range(4):
        log.append([mine.draft("a")], expected={"a": version})
        assert other.head().position == 2 * version + 1
        other.append([theirs.draft("b")], expected={"b": version})
    assert [envelope.stream for envelope in log.read()] == ["a", "b"] * 4
    assert log.verify().problems == ()


def test_who_was_beaten_once_looks_first_until_it_is_alone_again(log: SqliteLog, other: SqliteLog) -> None:
    pen, theirs = Pen("mine"), Pen("theirs")
    looked, guessed = ["BEGIN", "SELECT", "INSERT", "COMMIT"], ["INSERT"]
    asked = []
    for version in range(4):
        asked.append(asked_by_append(log, pen, version))
        other.append([theirs.draft("b")], expected={"b": version})
    assert asked[2:] == [looked] * 2, "no guess fails twice"
    assert [asked_by_append(log, pen, version) for version in (4, 5, 6)] == [looked, looked, guessed]


def test_an_event_inside_a_transaction_is_undone_with_it(log: SqliteLog) -> None:
    put(log, Pen("before").draft("a"))

    def begin_and_fail() -> None:
        with log.transaction():
            log.append([Pen("undone").draft("a")], expected={"a": 1})
            raise KeyError

    with pytest.raises(KeyError):
        begin_and_fail()
    assert log.head().position == 1
    log.append([Pen("after").draft("a")], expected={"a": 1})
    assert log.verify().problems == ()


def test_another_event_under_a_known_id_is_refused_and_the_same_one_is_answered(log: SqliteLog) -> None:
    put(log, Pen("before").draft("a"))
    first = Pen().draft("a")
    receipt = log.append([first], expected={"a": 1})
    again = log.append([first], expected={"a": 2})
    assert (again.envelopes, again.repeated) == (receipt.envelopes, True)
    with pytest.raises(ConflictError, match="1 of 1 event ids"):
        log.append([Pen().draft("a", "for another reason")], expected={"a": 2})
    assert log.head().position == 2


def test_one_event_waits_for_the_lock_no_longer_than_its_patience(log: SqliteLog, other: SqliteLog) -> None:
    put(other, Pen("before").draft("a"))
    with log.transaction(), pytest.raises(BusyError):
        other.append([Pen("late").draft("a")], expected={"a": 1})
    other.append([Pen("later").draft("a")], expected={"a": 1})
    assert other.verify().problems == ()


def test_who_waits_looks_ever_more_seldom_and_after_a_while_often_again(
    log: SqliteLog, other: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(session, "pause", pauses.append)
    tries = count()
    monkeypatch.setattr(session, "monotonic_s", lambda: next(tries) * 0.001)
    with log.transaction(), pytest.raises(BusyError):
        put(other, Pen().draft("a"))
    longest = pauses.index(max(pauses))
    assert pauses[: longest + 1] == sorted(pauses[: longest + 1])
    assert max(pauses) > 10 * pauses[0], "waiters leave the processors to the one at work"
    assert pauses[-1] == pauses[0], "nobody waits for ever where the lock is rarely free"
    assert sum(pauses) < 0.1


def test_a_full_disk_by_max_page_count_refuses_one_event_whole(log: SqliteLog) -> None:
    pen, written = Pen(), count()
    ((pages,),) = log._session.rows("PRAGMA page_count")
    log._session.rows(f"PRAGMA max_page_count = {pages + 4}")

    def fill() -> None:
        for version in written:
            log.append([pen.draft("a", "x" * 1_900)], expected={"a": version})

    with pytest.raises(StorageError, match="the disk is full"):
        fill()
    there = next(written) - 1
    assert 0 < there == log.head().position
    log._session.rows(f"PRAGMA max_page_count = {2**30}")
    log.append([pen.draft("a")], expected={"a": there})
    assert log.verify().problems == ()
