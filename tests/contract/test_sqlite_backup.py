"""Copies of a registry: one moment of it, whole, and put back without anything being thrown away."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from events.errors import BusyError, ConflictError, CorruptLogError, NotFoundError, StorageError
from events.integrity.checkpoint_file import keep_checkpoint
from events.integrity.sidecar import sidecar_of
from events.sqlite import open_database as opening
from events.sqlite import swap
from events.sqlite.backup import back_up, lacking, restore
from events.sqlite.log import SqliteLog
from events.sqlite.open_database import PARTIAL
from events.sqlite.swap import sweep
from events.sqlite.verify import verify_file
from events.store.protocol import StoredDocument, StoredEpisode
from tests.contract.drafts import Pen, put

if TYPE_CHECKING:
    from pathlib import Path

    from events.sqlite.session import SqliteSession

AT = "2026-11-22T00:00:00.000000Z"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give a registry with three events and a row in each table."""
    path = tmp_path_factory.mktemp("pristine") / "registry.db"
    with closing(SqliteLog.open(path, create=True)) as log:
        put(log, *Pen().drafts(3))
        log.put_blob(b"some text", kind="evidence")
        log.put_episodes([StoredEpisode("e1", "a.jsonl", b"{}")])
        log.put_map("a.jsonl", b"10")
        log.put_documents([StoredDocument("v", "k", 0, b"body")])
    return path.read_bytes()


