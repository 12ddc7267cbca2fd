"""The help sheet: every key that works on the screen below, and what the words on it mean, filterable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual.screen import ModalScreen
from textual.widgets import Input

from tui.text.rows import text_of
from tui.text.terms import terms_in
from tui.views.frame import KeyLine, help_rows
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import HELP, SHEET
from tui.widgets.rows_view import RowsView
from tui.widgets.sized_screen import SizedScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import App, ComposeResult
    from textual.binding import BindingType
    from textual.screen import Screen

    from tui.text.terms import Term

_ORDER: Final = ("change", "find", "view", "trail", "copy", "pane", "move", "app")
"""The keys of the screen come first, and those that every screen has last, in this order."""


def key_lines(app: App[None], screen: Screen[object]) -> list[KeyLine]:
    """List the keys that work on a screen."""
    lines: dict[str, KeyLine] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.id and active.enabled:
            key = app.get_key_display(replace(binding, key_display=None)).replace("⏎", "enter")
            keys = f"{lines[binding.id].keys} {key}" if binding.id in lines else key
            lines[binding.id] = KeyLine(keys, binding.description, binding.tooltip, binding.id)
    return sorted(lines.values(), key=_place)


def terms_on(screen: Screen[object]) -> list[Term]:
    """List the terms that the rows in view use."""
    texts = [
        text_of(view.row(at))
        for view in screen.query(RowsView)
        if view.display and view.id != "tabs"
        for at in range(view.scroll_offset.y, min(view.scroll_offset.y + view.size.height, view.count))
    ]
    return terms_in("\n".join(texts))


def _place(line: KeyLine) -> int:
    group = line.key_id.partition(".")[0]
    return _ORDER.index(group) if group in _ORDER else -1


class HelpSheet(SizedScreen[None], ModalScreen[None], inherit_bindings=False):
    """Lists the keys of a screen, the terms in view, and the keys of all screens; typing filters them."""

    BINDINGS: ClassVar[list[BindingType]] = [*SHEET, *HELP]

    def __init__(self, lines: Sequence[KeyLine], terms: Sequence[Term], *, plain: bool) -> None:
        super().__init__(plain=plain)
        self._lines = lines
        self._terms = terms

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield Input(placeholder="type to filter the keys and the words", compact=True)
        yield RowsView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        """Show every key and term."""
        self.query_one("#page").can_focus = False
        self._show("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the keys and terms that hold what was typed."""
        self._show(event.value)

    def on_input_submitted(self) -> None:
        """Close at enter, which the input takes for itself."""
        self.dismiss()

    def _show(self, needle: str) -> None:
        page = self.query_one("#page", RowsView)
        own = [line for line in self._lines if _place(line) < 0]
        common = self._lines[len(own) :]
        page.show(lambda width: help_rows(own, common, self._terms, needle, width), home=True)

    def action_scroll(self, step: int) -> None:
        """Scroll the keys while the text is typed."""
        self.query_one("#page", RowsView).action_page(step)

    def action_close(self) -> None:
        """Go back to the screen below."""
        self.dismiss()
