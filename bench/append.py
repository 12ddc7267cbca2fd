"""How much of a raw SQLite insert is left once an append keeps its promises.

The peer inserts the same rows, made beforehand, into the same table with the same indexes but no triggers,
durably and on disk. On SQLite: BEGIN IMMEDIATE, WAL, synchronous = FULL. On PostgreSQL: psycopg under the same
kind of lock, first as it is written by hand (a transaction, the lock, executemany), then as tight as can be (one
statement for one row, COPY for many), which is ours without its promises. Both take turns, round by round, in
one run; each batch is made right before its clock starts. The figure is the median over the rounds of the ratio
of the two rates.

Then eight processes append at once, one event at a time, against one that does: none lost, no gap, one chain.

Measured 2026-11-21 (two cores, ext4, an fsync of about 0.1 ms), SQLite: single 0.84, batches of 100 0.55; to
encode an event takes 2.9 µs and to hash and place it 2.3 µs. Three events in four are signals (0.4 kB), one is a
mutation with its scores (1.2 kB).

Measured 2026-11-22, PostgreSQL 18, on the same machine while others worked on it (load 8 to 20 on two cores, an
fsync of up to 4 ms): no figures to rely on until they are taken again on a quiet one. Against psycopg by hand
single 1.03 to 1.45, batches of 100 0.94 to 1.43; against the tight one 0.69 to 0.98 and 0.47 to 0.79. Eight
writers kept 0.45, 0.80, 1.10 and 1.33 of one's rate, whose own rate was the disk's; on tmpfs at real-time
priority, where the processors are what they share, 0.51 to 0.55.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sqlite3
import statistics
import time
import timeit
from contextlib import closing
from dataclasses import replace
from itertools import count
from operator import truediv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, Protocol

from bench.sample_scores import score
from events.claims import AfterError, Trigger
from events.clock import SystemClock
from events.envelope import GENESIS, Draft, Envelope, encode, holds, seal
from events.gene_events import GeneMutated
from events.parts import Edit
from events.postgres_address import PostgresAddress
from events.postgres_log import PostgresLog
from events.registry_events import SignalRaised
from events.sqlite_log import SqliteLog
from tests.postgres_server import Server, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Barrier

    from psycopg import Connection

    from events.base import Frozen
    from events.log import EventLog

STREAM = "gene:sql-analyst/errors"
INSERT = f"INSERT INTO events VALUES ({', '.join('?' * len(Envelope._fields))})"
TYPES = [
    "bytea" if name == "payload" else "int8" if name in {"position", "version", "schema"} else "text"
    for name in Envelope._fields
]
VALUES = ", ".join(f"%s::{kind}" for kind in TYPES)
SIZES = ((1, 50), (100, 5))
"""Events in a batch, and batches in a round."""
REACH = {1: 0.8, 100: 0.5}
"""trust.md, by batch size; issue 6 for PostgreSQL."""
REACH_POSTGRES = 0.7
WRITERS, EACH = 8, 250


def event(number: int) -> Frozen:
    """Make every fourth event a mutation with its scores, the others signals."""
    template = "Table <*> doesn't exist"
    if number % 4:
        return SignalRaised(
            fingerprint=f"{number:016x}",
            kind="error_template",
            calls_for="repair",
            template=template,
            action="sql:SELECT",
            count=12 + number,
            episodes=9,
            runs=("gpt-4/try-1", "gpt-4/try-2"),
            severity=0.4,
            evidence=("a" * 64, "b" * 64),
        )
    return GeneMutated(
        gene=STREAM,
        capsule="sql-analyst",
        version=number + 1,
        edits=(Edit(op="append", gene=STREAM, text=("When a table is missing, list the tables first.\n",)),),
        strategy="repair",
        claims_added=(AfterError(template=template, do="sql:SHOW"),),
        triggers_added=(Trigger(fingerprint="f" * 16, kind="error_template", template=template),),
        before=score(0.41),
        after=score(0.72),
        candidate="c" * 64,
        scored="s" * 36,
    )


def drafts(count: int, first: int = 0) -> list[Draft]:
    """Make events of one stream with real ids and times."""
    clock = SystemClock()
    return [
        Draft(STREAM, event(n), clock.new_id(), clock.now(), "miner:recovery", clock.new_id(), clock.new_id())
        for n in range(first, first + count)
    ]


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


class Raw:
    """Inserts rows made beforehand into a file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.written = 0

    def append(self, size: int) -> float:
        """Make a batch of rows, then return the seconds that it takes to insert them."""
        encoded = [(draft, encode(draft.event)) for draft in drafts(size, self.written)]
        rows = seal(encoded, position=self.written, previous=GENESIS, versions={STREAM: self.written})
        self.written += size
        started = time.perf_counter()
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(INSERT, rows)
        self.connection.execute("COMMIT")
        return time.perf_counter() - started


