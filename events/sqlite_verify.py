"""Verification: one pass over the events and the source tables that names every place that does not hold.

A long log is first checked by all cores, in a way that only tells whether everything holds. Where something does
not, all is gone through once more, in order: only that says which of the events is to blame.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.checking import (
    NAMES_EVIDENCE,
    Chain,
    as_text,
    blob_problems,
    checkpoint_problems,
    episode_problems,
    evidence_problems,
    told,
)
from events.envelope import GENESIS
from events.log import Head, Integrity, Problem
from events.paging import COLUMNS, LAST, SELECT
from events.sqlite_open import APPLICATION_ID, SCHEMA_VERSION, address_of, rest_of
from events.sqlite_wal import left_out
from events.stretches import Fitted, check_alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.stretches import Breaks, Stretch

_WAIT_S: Final = 10.0
"""How long a reader waits while another process recovers the database."""

_WORTH_PROCESSES: Final = 100_000
"""Events from which on it pays to start processes: they take 0.2 s to come up (measured 2026-11-22)."""

_STRETCH: Final = 25_000
"""Events that one process checks at a time: 0.1 s of work, so that all end at about the same time."""

_MAPPED: Final = "PRAGMA mmap_size = 2147418112"
"""Pages are read where the system keeps them, not copied: the check of all pages and indexes takes 3.1 µs an event
for 4.8 (measured 2026-11-22). A disk that fails, or a file that is cut short, ends such a process instead of being
an error in it: never in the one that was asked."""

_BREAKING: Final = (
    f"SELECT position FROM events WHERE position > ? AND position <= ? AND breaks({COLUMNS})"  # noqa: S608 - our own column names
    " ORDER BY position LIMIT 1"
)
_SCHEMA: Final = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_PAYLOADS: Final = "SELECT position, payload FROM events WHERE type = ? AND instr(payload, ?)"


def verify_file(location: str) -> Integrity:
    """Check every event, link, counter and content hash of a registry; never raises for what it finds."""
    while True:
        rest = rest_of(Path(location))
        found = _side_by_side(location) or _in_order(location)
        if rest is None or rest == rest_of(Path(location)):
            return found


def _in_order(location: str) -> Integrity:
    """Go through everything, and name what does not hold."""
    problems: list[Problem] = []
    chain = Chain(problems)
    try:
        with ThreadPoolExecutor(1) as beside, closing(_connect(location)) as connection:
            pages = beside.submit(_check_pages, location)
            chain.follow(connection.execute(f"{SELECT} ORDER BY position"))
            problems += _content_problems(connection)
            problems += _evidence_problems(connection)
            problems += pages.result()
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the name of a column, too, may be damaged
        problems.append(Problem(chain.position + 1, f"the database cannot be read beyond here: {error}"))
    return told(chain)


def _connect(location: str) -> sqlite3.Connection:
    address = address_of(Path(location), read_only=True)
    connection = sqlite3.connect(address, uri=True, timeout=_WAIT_S, isolation_level=None)
    connection.text_factory = bytes  # text as stored: what is no longer UTF-8 is a finding, not an error
    return connection


def _side_by_side(location: str) -> Integrity | None:
    """Check a long log by all cores; None where it is short, or anything does not hold."""
    try:
        with closing(_connect(location)) as connection:
            ((last,),) = connection.execute("SELECT ifnull(max(position), 0) FROM events")
            if last < _WORTH_PROCESSES:
                return None
            fitted = _fitted(location, connection, [0, *range(_STRETCH, last, _STRETCH), LAST])
            if fitted is None or any(_evidence_problems(connection, fitted.evidence())):
                return None
            return Integrity(fitted.head.position, fitted.head, ())
    except (sqlite3.Error, UnicodeDecodeError, OSError, BrokenProcessPool):
        return None  # no process could be started, or one was ended: there is a way without


def _fitted(location: str, connection: sqlite3.Connection, cuts: list[int]) -> Fitted | None:
    """Check the pages, the other tables, and the events between cuts, all at once; None if anything does not hold.

    The longest goes first: the pages.
    """
    fitted = Fitted()
    # Not forked: a child must never hold the parent's connection to the registry.
    context = multiprocessing.get_context("forkserver")
    executor = ProcessPoolExecutor(_cores(), context, initializer=_leave_interrupts_to_the_parent)
    try:
        pages = executor.submit(_check_pages, location, _MAPPED)
        stretches = executor.map(partial(_stretch, location), pairwise(cuts))
        if any(_content_problems(connection)):
            return None
        for stretch in stretches:
            if stretch is None or not fitted.fit(stretch):
                return None
        return None if pages.result() else fitted
    finally:
        executor.shutdown(cancel_futures=True)


def _cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stretch(location: str, bounds: tuple[int, int]) -> Stretch | None:
    """Check the events beyond a position, up to another; None where they break, or cannot be read.

    The first stretch reads whatever lies before position 1 too, where nothing may be.
    """
    after, upto = bounds
    try:
        with closing(_connect(location)) as connection:
            connection.execute(_MAPPED).fetchall()
            found = connection.execute("SELECT hash FROM events WHERE position = ?", (after,)).fetchone()
            behind = Head(after, found[0].decode() if found else GENESIS)

            def hand_over(breaks: Breaks) -> bool:
                connection.create_function("breaks", COLUMNS.count(",") + 1, breaks)
                return connection.execute(_BREAKING, (after or -LAST, upto)).fetchone() is not None

            return check_alone(behind, hand_over)
    except (sqlite3.Error, UnicodeDecodeError, AttributeError):  # a hash that is no text
        return None


def _content_problems(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check the rows of the other source tables."""
    yield from blob_problems(connection.execute("SELECT name, kind, body FROM blobs"))
    yield from episode_problems(connection.execute("SELECT episode, source, body, content_hash FROM episodes"))
    yield from checkpoint_problems(connection.execute("SELECT name, body, content_hash FROM checkpoints"))