@pytest.fixture
def path(pristine: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "home" / "registry.db"
    path.parent.mkdir()
    path.write_bytes(pristine)
    return path


def grow(path: Path, name: str = "more", count: int = 1) -> None:
    with closing(SqliteLog.open(path)) as log:
        put(log, *Pen(name).drafts(count))


def events(path: Path) -> list[str]:
    with closing(SqliteLog.open(path, read_only=True)) as log:
        return [envelope.hash for envelope in log.read()]


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_a_backup_holds_every_row_in_one_file_of_its_owner_alone(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    integrity = back_up(path, target)
    assert (integrity.events, integrity.problems) == (3, ())
    assert content(target) == content(path)
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["backup.db", "home"]


def test_a_backup_is_read_where_nothing_can_be_written_beside_it(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "medium" / "backup.db"
    target.parent.mkdir()
    back_up(path, target)
    before = sorted(target.parent.iterdir())
    with closing(SqliteLog.open(target, read_only=True)) as log:
        assert log.head().position == 3
        assert sorted(target.parent.iterdir()) == before


def test_what_is_appended_meanwhile_is_not_in_the_backup_and_nobody_waits(path: Path, tmp_path: Path) -> None:
    steps: list[int] = []
    with closing(SqliteLog.open(path)) as log:
        pen = Pen("meanwhile")

        def advance(done: int, total: int) -> None:
            del total
            put(log, pen.draft())
            steps.append(done)

        integrity = back_up(path, tmp_path / "backup.db", advance=advance)
        assert steps
        assert log.head().position == 3 + len(steps)
    assert integrity.events == 3


def test_a_registry_that_does_not_hold_leaves_the_backup_before_as_it_was(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    back_up(path, target)
    before = target.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE checkpoints SET body = x'00'")
        connection.commit()
    with pytest.raises(CorruptLogError, match=r"map a\.jsonl is not what was hashed") as caught:
        back_up(path, target)
    assert "doctor --repair" in caught.value.hint
    assert target.read_bytes() == before


def test_a_registry_that_lost_events_its_sidecar_saw_is_not_backed_up(path: Path, tmp_path: Path) -> None:
    old = back_up(path, tmp_path / "old.db")
    grow(path)
    with closing(SqliteLog.open(path)) as log:
        keep_checkpoint(log, sidecar_of(path), at=AT)
    path.write_bytes((tmp_path / "old.db").read_bytes())
    with pytest.raises(CorruptLogError, match="its end was cut off"):
        back_up(path, tmp_path / "new.db")
    assert old.events == 3
    assert not (tmp_path / "new.db").exists()


def test_what_a_killed_backup_left_is_swept_away_by_the_next(path: Path, tmp_path: Path) -> None:
    here = os.uname().nodename
    dead = [tmp_path / f"{PARTIAL}{here}~{owner}" for owner in ("999999999", "999999999-image", "9" * 30)]
    others = [tmp_path / f"{PARTIAL}{name}" for name in (f"{here}~{os.getppid()}", f"not-{here}~999999999")]
    for half in (*dead, *others):
        half.write_bytes(b"half")
    back_up(path, tmp_path / "backup.db")
    assert [half.exists() for half in (*dead, *others)] == [False] * 3 + [True] * 2


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_replacement_that_fails_halfway_leaves_all_as_it_was(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    back_up(path, tmp_path / "backup.db")
    with closing(SqliteLog.open(path)) as log:
        put(log, Pen("in the log only").draft())
        files = {
            file: file.read_bytes() for file in (path, *(path.with_name(path.name + s) for s in ("-wal", "-shm")))
        }
        head = log.head()
    for file, content in files.items():
        file.write_bytes(content)

    def fail(new: Path, place: Path) -> None:
        del new, place
        raise error

    monkeypatch.setattr("events.sqlite.swap.put", fail)
    with pytest.raises((StorageError, KeyboardInterrupt)):
        restore(tmp_path / "backup.db", path, aside=tmp_path / "aside", over=head)
    assert not (tmp_path / "aside").exists()
    assert not [*tmp_path.glob(f"{PARTIAL}*")]
    with closing(SqliteLog.open(path)) as log:
        assert (log.head(), log.verify().problems) == (head, ())


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("step", ["_alone", "_keep", "put", "_settle"])
def test_a_kill_at_any_step_of_a_replacement_leaves_a_registry_in_its_place(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, *, links: bool
) -> None:
    back_up(path, tmp_path / "backup.db")
    was = events(path)
    with closing(SqliteLog.open(path)) as log:
        put(log, Pen("in the log only").draft())
        files = {file: file.read_bytes() for file in (path, path.with_name("registry.db-wal"))}
        head = log.head()
    for file, body in files.items():
        file.write_bytes(body)
    monkeypatch.setattr(f"events.sqlite.swap.{step}", lambda *_, **__: os._exit(9))
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    aside = path.with_name("replaced-20261123T000000.000000Z")
    if not (victim := os.fork()):
        restore(tmp_path / "backup.db", path, aside=aside, over=head)
    assert os.waitstatus_to_exitcode(os.waitpid(victim, 0)[1]) == 9
    monkeypatch.undo()
    assert path.exists() or not links
    now = events(path)
    SqliteLog.open(path).close()
    assert len(now) == 4 if step != "_settle" else (now, len(events(aside / "registry.db"))) == (was, 4)
    left = {entry.name for entry in path.parent.iterdir()} - {"registry.db", "registry.db-wal", "registry.db-shm"}
    assert left == ({aside.name} if step == "_settle" else set())


def no_links(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_a_replacement_that_goes_on_is_left_alone_by_who_opens_the_registry(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(path, tmp_path / "backup.db")
    grow(path)

    def look_and_put(new: Path, place: Path) -> None:
        sweep(place)
        put_in(new, place)

    put_in = swap.put
    monkeypatch.setattr(swap, "put", look_and_put)
    aside = path.with_name("replaced-20261123T000000.000000Z")
    restore(tmp_path / "backup.db", path, aside=aside, over=lacking(path, tmp_path / "backup.db").head)
    assert (len(events(path)), len(events(aside / "registry.db"))) == (3, 4)


def test_who_opens_the_registry_while_its_replacement_is_killed_opens_it_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = path.with_name(f"{PARTIAL}registry.db~replaced-20261123T000000.000000Z")
    prepare = opening._prepare
    seen: list[bool] = []

    def prepare_as_one_is_killed(session: SqliteSession, *, read_only: bool) -> None:
        if not seen:
            half.mkdir()
            os.link(path, half / path.name)
        seen.append(half.exists())
        prepare(session, read_only=read_only)

    monkeypatch.setattr(opening, "_prepare", prepare_as_one_is_killed)
    grow(path)
    assert (seen[:2], half.exists(), len(events(path))) == ([True, False], False, 4)


def test_a_link_among_the_leftovers_moves_nothing_from_where_it_leads(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / f"{PARTIAL}registry.db~x").symlink_to(path.parent)
    os.link(path, tmp_path / "second name")
    with pytest.raises(NotFoundError):
        SqliteLog.open(other / "registry.db")
    assert len(events(path)) == 3


def test_no_registry_is_begun_where_what_stood_there_lies_aside(path: Path) -> None:
    kept = path.with_name("replaced-20261123T000000.000000Z") / path.name
    kept.parent.mkdir()
    path.rename(kept)
    for create in (True, False):
        with pytest.raises(NotFoundError, match="what a restore or a repair took from there is") as caught:
            SqliteLog.open(path, create=create)
        assert caught.value.hint.startswith(f"germline restore {kept} --to {path}")
    assert not path.exists()


def test_a_backup_takes_nothing_over_from_the_one_that_it_replaces(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    back_up(path, target)
    grow(target)  # used as a registry, and killed: SQLite would take the log that is left for the new backup's
    with closing(SqliteLog.open(target)) as log:
        put(log, Pen("in the backup").draft())
        left = [tmp_path / f"backup.db{suffix}" for suffix in ("-wal", "-shm")]
        files = {file: file.read_bytes() for file in left}
    for file, content in files.items():
        file.write_bytes(content)
    grow(path)
    integrity = back_up(path, target)
    assert not any(file.exists() for file in left)
    with closing(SqliteLog.open(target, read_only=True)) as log:
        assert (log.head(), log.verify().problems) == (integrity.head, ())


def test_there_is_nothing_to_back_up_where_there_is_no_registry(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        back_up(tmp_path / "none.db", tmp_path / "backup.db")
    assert list(tmp_path.iterdir()) == []


def test_a_restored_registry_is_what_was_backed_up_and_the_replaced_one_lies_aside(
    path: Path, tmp_path: Path
) -> None:
    back_up(path, tmp_path / "backup.db")
    was = events(path)
    grow(path)
    grown, lack = events(path), lacking(path, tmp_path / "backup.db")
    assert (lack.events, lack.common, lack.episodes, lack.blobs, lack.erasures) == (1, 3, 0, 0, 0)
    restore(tmp_path / "backup.db", path, aside=tmp_path / "aside", over=lack.head)
    assert events(path) == was
    assert events(tmp_path / "aside" / "registry.db") == grown
    with closing(SqliteLog.open(path)) as log:
        assert log._session.rows("PRAGMA journal_mode") == [("wal",)]
        put(log, Pen("after").draft())
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_stands_in_the_log_of_a_killed_process_goes_aside_with_its_database(
    path: Path, tmp_path: Path
) -> None:
    back_up(path, tmp_path / "backup.db")
    with closing(SqliteLog.open(path)) as log:
        put(log, Pen("more").draft())
        files = {name: path.with_name(name).read_bytes() for name in ("registry.db", "registry.db-wal")}
    for name, body in files.items():
        path.with_name(name).write_bytes(body)
    restore(
        tmp_path / "backup.db", path, aside=tmp_path / "aside", over=lacking(path, tmp_path / "backup.db").head
    )
    assert {name: (tmp_path / "aside" / name).read_bytes() for name in files} == files
    assert len(events(path)) == 3
    assert len(events(tmp_path / "aside" / "registry.db")) == 4


def test_a_registry_that_is_open_elsewhere_is_not_replaced(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "backup.db")
    with closing(SqliteLog.open(path)) as log:
        with pytest.raises(BusyError, match="in use by another process") as caught:
            restore(tmp_path / "backup.db", path, aside=tmp_path / "aside", over=log.head())
        assert "germline watch" in caught.value.hint
        put(log, Pen("more").draft())
    assert len(events(path)) == 4
    assert not (tmp_path / "aside").exists()


def test_a_registry_that_grew_since_it_was_looked_at_is_not_replaced(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "backup.db")
    seen = lacking(path, tmp_path / "backup.db").head
    grow(path)
    with pytest.raises(ConflictError, match="grew from 3 to 4"):
        restore(tmp_path / "backup.db", path, aside=tmp_path / "aside", over=seen)
    assert len(events(path)) == 4
    assert not (tmp_path / "aside").exists()


def test_a_backup_that_was_changed_is_not_restored(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    back_up(path, backup)
    body = backup.read_bytes()
    assert b"why not" in body
    backup.write_bytes(body.replace(b"why not", b"why now"))
    with pytest.raises(CorruptLogError):
        restore(backup, path, aside=tmp_path / "aside", over=lacking(path, backup).head)
    assert not verify_file(str(path)).problems


@pytest.mark.parametrize(("grown", "stays"), [(0, True), (1, False)])
def test_a_sidecar_goes_aside_only_where_the_restored_registry_contradicts_it(
    path: Path, tmp_path: Path, grown: int, *, stays: bool
) -> None:
    back_up(path, tmp_path / "backup.db")
    if grown:
        grow(path, count=grown)
    with closing(SqliteLog.open(path)) as log:
        keep_checkpoint(log, sidecar_of(path), at=AT)
        head = log.head()
    restore(tmp_path / "backup.db", path, aside=tmp_path / "aside", over=head)
    assert sidecar_of(path).exists() is stays
    assert (tmp_path / "aside" / sidecar_of(path).name).exists() is not stays


def test_a_backup_is_restored_where_there_was_no_registry(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "backup.db")
    restore(tmp_path / "backup.db", tmp_path / "new" / "registry.db", aside=tmp_path / "aside", over=None)
    assert events(tmp_path / "new" / "registry.db") == events(path)
    assert not (tmp_path / "aside").exists()
