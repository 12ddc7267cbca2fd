"""What all screens share: the bars, the states of having nothing to show, finding, copying, closing."""

from __future__ import annotations

import asyncio
import shlex
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar, get_args

from textual.widgets import Static

from events.errors import GermlineError, UsageError
from tui.screens.addresses import View
from tui.views.frame import ScreenTab, bar_row, notice_rows, tab_rows
from tui.widgets.find_bar import FindBar
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import APP, SCREEN
from tui.widgets.panes import Panes
from tui.widgets.rows_view import LineView, RowsView
from tui.widgets.sized_screen import SizedScreen
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from registry.query.library import Library
    from registry.query.provenance import KeptEvidence
    from tui.screens.addresses import ScreenAddress
    from tui.screens.host_protocol import Host
    from tui.session.changes import Change

T = TypeVar("T")

TOO_SMALL = "too small: germline needs 60 × 16 cells"


class PlaceScreen(SizedScreen[None], inherit_bindings=False):
    """A screen that shows a place.

    Subclasses compose their `panes`, `load` what they show, and say what the cursor is on. A load that finds
    nothing, or fails, leaves a notice that says what to type next.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*SCREEN]
    FIND_HINT: ClassVar[str] = "text"
    PANES: ClassVar[tuple[str, str]] = ("", "")
    FIRST: ClassVar[str] = ""
    """The pane that has the focus first, where it is not the first one."""

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(plain=host.settings.ascii)
        self.host = host
        self._place = place
        self.needle = ""
        self.must_retry = False
        """Whether a read failed for no fault of the person's, so that it may be done by now."""

    def compose(self) -> ComposeResult:
        """Lay out the bars around the panes."""
        yield LineView(id="tabs")
        yield LineView(id="top")
        with Panes(*self.PANES, self.host.shares.get(self._place.view)):
            yield from self.panes()
        yield RowsView(id="notice", classes="-gone")
        yield Static(TOO_SMALL, id="too-small")
        yield FindBar(self.FIND_HINT)
        yield KeyBar()

    def on_mount(self) -> None:
        """Read what the place holds."""
        self.show_tabs()
        self.show_bar()
        if self.host.access.state.head:
            self.reload()
        else:  # the very first read loads half of germline: the frame is drawn before
            self.call_after_refresh(self.reload)

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
    def place(self) -> ScreenAddress:
        """The place with the cursor where it is."""
        return self._place

    @property
    def crumbs(self) -> list[str]:
        """The breadcrumb."""
        return ["Skills"]

    @property
    def note(self) -> str:
        """What is shown at the right of the top bar."""
        return ""

    @property
    def copied_id(self) -> str:
        """The id of what the cursor is on, "" where there is nothing to copy."""
        return ""

    @property
    def command(self) -> str:
        """The command that shows what the cursor is on."""
        return "germline status"

    @property
    def shown_version(self) -> int:
        """The earlier version of the skill that is shown, which one may go back to; 0 where there is none."""
        return 0

    # -- reading ---------------------------------------------------------------------------------------

    @reading("load")
    async def reload(self) -> None:
        """Read again: the place has changed, or the registry has."""
        self.must_retry = False
        try:
            await self.load()
        except GermlineError as error:
            self.tell(error)
        self.show_bar()
        self.refresh_bindings()
        self._count_waiting()

    @reading("waiting")
    async def _count_waiting(self) -> None:
        """Count what waits elsewhere, once what is shown here was read."""
        is_first = not self.host.waiting
        try:
            self.host.waiting = await self.host.access.waiting(self.host.settings.draw_every)
        except GermlineError:  # whatever is wrong, the notice of this screen says
            return
        if is_first:
            self.host.keep_what_is_there()  # what was imported and counted since the first frame stays as well
        self.show_tabs()
        if (behind := self.host.access.behind_s) is not None:
            self.set_timer(behind, self._count_waiting)

    async def ask(self, question: Callable[[Library], T]) -> T | None:
        """Answer a question about the registry; None where it cannot be, and a notice says why."""
        try:
            return await self.host.access.read(question)
        except GermlineError as error:
            self.tell(error)
            return None

    async def standing(self, kept: Sequence[KeptEvidence]) -> tuple[bool, ...]:
        """Tell of each record whether it still is in its log; where one is not, under any name of that log."""
        from tui.reads.evidence import still_there  # noqa: PLC0415 - the first frame needs none of it

        evidence = [record.evidence for record in kept]
        there = await asyncio.to_thread(still_there, evidence)
        if not all(there):
            stored = await self.ask(lambda library: library.log.maps()) or {}
            there = await asyncio.to_thread(still_there, evidence, lambda: stored)
        return there

    async def open_evidence(self, crumbs: Sequence[str], candidate: str, fingerprint: str = "") -> None:
        """Show all evidence behind a candidate, else behind a signal; says so where there is none."""
        from tui.screens.sheet import show_grounds  # noqa: PLC0415 - most who look ask for none

        await show_grounds(self, crumbs, candidate=candidate, fingerprint=fingerprint)

    def relayout(self) -> None:
        """Write every row again: the time has changed."""
        for rows in self.query(RowsView):
            rows.relayout()

    def tell(self, error: GermlineError) -> None:
        """Show a notice of what failed, until it no longer does."""
        self.must_retry = not isinstance(error, UsageError)
        self.say(error.message, error.hint)

    def say(self, message: str, hint: str) -> None:
        """Show a notice in place of the panes; an empty message shows the panes again."""
        notice, body = self.query_one("#notice", RowsView), self.query_one("#body")
        notice.set_class(not message, "-gone")
        body.set_class(bool(message), "-gone")
        if message:
            notice.show(lambda width: notice_rows(message, hint, width))
            self.set_focus(notice)
        elif self.focused is None or self.focused is notice:
            self.set_focus(self.query_one(self.FIRST or self.PANES[0], RowsView))

    @property
    def has_notice(self) -> bool:
        """Whether a notice takes the place of the panes."""
        return not self.query_one("#notice").has_class("-gone")

    def show_tabs(self) -> None:
        """Write the bar of screens again."""
        keys = {binding.id or "": binding.key for binding in APP} | dict(self.host.settings.keys)
        tabs = [
            ScreenTab(name, keys[f"view.{name}"].split(",")[0], self.host.waiting.get(name, 0))
            for name in get_args(View)
            if f"view.{name}" in keys
        ]
        self.query_one("#tabs", LineView).show(lambda width: tab_rows(tabs, self._place.view, width))

    def show_bar(self) -> None:
        """Write the top bar again."""
        access = self.host.access
        self.query_one("#top", LineView).show(
            lambda width: bar_row(self.crumbs, access.state.preset, self.note, width, live=access.live)
        )

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer nothing about what is not shown."""
        if action in {"find", "copy_id", "copy_command", "copy_address", "next_pane", "resize", "undo", "redo"}:
            return not self.has_notice and not isinstance(self.focused, FindBar)
        return super().check_action(action, parameters)

    def offered(self, subject: object) -> bool | None:
        """Tell whether to offer an action: not under a notice, and greyed out where its subject is missing."""
        return False if self.has_notice else bool(subject) or None

    def action_next_pane(self, step: int) -> None:
        """Move between the panes."""
        (self.focus_next if step > 0 else self.focus_previous)(RowsView)

    def action_resize(self, step: int) -> None:
        """Give the first pane more room, or less."""
        self.host.shares[self._place.view] = self.query_one(Panes).give(step)

    def action_find(self) -> None:
        """Ask for a text."""
        self.query_one(FindBar).open()

    def on_find_bar_typed(self, event: FindBar.Typed) -> None:
        """Look for what was typed."""
        changed = self.needle != event.text
        self.needle = event.text
        if event.done:
            self.set_focus(self.query_one(self.FIRST or self.PANES[0], RowsView))
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

    def action_copy_address(self) -> None:
        """Copy the command that opens this place on these screens."""
        address = self.place.address
        self.host.copy(f"germline ui --at {shlex.quote(address)}" if address else "germline ui")

    # -- changing --------------------------------------------------------------------------------------

    def ask_about(self, change: Change) -> None:
        """Ask for a reason and a yes, then append a change."""
        from tui.screens.confirm import ConfirmChange  # noqa: PLC0415 - most who look change nothing

        self.app.push_screen(ConfirmChange(change, self.host))

    async def action_undo(self) -> None:
        """Ask whether to take the last change back: of this skill, else of the registry."""
        await self._take_back("undo")

    async def action_redo(self) -> None:
        """Ask whether to take the last undo back."""
        await self._take_back("redo")

    async def _take_back(self, step: Literal["undo", "redo"]) -> None:
        from registry.actions.undo import changes_of  # noqa: PLC0415 - most who look change nothing
        from tui.session.changes import taking_back  # noqa: PLC0415 - as above

        skill = self.place.skill if self._place.view in {"skills", "history", "why"} else ""
        changes = await self.ask(partial(changes_of, skill=skill))
        if changes is None:
            return
        envelope = changes.undo if step == "undo" else changes.redo
        if envelope is None:
            where = f" in {skill}" if skill else ""
            self.notify(f"nothing to {step}{where}", timeout=2)
        else:
            self.ask_about(taking_back(envelope, skill, step))
