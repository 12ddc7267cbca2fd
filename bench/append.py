"""How much of a raw insert is left once an append keeps its promises.

The peer inserts the same rows, made beforehand, into the same table with the same indexes but no triggers,
durably and on disk. On SQLite: BEGIN IMMEDIATE, WAL, synchronous = FULL. On PostgreSQL: psycopg under the same
kind of lock, first as it is written by hand (a transaction, the lock, executemany), then as tight as can be (one
statement for one row, COPY for many), which is ours without its promises. Both take turns, round by round, in
one run; each batch is made right before its clock starts. The figure is the median over the rounds of the ratio
of the two rates.

Then eight processes append at once, one event at a time, against one that does (bench.append_together).

Measured 2026-11-22 (two cores, ext4, nothing else running; the machine at about half its speed of the day
before). SQLite: single 0.85, batches of 100 0.55, eight writers 0.81 of one's rate. PostgreSQL 18 against
psycopg by hand: single 1.20, batches 0.79; against the tight one 0.57 and 0.56; eight writers 0.88 in one hour,
0.51 in a faster one where one writer made 2,800 events/s (0.49 and 0.33 before the server placed a lone event by
itself). Rates move by 3 within the hour, with what the host's other guests do, and these ratios with them:
single 0.59 to 0.85, eight writers on SQLite 0.65 to 1.01. To encode an event takes 4.5 µs, to hash and place it
4.4 (2.9 and 2.3 the day before).

In the slowest hour of the day: single 0.84, batches 0.54, eight writers 0.80 on SQLite; PostgreSQL 1.02 and 0.84
by hand, 0.55 and 0.56 tight, eight writers 0.62 of one's rate, and 3.3 times that of one that pauses.

Why eight on PostgreSQL stay behind: an append takes a client and a server 0.2 ms of processor in a tight loop,
where both find all they know in their caches, and 0.7 to 0.9 where it is not the last thing that ran: with eight
writers, or with a single one that pauses 4 ms before each event (its appends then take 1.0 to 1.5 ms, against 0.6
to 0.8 for each of eight). Tried in vain: longer pauses between tries instead of the server's queue (1 to 64 ms:
0.3 to 0.5), one statement in `append_event` instead of three, and one in its trigger (nothing measurable).
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import time
import timeit
from abc import ABC, abstractmethod
from contextlib import closing
from itertools import count
from operator import truediv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, Protocol

from bench.append_together import EACH, PAUSE_S, new_log, rate_of, unhurried_rate
from bench.sample_events import STREAM, drafts
from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog
from events.sqlite.log import SqliteLog
from events.store.envelope import GENESIS, Envelope, encode, seal
from tests.postgres_server import Server, serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    from events.store.sql_log import EventLog

INSERT = f"INSERT INTO events VALUES ({', '.join('?' * len(Envelope._fields))})"
TYPES = [
    "bytea" if name == "payload" else "int8" if name in {"position", "version", "schema"} else "text"
    for name in Envelope._fields
]
VALUES = ", ".join(f"%s::{kind}" for kind in TYPES)
SIZES = ((1, 50), (100, 5))
"""Events in a batch, and batches in a round."""
REACH = {1: 0.8, 100: 0.5}
"""By batch size."""
REACH_POSTGRES = 0.7
WRITERS = 8


def raw_table(path: Path) -> sqlite3.Connection:
    """Make the same table and indexes without triggers, on the connection of somebody who promises nothing."""
    SqliteLog.open(path, create=True).close()
    connection = sqlite3.connect(path, isolation_level=None)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


class Side(Protocol):
    """One of the two that are compared."""

    def append(self, size: int) -> float:
        """Make a batch, then return the seconds that it takes to append it."""
        ...


class RawRows(ABC):
    """Inserts rows made beforehand."""

    written = 0

    def append(self, size: int) -> float:
        """Make a batch of rows, then return the seconds that it takes to insert them."""
        encoded = [(draft, encode(draft.event)) for draft in drafts(size, self.written)]
        rows = seal(encoded, position=self.written, previous=GENESIS, versions={STREAM: self.written})
        self.written += size
        started = time.perf_counter()
        self.insert(rows)
        return time.perf_counter() - started

    @abstractmethod
    def insert(self, rows: tuple[Envelope, ...]) -> None:
        """Insert them in one transaction."""


class Raw(RawRows):
    """Inserts rows into a file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def insert(self, rows: tuple[Envelope, ...]) -> None:
        """Insert as sqlite3 is written by hand."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(INSERT, rows)
        self.connection.execute("COMMIT")


class RawPostgres(RawRows):
    """Inserts rows into a table on a server, under the same lock; one as tight as can be."""

    def __init__(self, connection: Connection[tuple[object, ...]]) -> None:
        self.connection = connection
        self.cursor = connection.cursor(binary=True)

    def insert(self, rows: tuple[Envelope, ...]) -> None:
        """Insert as psycopg is written by hand: a transaction, the lock, executemany."""
        with self.connection.transaction():
            self.cursor.execute("SELECT pg_advisory_xact_lock(77)")
            self.cursor.executemany(f"INSERT INTO events VALUES ({VALUES})", rows)


class TightPostgres(RawPostgres):
    """The same in as few ways to the server and back as there are: what ours does, without its promises."""

    def insert(self, rows: tuple[Envelope, ...]) -> None:
        """Insert one row by one statement that takes the lock too; many by COPY."""
        if len(rows) == 1:
            sql = f"INSERT INTO events SELECT {VALUES} FROM pg_advisory_xact_lock(77)"
            self.cursor.execute(sql, rows[0], prepare=True)
            return
        self.connection.execute("BEGIN; SELECT pg_advisory_xact_lock(77)", prepare=False)
        with self.connection.cursor().copy("COPY events FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(TYPES)
            for row in rows:
                copy.write_row(row)
        self.connection.execute("COMMIT", prepare=False)


class Ours:
    """Appends events made beforehand."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.written = 0

    def append(self, size: int) -> float:
        """Make a batch of events, then return the seconds that it takes to append them."""
        batch, expected = drafts(size, self.written), {STREAM: self.written}
        self.written += size
        started = time.perf_counter()
        self.log.append(batch, expected=expected)
        return time.perf_counter() - started


