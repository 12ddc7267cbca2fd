"""The line-API views that draw rows: one that scrolls, and one with a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, get_args

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.text.rows import BLANK, Tone, ascii_of, cut_row
from tui.text.terminal_text import STEERING
from tui.widgets.keys import MOVES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.style import Style
    from textual import events
    from textual.binding import BindingType
    from textual.css.styles import RenderStyles
    from textual.geometry import Region

    from tui.text.rows import Row

    Layout = Callable[[int], Sequence[Row]]

_ENDS: Final = dict.fromkeys(map(ord, "\t\n"), "\N{REPLACEMENT CHARACTER}")
TONES: Final = frozenset(f"tone--{tone}" for tone in get_args(Tone) if tone)
"""The component classes of a screen that shows rows: each of its panes would make them again at every focus."""


def _shown(text: str) -> str:
    """Make visible what a view let through: nothing that a log or a skill says steers the terminal."""
    if text.isascii() and text.isprintable():
        return text
    return STEERING.sub("\N{REPLACEMENT CHARACTER}", text).translate(_ENDS)


class RowsView(ScrollView, can_focus=True, inherit_bindings=False):
    """Draws rows that a layout makes for the width at hand; keys scroll, without animation."""

    BINDINGS: ClassVar[list[BindingType]] = [*MOVES]
    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - as every widget
        super().__init__(id=id, classes=classes)
        self._layout: Layout = lambda _width: ()
        self._rows: Sequence[Row] = ()
        self._drawn_width = 0
        self._styles_at_hand: dict[tuple[Tone, bool], Style] = {}

    # -- what is shown ---------------------------------------------------------------------------------

    def show(self, layout: Layout, *, home: bool = False) -> None:
        """Show what a layout makes of the width, now and whenever the width changes."""
        self._layout = layout
        self.relayout()
        if home:
            self.scroll_to(y=0, animate=False, force=True)

    def relayout(self) -> None:
        """Make the rows again: the width has changed, or the time has."""
        self._rows = self._layout(self.width)
        self.sized()

    def sized(self) -> None:
        """Tell the scroll bar how many rows there are, and draw them.

        Only where a pane is as high as its rows is the screen laid out again. Textual does so for every scrolling
        view, and draws the scroll bar in a second frame: 27 ms after the first one (measured 2026-11-22).
        """
        size = Size(self.width, self.count)
        if self.styles.is_auto_height:
            self.virtual_size = size
        else:
            self.set_reactive(RowsView.virtual_size, size)
            self._scroll_update(size)
        self.refresh()

    @property
    def width(self) -> int:
        """The cells that a row has."""
        return self.scrollable_content_region.width

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """Return one row, cut to the width."""
        return self._rows[index]

    def on_resize(self, _event: events.Resize) -> None:
        """Make the rows again for another width."""
        self.relayout()

    def get_component_styles(self, *names: str) -> RenderStyles:
        """Return how a tone is drawn on this screen."""
        return self.screen.get_component_styles(*names)

    # -- drawing ---------------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines of the viewport: what is the same for all of them is looked up once."""
        self._styles_at_hand.clear()
        self._drawn_width = self.width
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport."""
        index = y + self.scroll_offset.y
        is_cursor = self.is_cursor(index)
        row = cut_row(self.row(index), self._drawn_width) if index < self.count else BLANK
        plain = self.screen.has_class("-ascii")
        segments = [
            Segment(
                ascii_of(_shown(part.text)) if plain else _shown(part.text),
                self._style(part.tone, is_cursor=is_cursor),
            )
            for part in row
        ]
        return Strip(segments).adjust_cell_length(self.size.width, self._style("", is_cursor=is_cursor))

    def _style(self, tone: Tone, *, is_cursor: bool) -> Style:
        """Give the style of a tone, on the row of the cursor or on another one."""
        style = self._styles_at_hand.get((tone, is_cursor))
        if style is None:
            names = (*((f"tone--{tone}",) if tone else ()), *(("tone--cursor",) if is_cursor else ()))
            style = self._styles_at_hand[tone, is_cursor] = self.get_visual_style(*names).rich_style
        return style

    def is_cursor(self, index: int) -> bool:  # noqa: ARG002 - for those that have one
        """Tell whether the cursor is on a row."""
        return False

    # -- moving ----------------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """Scroll by rows."""
        self.scroll_to(y=self.scroll_offset.y + step, animate=False, force=True)

    def action_page(self, step: int) -> None:
        """Scroll by half a page."""
        self.action_move(step * max(self.size.height // 2, 1))

    def action_edge(self, step: int) -> None:
        """Scroll to the first or the last row."""
        self.scroll_to(y=0 if step < 0 else self.max_scroll_y, animate=False, force=True)


class LineView(RowsView, can_focus=False):
    """A single line of a screen: the top bar, the names of columns."""


class RowList(RowsView):
    """Rows with a cursor: keys move it, and the rows follow."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tone--cursor"}
    cursor: var[int] = var(0)

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: RowList, index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

        @property
        def control(self) -> RowList:
            """The list that the message is about."""
            return self.rows

    class Chosen(Moved):
        """A row was clicked while the cursor was on it."""

    def get_component_styles(self, *names: str) -> RenderStyles:
        """Return how a tone is drawn on this screen; the cursor as it is drawn where the focus is."""
        if self.COMPONENT_CLASSES.isdisjoint(names):
            return super().get_component_styles(*names)
        return ScrollView.get_component_styles(self, *names)

    def validate_cursor(self, index: int) -> int:
        """Keep the cursor on a row."""
        return min(max(index, 0), max(self.count - 1, 0))

    def watch_cursor(self, old: int, new: int) -> None:
        """Bring the cursor into view and say where it is."""
        if old != new:
            self.reveal()
            self.refresh()
            self.post_message(self.Moved(self, new))

    def sized(self) -> None:
        """Keep the cursor on a row when there are fewer."""
        super().sized()
        self.cursor = self.validate_cursor(self.cursor)

    def is_cursor(self, index: int) -> bool:
        """Tell whether the cursor is on a row."""
        return index == self.cursor and index < self.count

    def reveal(self) -> None:
        """Scroll as little as it takes to show the cursor; after a long jump, put it in the middle."""
        if self.top_to_show != self.scroll_offset.y:
            self.scroll_to(y=self.top_to_show, animate=False, force=True)

    @property
    def top_to_show(self) -> int:
        """The row that is at the top once the cursor is in view."""
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        if top <= self.cursor < top + height:
            return top
        up, down = self.cursor, self.cursor - height + 1
        far = min(abs(up - top), abs(down - top)) > height // 2
        y = self.cursor - height // 2 if far else up if self.cursor < top else down
        return min(max(y, 0), self.max_scroll_y)

    def on_resize(self, event: events.Resize) -> None:
        """Make the rows again for another width, and keep the cursor in view."""
        super().on_resize(event)
        self.reveal()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the row that was clicked; a second click chooses it."""
        index = event.y + self.scroll_offset.y
        if index >= self.count:
            return
        if index == self.cursor:
            self.post_message(self.Chosen(self, index))
        self.cursor = index

    def action_move(self, step: int) -> None:
        """Move the cursor by rows."""
        self.cursor += step

    def action_edge(self, step: int) -> None:
        """Move the cursor to the first or the last row."""
        self.cursor = 0 if step < 0 else self.count - 1
