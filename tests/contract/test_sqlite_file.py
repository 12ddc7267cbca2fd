"""The file itself: how it is made, opened and refused, and what opening it costs."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from events.errors import CorruptLogError, NotFoundError, StorageError, UsageError
from events.sqlite.log import SqliteLog
from events.sqlite.queries import question
from events.sqlite.verify import verify_file
from events.store.pages import EventPage, Selection
from events.store.protocol import StoredDocument, StoredEpisode
from tests.contract.drafts import Pen, put

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the path of a registry with three events."""
    path = tmp_path / "registry" / "germline.db"
    with closing(SqliteLog.open(path, create=True)) as log:
        put(log, *Pen().drafts(3))
    return path


def test_a_missing_registry_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        SqliteLog.open(tmp_path / "no" / "germline.db")
    assert caught.value.hint == "germline init"
    assert list(tmp_path.iterdir()) == []


def test_file_and_folder_are_their_owners_alone(path: Path) -> None:
    with closing(SqliteLog.open(path)) as log:
        put(log, Pen("more").draft())
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(["germline.db", "germline.db-wal", "germline.db-shm"], 0o600)
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_making_a_registry_that_exists_opens_it(path: Path) -> None:
    with closing(SqliteLog.open(path, create=True)) as log:
        assert log.head().position == 3


def test_every_commit_is_synced(path: Path) -> None:
    with closing(SqliteLog.open(path)) as log:
        assert log._session.rows("PRAGMA journal_mode") == [("wal",)]
        assert log._session.rows("PRAGMA synchronous") == [(2,)]


@pytest.mark.parametrize(
    "content", [b"not a database at all\n" * 100, b"{}", b"SQLite format 3\x00" + b"\xff" * 4000]
)
def test_what_is_not_a_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "germline.db"
    path.write_bytes(content)
    with pytest.raises(CorruptLogError, match="is not a registry") as caught:
        SqliteLog.open(path)
    assert caught.value.hint
    assert path.read_bytes() == content
    assert len(verify_file(str(path)).problems) == 1


def test_the_database_of_another_application_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "germline.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE events (position INTEGER PRIMARY KEY)")
    before = path.read_bytes()
    for version in (0, 1):
        with pytest.raises(CorruptLogError, match="another application"):
            SqliteLog.open(path)
        assert path.read_bytes() == before
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {version + 1}")
        before = path.read_bytes()


def test_a_registry_at_rest_in_a_folder_that_nobody_may_write_is_read_and_verified(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only mount, a colleague's folder: SQLite alone refuses, for want of the index of an empty log."""
    path.parent.chmod(0o500)
    monkeypatch.setattr("os.access", lambda *_: False)  # root may always
    try:
        with closing(SqliteLog.open(path, read_only=True)) as log:
            assert log.head().position == 3
        assert not verify_file(str(path)).problems
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    finally:
        path.parent.chmod(0o700)


def test_a_registry_at_rest_that_is_written_while_it_is_open_is_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with closing(SqliteLog.open(path, read_only=True)) as log:
        assert log.head().position == 3
        for count in (4, 5):
            with closing(SqliteLog.open(path)) as writer:
                put(writer, Pen(f"event {count}").draft())
                assert log.head().position == count
            assert [envelope.position for envelope in log.read()] == list(range(1, count + 1))


def test_in_a_folder_that_may_not_be_written_what_another_process_appends_is_read_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with closing(SqliteLog.open(path)) as writer:
        put(writer, Pen("more").draft())
        with closing(SqliteLog.open(path, read_only=True)) as log:
            assert log.head().position == 4
            put(writer, Pen("yet more").draft())
            assert log.head().position == 5


def test_a_registry_of_a_newer_germline_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="schema 99") as caught:
        SqliteLog.open(path)
    assert caught.value.hint == "upgrade germline"


def test_a_registry_of_the_first_schema_is_read_as_it_is_and_brought_up_to_date_by_who_writes(path: Path) -> None:
    refuse = "CREATE TRIGGER episodes_refuse_delete BEFORE DELETE ON episodes BEGIN SELECT RAISE(ABORT, 'no'); END"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(refuse)
        connection.execute("PRAGMA user_version = 1")
    with closing(SqliteLog.open(path, read_only=True)) as log:
        assert (log.head().position, log._session.rows("PRAGMA user_version")) == (3, [(1,)])
    with closing(SqliteLog.open(path)) as log:
        log.put_episodes([StoredEpisode("short", "a", b""), StoredEpisode("longer", "a", b"")])
        assert log.drop_episodes({"short": "longer"}) == 1
        assert log._session.rows("PRAGMA user_version") == [(2,)]
        assert (log.head().position, log.verify().problems) == (3, ())


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be opened"):
        SqliteLog.open(tmp_path)


def test_a_registry_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be made"):
        SqliteLog.open(tmp_path / "file" / "germline.db", create=True)


def test_a_log_opened_for_reading_reads_and_never_writes(path: Path) -> None:
    with closing(SqliteLog.open(path, read_only=True)) as log:
        assert [envelope.position for envelope in log.read()] == [1, 2, 3]
        with pytest.raises(StorageError, match="cannot be written"):
            put(log, Pen("more").draft())
        with pytest.raises(StorageError, match="cannot be written"):
            log.put_documents([StoredDocument("v", "k", 0, b"")])
        assert log.verify().events == 3


def test_an_empty_file_opened_for_reading_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "germline.db"
    path.touch()
    with pytest.raises(StorageError, match="reading only"):
        SqliteLog.open(path, read_only=True)
    assert path.stat().st_size == 0


def test_what_no_database_could_hold_is_a_usage_error(path: Path) -> None:
    with closing(SqliteLog.open(path, read_only=True)) as log:
        for stream in ("capsule:\ud800", "capsule:" + "x" * 10):
            if stream.isascii():
                assert log.stream_versions([stream]) == {stream: 0}
            else:
                with pytest.raises(UsageError):
                    log.stream_versions([stream])
        with pytest.raises(UsageError):
            log.document("version", "sql", at=2**80)


@pytest.mark.parametrize("read_only", [True, False])
def test_opening_a_current_registry_does_not_load_sqlite_utils(path: Path, *, read_only: bool) -> None:
    script = (
        "import sys; from pathlib import Path; from events.sqlite.log import SqliteLog;"
        f"log = SqliteLog.open(Path(sys.argv[1]), read_only={read_only});"
        "assert len(list(log.read())) == 3;"
        "print('sqlite_utils' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize(
    "selection",
    [
        ("gene:a", ()),
        ("gene:a", ("GeneBorn",)),
        (None, ()),
        (None, ("GeneBorn",)),
        (None, ("GeneBorn", "GeneMoved")),
    ],
)
def test_no_page_of_events_walks_the_whole_log(
    path: Path, selection: tuple[str | None, tuple[str, ...]], *, newest_first: bool
) -> None:
    sql, parameters = question(EventPage(Selection(*selection, newest_first), 1, 1, 10))
    with closing(SqliteLog.open(path, read_only=True)) as log:
        plan = [row[3] for row in log._session.rows(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    assert not [step for step in plan if step.startswith("SCAN events")], plan
    assert not [step for step in plan if "TEMP B-TREE" in step], plan
