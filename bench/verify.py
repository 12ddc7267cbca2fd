"""How fast a log is verified, beside the time that SQLite takes to hand over the same rows.

The log is a registry after busy years: the events of bench/rebuild.py over and over, half of them in streams of
their own, with evidence that is there; `--signals` is one of signals alone, in a hundred streams.

Figure to reach: 250,000 events/s (trust.md), at a million events. The last column is the share of the peer's rate:
reading every column of every event and looking at none. SHA-256 over the same bytes is what no verification can
go below.

Measured 2026-11-22 on two quiet cores, the million events of bench/terminal.py: 236,000, 257,000 and 267,000
events/s, beside 254,000 to 351,000 for SELECT * alone (0.76 to 1.01 of it); two hours before, when a loop of
Python took 1.6 times as long, 179,000 to 191,000 beside 181,000 to 203,000. That separators need no counting
took a fifth off what an event is checked by. At a load of 15 to 20: busy years, 940 bytes hashed each, 114,000,
in order 74,000; signals alone 123,000, in order 87,000; 1.2 to 1.6 times the way before, for a third less of the
processor. What an event of busy years takes of one core, at best under that load: handed over 1.7 µs, hashed and
compared 3.9, PRAGMA integrity_check 3.1: 8.7 µs, where it was 14. The processes take 0.2 s to come up.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
import time
from collections import deque
from contextlib import closing
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

from bench.rebuild import fill
from events import sqlite_verify
from events.clock import SystemClock
from events.envelope import Draft
from events.registry_events import SignalRaised
from events.sqlite_log import SqliteLog
from registry.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.base import Frozen
    from events.log import Integrity

STREAMS = 100
BATCH = 1_000
HEADER_BYTES = 64 + 20
"""The previous hash, and the numbers and separators in the header of an event."""
HASHED = " + ".join(f"length({name})" for name in ("payload", "event_id", "stream", "type", "at", "actor"))
RECORDS = 10_000
"""Pieces of evidence that the signals of a busy registry name, three each."""
REACH = 250_000
"""trust.md, at a million events."""


def busy_years(log: SqliteLog, events: int) -> None:
    """Append the events of a busy registry (bench/rebuild.py) over and over, each time in streams of their own."""
    sample = busy_quarter()
    clock, actor = SystemClock(), "miner:recovery"
    with log.transaction():
        records = [log.put_blob(b"record %d" % number, kind="evidence") for number in range(RECORDS)]
    names = cycle(records)
    for copy, begun in enumerate(range(0, events, len(sample))):
        drafts = []
        for stream, event in sample[: events - begun]:
            told = event
            if isinstance(event, SignalRaised):
                told = event.model_copy(update={"evidence": tuple(islice(names, 3))})
            drafts.append(Draft(f"{stream}@{copy}", told, clock.new_id(), clock.now(), actor))
        log.append(drafts, expected=dict.fromkeys((draft.stream for draft in drafts), 0))


def busy_quarter() -> list[tuple[str, Frozen]]:
    """Give the streams and events of a registry as bench/rebuild.py makes it."""
    with TemporaryDirectory() as made_in:
        folder = Path(made_in)
        with closing(SqliteLog.open(folder / "registry.db", create=True)) as log:
            fill(Registry(log, SystemClock(), "person:bench"), folder, skills=10, turns=20)
            return [(one.stream, one.event) for one in log.read()]


def signals(log: SqliteLog, events: int) -> None:
    """Append signals alone to a hundred streams, in batches."""
    clock = SystemClock()
    for batch in range(events // BATCH):
        stream = f"gene:{batch % STREAMS}"
        drafts = [
            Draft(
                stream,
                SignalRaised(
                    fingerprint=f"{batch:08x}{number:08x}",
                    kind="error_template",
                    calls_for="repair",
                    template="Table <*> doesn't exist",
                    action="sql:SELECT",
                    count=number,
                    episodes=9,
                    runs=("gpt-4/try-1", "gpt-4/try-2"),
                    severity=0.4,
                ),
                clock.new_id(),
                clock.now(),
                "miner:recovery",
            )
            for number in range(BATCH)
        ]
        log.append(drafts, expected={stream: batch // STREAMS * BATCH})


def best_s(action: Callable[[], object]) -> float:
    """Return the best of three times of an action, in seconds."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def hash_alone(peer: sqlite3.Connection) -> float:
    """Return the seconds that SHA-256 takes over as many bytes, each event's of its own, and nothing else."""
    ((events, size),) = peer.execute(f"SELECT count(*), avg({HASHED}) FROM events")
    hashed = bytes(int(size) + HEADER_BYTES)
    return best_s(lambda: [sha256(hashed).hexdigest() for _ in range(events)])


def in_order(log: SqliteLog) -> Integrity:
    """Verify as a log is verified in which something does not hold: all in order, by one process."""
    with patch.object(sqlite_verify, "_WORTH_PROCESSES", sys.maxsize):
        return log.verify()


def main() -> None:
    """Print events/s of verifying, of reading, and of the peers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer events: a glance, not a figure")
    parser.add_argument("--signals", action="store_true", help="signals alone, in a hundred streams")
    options = parser.parse_args()
    events = 120_000 if options.quick else 1_000_000
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        log = SqliteLog.open(Path(folder) / "germline.db", create=True)
        with closing(log), closing(sqlite3.connect(log.location)) as peer:
            (signals if options.signals else busy_years)(log, events)
            if problems := log.verify().problems:
                raise SystemExit(f"the log does not hold: {problems[0]}")
            rows_s = best_s(lambda: deque(peer.execute("SELECT * FROM events ORDER BY position"), maxlen=0))
            print(f"{'SELECT *':<22}{events / rows_s:>12,.0f} events/s")
            print(f"{'SHA-256 alone':<22}{events / hash_alone(peer):>12,.0f} events/s")
            for name, action in {
                "verify": log.verify,
                "verify, in order": lambda: in_order(log),
                "read": lambda: deque(log.read(), maxlen=0),
            }.items():
                spent_s = best_s(action)
                print(f"{name:<22}{events / spent_s:>12,.0f} events/s {rows_s / spent_s:>6.2f} of SELECT *")
            print(f"to reach: {REACH:,} events/s verified, by all cores of the machine ({os.cpu_count()} here)")


if __name__ == "__main__":
    main()
