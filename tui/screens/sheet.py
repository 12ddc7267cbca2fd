"""Sheets: a full page of rows above the screen that opened it: evidence, a diff, the keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.screen import ModalScreen

from tui.reads.evidence import read_grounds
from tui.text.numbers import count
from tui.views.diff import changes, diff_rows
from tui.views.evidence import evidence_rows
from tui.views.frame import bar_row
from tui.views.trend_rows import runs_rows
from tui.views.why import tried_rows
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import SHEET
from tui.widgets.rows_view import TONES, LineView, RowsView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from registry.query.diffs import DiffLine
    from registry.state.candidate import Candidate
    from tui.reads.trend_series import HeatCell
    from tui.screens.base import PlaceScreen
    from tui.screens.host_protocol import Host
    from tui.views.evidence import Evidenced
    from tui.widgets.rows_view import Layout


class SheetScreen(ModalScreen[None], inherit_bindings=False):
    """A page to read; any closing key goes back to the screen below."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*TONES}
    BINDINGS: ClassVar[list[BindingType]] = [*SHEET]

    def __init__(self, crumbs: Sequence[str], layout: Layout, host: Host, note: str = "") -> None:
        super().__init__(classes="-ascii" if host.settings.ascii else None)
        self._host = host
        self._crumbs = crumbs
        self._note = note
        self._rows = layout

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield LineView(id="top")
        yield RowsView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        """Show the page."""
        self.query_one("#top", LineView).show(
            lambda width: bar_row(
                self._crumbs, self._host.access.state.preset, self._note, width, live=self._host.access.live
            )
        )
        self.show(self._rows)

    def show(self, layout: Layout) -> None:
        """Show another content."""
        self.query_one("#page", RowsView).show(layout)

    def action_close(self) -> None:
        """Go back to the screen below."""
        self.dismiss()


def evidence_sheet(
    crumbs: Sequence[str], what: Evidenced, there: Sequence[bool] | None, host: Host
) -> SheetScreen:
    """Make a sheet of all evidence behind something."""
    note = f"{len(what.evidence)} kept" + (f", {len(what.erased)} erased" if what.erased else "")
    return SheetScreen([*crumbs, "evidence"], lambda width: evidence_rows(what, there, width), host, note)


async def show_grounds(screen: PlaceScreen, crumbs: Sequence[str], *, candidate: str, fingerprint: str) -> None:
    """Show all evidence behind a candidate, else behind a signal, above a screen; says so where there is none."""
    grounds = await screen.ask(partial(read_grounds, candidate=candidate, fingerprint=fingerprint))
    if grounds is None:
        screen.notify("no evidence is kept behind this", timeout=2)
    else:
        there = await screen.standing(grounds.evidence)
        screen.app.push_screen(evidence_sheet(crumbs, grounds, there, screen.host))


def tried_sheet(crumbs: Sequence[str], tried: Sequence[Candidate], host: Host) -> SheetScreen:
    """Make a sheet of candidates, and of what became of each."""
    note = count(len(tried), "candidate")
    return SheetScreen([*crumbs, "tried"], lambda width: tried_rows(tried, width, host.now()), host, note)


def diff_sheet(crumbs: Sequence[str], diff: Sequence[DiffLine], host: Host) -> SheetScreen:
    """Make a sheet of a whole diff."""
    return SheetScreen(crumbs, lambda width: diff_rows(diff, width), host, changes(diff))


def runs_sheet(crumbs: Sequence[str], cell: HeatCell, host: Host) -> SheetScreen:
    """Make a sheet of the runs of a task under one version."""
    note = f"{cell.passed} of {len(cell.runs)} passed"
    return SheetScreen(crumbs, lambda width: runs_rows(cell.runs, width), host, note)
