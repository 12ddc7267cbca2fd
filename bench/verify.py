"""How fast a log is verified, beside the time that SQLite takes to hand over the same rows.

The log is a registry after busy years: the events of bench/rebuild.py over and over, half of them in streams of
their own, with evidence that is there; `--signals` is one of signals alone, in a hundred streams.

Figure to reach: 100,000 events/s, at a million events. The last column is the share of the peer's rate:
reading every column of every event and looking at none. SHA-256 over the same bytes is what no verification can
go below.

Measured 2026-11-23 beside other work (load 6 to 8 on two cores), busy years: an event takes 7.2 to 8.3 µs of the
core that follows the chain (120,000 to 139,000 events/s where it is free), and PRAGMA integrity_check 3.4 to 4.2
of the other one meanwhile.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections import deque
from contextlib import closing
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.rebuild import fill
from events.clock import SystemClock
from events.sqlite.log import SqliteLog
from events.store.envelope import EventDraft
from events.types.registry_events import SignalRaised
from registry.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.types.frozen import Frozen

STREAMS = 100
BATCH = 1_000
HEADER_BYTES = 64 + 20
"""The previous hash, and the numbers and separators in the header of an event."""
HASHED = " + ".join(f"length({name})" for name in ("payload", "event_id", "stream", "type", "at", "actor"))
RECORDS = 10_000
"""Pieces of evidence that the signals of a busy registry name, three each."""
REACH = 100_000
"""Events a second, at a million events."""


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
            appended = event
            if isinstance(event, SignalRaised):
                appended = event.model_copy(update={"evidence": tuple(islice(names, 3))})
            drafts.append(EventDraft(f"{stream}@{copy}", appended, clock.new_id(), clock.now(), actor))
        log.append(drafts, expected=dict.fromkeys((draft.stream for draft in drafts), 0))


def busy_quarter() -> list[tuple[str, Frozen]]:
    """Give the streams and events of a registry as bench/rebuild.py makes it."""
    with TemporaryDirectory() as made_in:
        folder = Path(made_in)
        with closing(SqliteLog.open(folder / "registry.db", create=True)) as log:
            fill(Registry(log, SystemClock(), "person:bench"), folder, skills=10, turns=20)
            return [(envelope.stream, envelope.event) for envelope in log.read()]


def signals(log: SqliteLog, events: int) -> None:
    """Append signals alone to a hundred streams, in batches."""
    clock = SystemClock()
    for batch in range(events // BATCH):
        stream = f"gene:{batch % STREAMS}"
        drafts = [
            EventDraft(
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
                "read": lambda: deque(log.read(), maxlen=0),
            }.items():
                spent_s = best_s(action)
                print(f"{name:<22}{events / spent_s:>12,.0f} events/s {rows_s / spent_s:>6.2f} of SELECT *")
            print(f"to reach: {REACH:,} events/s verified")


if __name__ == "__main__":
    main()
