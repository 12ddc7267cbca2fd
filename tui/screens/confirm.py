"""Asking: a change waits for a reason and a yes, and shows what it appends before it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.screen import ModalScreen
from textual.widgets import Input

from events.errors import GermlineError
from tui.session.changes import ShownOtherwiseError
from tui.views.diff import appended_rows
from tui.views.frame import bar_row, notice_rows
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import ASK
from tui.widgets.rows_view import LineView, RowsView
from tui.widgets.sized_screen import SizedScreen
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.screens.host_protocol import Host
    from tui.session.changes import Change, ChangePreview


class ConfirmChange(SizedScreen[None], ModalScreen[None], inherit_bindings=False):
    """Takes a reason, rehearses the change with it, and appends it at the next enter; esc changes nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [*ASK]

    def __init__(self, change: Change, host: Host) -> None:
        super().__init__(plain=host.settings.ascii)
        self._change = change
        self._host = host
        self._shown: ChangePreview | None = None
        self._is_appending = False

    def compose(self) -> ComposeResult:
        """Lay out the question."""
        yield LineView(id="top")
        yield Input(self._change.reason, placeholder="the reason: it is kept with the event", compact=True)
        yield RowsView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        """Ask for the reason."""
        host = self._host
        self.query_one("#top", LineView).show(
            lambda width: bar_row([self._change.title], host.access.state.preset, "", width, live=host.access.live)
        )
        self._say("nothing is appended yet", "type a reason and press enter: what would be appended is shown next")
        self.query_one(Input).focus()

    def _say(self, message: str, hint: str) -> None:
        self.query_one("#page", RowsView).show(lambda width: notice_rows(message, hint, width), home=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer a yes only to what was shown."""
        if action in {"append", "reword"}:
            return self._shown is not None and not self._is_appending
        if action == "close":  # what is on its way to the log is not called back
            return not self._is_appending
        return super().check_action(action, parameters)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Show what the change would append."""
        event.stop()
        if event.value.strip():
            self._rehearse(event.value.strip())
        else:
            self._say("a reason is missing", "type one: it is kept with the event")

    def on_input_changed(self) -> None:
        """Let what was shown count no longer: it names another reason."""
        self._shown = None
        self.refresh_bindings()

    @reading("ask")
    async def _rehearse(self, reason: str) -> None:
        try:
            outcome = await self._host.access.rehearse(self._change, reason)
        except GermlineError as error:
            self._say(error.message, error.hint)
            return
        self._show(outcome)

    def _show(self, outcome: ChangePreview, message: str = "") -> None:
        """Show what would be appended, for a yes to it."""
        page = self.query_one("#page", RowsView)
        page.show(lambda width: appended_rows(outcome, width, message), home=True)
        self._shown = outcome if outcome.envelopes else None
        page.focus()
        self.refresh_bindings()

    def action_reword(self) -> None:
        """Change the reason; what was shown counts no longer."""
        self._shown = None
        self.query_one(Input).focus()
        self.refresh_bindings()

    @reading("ask")
    async def action_append(self) -> None:
        """Append what was shown."""
        shown, self._shown = self._shown, None
        if shown is None:
            return
        self._is_appending = True  # a second enter does not append it twice
        self.refresh_bindings()
        try:
            reason = self.query_one(Input).value.strip()
            outcome = await self._host.access.carry_out(self._change, reason, shown)
        except ShownOtherwiseError as error:
            self._show(error.outcome, error.message)
            return
        except GermlineError as error:
            self._say(error.message, error.hint)
            self.query_one(Input).focus()
            return
        finally:
            self._is_appending = False
            self.refresh_bindings()
        self._host.follow()
        self.app.notify(_done_words(self._change, outcome), timeout=4)
        self.dismiss()

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss()


def _done_words(change: Change, outcome: ChangePreview) -> str:
    """Say what was appended and written; that nothing was, where somebody else was quicker."""
    if not outcome.envelopes:
        return "nothing was appended: it is so already"
    written = f"\nwritten: {', '.join(outcome.written)}" if outcome.written else ""
    return f"{change.done}, event {outcome.envelopes[-1].position}{written}"
