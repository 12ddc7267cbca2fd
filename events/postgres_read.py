"""The questions for events, and for where the log stands, in the SQL of PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.contents import hashes_in_order
from events.envelope import GENESIS
from events.log import Head
from events.paging import LAST, SELECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.paging import Page
    from events.postgres_session import Session

_HASHES: Final = (
    "SELECT position, hash FROM events WHERE position > %s AND position <= %s ORDER BY position LIMIT %s"
)

_STANDING: Final = """SELECT position, hash, ARRAY(
        SELECT coalesce((SELECT max(version) FROM events WHERE stream = asked.name), 0)
        FROM unnest(%s::text[]) WITH ORDINALITY AS asked(name, place) ORDER BY place)
    FROM events ORDER BY position DESC LIMIT 1"""
"""Where the log stands, and the versions of streams, in the order of their names as they are given."""


def question(page: Page) -> tuple[str, tuple[object, ...]]:
    """Ask for a page of events: the statement and its parameters.

    Each question fits an index: positions lie sorted behind a type, and versions behind a stream.
    """
    stream, types = page.selection.stream, list(page.selection.types)
    beyond, order = ("<", "DESC") if page.selection.newest_first else (">", "ASC")
    if stream is not None:
        only = "AND type = ANY(%s) " if types else ""
        sql = (
            f"{SELECT} WHERE stream = %s AND version {beyond} %s AND position {beyond} %s {only}"
            f"ORDER BY version {order} LIMIT %s"
        )
        return sql, (stream, page.version, page.position, *([types] if types else []), page.size)
    nearest = f"position {beyond} %s ORDER BY position {order} LIMIT %s"
    if types:
        sql = (
            f"SELECT found.* FROM unnest(%s::text[]) AS asked(kind)"  # noqa: S608 - no text from outside
            f" CROSS JOIN LATERAL ({SELECT} WHERE type = asked.kind AND {nearest}) AS found"
            f" ORDER BY position {order} LIMIT %s"
        )
        return sql, (types, page.position, page.size, page.size)
    return f"{SELECT} WHERE {nearest}", (page.position, page.size)


def read_hashes(session: Session, *, after: int, upto: int | None) -> Iterator[bytes]:
    """Yield the hashes of events in the order of positions, as `EventLog.hashes` promises."""
    end = LAST if upto is None else upto
    return hashes_in_order(lambda reached, size: session.rows(_HASHES, (reached, end, size)), after=after)


def standing(session: Session, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
    """Read the head and the version of each stream, 0 for one that does not exist, at one moment."""
    names = list(streams)
    for position, digest, versions in session.rows(_STANDING, (names,)):
        return Head(position, digest), dict(zip(names, versions, strict=True))
    return Head(0, GENESIS), dict.fromkeys(names, 0)
