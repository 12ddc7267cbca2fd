"""The heat map of the Trends screen: tasks by versions, a sign for how the runs of each ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len

from tui.text.numbers import count
from tui.text.rows import RowPart, cell, clean, cut_row, width_of

if TYPE_CHECKING:
    from tui.reads.trend_series import HeatCell, HeatMap, HeatRow, MarkOfCell
    from tui.text.rows import Row

SIGNS: Final[dict[MarkOfCell, str]] = {"passed": "✓", "failed": "✗", "mixed": "±"}
SHOWN_CHARS: Final = 12
"""What is shown of a hash."""
_HASH_CHARS: Final = 64
_LEAST_TASK: Final = 24
_MOST_TASK: Final = 60
_LEGEND: Final = "    ✓ every run passed   ✗ none did   ± some did   · not run"


class Window(NamedTuple):
    """The part of a heat map that a width shows: cells of a task's name and of a column, and which columns."""

    task: int
    column: int
    start: int
    end: int

    def column_at(self, x: int) -> int | None:
        """Tell which column a cell of the screen is in; None where it is none."""
        at = self.start + (x - self.task - 2) // self.column
        return at if x >= self.task + 2 and at < self.end else None


def window_of(heat: HeatMap, column: int, width: int) -> Window:
    """Choose the columns to show: the last ones, else those from the cursor's on."""
    size = len(str(heat.versions[-1])) + 3 if heat.versions else 4
    longest = max((cell_len(clean(task_name(row.task))) for row in heat.rows), default=0) + 2
    task = min(max(longest, _LEAST_TASK), max(width // 3, width - len(heat.versions) * size - 3), _MOST_TASK)
    shown = max((width - task - 3) // size, 1)
    start = min(column, max(len(heat.versions) - shown, 0))
    return Window(task, size, start, min(start + shown, len(heat.versions)))


def heat_header(heat: HeatMap, column: int, width: int) -> list[Row]:
    """Name the columns of the heat map."""
    at = window_of(heat, column, width)
    tasks = f"  {count(len(heat.rows), 'task')}" + (f", {heat.left_out:,} left out" if heat.left_out else "")
    heads = (
        cell(f"@{heat.versions[index]}".center(at.column), at.column, "strong" if index == column else "dim")
        for index in range(at.start, at.end)
    )
    row: Row = (cell(tasks, at.task + 2, "dim"), *heads)
    legend = (RowPart(_LEGEND, "dim"),) if width_of(row) + len(_LEGEND) <= width else ()
    return [cut_row((*row, *legend), width)]


def nothing_ran(width: int) -> list[Row]:
    """Say that there is nothing to map, and what would change that."""
    message = RowPart(" no run with an outcome is known of these versions", "dim")
    commands = RowPart(" germline scan    germline outcome --queue", "accent")
    return [cut_row((message,), width), cut_row((commands,), width)]


def heat_row(row: HeatRow, heat: HeatMap, column: int, width: int, *, is_cursor: bool) -> Row:
    """Write one task; the cell under the cursor is in brackets."""
    at = window_of(heat, column, width)
    cells = (
        _cell(row.cells.get(heat.versions[index]), at.column, is_here=is_cursor and index == column)
        for index in range(at.start, at.end)
    )
    name = cell(clean(task_name(row.task)), at.task - 1, "strong" if is_cursor else "")
    return cut_row((RowPart("▸ " if is_cursor else "  ", "accent"), name, RowPart(" "), *cells), width)


def _cell(heat_cell: HeatCell | None, width: int, *, is_here: bool) -> RowPart:
    sign = SIGNS[heat_cell.mark] if heat_cell else "·"
    text = f"[{sign}]" if is_here else sign
    return RowPart(text.center(width), "here" if is_here else heat_cell.mark if heat_cell else "dim")


def task_name(task: str) -> str:
    """Name a task; of one that is known by its hash alone, the beginning."""
    return task[:SHOWN_CHARS] if len(task) == _HASH_CHARS and task.isalnum() else task
