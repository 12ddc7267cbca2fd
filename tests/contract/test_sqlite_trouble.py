"""What happens when many write at once, when a writer is killed, and when the disk is full."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import pytest

from events.errors import StorageError
from events.sqlite.errors import typed
from events.sqlite.log import SqliteLog
from events.store.protocol import StoredDocument
from tests.contract.drafts import Pen, put
from tests.contract.log_writers import FORKS, append_many, make_registry
from tests.forked import ForkedCommand

if TYPE_CHECKING:
    from pathlib import Path

WRITERS = 6
APPENDS = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "germline.db"
    SqliteLog.open(path, create=True).close()
    return path


def test_six_processes_append_sixty_events_each_and_none_is_lost_or_missed_by_who_follows(path: Path) -> None:
    writers = [FORKS.Process(target=append_many, args=(path, f"writer{n}", APPENDS)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    with closing(SqliteLog.open(path, read_only=True)) as log:
        followed = list(islice(log.subscribe(poll_s=0.001), WRITERS * APPENDS))
    for writer in writers:
        writer.join(timeout=60)
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    with closing(SqliteLog.open(path, read_only=True)) as log:
        events = list(log.read())
        assert followed == events, "who follows sees each once, in order"
        assert [e.position for e in events] == list(range(1, WRITERS * APPENDS + 1))
        assert log.stream_versions(["registry"]) == {"registry": WRITERS * APPENDS // 2}
        assert log.verify().problems == ()


def test_processes_that_make_one_registry_at_once_make_it_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "germline.db"
    makers = [FORKS.Process(target=make_registry, args=(path,)) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(timeout=60)
    assert [maker.exitcode for maker in makers] == [0, 0, 0, 0]
    with closing(SqliteLog.open(path)) as log:
        put(log, Pen().draft())
        assert log.verify().problems == ()


def test_a_killed_writer_loses_nothing_it_acknowledged_and_tears_no_projection(path: Path) -> None:
    acknowledged: list[str] = []
    for life in range(3):
        with ForkedCommand([path, f"life{life}"], called="tests.contract.log_writers:append_for_ever") as writer:
            heard = [writer.stdout.readline() for _ in range(5 + 7 * life)]
            writer.kill()
            heard += writer.stdout.readlines()
        acknowledged += [line.strip() for line in heard if line.endswith("\n")]
    with closing(SqliteLog.open(path)) as log:
        events = {e.event_id: e for e in log.read()}
        assert set(acknowledged) <= events.keys()
        assert len(events) % 3 == 0, "a batch is whole or absent"
        assert {d.key: d.body.decode() for d in log.documents("seen")} == {i: e.hash for i, e in events.items()}
        assert log.verify().problems == ()
        put(log, Pen("after").draft())


def test_a_reader_during_writes_sees_a_growing_whole(path: Path) -> None:
    done = threading.Event()
    readings: list[list[int]] = []

    def read() -> None:
        with closing(SqliteLog.open(path, read_only=True)) as log:
            is_last = False
            while not is_last:
                is_last = done.is_set()
                readings.append([e.position for e in log.read()])

    reader = threading.Thread(target=read)
    reader.start()
    with closing(SqliteLog.open(path)) as log:
        pen = Pen()
        for _ in range(120):
            put(log, *pen.drafts(3))
        done.set()
        reader.join(timeout=30)
    assert len(readings[-1]) == 360
    assert all(reading == list(range(1, len(reading) + 1)) for reading in readings)
    assert all(len(earlier) <= len(later) for earlier, later in pairwise(readings))


def limit_pages(log: SqliteLog, spare: int | None) -> None:
    """Stand in for a full disk with `PRAGMA max_page_count`: mounting a small tmpfs needs root."""
    ((pages,),) = log._session.rows("PRAGMA page_count")
    log._session.rows(f"PRAGMA max_page_count = {pages + spare if spare is not None else 2**30}")


def test_a_full_disk_by_max_page_count_loses_nothing_and_works_again_when_there_is_room(path: Path) -> None:
    pen = Pen()
    acknowledged: list[int] = []
    with closing(SqliteLog.open(path)) as log:
        limit_pages(log, 10)

        def fill() -> None:
            while True:
                receipt = put(log, pen.draft(text="x" * 1_900), pen.draft(text="y" * 1_900))
                acknowledged.extend(e.position for e in receipt.envelopes)

        with pytest.raises(StorageError, match="the disk is full") as caught:
            fill()
        assert caught.value.hint
        assert acknowledged
        assert [e.position for e in log.read()] == acknowledged
        assert log.verify().problems == ()
        limit_pages(log, None)
        put(log, pen.draft())
        assert log.head().position == len(acknowledged) + 1


def test_a_disk_without_room_for_the_index_of_the_log_is_told_as_full(path: Path) -> None:
    """That is what opening gives there, for reading too: a tmpfs without a free page."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    storage_error = typed(error, str(path))
    assert (storage_error.message, storage_error.hint) == (
        f"the registry {path} could not be used: the disk is full",
        "make room and run the command again: all that was acknowledged is safe",
    )


def test_a_transaction_that_the_full_disk_ended_does_not_go_on_piecemeal(path: Path) -> None:
    def fill_and_go_on(log: SqliteLog) -> None:
        with log.transaction():
            put(log, Pen().draft())
            with pytest.raises(StorageError, match="the disk is full"):
                log.put_documents([StoredDocument("v", "big", 0, bytes(2**20))])
            log.put_documents([StoredDocument("v", "small", 0, b"")])

    with closing(SqliteLog.open(path)) as log:
        limit_pages(log, 4)
        with pytest.raises(StorageError, match="nothing of it was written"):
            fill_and_go_on(log)
        assert (log.head().position, log.documents("v")) == (0, [])
        limit_pages(log, None)
        put(log, Pen().draft())
