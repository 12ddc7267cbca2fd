"""How fast a log is verified, beside the time that SQLite takes to hand over the same rows.

Figure to reach: 250,000 events/s (trust.md). The last column is the share of the peer's rate: reading every
column of every event and looking at none.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections import deque
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from events.clock import SystemClock
from events.envelope import Draft
from events.registry_events import SignalRaised
from events.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from collections.abc import Callable

STREAMS = 100
BATCH = 1_000


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


def main() -> None:
    """Print events/s of verifying, of reading, and of the peer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer events: a glance, not a figure")
    events = 20_000 if parser.parse_args().quick else 200_000
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        log = SqliteLog.open(Path(folder) / "germline.db", create=True)
        with closing(log), closing(sqlite3.connect(log.location)) as peer:
            fill(log, events)
            rows_s = best_s(lambda: deque(peer.execute("SELECT * FROM events ORDER BY position"), maxlen=0))
            for name, action in {
                "verify": log.verify,
                "read": lambda: deque(log.read(), maxlen=0),
                "read one stream": lambda: deque(log.read(stream="gene:7"), maxlen=0),
            }.items():
                count = events // STREAMS if "stream" in name else events
                spent_s = best_s(action)
                share = rows_s * count / events / spent_s
                print(f"{name:<18}{count / spent_s:>12,.0f} events/s {share:>6.2f} of SELECT *")


if __name__ == "__main__":
    main()
