"""What all screens share: the bars, the states of having nothing to show, finding, copying, closing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import work
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Footer, Static

from events.errors import GermlineError
from tui.keys import SCREEN
from tui.views.bar import bar_row
from tui.views.notice import notice_rows
from tui.widgets.find_bar import FindBar
from tui.widgets.rows_view import Line, RowsView

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from registry.library import Library
    from tui.host import Host
    from tui.places import Place

T = TypeVar("T")

TOO_SMALL = "too small: germline needs 60 × 16 cells"


class PlaceScreen(Screen[None], inherit_bindings=False):
    """A screen that shows a place.

    Subclasses compose their `panes`, `load` what they show, and say what the cursor is on. A load that finds
    nothing, or fails, leaves a notice that says what to type next.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*SCREEN]
    FIND_HINT: ClassVar[str] = "text"

    def __init__(self, place: Place, host: Host) -> None:
        super().__init__()
        self.host = host
        self._place = place
        self.needle = ""

    def compose(self) -> ComposeResult:
        """Lay out the bars around the panes."""
        yield Line(id="top")
        with Container(id="body"):
            yield from self.panes()
        yield RowsView(id="notice", classes="-gone")
        yield Static(TOO_SMALL, id="too-small")
        yield FindBar(self.FIND_HINT)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Read what the place holds."""
        self.show_bar()
        self.reload()

    # -- for subclasses --------------------------------------------------------------------------------

    def panes(self) -> ComposeResult:
        """Lay out what the screen shows."""
        raise NotImplementedError

    async def load(self) -> None:
        """Read what the place holds and show it."""
        raise NotImplementedError

    def find(self, *, done: bool) -> None:
        """Act on another text to look for, `needle`."""
        raise NotImplementedError

    @property
    def place(self) -> Place:
        """The place with the cursor where it is."""
        return self._place

    @property
    def crumbs(self) -> list[str]:
        """The breadcrumb."""
        return ["Skills"]

    @property
    def note(self) -> str:
        """What stands at the right of the top bar."""
        return ""

    @property
    def copied_id(self) -> str:
        """The id of what the cursor is on, "" where there is nothing to copy."""
        return ""

    @property
    def command(self) -> str:
        """The command that shows what the cursor is on."""
        return "germline status"

    # -- reading ---------------------------------------------------------------------------------------

    @work(group="load", exclusive=True)
    async def reload(self) -> None:
        """Read again: the place has changed, or the registry has."""
        try:
            await self.load()
        except GermlineError as error:
            self.say(error.message, error.hint)
        self.show_bar()
        self.refresh_bindings()

    async def ask(self, question: Callable[[Library], T]) -> T | None:
        """Answer a question about the registry; None where it cannot be, and a notice says why."""
        try:
            return await self.host.read(question)
        except GermlineError as error:
            self.say(error.message, error.hint)
            return None

    def relayout(self) -> None:
        """Write every row anew: the time has changed."""
        for rows in self.query(RowsView):
            rows.relayout()

    def say(self, message: str, hint: str) -> None:
        """Show a notice in place of the panes; an empty message shows the panes again."""
        notice, body = self.query_one("#notice", RowsView), self.query_one("#body")
        notice.set_class(not message, "-gone")
        body.set_class(bool(message), "-gone")
        if message:
            notice.show(lambda width: notice_rows(message, hint, width))
            self.set_focus(notice)
        elif self.focused is None or self.focused is notice:
            self.set_focus(self.query("#body RowsView").exclude("Line").first(RowsView))

    @property
    def has_notice(self) -> bool:
        """Whether a notice stands in place of the panes."""
        return not self.query_one("#notice").has_class("-gone")

    def show_bar(self) -> None:
        """Write the top bar anew."""
        self.query_one("#top", Line).show(
            lambda width: bar_row(self.crumbs, self.host.preset, self.note, width, live=self.host.live)
        )

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer nothing about what is not shown."""
        if action in {"find", "copy_id", "copy_command", "next_pane"}:
            return not self.has_notice and not isinstance(self.focused, FindBar)
        return super().check_action(action, parameters)

    def action_next_pane(self, step: int) -> None:
        """Move between the panes."""
        (self.focus_next if step > 0 else self.focus_previous)(RowsView)

    def action_find(self) -> None:
        """Ask for a text."""
        self.query_one(FindBar).open()

    def on_find_bar_typed(self, event: FindBar.Typed) -> None:
        """Look for what was typed."""
        changed = self.needle != event.text
        self.needle = event.text
        if event.done:
            self.set_focus(self.query("#body RowsView").exclude("Line").first(RowsView))
        if changed or event.done:
            self.find(done=event.done)
            self.refresh_bindings()

    def action_leave(self) -> None:
        """Forget the text that was looked for, else go back."""
        if self.needle:
            self.query_one(FindBar).action_forget()
        else:
            self.host.step_back()

    def action_close(self) -> None:
        """Close this view for the one above it."""
        self.host.close_view()

    def action_copy_id(self) -> None:
        """Copy the id of what the cursor is on."""
        self.host.copy(self.copied_id)

    def action_copy_command(self) -> None:
        """Copy the command that shows what the cursor is on."""
        self.host.copy(self.command)
