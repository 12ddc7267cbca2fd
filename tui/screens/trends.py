"""The Trends screen: how a skill did from version to version, and which tasks passed under which."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from tui.reads.history import read_diff
from tui.screens.addresses import ScreenAddress
from tui.screens.base import PlaceScreen
from tui.screens.sheet import diff_sheet, runs_sheet
from tui.views.frame import unmatched_rows
from tui.views.heat_map import heat_header, nothing_ran, task_name
from tui.views.trend_rows import trend_rows, trends_header
from tui.widgets.heat_grid import HeatGrid
from tui.widgets.keys import TRENDS
from tui.widgets.rows_view import LineView, RowsView

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from registry.query.library import Library
    from tui.reads.trend_series import Trends


def _read(library: Library, skill: str) -> Trends:
    from tui.reads.trends import read_last_trends  # noqa: PLC0415 - the first screen needs none of it

    return read_last_trends(library, skill)


class TrendsScreen(PlaceScreen):
    """Shows scores, obedience and size by version, and a heat map of tasks whose cells open the runs."""

    BINDINGS: ClassVar[list[BindingType]] = [*TRENDS]
    FIND_HINT = "show tasks that hold …"
    PANES = ("#trends", "#tasks")
    FIRST = "#tasks"
    _trends: Trends | None = None
    _target: str = ""

    def panes(self) -> ComposeResult:
        """Lay out the table above the heat map."""
        yield LineView(id="columns")
        yield RowsView(id="trends")
        yield LineView(id="heads", classes="below")
        yield HeatGrid(id="tasks")

    async def load(self) -> None:
        """Read the trends; the cursor stays on its cell."""
        place = self.place
        self._trends = await self.host.access.study(partial(_read, skill=place.skill))
        trends = self._trends
        self.say("", "")
        self.query_one("#columns", LineView).show(trends_header)
        self.query_one("#trends", RowsView).show(partial(trend_rows, trends, place.skill))
        self._target = place.item or self._target
        self.find(done=False)
        versions, named = trends.tasks.versions, int(place.ref or 0)
        self._grid.column = versions.index(named) if named in versions else len(versions) - 1

    def find(self, *, done: bool) -> None:
        """List the tasks that hold the text; the cursor stays on its task where that is listed."""
        if self._trends:
            heat, wanted = self._trends.tasks, self.needle.casefold()
            rows = tuple(row for row in heat.rows if wanted in row.task.casefold())
            self._grid.show_heat(replace(heat, rows=rows))
            tasks = [row.task for row in rows]
            self._grid.cursor = tasks.index(self._target) if self._target in tasks else self._grid.cursor
            self._keep_target(is_asked=done)
            self.on_row_list_moved()

    def _keep_target(self, *, is_asked: bool) -> None:
        """Remember the task under the cursor, if a person put it there."""
        if is_asked and self._grid.task_row:
            self._target = self._grid.task_row.task

    def on_row_list_moved(self) -> None:
        """Name the columns that are in view, and say what the cursor is on."""
        grid = self._grid
        self._keep_target(is_asked=self.focused is grid)  # else a filter moved it, which may be forgotten again
        if self.needle and not grid.heat.rows:
            self.query_one("#heads", LineView).show(lambda width: unmatched_rows(self.needle, width)[1:2])
        elif grid.heat.versions:
            self.query_one("#heads", LineView).show(partial(heat_header, grid.heat, grid.column))
        else:
            self.query_one("#heads", LineView).show(nothing_ran)
        self.show_bar()
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def _grid(self) -> HeatGrid:
        return self.query_one(HeatGrid)

    @property
    def _version(self) -> int:
        """The version under the cursor, else the newest."""
        return self._grid.version or (self._trends.last if self._trends else 0)

    @property
    def place(self) -> ScreenAddress:
        """The place with the cell that the cursor is on."""
        grid = self._grid if self.is_mounted and self._trends else None
        if grid is None or grid.task_row is None:
            return self._place
        return ScreenAddress("trends", self._place.skill, str(grid.version), item=grid.task_row.task)

    @property
    def crumbs(self) -> list[str]:
        """Skills, the skill, trends."""
        return ["Skills", self._place.skill, "trends"]

    @property
    def note(self) -> str:
        """What became of the task under the cursor."""
        cell = self._grid.cell if self.is_mounted and self._trends else None
        return f"{cell.passed} of {len(cell.runs)} passed under @{self._version}" if cell else ""

    @property
    def copied_id(self) -> str:
        """The task."""
        task = self._grid.task_row
        return task.task if task else ""

    @property
    def command(self) -> str:
        """The command that shows the skill at the version."""
        return f"germline show {self._place.skill}@{self._version} --blame"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the cell under the cursor allows."""
        if action in {"runs", "travel", "why", "diff"}:
            if self.has_notice or self._trends is None:
                return False
            if action == "runs":
                return self._grid.cell is not None or None
            return len(self._grid.heat.versions) > 1 or None if action == "travel" else True
        return super().check_action(action, parameters)

    def action_runs(self) -> None:
        """Show the runs behind the cell."""
        task, cell = self._grid.task_row, self._grid.cell
        if task and cell:
            crumbs = ["Skills", f"{self._place.skill}@{self._version}", task_name(task.task), "runs"]
            self.app.push_screen(runs_sheet(crumbs, cell, self.host))

    def on_row_list_chosen(self) -> None:
        """Show the runs of a cell that was clicked twice."""
        self.action_runs()

    def action_travel(self, step: int) -> None:
        """Move the cursor through the versions."""
        self._grid.column += step

    def action_why(self) -> None:
        """Show the skill line by line, at the version under the cursor."""
        self.host.go(ScreenAddress("why", self._place.skill, str(self._version)))

    async def action_diff(self) -> None:
        """Show what the version under the cursor changed."""
        skill, new = self._place.skill, self._version
        diff = await self.ask(partial(read_diff, skill=skill, old=new - 1, new=new))
        if diff is not None:
            title = f"diff @{new - 1} @{new}" if new > 1 else "diff @1"
            self.app.push_screen(diff_sheet(["Skills", skill, title], diff, self.host))