class Figure(NamedTuple):
    """The median ratio of the rates, and the median rates of the raw insert and of ours, in events/s."""

    ratio: float
    raw: float
    ours: float


def compare(raw: Side, ours: Side, size: int, rounds: int, per_round: int) -> Figure:
    """Let both append in turns, and compare their rates round by round."""
    ratios, spent_raw, spent_ours = [], [], []
    for turn in range(rounds):
        sides = [raw, ours][:: 1 - turn % 2 * 2]
        spent = {side: sum(side.append(size) for _ in range(per_round)) for side in sides}
        ratios.append(spent[raw] / spent[ours])
        spent_raw.append(spent[raw])
        spent_ours.append(spent[ours])
    events = size * per_round
    return Figure(
        statistics.median(ratios), events / statistics.median(spent_raw), events / statistics.median(spent_ours)
    )


def on_sqlite(folder: Path, rounds: int) -> None:
    """Print the ratios on SQLite."""
    for size, per_round in SIZES:
        log = SqliteLog.open(folder / f"ours{size}.db", create=True)
        with closing(raw_table(folder / f"raw{size}.db")) as connection, closing(log):
            figure = compare(Raw(connection), Ours(log), size, rounds, per_round)
        tell(f"sqlite, {size:>3}", figure, REACH[size])


def on_postgres(server: Server, rounds: int) -> None:
    """Print the ratios on PostgreSQL, against psycopg as it is written by hand, and as tight as can be."""
    for size, per_round in SIZES:
        for peer, name in ((RawPostgres, "postgres"), (TightPostgres, "  tight")):
            address = server.new_address()
            with closing(new_log(address)) as log, closing(raw_schema(server)) as connection:
                figure = compare(peer(connection), Ours(log), size, rounds, per_round)
            tell(f"{name}, {size:>3}", figure, REACH_POSTGRES)


def raw_schema(server: Server) -> Connection[tuple[object, ...]]:
    """Make the same tables and indexes without triggers, on the connection of somebody who promises nothing."""
    address = PostgresAddress.parse(server.new_address())
    PostgresLog.open(address, Path(), create=True).close()
    connection = server.admin()
    connection.execute(f"SET search_path TO {address.registry}")
    for (name,) in connection.execute(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'events'::regclass AND NOT tgisinternal"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {name} ON events")
    return connection


def at_once(name: str, place: Callable[[], str], rounds: int) -> None:
    """Print what eight writers keep of the rate of one."""
    ones, eights = zip(*[(rate_of(place(), 1), rate_of(place(), WRITERS)) for _ in range(rounds)], strict=True)
    alone, together = statistics.median(ones), statistics.median(eights)
    tell(f"{name}, {WRITERS} writers", Figure(statistics.median(map(truediv, eights, ones)), alone, together), 0.7)
    slow = statistics.median([unhurried_rate(place()) for _ in range(rounds)])
    beside = f"   beside one that pauses {PAUSE_S * 1e3:.0f} ms before each event"
    print(f"{'':<20}{slow:>14,.0f}{together:>15,.0f}{together / slow:>8.2f}{beside}")


def tell(name: str, figure: Figure, reach: float) -> None:
    """Print one line of the table."""
    print(f"{name:<20}{figure.raw:>14,.0f}{figure.ours:>15,.0f}{figure.ratio:>8.2f}{reach:>10}")


def microseconds(action: Callable[[], object], count: int) -> float:
    """Return the best of five times of an action, shared among the things it does."""
    return min(timeit.repeat(action, number=1, repeat=5)) / count * 1e6


def main() -> None:
    """Print both ratios, and what encoding and hashing cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a glance, not a figure")
    rounds, turns = (10, 1) if parser.parse_args().quick else (60, 5)
    print(f"{'append, batch of':<20}{'raw events/s':>14}{'ours events/s':>15}{'ratio':>8}{'to reach':>10}")
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        on_sqlite(Path(folder), rounds)
        data = Path(folder) / "postgres"
        data.mkdir()
        with serving(data) as server:
            on_postgres(server, rounds)
            print(f"\n{f'{EACH} events each':<20}{'one writer':>14}{'together':>15}{'ratio':>8}{'to reach':>10}")
            numbers = count()
            at_once("sqlite", lambda: f"{folder}/writers{next(numbers)}.db", turns)
            at_once("postgres", server.new_address, turns)
    some = drafts(5_000)
    encoded = [(d, encode(d.event)) for d in some]
    figures = {
        "encode": microseconds(lambda: [encode(d.event) for d in some], len(some)),
        "hash": microseconds(lambda: seal(encoded, position=0, previous=GENESIS, versions={STREAM: 0}), len(some)),
    }
    print(" · ".join(f"{name} {figure:.2f} µs" for name, figure in figures.items()), "an event (hash: at most 3)")


if __name__ == "__main__":
    main()
