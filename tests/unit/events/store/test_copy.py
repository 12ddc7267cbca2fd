"""A copy of a registry holds the same bytes, wherever it is, and whatever came between."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import ConflictError, CorruptLogError
from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog
from events.sqlite.log import SqliteLog
from events.store.copy import copy_log, lacking
from events.store.protocol import StoredEpisode
from tests.contract.drafts import Pen, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from events.store.sql_log import EventLog
    from tests.postgres_server import Server

    Places = dict[str, Callable[[], EventLog]]


@pytest.fixture
def places(postgres: Server, tmp_path: Path) -> Places:
    address = PostgresAddress.parse(postgres.empty_address())
    return {
        "file": lambda: SqliteLog.open(tmp_path / "one.db", create=True),
        "another file": lambda: SqliteLog.open(tmp_path / "other.db", create=True),
        "server": lambda: PostgresLog.open(address, Path(), create=True),
    }


@pytest.fixture(params=[("file", "server"), ("server", "file"), ("file", "another file")], ids="-".join)
def pair(places: Places, request: pytest.FixtureRequest) -> Iterator[tuple[EventLog, EventLog]]:
    with ExitStack() as stack:
        source, target = (stack.enter_context(closing(places[name]())) for name in request.param)
        fill(source, Pen())
        yield source, target


def fill(log: EventLog, pen: Pen) -> None:
    """Write something into every source table; texts that are hard to carry, too."""
    put(log, *pen.drafts(20), pen.draft("gene:é 🧬", text='{"\\u0041": "tab\t"}'))
    for body in (b"", bytes(range(256)), b"x" * 100_000):
        log.put_blob(body, kind="file")
    log.put_blob(b"text", kind="evidence")
    log.put_episodes([StoredEpisode(f"e{n}", "a.jsonl", b"%d" % n) for n in range(300)])
    log.put_map("a.jsonl", b"10")


def content(log: EventLog) -> tuple[object, ...]:
    blobs = {name: (kind, log.get_blob(name)) for name, kind in log.blob_kinds().items()}
    return list(log.read()), blobs, list(log.episodes()), log.maps()


def test_a_copy_holds_the_same_and_lacks_nothing(pair: tuple[EventLog, EventLog]) -> None:
    source, target = pair
    lack = copy_log(source, target)
    assert content(target) == content(source)
    assert (lack.events, len(lack.blobs), lack.episodes, lack.maps) == (21, 4, 300, 1)
    assert lack.head == target.head() == source.head()
    assert not lacking(source, target)
    assert not copy_log(source, target)


def test_a_copy_catches_up_and_forgets_what_was_erased(pair: tuple[EventLog, EventLog]) -> None:
    source, target = pair
    copy_log(source, target)
    put(source, *Pen("more").drafts(3))
    source.put_map("a.jsonl", b"20")
    source.erase_blob(source.put_blob(b"text", kind="evidence"))
    lack = copy_log(source, target)
    assert (lack.there, lack.events, len(lack.erased), lack.maps) == (21, 3, 1, 1)
    assert content(target) == content(source)


def test_a_copy_that_was_cut_off_goes_on(pair: tuple[EventLog, EventLog], monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = pair
    monkeypatch.setattr("events.store.copy._EVENTS", 8)

    def stop(done: int, _: int) -> None:
        if done == 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_log(source, target, advance=stop)
    assert target.head().position == 16
    lack = copy_log(source, target)
    assert (lack.there, lack.events) == (16, 5)
    assert content(target) == content(source)
    put(target, Pen("goes on").draft())
    assert target.verify().problems == ()


def test_a_registry_of_its_own_is_never_written_over(pair: tuple[EventLog, EventLog]) -> None:
    source, target = pair
    fill(target, Pen("own"))
    before = content(target)
    with pytest.raises(ConflictError, match="no copy") as caught:
        copy_log(source, target)
    assert "empty" in caught.value.hint
    assert content(target) == before


def test_a_copy_that_went_its_own_way_is_no_copy_any_more(pair: tuple[EventLog, EventLog]) -> None:
    source, target = pair
    copy_log(source, target)
    put(target, Pen("own").draft())
    with pytest.raises(ConflictError, match="its event 22"):
        copy_log(source, target)
    put(source, *Pen("more").drafts(2))
    with pytest.raises(ConflictError, match="its event 22"):
        copy_log(source, target)


def test_what_is_damaged_is_not_copied_on(places: Places, tmp_path: Path) -> None:
    import sqlite3

    with closing(places["file"]()) as source, closing(places["server"]()) as target:
        fill(source, Pen())
        with closing(sqlite3.connect(tmp_path / "one.db")) as connection:
            connection.execute("DROP TRIGGER events_refuse_update")
            connection.execute("UPDATE events SET actor = 'x' WHERE position = 5")
            connection.commit()
        with pytest.raises(CorruptLogError) as caught:
            copy_log(source, target)
        assert caught.value.position == 5
        assert target.head().position == 0


def test_events_that_do_not_follow_are_refused(pair: tuple[EventLog, EventLog]) -> None:
    source, target = pair
    events = list(source.read())
    with pytest.raises(ConflictError, match="does not follow"):
        target.take_over(events[1:])
    assert target.head().position == 0
    put(target, Pen("own").draft())
    with pytest.raises(ConflictError, match="does not follow"):
        target.take_over(events[1:])
    assert target.head().position == 1
