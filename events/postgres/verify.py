"""Verification on PostgreSQL: one pass over rows that the server streams, checked by what every backend shares."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from psycopg import Error, IsolationLevel
from psycopg.types.string import ByteaBinaryLoader

from events.integrity.checks import (
    Chain,
    as_text,
    evidence_problems,
    integrity_of,
    table_problems,
)
from events.postgres.errors import message_of
from events.postgres.triggers import altered
from events.store.pages import SELECT
from events.store.protocol import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from events.postgres.session import PostgresSession
    from events.store.protocol import Integrity

_ROWS: Final = 2_000
"""Rows fetched at once: some 2 MB, beyond which it gets no faster (measured 2026-11-22)."""

_PAYLOADS: Final = "SELECT position, payload FROM events WHERE type = '{}' ORDER BY position"


def verify_schema(session: PostgresSession) -> Integrity:
    """Check every event, link, counter and content hash of a registry; never raises for what it finds.

    All tables are read as they were at one moment, undisturbed by writers.
    """
    problems: list[Problem] = []
    chain = Chain(problems)
    try:
        with closing(session.stream()) as connection:
            connection.adapters.register_loader("text", ByteaBinaryLoader)  # bytes, though they be no UTF-8
            connection.autocommit = False
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            chain.follow(_streamed(connection, f"{SELECT} ORDER BY position"))
            _check_tables(connection, session, problems)
    except Error as error:
        what = f"the database cannot be read beyond here: {message_of(error)}"
        problems.append(Problem(chain.position + 1, what))
    return integrity_of(chain)


def _streamed(connection: Connection[tuple[Any, ...]], statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query as the server hands them out, without holding all of them."""
    with connection.cursor("rows", binary=True) as cursor:
        cursor.itersize = _ROWS
        yield from cursor.execute(statement)


def _check_tables(
    connection: Connection[tuple[Any, ...]], session: PostgresSession, problems: list[Problem]
) -> None:
    """Check the other source tables, that evidence is there unless it was erased, and what refuses changes."""
    problems += table_problems(partial(_streamed, connection))
    kept = {as_text(name) for (name,) in _streamed(connection, "SELECT name FROM blobs")}
    raised, erased = (
        list(_streamed(connection, _PAYLOADS.format(kind))) for kind in ("SignalRaised", "EvidenceErased")
    )
    problems += evidence_problems(kept, raised, erased)
    problems += altered(connection, session)
