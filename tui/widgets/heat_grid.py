"""The heat map: rows of tasks, columns of versions, and a cursor on one cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.reactive import var

from tui.reads.trend_series import HeatMap
from tui.text.rows import EachRow
from tui.views.heat_map import heat_row, window_of
from tui.widgets.rows_view import RowList

if TYPE_CHECKING:
    from textual import events

    from tui.reads.trend_series import HeatCell, HeatRow


class HeatGrid(RowList):
    """Draws a heat map; keys move through tasks, the screen moves the column."""

    column: var[int] = var(0)

    def __init__(self, *, id: str) -> None:  # noqa: A002 - as every widget
        super().__init__(id=id)
        self._heat = HeatMap((), (), 0)

    def show_heat(self, heat: HeatMap) -> None:
        """Show another map; the cursor stays where it is, as far as there is such a cell."""
        self._heat = heat
        self.column = self.validate_column(self.column)
        self.show(
            lambda width: EachRow(
                len(heat.rows),
                lambda at: heat_row(heat.rows[at], heat, self.column, width, is_cursor=at == self.cursor),
            )
        )

    @property
    def heat(self) -> HeatMap:
        """The map that is shown."""
        return self._heat

    @property
    def task_row(self) -> HeatRow | None:
        """The task under the cursor."""
        rows = self._heat.rows
        return rows[min(self.cursor, len(rows) - 1)] if rows else None

    @property
    def version(self) -> int:
        """The version under the cursor; 0 where there is none."""
        return self._heat.versions[self.column] if self._heat.versions else 0

    @property
    def cell(self) -> HeatCell | None:
        """The cell under the cursor, None where nothing ran."""
        return self.task_row.cells.get(self.version) if self.task_row else None

    def is_cursor(self, index: int) -> bool:  # noqa: ARG002 - a cell is marked, not its row
        """Leave the row as it is: brackets mark the cell."""
        return False

    def validate_column(self, column: int) -> int:
        """Keep the cursor on a column."""
        return min(max(column, 0), max(len(self._heat.versions) - 1, 0))

    def watch_column(self, old: int, new: int) -> None:
        """Draw the columns that come into view, and say that the cursor moved."""
        if old != new:
            self.refresh()
            self.post_message(self.Moved(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the cell that was clicked; a second click opens it. A name leads to its row."""
        index = event.y + self.scroll_offset.y
        column = window_of(self._heat, self.column, self.width).column_at(event.x)
        if index >= self.count or column is None:
            return
        event.prevent_default()
        if (index, column) == (self.cursor, self.column):
            self.post_message(self.Chosen(self, index))
        self.cursor, self.column = index, column
