"""The questions for events, in the SQL of SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.contents import hashes_in_order
from events.paging import LAST, SELECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.paging import Page
    from events.sqlite_session import Session

_HASHES: Final = "SELECT position, hash FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?"


def question(page: Page) -> tuple[str, tuple[object, ...]]:
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


def read_hashes(session: Session, *, after: int, upto: int | None) -> Iterator[bytes]:
    """Yield the hashes of events in the order of positions, as `EventLog.hashes` promises."""
    end = LAST if upto is None else upto
    return hashes_in_order(lambda reached, size: session.rows(_HASHES, (reached, end, size)), after=after)
