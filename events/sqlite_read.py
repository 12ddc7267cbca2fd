"""Reading events page by page: each page is one short query, so that writes between pages disturb nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.contents import hashes_in_order
from events.envelope import Envelope
from events.sqlite_tables import LAST, PAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.sqlite_session import Session

COLUMNS: Final = ", ".join(Envelope._fields)
"""The columns of the events table, in the order of an envelope's fields."""

SELECT: Final = f"SELECT {COLUMNS} FROM events"  # noqa: S608 - our own column names

_HASHES: Final = "SELECT position, hash FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events to read, in which direction: the question of `EventLog.read`."""

    stream: str | None = None
    types: tuple[str, ...] = ()
    newest_first: bool = False

    def page(self, position: int, version: int, size: int) -> tuple[str, tuple[object, ...]]:
        """Ask for the next events beyond a position, which stands at that version in its stream.

        Each question names its index: positions lie sorted behind a type, and versions behind a stream.
        """
        beyond, order = ("<", "DESC") if self.newest_first else (">", "ASC")
        kinds = ", ".join("?" * len(self.types))
        if self.stream is not None:
            only = f"AND type IN ({kinds}) " if kinds else ""
            sql = (
                f"{SELECT} INDEXED BY events_by_stream WHERE stream = ? AND version {beyond} ?"
                f" AND position {beyond} ? {only}ORDER BY version {order} LIMIT ?"
            )
            return sql, (self.stream, version, position, *self.types, size)
        nearest = f"position {beyond} ? ORDER BY position {order} LIMIT ?"
        if self.types:
            each = f"SELECT * FROM (SELECT position FROM events WHERE type = ? AND {nearest})"  # noqa: S608 - no text from outside
            union = " UNION ALL ".join([each] * len(self.types))
            bounds = [value for kind in self.types for value in (kind, position, size)]
            return f"{SELECT} WHERE position IN ({union}) ORDER BY position {order} LIMIT ?", (*bounds, size)
        return f"{SELECT} WHERE {nearest}", (position, size)


def read_pages(session: Session, selection: Selection, *, after: int, limit: int) -> Iterator[Envelope]:
    """Yield the selected events in the order of positions; `after` and `limit` are those of `EventLog.read`."""
    position = (after or LAST) if selection.newest_first else after
    version = LAST if selection.newest_first else 0
    while limit:
        size = PAGE if limit < 0 else min(limit, PAGE)
        page = [Envelope._make(row) for row in session.rows(*selection.page(position, version, size))]
        yield from page
        if len(page) < size:
            return
        position, version = page[-1].position, page[-1].version
        limit -= len(page) if limit > 0 else 0


def read_hashes(session: Session, *, after: int, upto: int | None) -> Iterator[bytes]:
    """Yield the hashes of events in the order of positions, as `EventLog.hashes` promises."""
    end = LAST if upto is None else upto
    return hashes_in_order(lambda reached, size: session.rows(_HASHES, (reached, end, size)), after=after)
