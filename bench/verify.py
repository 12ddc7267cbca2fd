"""How fast a log is verified, beside the time that SQLite takes to hand over the same rows.

Figure to reach: 250,000 events/s (trust.md), at a million events. The last column is the share of the peer's rate:
reading every column of every event and looking at none. SHA-256 over the same bytes is what no verification can
go below.

Measured 2026-11-22, 1,000,000 events, 430 bytes hashed each: 104,000 and 125,000 events/s on two quiet cores, at
half of the machine's speed of the day before; 116,000 to 138,000 while others used them, beside SELECT * 212,000
and SHA-256 alone 624,000. Before, 44,000 to 54,000. What an event takes of a core, at the best moments of that
day: SELECT * 3.0 µs, SHA-256 1.0, the loop around them 1.3, PRAGMA integrity_check 2.1, the evidence of signals,
which all of these are, 0.9. That is 8.3 µs: 120,000 events/s on one core, 240,000 at most on two that are free.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import time
from collections import deque
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

from events import sqlite_verify
from events.clock import SystemClock
from events.envelope import Draft
from events.registry_events import SignalRaised
from events.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.log import Integrity

STREAMS = 100
BATCH = 1_000
HEADER_BYTES = 64 + 115
"""The previous hash, and the header of such an event."""
REACH = 250_000
"""trust.md, at a million events."""


def fill(log: SqliteLog, events: int) -> None:
    """Append signals to a hundred streams, in batches."""
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
    ((count, size),) = peer.execute("SELECT count(*), avg(length(payload)) FROM events")
    hashed = bytes(int(size) + HEADER_BYTES)
    return best_s(lambda: [sha256(hashed).hexdigest() for _ in range(count)])


def one_process(log: SqliteLog) -> Integrity:
    """Verify as on a machine of one core."""
    with patch.object(sqlite_verify, "_cores", return_value=1):
        return log.verify()


def main() -> None:
    """Print events/s of verifying, of reading, and of the peers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer events: a glance, not a figure")
    events = 20_000 if parser.parse_args().quick else 1_000_000
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        log = SqliteLog.open(Path(folder) / "germline.db", create=True)
        with closing(log), closing(sqlite3.connect(log.location)) as peer:
            fill(log, events)
            rows_s = best_s(lambda: deque(peer.execute("SELECT * FROM events ORDER BY position"), maxlen=0))
            print(f"{'SELECT *':<22}{events / rows_s:>12,.0f} events/s")
            print(f"{'SHA-256 alone':<22}{events / hash_alone(peer):>12,.0f} events/s")
            for name, action in {
                "verify": log.verify,
                "verify, one process": lambda: one_process(log),
                "read": lambda: deque(log.read(), maxlen=0),
                "read one stream": lambda: deque(log.read(stream="gene:7"), maxlen=0),
            }.items():
                count = events // STREAMS if "stream" in name else events
                spent_s = best_s(action)
                share = rows_s * count / events / spent_s
                print(f"{name:<22}{count / spent_s:>12,.0f} events/s {share:>6.2f} of SELECT *")
            print(f"to reach: {REACH:,} events/s verified, by all cores of the machine ({os.cpu_count()} here)")


if __name__ == "__main__":
    main()