class RawPostgres:
    """Inserts rows made beforehand into a table on a server, under the same lock; one as tight as can be."""

    def __init__(self, connection: Connection[tuple[object, ...]]) -> None:
        self.connection = connection
        self.cursor = connection.cursor(binary=True)
        self.written = 0

    def append(self, size: int) -> float:
        """Make a batch of rows, then return the seconds that it takes to insert them."""
        encoded = [(draft, encode(draft.event)) for draft in drafts(size, self.written)]
        rows = seal(encoded, position=self.written, previous=GENESIS, versions={STREAM: self.written})
        self.written += size
        started = time.perf_counter()
        self.insert(rows)
        return time.perf_counter() - started

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


def new_log(address: str) -> PostgresLog:
    """Open a registry on the server, made if it is missing."""
    return PostgresLog.open(PostgresAddress.parse(address), Path(), create=True)


def opened(place: str) -> EventLog:
    """Open a log for writing, wherever it is."""
    return new_log(place) if "://" in place else SqliteLog.open(Path(place), create=True)


def write(place: str, name: str, ready: Barrier, spent: Queue[tuple[float, float]]) -> None:
    """Append events one by one to a stream of our own, and say when that began and ended."""
    stream, batch = f"gene:{name}", drafts(EACH)
    mine = [replace(draft, stream=stream) for draft in batch]
    with closing(opened(place)) as log:
        ready.wait()
        began_s = time.monotonic()
        for version, draft in enumerate(mine):
            log.append([draft], expected={stream: version})
        spent.put((began_s, time.monotonic()))


def rate_of(place: str, writers: int) -> float:
    """Let so many processes write at once; return how many events a second they wrote together.

    Raises: SystemExit where an event is lost, a position missing, or a link broken.
    """
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(writers)
    spent: Queue[tuple[float, float]] = spawn.Queue()
    made = [spawn.Process(target=write, args=(place, f"w{n}", ready, spent)) for n in range(writers)]
    opened(place).close()
    for process in made:
        process.start()
    times = [spent.get() for _ in made]
    for process in made:
        process.join()
    with closing(opened(place)) as log:
        events = list(log.read())
        links = [GENESIS, *(one.hash for one in events)]
        sound = all(holds(one) and one.previous_hash == link for one, link in zip(events, links, strict=False))
        if not sound or [one.position for one in events] != list(range(1, writers * EACH + 1)):
            raise SystemExit(f"{place}: {len(events)} of {writers * EACH} events, in one chain: {sound}")
    return writers * EACH / (max(end for _, end in times) - min(began for began, _ in times))


def at_once(name: str, place: Callable[[], str], rounds: int) -> None:
    """Print what eight writers keep of the rate of one."""
    ones, eights = zip(*[(rate_of(place(), 1), rate_of(place(), WRITERS)) for _ in range(rounds)], strict=True)
    one, eight = statistics.median(ones), statistics.median(eights)
    tell(f"{name}, {WRITERS} writers", Figure(statistics.median(map(truediv, eights, ones)), one, eight), 0.7)


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
