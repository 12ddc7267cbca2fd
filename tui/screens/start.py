"""The Start screen: what costs most, what worked next, and the lines that a person takes, edits or refuses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.screen import ModalScreen
from textual.widgets import Input

from tui.facts.start import page_sentence
from tui.reads.start import read_start
from tui.screens.addresses import ScreenAddress
from tui.screens.base import PlaceScreen
from tui.session.take_lesson import refusing, taking
from tui.text.numbers import count
from tui.text.rows import EachRow
from tui.views.frame import bar_row, notice_rows, unmatched_rows
from tui.views.start import start_header, start_row, thing_rows
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import LINE, START
from tui.widgets.rows_view import TONES, LineView, RowList, RowsView

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.reads.start import StartPage, StartThing
    from tui.screens.host_protocol import Host


class StartScreen(PlaceScreen):
    """Lists what costs most: things with a line first, the costliest first."""

    BINDINGS: ClassVar[list[BindingType]] = [*START]
    FIND_HINT = "show things that hold …"
    PANES = ("#start", "#thing")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._page: StartPage | None = None
        self._shown: list[StartThing] = []

    def panes(self) -> ComposeResult:
        """Lay out the list above the thing."""
        yield LineView(id="columns")
        yield RowList(id="start")
        yield RowsView(id="thing", classes="below")

    async def load(self) -> None:
        """Read the sessions for what they show."""
        settings = self.host.settings
        ask = partial(read_start, project=settings.project, personal_data=settings.personal_data)
        self._page = page = await self.host.access.study(ask)
        self.query_one("#columns", LineView).show(start_header)
        if not page.sessions:
            self.say("no session was read yet", "germline start PATH")
        elif not page.things and not page.without_line:
            self.say(page_sentence(page), "germline scan   reads what agents wrote since")
        else:
            self.say("", "")
        self._list()
        self._show_thing()

    def _list(self) -> None:
        wanted, page = self.needle.casefold(), self._page
        every = (*page.things, *page.without_line) if page else ()
        self._shown = shown = [
            thing for thing in every if wanted in f"{thing.lesson.line} {thing.lesson.template}".casefold()
        ]
        self._table.show(lambda width: EachRow(len(shown), lambda at: start_row(shown[at], width)))
        self.show_bar()

    def find(self, *, done: bool) -> None:
        """List the things that hold the text."""
        del done
        self._list()
        self._show_thing()

    def on_row_list_moved(self) -> None:
        """Tell about another thing."""
        self._show_thing()

    def on_row_list_chosen(self) -> None:
        """Show the session of a thing that was clicked twice."""
        self.action_sessions()

    def _show_thing(self) -> None:
        thing = self._thing
        self.query_one("#thing", RowsView).show(
            lambda width: thing_rows(thing, width) if thing else unmatched_rows(self.needle, width), home=True
        )
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def _table(self) -> RowList:
        return self.query_one("#start", RowList)

    @property
    def _thing(self) -> StartThing | None:
        return self._shown[min(self._table.cursor, len(self._shown) - 1)] if self._shown else None

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
        return self._thing.lesson.line if self._thing else ""

    @property
    def command(self) -> str:
        """The command that shows the page."""
        return "germline start"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the thing under the cursor allows."""
        if action in {"take", "refuse", "edit"}:
            return False if self.has_notice else bool(self._thing and self._thing.lesson.line) or None
        if action == "sessions":
            return False if self.has_notice else self._thing is not None or None
        return super().check_action(action, parameters)

    def action_take(self) -> None:
        """Ask for the reason, and take the line as seen."""
        if self._thing:
            self.ask_about(taking(self._thing))

    def action_refuse(self) -> None:
        """Ask for the reason, and refuse the line for good."""
        if self._thing:
            self.ask_about(refusing(self._thing))

    def action_edit(self) -> None:
        """Let the line be put in other words, then ask as for taking it."""
        thing = self._thing
        if thing is None:
            return

        def edited(line: str | None) -> None:
            if line:
                self.ask_about(taking(thing, line))

        self.app.push_screen(EditLine(thing.lesson.line, self.host), edited)

    def action_sessions(self) -> None:
        """Show the sessions, on one that shows the thing best."""
        thing = self._thing
        if thing:
            best = thing.excerpt.session if thing.excerpt else thing.lesson.sessions[0]
            self.host.go(ScreenAddress("sessions", item=best[:12]))


class EditLine(ModalScreen[str | None], inherit_bindings=False):
    """Takes other words for a line; esc keeps it as it is."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*TONES}
    BINDINGS: ClassVar[list[BindingType]] = [*LINE]

    def __init__(self, line: str, host: Host) -> None:
        super().__init__(classes="-ascii" if host.settings.ascii else None)
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
