"""Reading events page by page: each page is one short query, so that writes between pages disturb nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from events.contents import hashes_in_order
from events.envelope import GENESIS, Envelope
from events.log import Head

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.postgres_session import Session

COLUMNS: Final = ", ".join(Envelope._fields)
"""The columns of the events table, in the order of an envelope's fields."""

SELECT: Final = f"SELECT {COLUMNS} FROM events"  # noqa: S608 - our own column names

PAGE: Final = 512
"""Rows read at once, as on SQLite: it bounds the memory of a reader."""

LAST: Final = 2**63 - 1
"""The largest bigint."""

_HASHES: Final = (
    "SELECT position, hash FROM events WHERE position > %s AND position <= %s ORDER BY position LIMIT %s"
)

STANDING: Final = """SELECT position, hash, ARRAY(
        SELECT coalesce((SELECT max(version) FROM events WHERE stream = asked.name), 0)
        FROM unnest(%s::text[]) WITH ORDINALITY AS asked(name, place) ORDER BY place)
    FROM events ORDER BY position DESC LIMIT 1"""
"""Where the log stands, and the versions of streams, in the order of their names as they are given."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events to read, in which direction: the question of `EventLog.read`."""

    stream: str | None = None
    types: tuple[str, ...] = ()
    newest_first: bool = False

    def page(self, position: int, version: int, size: int) -> tuple[str, tuple[object, ...]]:
        """Ask for the next events beyond a position, which stands at that version in its stream.

        Each question fits an index: positions lie sorted behind a type, and versions behind a stream.
        """
        beyond, order = ("<", "DESC") if self.newest_first else (">", "ASC")
        if self.stream is not None:
            only = "AND type = ANY(%s) " if self.types else ""
            sql = (
                f"{SELECT} WHERE stream = %s AND version {beyond} %s AND position {beyond} %s {only}"
                f"ORDER BY version {order} LIMIT %s"
            )
            return sql, (self.stream, version, position, *([list(self.types)] if self.types else []), size)
        nearest = f"position {beyond} %s ORDER BY position {order} LIMIT %s"
        if self.types:
            sql = (
                f"SELECT found.* FROM unnest(%s::text[]) AS asked(kind)"  # noqa: S608 - no text from outside
                f" CROSS JOIN LATERAL ({SELECT} WHERE type = asked.kind AND {nearest}) AS found"
                f" ORDER BY position {order} LIMIT %s"
            )
            return sql, (list(self.types), position, size, size)
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


def standing(session: Session, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
    """Read the head and the version of each stream, 0 for one that does not exist, at one moment."""
    names = list(streams)
    return as_standing(session.rows(STANDING, (names,)), names)


def as_standing(rows: list[tuple[Any, ...]], names: list[str]) -> tuple[Head, dict[str, int]]:
    """Read the answer to `STANDING`: no row where there is no event."""
    for position, digest, versions in rows:
        return Head(position, digest), dict(zip(names, versions, strict=True))
    return Head(0, GENESIS), dict.fromkeys(names, 0)
