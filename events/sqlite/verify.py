"""Verification: one pass over the events and the source tables that names every place that does not hold."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.integrity.checks import (
    NAMES_EVIDENCE,
    Chain,
    as_text,
    evidence_problems,
    integrity_of,
    table_problems,
)
from events.sqlite.open_database import APPLICATION_ID, SCHEMA_VERSION, address_of, clear_leftovers, rest_of
from events.sqlite.wal_salvage import left_out
from events.store.pages import SELECT
from events.store.protocol import Integrity, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_WAIT_S: Final = 10.0
"""How long a reader waits while another process recovers the database."""

_SCHEMA: Final = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_PAYLOADS: Final = "SELECT position, payload FROM events WHERE type = ? AND instr(payload, ?)"


def verify_file(location: str) -> Integrity:
    """Check every event, link, counter and content hash of a registry; never raises for what it finds."""
    clear_leftovers(Path(location))
    while True:
        rest = rest_of(Path(location))
        integrity = _in_order(location)
        if rest is None or rest == rest_of(Path(location)):
            return integrity


def _in_order(location: str) -> Integrity:
    """Go through everything, and name what does not hold."""
    problems: list[Problem] = []
    chain = Chain(problems)
    try:
        with ThreadPoolExecutor(1) as beside, closing(_connect(location)) as connection:
            pages = beside.submit(_check_pages, location)
            chain.follow(connection.execute(f"{SELECT} ORDER BY position"))
            problems += table_problems(connection.execute)
            problems += _evidence_problems(connection)
            problems += pages.result()
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the name of a column, too, may be damaged
        problems.append(Problem(chain.position + 1, f"the database cannot be read beyond here: {error}"))
    return integrity_of(chain)


def _connect(location: str) -> sqlite3.Connection:
    address = address_of(Path(location), read_only=True)
    connection = sqlite3.connect(address, uri=True, timeout=_WAIT_S, isolation_level=None)
    connection.text_factory = bytes  # text as stored: what is no longer UTF-8 is a finding, not an error
    return connection


def _evidence_problems(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that evidence is there unless an event erased it, all as it is at one moment."""
    connection.execute("BEGIN")
    kept = {as_text(name) for (name,) in connection.execute("SELECT name FROM blobs")}
    raised = connection.execute(_PAYLOADS, ("SignalRaised", NAMES_EVIDENCE))
    erased = connection.execute(_PAYLOADS, ("EvidenceErased", b"{"))
    yield from evidence_problems(kept, raised, erased)
    connection.execute("COMMIT")


def _check_pages(location: str) -> list[Problem]:
    """Ask SQLite whether its pages and indexes agree with the rows, all of it in C."""
    with closing(_connect(location)) as connection:
        connection.execute("PRAGMA cache_size = -16384").fetchall()
        complaints = [as_text(text) for (text,) in connection.execute("PRAGMA integrity_check")]
        if left := left_out(Path(location)):
            complaints.append(f"its log breaks off, and {left} transactions behind that are not read")
        complaints += _altered(connection)
    return [Problem(0, f"the database is damaged: {text}") for text in complaints if text != "ok"]


def _altered(connection: sqlite3.Connection) -> list[str]:
    """Name the tables, indexes and triggers that say otherwise than when they were made."""
    ((version,),) = connection.execute("PRAGMA user_version")
    if version != SCHEMA_VERSION:
        return []
    made = _as_made()
    stored = ((as_text(name), as_text(sql)) for name, sql in connection.execute(_SCHEMA))
    return [f"{name} is no longer what was made" for name, sql in stored if made.get(name, sql) != sql]


@cache
def _as_made() -> Mapping[str, str]:
    """Give what a new registry consists of, by name: made once, in memory."""
    from events.sqlite.migrations import migrate  # noqa: PLC0415 - for the one command that verifies
    from events.sqlite.session import SqliteSession  # noqa: PLC0415 - the same

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(
            SqliteSession(fresh, "a fresh schema", 0), application_id=APPLICATION_ID, to_version=SCHEMA_VERSION
        )
        return dict(fresh.execute(_SCHEMA).fetchall())
