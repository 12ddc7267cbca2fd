"""The help sheet: every key that works on the screen below, filterable."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.screen import ModalScreen
from textual.widgets import Footer, Input

from tui.keys import HELP, SHEET
from tui.views.help import KeyLine, help_rows
from tui.widgets.rows_view import RowsView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType


class HelpSheet(ModalScreen[None], inherit_bindings=False):
    """Lists the keys; typing filters them."""

    BINDINGS: ClassVar[list[BindingType]] = [*SHEET, *HELP]

    def __init__(self, lines: Sequence[KeyLine]) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield Input(placeholder="type to filter the keys", compact=True)
        yield RowsView(id="page")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show every key."""
        self.query_one("#page").can_focus = False
        self._show("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the keys that hold what was typed."""
        self._show(event.value)

    def _show(self, needle: str) -> None:
        self.query_one("#page", RowsView).show(lambda width: help_rows(self._lines, needle, width), home=True)

    def action_scroll(self, step: int) -> None:
        """Scroll the keys while the text is typed."""
        self.query_one("#page", RowsView).action_page(step)

    def action_close(self) -> None:
        """Go back to the screen below."""
        self.dismiss()
