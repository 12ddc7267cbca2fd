"""The Usage screen: which lines of skills and instructions earn their place, and why one does or does not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from tui.facts.usage import worth_sentence
from tui.reads.usage import read_usage
from tui.screens.addresses import ScreenAddress
from tui.screens.base import PlaceScreen
from tui.text.numbers import count
from tui.text.rows import EachRow
from tui.views.frame import unmatched_rows
from tui.views.usage import UsageLine, usage_detail_rows, usage_header, usage_lines, usage_row
from tui.widgets.keys import USAGE
from tui.widgets.rows_view import LineView, RowList, RowsView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from registry.query.library import Library
    from strategies.usage.line_usage import FileUsage
    from tui.screens.host_protocol import Host


class UsageScreen(PlaceScreen):
    """Lists the lines of one skill, or of all, those first that hurt."""

    BINDINGS: ClassVar[list[BindingType]] = [*USAGE]
    FIND_HINT = "show lines that hold …"
    PANES = ("#lines", "#line")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._files: tuple[FileUsage, ...] = ()
        self._shown: Sequence[UsageLine] = ()
        self._witnessed_only = False
        self._target = place.item

    def panes(self) -> ComposeResult:
        """Lay out the list above what is known of a line."""
        yield LineView(id="columns")
        yield RowList(id="lines")
        yield RowsView(id="line", classes="below")

    async def load(self) -> None:
        """Measure the lines; the cursor stays on the one it is on."""
        self._target = self.place.item
        self._files = await self.host.access.study(self._read)
        self.query_one("#columns", LineView).show(usage_header)
        if usage_lines(self._files):
            self.say("", "")
        else:
            self.say("no skill and no instructions say anything yet", "germline import CLAUDE.md")
        self.find(done=True)

    def _read(self, library: Library) -> tuple[FileUsage, ...]:
        names = [self._place.skill] if self._place.skill else library.names()
        settings = self.host.settings
        return read_usage(
            library, names, self.host.now(), seed=settings.seed, logs=settings.logs, sources=settings.sources
        )

    def find(self, *, done: bool) -> None:
        """List the lines that hold the text; the cursor stays on its line where that is listed."""
        wanted = self.needle.casefold()
        self._shown = shown = [
            line
            for line in usage_lines(self._files)
            if wanted in f"{line.usage.worth.verdict} {line.usage.line.text}".casefold()
            and not (self._witnessed_only and line.usage.worth.verdict == "unwitnessed")
        ]
        self._table.show(lambda width: EachRow(len(shown), lambda at: usage_row(shown[at], width)))
        places = [line.address for line in shown]
        self._table.cursor = places.index(self._target) if self._target in places else self._table.cursor
        if done:
            self._target = self.place.item
        self._show_detail()
        self.show_bar()

    def on_row_list_moved(self) -> None:
        """Tell about another line."""
        if self.focused is self._table:  # else a filter moved it, which may be forgotten again
            self._target = self.place.item
        self._show_detail()

    def _show_detail(self) -> None:
        line = self._one
        rows = (
            partial(usage_detail_rows, line, worth_sentence(self._files))
            if line
            else partial(unmatched_rows, self.needle)
        )
        self.query_one("#line", RowsView).show(rows, home=True)
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def _table(self) -> RowList:
        return self.query_one("#lines", RowList)

    @property
    def _one(self) -> UsageLine | None:
        return self._shown[min(self._table.cursor, len(self._shown) - 1)] if self._shown else None

    @property
    def place(self) -> ScreenAddress:
        """The place with the line that the cursor is on."""
        line = self._one if self.is_mounted else None
        return ScreenAddress("usage", self._place.skill, item=line.address if line else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Usage, and of which skill."""
        return ["Usage", *([self._place.skill] if self._place.skill else [])]

    @property
    def note(self) -> str:
        """What all lines are worth, in one sentence."""
        shown = f"{count(len(self._shown), 'line')} shown. " if self.needle or self._witnessed_only else ""
        return f"{shown}{worth_sentence(self._files)}" if self._files else ""

    @property
    def copied_id(self) -> str:
        """The line as `why` takes it."""
        return self._one.address if self._one else ""

    @property
    def command(self) -> str:
        """The command that tells about the line, to which a correction can be added."""
        if self._one is None:
            return "germline usage"
        return f"germline usage {self._one.file.capsule.name} --line {self._one.usage.line.number}"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is."""
        if action in {"why", "only_witnessed"}:
            return False if self.has_notice else bool(self._files) or None
        return super().check_action(action, parameters)

    def action_why(self) -> None:
        """Show the line in its skill, and why it is there."""
        if line := self._one:
            self.host.go(ScreenAddress("why", line.file.capsule.name, line=line.usage.line.number))

    def on_row_list_chosen(self) -> None:
        """Show the line that was clicked twice."""
        self.action_why()

    def action_only_witnessed(self) -> None:
        """Change between lines of which logs could tell and all of them."""
        self._witnessed_only = not self._witnessed_only
        self.find(done=True)
