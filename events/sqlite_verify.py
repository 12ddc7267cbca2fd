"""Verification: one pass over the events and the source tables that names every place that does not hold."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
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
from events.log import Head, Problem
from events.paging import LAST, SELECT
from events.sqlite_open import APPLICATION_ID, SCHEMA_VERSION
from events.sqlite_wal import left_out
from events.stretches import check_alone, fit

if TYPE_CHECKING:
    from events.log import Integrity
    from events.stretches import Stretch

_WAIT_S: Final = 10.0
"""How long a reader waits while another process recovers the database."""

_WORTH_PROCESSES: Final = 100_000
"""Events from which on it pays to start processes: they take 0.2 s to come up (measured 2026-11-22)."""

_STRETCH: Final = 25_000
"""Events that one process checks at a time: 0.1 s of work, so that all end at about the same time."""

_SCHEMA: Final = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_PAYLOADS: Final = "SELECT position, payload FROM events WHERE type = ? AND instr(payload, ?)"


def verify_file(location: str) -> Integrity:
    """Check every event, link, counter and content hash of a registry; never raises for what it finds."""
    problems: list[Problem] = []
    chain = Chain(problems)
    try:
        with ThreadPoolExecutor(1) as beside, closing(_connect(location)) as connection:
            pages = beside.submit(_check_pages, location)
            fitted = _follow_side_by_side(location, connection, problems)
            if fitted is None:
                chain.follow(connection.execute(f"{SELECT} ORDER BY position"))
            else:
                chain = fitted
            _check_tables(connection, problems)
            problems += pages.result()
    except sqlite3.Error as error:
        problems.append(Problem(chain.position + 1, f"the database cannot be read beyond here: {error}"))
    return told(chain)


def _connect(location: str) -> sqlite3.Connection:
    uri = f"{Path(location).absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)
    connection.text_factory = bytes  # text as stored: what is no longer UTF-8 is a finding, not an error
    return connection


def _follow_side_by_side(location: str, connection: sqlite3.Connection, problems: list[Problem]) -> Chain | None:
    """Check a long log by all cores; None where it is short, there is one core only, or anything does not hold.

    What does not hold is told by going through all events in order: only that says which of them is to blame.
    """
    ((last,),) = connection.execute("SELECT ifnull(max(position), 0) FROM events")
    cores = _cores()
    if last < _WORTH_PROCESSES or cores == 1:
        return None
    chain = Chain(problems)
    cuts = [0, *range(_STRETCH, last, _STRETCH), LAST]
    try:
        # Not forked: a child must never hold the parent's connection to the registry.
        context = multiprocessing.get_context("forkserver")
        with ProcessPoolExecutor(cores, context, initializer=_leave_interrupts_to_the_parent) as executor:
            for stretch in executor.map(partial(_stretch, location), cuts, cuts[1:]):
                if stretch is None or not fit(chain, stretch):
                    return None
    except (OSError, BrokenProcessPool):
        return None  # no process could be started, or one was killed: there is a way without
    return chain


def _cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stretch(location: str, after: int, upto: int) -> Stretch | None:
    """Check the events beyond a position, up to another; None where they cannot be read.

    The first stretch reads whatever lies before position 1 too, where nothing may be.
    """
    try:
        with closing(_connect(location)) as connection:
            found = connection.execute("SELECT hash FROM events WHERE position = ?", (after,)).fetchone()
            behind = Head(after, found[0].decode() if found else GENESIS)
            bounds = (after or -LAST, upto)
            rows = connection.execute(f"{SELECT} WHERE position > ? AND position <= ? ORDER BY position", bounds)
            return check_alone(rows, behind)
    except (sqlite3.Error, UnicodeDecodeError, AttributeError):  # a hash that is no text
        return None


def _check_tables(connection: sqlite3.Connection, problems: list[Problem]) -> None:
    """Check the rows of the other source tables, and that evidence is there unless an event erased it."""
    problems += blob_problems(connection.execute("SELECT name, kind, body FROM blobs"))
    problems += episode_problems(connection.execute("SELECT episode, source, body, content_hash FROM episodes"))
    problems += checkpoint_problems(connection.execute("SELECT name, body, content_hash FROM checkpoints"))
    kept = {as_text(name) for (name,) in connection.execute("SELECT name FROM blobs")}
    raised = connection.execute(_PAYLOADS, ("SignalRaised", NAMES_EVIDENCE))
    erased = connection.execute(_PAYLOADS, ("EvidenceErased", b"{"))
    problems += evidence_problems(kept, raised, erased)


def _check_pages(location: str) -> list[Problem]:
    """Ask SQLite whether its pages and indexes agree with the rows; a fifth of the time, and all of it in C."""
    with closing(_connect(location)) as connection:
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
