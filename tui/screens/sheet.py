"""Sheets: a full page of rows above the screen that opened it: evidence, a diff, the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.screen import ModalScreen
from textual.widgets import Footer

from tui.keys import SHEET
from tui.views.bar import bar_row
from tui.widgets.rows_view import Line, RowsView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.host import Host
    from tui.widgets.rows_view import Layout


class Sheet(ModalScreen[None], inherit_bindings=False):
    """A page to read; any closing key goes back to the screen below."""

    BINDINGS: ClassVar[list[BindingType]] = [*SHEET]

    def __init__(self, crumbs: Sequence[str], layout: Layout, host: Host, note: str = "") -> None:
        super().__init__()
        self._host = host
        self._crumbs = crumbs
        self._note = note
        self._rows = layout

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield Line(id="top")
        yield RowsView(id="page")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show the page."""
        self.query_one("#top", Line).show(
            lambda width: bar_row(self._crumbs, self._host.preset, self._note, width, live=self._host.live)
        )
        self.show(self._rows)

    def show(self, layout: Layout) -> None:
        """Show another content."""
        self.query_one("#page", RowsView).show(layout)

    def action_close(self) -> None:
        """Go back to the screen below."""
        self.dismiss()
