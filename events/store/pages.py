"""Reading events page by page, whichever database keeps them: what is asked for, and how pages follow each other.

Each page is one short query, so that writes between pages disturb nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from events.store.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COLUMNS: Final = ", ".join(Envelope._fields)
"""The columns of the events table, in the order of an envelope's fields."""

SELECT: Final = f"SELECT {COLUMNS} FROM events"  # noqa: S608 - our own column names

PAGE: Final = 512
"""Rows read at once: beyond it a page is no faster per row, and it bounds the memory of a reader."""

LAST: Final = 2**63 - 1
"""The largest integer that a database keeps."""


class Selection(NamedTuple):
    """Which events to read, in which direction: the question of `EventLog.read`."""

    stream: str | None = None
    types: tuple[str, ...] = ()
    newest_first: bool = False


class EventPage(NamedTuple):
    """The next `size` events of a selection beyond a position, whose event has that version in its stream."""

    selection: Selection
    position: int
    version: int
    size: int


def read_pages(
    ask: Callable[[EventPage], Sequence[tuple[Any, ...]]], selection: Selection, *, after: int, limit: int
) -> Iterator[Envelope]:
    """Yield the selected events in the order of positions; `after` and `limit` are those of `EventLog.read`.

    Shapes: ask returns the columns of the events of a page, at most its size.
    """
    position = (after or LAST) if selection.newest_first else after
    version = LAST if selection.newest_first else 0
    while limit:
        size = PAGE if limit < 0 else min(limit, PAGE)
        page = [Envelope._make(row) for row in ask(EventPage(selection, position, version, size))]
        yield from page
        if len(page) < size:
            return
        position, version = page[-1].position, page[-1].version
        limit -= len(page) if limit > 0 else 0
