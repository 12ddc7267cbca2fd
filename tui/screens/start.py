"""The Start screen: what costs most, what worked next, and the lines that a person takes, edits or refuses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.screen import ModalScreen
from textual.widgets import Input

from tui.facts.start import page_sentence
from tui.reads.start import StartThing, read_start
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.session.take_lesson import refusing, taking
from tui.text.numbers import count
from tui.views.frame import bar_row, notice_rows
from tui.views.start import start_header, start_row, thing_rows
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import LINE, START
from tui.widgets.rows_view import LineView, RowsView
from tui.widgets.sized_screen import SizedScreen

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.reads.start import StartPage
    from tui.screens.host_protocol import Host


class StartScreen(ListScreen[StartThing]):
    """Lists what costs most: things with a line first, the costliest first."""

    BINDINGS: ClassVar[list[BindingType]] = [*START]
    FIND_HINT = "show things that hold …"
    PANES = ("#start", "#thing")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._page: StartPage | None = None

    async def load(self) -> None:
        """Read the sessions for what they show."""
        settings = self.host.settings
        ask = partial(read_start, project=settings.project, personal_data=settings.personal_data)
        self._page = page = await self.host.access.study(ask)
        empty = None
        if not page.sessions:
            empty = ("no session was read yet", "germline start PATH")
        elif not page.things and not page.without_line:
            empty = (page_sentence(page), "germline scan   reads what agents wrote since")
        self.show_header(start_header, empty=empty)
        self.list_items()
        self.show_selected()

    def list_items(self) -> None:
        """List the things that are asked for."""
        wanted, page = self.needle.casefold(), self._page
        every = (*page.things, *page.without_line) if page else ()
        self.show_list(
            [thing for thing in every if wanted in f"{thing.lesson.line} {thing.lesson.template}".casefold()],
            start_row,
        )
        self.show_bar()

    def on_row_list_chosen(self) -> None:
        """Show the session of a thing that was clicked twice."""
        self.action_sessions()

    def show_selected(self) -> None:
        """Tell about a thing."""
        self.show_detail(thing_rows)
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def crumbs(self) -> list[str]:
        """Start."""
        return ["Start"]

    @property
    def note(self) -> str:
        """How many sessions were read, and how many lines there are to decide on."""
        page = self._page
        return f"{count(page.sessions, 'session')}, {count(len(page.things), 'line')} to decide" if page else ""

    @property
    def copied_id(self) -> str:
        """The line."""
        return self._selected.lesson.line if self._selected else ""

    @property
    def command(self) -> str:
        """The command that shows the page."""
        return "germline start"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the thing under the cursor allows."""
        if action in {"take", "refuse", "edit"}:
            return self.offered(self._selected and self._selected.lesson.line)
        if action == "sessions":
            return self.offered(self._selected)
        return super().check_action(action, parameters)

    def action_take(self) -> None:
        """Ask for the reason, and take the line as seen."""
        if self._selected:
            self.ask_about(taking(self._selected))

    def action_refuse(self) -> None:
        """Ask for the reason, and refuse the line for good."""
        if self._selected:
            self.ask_about(refusing(self._selected))

    def action_edit(self) -> None:
        """Let the line be put in other words, then ask as for taking it."""
        thing = self._selected
        if thing is None:
            return

        def edited(line: str | None) -> None:
            if line:
                self.ask_about(taking(thing, line))

        self.app.push_screen(EditLine(thing.lesson.line, self.host), edited)

    def action_sessions(self) -> None:
        """Show the sessions, on one that shows the thing best."""
        thing = self._selected
        if thing:
            best = thing.excerpt.session if thing.excerpt else thing.lesson.sessions[0]
            self.host.go(ScreenAddress("sessions", item=best[:12]))


class EditLine(SizedScreen[str | None], ModalScreen[str | None], inherit_bindings=False):
    """Takes other words for a line; esc keeps it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [*LINE]

    def __init__(self, line: str, host: Host) -> None:
        super().__init__(plain=host.settings.ascii)
        self._line = line
        self._host = host

    def compose(self) -> ComposeResult:
        """Lay out the question."""
        yield LineView(id="top")
        yield Input(self._line, placeholder="the line, in your own words", compact=True, select_on_focus=False)
        yield RowsView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        """Put the cursor into the line."""
        state = self._host.access.state
        self.query_one("#top", LineView).show(
            lambda width: bar_row(["Start", "edit"], state.preset, "", width, live=self._host.access.live)
        )
        self.query_one("#page", RowsView).show(
            lambda width: notice_rows("nothing is taken yet", "change the line and press enter", width), home=True
        )
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on with the words."""
        event.stop()
        self.dismiss(" ".join(event.value.split()) or None)

    def action_close(self) -> None:
        """Leave the line as it is."""
        self.dismiss(None)
