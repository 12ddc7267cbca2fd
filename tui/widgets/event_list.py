"""The event list: any number of changes and events, of which only the pages in view are ever read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.message import Message

from tui.views.history import event_row
from tui.widgets.rows_view import RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.timer import Timer

    from tui.reads.history import EventLine
    from tui.text.rows import Row

PAGE: Final = 128
"""Events read together: more than a screen is high, and about 2 ms to read (measured)."""

_PATIENCE_S: Final = 0.05
"""How long a move waits for what is read for it: not so long that a person notices; a read takes 2 to 10 ms."""

_COUNTED: Final = 99
"""Events behind a row that are counted: more take too many cells."""

KEPT: Final = 32
"""Pages kept in memory: four thousand events, 2 MB; the oldest pages go first."""


class EventList(RowList):
    """Lists events by their positions, newest first; asks for a page when a row of it comes into view.

    A move is drawn once what it leads to was read, in one frame with it (`draw`), or a moment later without.
    """

    class Wanted(Message):
        """A page that is in view has not been read yet."""

        def __init__(self, page: int, positions: Sequence[int]) -> None:
            super().__init__()
            self.page = page
            self.positions = positions

    def __init__(self, now: Callable[[], str], *, id: str) -> None:  # noqa: A002 - as every widget
        super().__init__(id=id)
        self._now = now
        self.positions: Sequence[int] = ()
        self._pages: dict[int, list[EventLine]] = {}
        self._asked: set[int] = set()
        self._waiting: Timer | None = None
        self.marks: tuple[int, ...] = ()
        self.every = False
        self.behind: Callable[[int], int] = lambda _position: 0
        """How many events a row stands for beside its own."""
        self.is_unfolded: Callable[[int], bool] = lambda _position: False
        """Whether a row is one of the events of a change that was opened."""

    # -- what is shown ---------------------------------------------------------------------------------

    def show_events(self, positions: Sequence[int], *, grown: bool) -> None:
        """List the events at these positions; where the list has only `grown`, pages read before stay good."""
        self.positions = positions
        self._asked.clear()
        self._pages = {page: kept for page, kept in self._pages.items() if grown and len(kept) == PAGE}
        self.sized()

    def deliver(self, page: int, lines: list[EventLine]) -> None:
        """Take in a page that was asked for; one that the list has moved on from was asked for again."""
        if [line.position for line in lines] != list(self._wanted(page)):
            return
        self._asked.discard(page)
        self._pages[page] = lines
        while len(self._pages) > KEPT:
            del self._pages[next(iter(self._pages))]
        self.refresh()

    @property
    def lacking(self) -> Mapping[int, Sequence[int]]:
        """The pages around the cursor that were not read yet, each with the positions of its events."""
        top = self.top_to_show
        rows = (top, min(top + self.size.height, self.count) - 1)
        pages = dict.fromkeys(row // PAGE for row in rows if row >= 0)
        return {page: self._wanted(page) for page in pages if page not in self._pages}

    def watch_cursor(self, old: int, new: int) -> None:
        """Say where the cursor is; it is drawn there in a moment."""
        if old != new:
            self.post_message(self.Moved(self, new))
            self._waiting = self._waiting or self.set_timer(_PATIENCE_S, self.draw)

    def draw(self, pages: Mapping[int, list[EventLine]] | None = None) -> None:
        """Draw the cursor where it is by now, with the pages that were read for it."""
        for page, lines in (pages or {}).items():
            self.deliver(page, lines)
        if self._waiting:
            self._waiting.stop()
            self._waiting = None
        self.reveal()
        self.refresh()

    @property
    def count(self) -> int:
        """The number of events."""
        return len(self.positions)

    @property
    def position(self) -> int:
        """The position of the event under the cursor; 0 where there is none."""
        return self.positions[self.cursor] if self.positions else 0

    @property
    def line(self) -> EventLine | None:
        """The event under the cursor, None while it is being read."""
        page, at = divmod(self.cursor, PAGE)
        return self._pages[page][at] if page in self._pages else None

    def go_to(self, position: int) -> None:
        """Put the cursor on an event, or on the next older one that is listed."""
        low, high = 0, len(self.positions)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.positions[middle] > position else (low, middle)
        self.cursor = low

    def row(self, index: int) -> Row:
        """Write one event; a page that was not read yet is asked for, and drawn when it comes."""
        digits = len(str(self.positions[0])) + 1
        position = self.positions[index]
        mark = "◆" if position in self.marks else ""
        line = self._line_in_view(index)
        behind = self.behind(position)
        number = f"+{behind}" if behind <= _COUNTED else f">{_COUNTED}"
        fold = number if behind else " │" if self.is_unfolded(position) else ""
        return event_row(line, self.width, self._now(), digits=digits, mark=mark, fold=fold, every=self.every)

    def _line_in_view(self, index: int) -> EventLine | None:
        page, at = divmod(index, PAGE)
        lines = self._pages.get(page)
        if lines is None:
            if page not in self._asked:
                self._asked.add(page)
                self.post_message(self.Wanted(page, self._wanted(page)))
            return None
        return lines[at]

    def _wanted(self, page: int) -> Sequence[int]:
        return self.positions[page * PAGE : (page + 1) * PAGE]
