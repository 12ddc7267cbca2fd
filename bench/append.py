"""How much of a raw SQLite insert is left once an append keeps its promises.

The peer inserts the same rows, made beforehand, into the same table with the same indexes but no triggers:
BEGIN IMMEDIATE, WAL, synchronous = FULL, on disk. Both take turns, round by round, in one run; each batch is
made right before its clock starts. The figure is the median over the rounds of the ratio of the two rates.

Measured 2026-11-21 (two cores, ext4, an fsync of about 0.1 ms): single 0.84, batches of 100 0.55; to encode an
event takes 2.9 µs and to hash and place it 2.3 µs. Three events in four are signals (0.4 kB), one is a mutation
with its scores (1.2 kB).
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import time
import timeit
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.sample_scores import score
from events.claims import AfterError, Trigger
from events.clock import SystemClock
from events.envelope import GENESIS, Draft, Envelope, encode, seal
from events.gene_events import GeneMutated
from events.parts import Edit
from events.registry_events import SignalRaised
from events.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.base import Frozen

STREAM = "gene:sql-analyst/errors"
INSERT = f"INSERT INTO events VALUES ({', '.join('?' * len(Envelope._fields))})"
REACH = {1: 0.8, 100: 0.5}
"""trust.md, by batch size."""


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


class Raw:
    """Inserts rows made beforehand."""

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


class Ours:
    """Appends events made beforehand."""

    def __init__(self, log: SqliteLog) -> None:
        self.log = log
        self.written = 0

    def append(self, size: int) -> float:
        """Make a batch of events, then return the seconds that it takes to append them."""
        batch, expected = drafts(size, self.written), {STREAM: self.written}
        self.written += size
        started = time.perf_counter()
        self.log.append(batch, expected=expected)
        return time.perf_counter() - started


def compare(folder: Path, size: int, rounds: int, per_round: int) -> tuple[float, float, float]:
    """Return the median ratio of the rates, and the median rates of the raw insert and of ours, in events/s."""
    ratios, spent_raw, spent_ours = [], [], []
    log = SqliteLog.open(folder / f"ours{size}.db", create=True)
    with closing(raw_table(folder / f"raw{size}.db")) as connection, closing(log):
        sides: list[Raw | Ours] = [Raw(connection), Ours(log)]
        for turn in range(rounds):
            spent = {side: sum(side.append(size) for _ in range(per_round)) for side in sides[:: 1 - turn % 2 * 2]}
            ratios.append(spent[sides[0]] / spent[sides[1]])
            spent_raw.append(spent[sides[0]])
            spent_ours.append(spent[sides[1]])
    events = size * per_round
    return statistics.median(ratios), events / statistics.median(spent_raw), events / statistics.median(spent_ours)


def microseconds(action: Callable[[], object], count: int) -> float:
    """Return the best of five times of an action, shared among the things it does."""
    return min(timeit.repeat(action, number=1, repeat=5)) / count * 1e6


def main() -> None:
    """Print both ratios, and what encoding and hashing cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a glance, not a figure")
    rounds = 10 if parser.parse_args().quick else 60
    print(f"{'append':<14}{'raw events/s':>14}{'ours events/s':>15}{'ratio':>8}{'to reach':>10}")
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        for size, per_round in ((1, 50), (100, 5)):
            ratio, other, own = compare(Path(folder), size, rounds, per_round)
            print(f"batch of {size:<5}{other:>14,.0f}{own:>15,.0f}{ratio:>8.2f}{REACH[size]:>10}")
    some = drafts(5_000)
    encoded = [(d, encode(d.event)) for d in some]
    figures = {
        "encode": microseconds(lambda: [encode(d.event) for d in some], len(some)),
        "hash": microseconds(lambda: seal(encoded, position=0, previous=GENESIS, versions={STREAM: 0}), len(some)),
    }
    print(" · ".join(f"{name} {figure:.2f} µs" for name, figure in figures.items()), "an event (hash: at most 3)")


if __name__ == "__main__":
    main()
