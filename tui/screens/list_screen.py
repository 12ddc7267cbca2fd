"""What screens share that list things, and tell below the list about the one under the cursor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from tui.screens.base import PlaceScreen
from tui.text.rows import EachRow
from tui.views.frame import unmatched_rows
from tui.widgets.rows_view import LineView, RowList, RowsView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from tui.screens.addresses import ScreenAddress
    from tui.screens.host_protocol import Host
    from tui.text.rows import Row

Item = TypeVar("Item")


class ListScreen(PlaceScreen, Generic[Item]):
    """A screen whose first pane is a list under a header; subclasses keep what is listed in `_shown`.

    They list in `list_items` what holds `needle`, and tell in `show_selected` about the item under the cursor.
    """

    _shown: Sequence[Item] = ()

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._target = place.item
        """What the cursor returns to once it is listed again."""

    def panes(self) -> ComposeResult:
        """Lay out the list above what is known of one item."""
        listed, detail = self.PANES
        yield LineView(id="columns")
        yield RowList(id=listed[1:])
        yield RowsView(id=detail[1:], classes="below")

    def show_header(self, header: Callable[[int], Sequence[Row]], *, empty: tuple[str, str] | None) -> None:
        """Write the names of the columns; `empty` is the notice and its hint where there is nothing to list."""
        self.query_one("#columns", LineView).show(header)
        self.say(*(empty or ("", "")))

    def show_list(self, shown: Sequence[Item], row: Callable[[Item, int], Row]) -> None:
        """List items; `row` writes one of them for a width once it comes into view."""
        self._shown = shown
        self._table.show(lambda width: EachRow(len(shown), lambda at: row(shown[at], width)))

    def show_detail(self, rows: Callable[[Item, int], Sequence[Row]], *, home: bool = True) -> None:
        """Show what is known of the selected item; a notice where nothing that is listed holds the text."""
        item = self._selected
        layout = partial(unmatched_rows, self.needle) if item is None else partial(rows, item)
        self.query_one(self.PANES[1], RowsView).show(layout, home=home)

    def return_to_target(self, is_named: Callable[[Item, str], bool]) -> None:
        """Put the cursor on the first item that the target names; where none is listed, it stays."""
        named = (at for at, item in enumerate(self._shown) if self._target and is_named(item, self._target))
        self._table.cursor = next(named, self._table.cursor)

    def list_items(self) -> None:
        """List what is asked for, and put the cursor on the target where it is listed."""
        raise NotImplementedError

    def show_selected(self) -> None:
        """Tell about the item that the cursor is on."""
        raise NotImplementedError

    def find(self, *, done: bool) -> None:
        """List the items that hold the text; the cursor stays on its item where that is listed."""
        self.list_items()
        if done:
            self._target = self.cursor_name
        self.show_selected()

    def on_row_list_moved(self) -> None:
        """Tell about another item, to which the cursor returns from now on."""
        if self.focused is self._table:  # else a filter moved it, which may be forgotten again
            self._target = self.cursor_name
        self.show_selected()

    @property
    def cursor_name(self) -> str:
        """What the place says that the cursor is on."""
        return self.place.item

    @property
    def _table(self) -> RowList:
        return self.query_one(self.PANES[0], RowList)

    @property
    def _selected(self) -> Item | None:
        """What the cursor is on."""
        shown = self._shown
        return shown[min(self._table.cursor, len(shown) - 1)] if shown else None
