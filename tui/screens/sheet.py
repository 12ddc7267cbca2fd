"""Sheets: a full page of rows above the screen that opened it: evidence, a diff, the keys."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.screen import ModalScreen

from events.errors import GermlineError
from tui.reads.evidence import read_grounds
from tui.text.numbers import count
from tui.views.diff import changes, diff_rows
from tui.views.evidence import evidence_rows
from tui.views.frame import bar_row
from tui.views.trend_rows import runs_rows
from tui.views.why import tried_rows
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import SHEET
from tui.widgets.rows_view import LineView, RowsView
from tui.widgets.sized_screen import SizedScreen
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from registry.query.diffs import DiffLine
    from registry.state.candidate import Candidate
    from strategies.pool.evidence_context import EvidenceContext
    from tui.reads.trend_series import HeatCell
    from tui.screens.base import PlaceScreen
    from tui.screens.host_protocol import Host
    from tui.text.rows import Row
    from tui.views.evidence import Evidenced
    from tui.widgets.rows_view import Layout


class SheetScreen(SizedScreen[None], ModalScreen[None], inherit_bindings=False):
    """A page to read; any closing key goes back to the screen below."""

    BINDINGS: ClassVar[list[BindingType]] = [*SHEET]

    def __init__(self, crumbs: Sequence[str], layout: Layout, host: Host, note: str = "") -> None:
        super().__init__(plain=host.settings.ascii)
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


class EvidenceSheet(SheetScreen):
    """All evidence behind something; what is around each record is read once the page is there."""

    def __init__(self, crumbs: Sequence[str], what: Evidenced, there: Sequence[bool] | None, host: Host) -> None:
        note = f"{len(what.evidence)} kept" + (f", {len(what.erased)} erased" if what.erased else "")
        super().__init__([*crumbs, "evidence"], self._page_rows, host, note)
        self._what = what
        self._there = there
        self._contexts: Sequence[EvidenceContext | None] = ()

    def on_mount(self) -> None:
        """Show the page, and read on."""
        super().on_mount()
        self._read_contexts()

    def stand(self, what: Evidenced, there: Sequence[bool] | None) -> None:
        """Show what is known by now of where the records are."""
        self._what, self._there = what, there
        self.show(self._page_rows)

    @reading("contexts")
    async def _read_contexts(self) -> None:
        from strategies.pool.evidence_context import episodes_of, read_contexts  # noqa: PLC0415 - it reads logs

        evidence = [kept.evidence for kept in self._what.evidence]
        with suppress(GermlineError):  # the screen below says what is wrong with the registry
            known = await self._host.access.read(partial(episodes_of, evidence=evidence))
            self._contexts = await asyncio.to_thread(read_contexts, evidence, known)
            self.show(self._page_rows)

    def _page_rows(self, width: int) -> Sequence[Row]:
        return evidence_rows(self._what, self._there, width, self._contexts)


async def show_grounds(screen: PlaceScreen, crumbs: Sequence[str], *, candidate: str, fingerprint: str) -> None:
    """Show all evidence behind a candidate, else behind a signal, above a screen; says so where there is none."""
    grounds = await screen.ask(partial(read_grounds, candidate=candidate, fingerprint=fingerprint))
    if grounds is None:
        screen.notify("no evidence is kept behind this", timeout=2)
    else:
        there = await screen.standing(grounds.evidence)
        screen.app.push_screen(EvidenceSheet(crumbs, grounds, there, screen.host))


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
