"""The questions for events, and for where the log and its streams stand, in the SQL of SQLite."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from events.store.envelope import GENESIS
from events.store.pages import SELECT
from events.store.protocol import Head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.sqlite.session import SqliteSession
    from events.store.pages import EventPage

_AT_ONCE: Final = 500
"""Streams asked for in one statement; SQLite returns at most 2,000 columns (sqlite.org/limits.html)."""


def question(page: EventPage) -> tuple[str, tuple[object, ...]]:
    """Ask for a page of events: the statement and its parameters.

    Each question names its index: positions lie sorted behind a type, and versions behind a stream.
    """
    stream, types = page.selection.stream, page.selection.types
    beyond, order = ("<", "DESC") if page.selection.newest_first else (">", "ASC")
    kinds = ", ".join("?" * len(types))
    if stream is not None:
        only = f"AND type IN ({kinds}) " if kinds else ""
        sql = (
            f"{SELECT} INDEXED BY events_by_stream WHERE stream = ? AND version {beyond} ?"
            f" AND position {beyond} ? {only}ORDER BY version {order} LIMIT ?"
        )
        return sql, (stream, page.version, page.position, *types, page.size)
    nearest = f"position {beyond} ? ORDER BY position {order} LIMIT ?"
    if types:
        each = f"SELECT * FROM (SELECT position FROM events WHERE type = ? AND {nearest})"  # noqa: S608 - no text from outside
        union = " UNION ALL ".join([each] * len(types))
        bounds = [value for kind in types for value in (kind, page.position, page.size)]
        return f"{SELECT} WHERE position IN ({union}) ORDER BY position {order} LIMIT ?", (*bounds, page.size)
    return f"{SELECT} WHERE {nearest}", (page.position, page.size)


def standing(session: SqliteSession, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
    """Read the head and the version of each stream, 0 for one that does not exist."""
    head, versions = Head(0, GENESIS), dict.fromkeys(streams, 0)
    for first in range(0, len(streams) or 1, _AT_ONCE):
        some = streams[first : first + _AT_ONCE]
        for position, digest, *latest in session.rows(_standing_of(len(some)), some):
            head = Head(position, digest)
            versions.update((stream, version or 0) for stream, version in zip(some, latest, strict=True))
    return head, versions


@cache
def _standing_of(streams: int) -> str:
    version = ", (SELECT max(version) FROM events WHERE stream = ?)"
    return f"SELECT position, hash{version * streams} FROM events ORDER BY position DESC LIMIT 1"  # noqa: S608 - no text from outside
