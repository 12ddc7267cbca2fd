"""Processes that append at once, one event at a time: none is lost, there is no gap, and all is one chain."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from bench.sample_events import drafts
from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog
from events.sqlite.log import SqliteLog
from events.store.envelope import GENESIS, holds

if TYPE_CHECKING:
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Barrier

    from events.store.sql_log import EventLog

EACH = 250
"""Events of each writer."""
PAUSE_S = 0.004
"""Between two events of a writer that is in no hurry."""


def new_log(address: str) -> PostgresLog:
    """Open a registry on the server, made if it is missing."""
    return PostgresLog.open(PostgresAddress.parse(address), Path(), create=True)


def opened(place: str) -> EventLog:
    """Open a log for writing, wherever it is."""
    return new_log(place) if "://" in place else SqliteLog.open(Path(place), create=True)


def write(place: str, name: str, ready: Barrier, spent: Queue[tuple[float, float]]) -> None:
    """Append events one by one to a stream of our own, and say when that began and ended."""
    stream, batch = f"gene:{name}", drafts(EACH)
    mine = [draft._replace(stream=stream) for draft in batch]
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
        links = [GENESIS, *(event.hash for event in events)]
        sound = all(
            holds(event) and event.previous_hash == link for event, link in zip(events, links, strict=False)
        )
        if not sound or [event.position for event in events] != list(range(1, writers * EACH + 1)):
            raise SystemExit(f"{place}: {len(events)} of {writers * EACH} events, in one chain: {sound}")
    return writers * EACH / (max(end for _, end in times) - min(began for began, _ in times))


def unhurried_rate(place: str) -> float:
    """Let one writer pause before each event; return how many a second it would write, the pauses left out.

    What the processor knew of the last append is then gone from its caches, as with writers that take turns.
    """
    spent_s = 0.0
    with closing(opened(place)) as log:
        for version, draft in enumerate(drafts(EACH)):
            time.sleep(PAUSE_S)
            began_s = time.monotonic()
            log.append([draft], expected={draft.stream: version})
            spent_s += time.monotonic() - began_s
    return EACH / spent_s