def _evidence_problems(connection: sqlite3.Connection, named: set[str] | None = None) -> Iterator[Problem]:
    """Check that evidence is there unless an event erased it, all as it is at one moment.

    `named` is what the signals name, where that is known already: they are asked again only if some is not there.
    """
    connection.execute("BEGIN")
    kept = {as_text(name) for (name,) in connection.execute("SELECT name FROM blobs")}
    there = named is not None and named <= kept
    raised = () if there else connection.execute(_PAYLOADS, ("SignalRaised", NAMES_EVIDENCE))
    erased = connection.execute(_PAYLOADS, ("EvidenceErased", b"{"))
    yield from evidence_problems(kept, raised, erased)
    connection.execute("COMMIT")


def _check_pages(location: str, setting: str = "PRAGMA cache_size = -16384") -> list[Problem]:
    """Ask SQLite whether its pages and indexes agree with the rows, all of it in C."""
    with closing(_connect(location)) as connection:
        connection.execute(setting).fetchall()
        found = [as_text(text) for (text,) in connection.execute("PRAGMA integrity_check")]
        if left := left_out(Path(location)):
            found.append(f"its log breaks off, and {left} transactions behind that are not read")
        found += _altered(connection)
    return [Problem(0, f"the database is damaged: {text}") for text in found if text != "ok"]


def _altered(connection: sqlite3.Connection) -> list[str]:
    """Name the tables, indexes and triggers that say otherwise than when they were made."""
    ((version,),) = connection.execute("PRAGMA user_version")
    if version != SCHEMA_VERSION:
        return []
    from events.migrations import migrate  # noqa: PLC0415 - for the one command that verifies
    from events.sqlite_session import Session  # noqa: PLC0415 - the same

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(Session(fresh, "a fresh schema", 0), application_id=APPLICATION_ID, to_version=SCHEMA_VERSION)
        made = dict(fresh.execute(_SCHEMA).fetchall())
    stored = ((as_text(name), as_text(sql)) for name, sql in connection.execute(_SCHEMA))
    return [f"{name} is no longer what was made" for name, sql in stored if made.get(name, sql) != sql]
