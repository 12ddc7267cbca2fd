"""The History screen: the changes of a skill or of the registry, their events, and what each of them did."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on

from events.errors import GermlineError
from tui.reads.history import EventDetail, read_around, read_diff, read_lines, read_place, read_version_at
from tui.screens.addresses import ScreenAddress
from tui.screens.base import PlaceScreen
from tui.screens.sheet import diff_sheet
from tui.session.changes import reverting
from tui.views.frame import unmatched_rows
from tui.views.history import detail_rows, history_note, undoing_words
from tui.widgets.event_list import EventList
from tui.widgets.event_pages import Listing
from tui.widgets.keys import HISTORY
from tui.widgets.rows_view import RowsView
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.screens.host_protocol import Host

_MARKS: Final = 2


class HistoryScreen(PlaceScreen):
    """Lists changes newest first, an open one with its events; moving through versions shows the skill change."""

    BINDINGS: ClassVar[list[BindingType]] = [*HISTORY]
    FIND_HINT = "show events that hold …"
    PANES = ("#events", "#detail")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._listing = Listing(host.access, place.skill)
        self._target = place.event
        self._home = 0
        self._detail: EventDetail | None = None
        self._marks: dict[int, int] = {}

    def panes(self) -> ComposeResult:
        """Lay out the list beside the detail; a narrow screen stacks them."""
        events = EventList(self.host.now, id="events")
        events.behind, events.is_unfolded = self._listing.behind, self._listing.is_unfolded
        yield events
        yield RowsView(id="detail", classes="beside")

    # -- the list --------------------------------------------------------------------------------------

    async def load(self) -> None:
        """List the events; where they are listed already, add the new ones and go on where it stopped."""
        await (access := self.host.access).ready()
        listing, place = self._listing, self._place
        if listing.is_current and not self.has_notice:
            await self._add_newer()
            await self._scan()
            return
        self._target = self._events.position or self._target
        if not listing.is_current:
            self._forget()
            if place.skill and not place.event:
                self._target = await access.read(partial(read_place, skill=place.skill, ref=place.ref))
        self.say("", "")
        await self._list_all()

    def _forget(self) -> None:
        """Show nothing of a registry that another one took the place of."""
        if self._listing.positions:
            self._listing.forget()
            self._detail, self._target = None, 0
            self._marks.clear()
            self._events.marks = ()
            self._show_events()

    async def _list_all(self) -> None:
        """List from the newest event down; the cursor goes to the target once it is there."""
        self._listing.begin(self.needle)
        self._show_events()
        await self._scan()

    async def _scan(self) -> None:
        async for _ in self._listing.older():
            if self._target == self._place.event:  # that event was asked for, not its change
                await self._listing.unfold_around(self._target)
            self._show_events(grown=not self._listing.has_unfolded)

    async def _add_newer(self) -> None:
        if newest := await self._listing.newer():
            events = self._events
            self._target = newest if events.cursor == 0 else events.position
            self._show_events()

    def _show_events(self, *, grown: bool = False) -> None:
        events, positions = self._events, self._listing.positions
        before = events.position
        events.show_events(positions, grown=grown)
        if self._target and len(positions) and positions[-1] <= (row := self._listing.row_of(self._target)):
            events.go_to(row)
            self._target = 0
        if events.position != before or self._detail is None:
            self._read_detail()
        self.show_bar()

    def on_event_list_wanted(self, event: EventList.Wanted) -> None:
        """Read a page that came into view."""
        self._deliver(event.page, event.positions)

    @reading("pages", exclusive=False)
    async def _deliver(self, page: int, positions: Sequence[int]) -> None:
        lines = await self.ask(partial(read_lines, positions=positions))
        if lines is not None:
            self._events.deliver(page, lines)

    def find(self, *, done: bool) -> None:
        """List the events that hold the text; forgotten before it is complete, it leaves the cursor alone."""
        home = self._home or self._events.position
        self._home = 0 if done else home
        if not done or not self.needle:
            self._refilter(home)

    @reading("load")
    async def _refilter(self, home: int) -> None:
        try:
            self._target = home or self._target
            await self._list_all()
        except GermlineError as error:
            self.tell(error)

    # -- the detail ------------------------------------------------------------------------------------

    @on(EventList.Moved)
    def _read_detail(self) -> None:
        """Read the event that the cursor moved to."""
        if self.focused is self._events:  # else a filter moved it, which may be forgotten again
            self._home = 0
        self._show_detail(self._events.position)

    @reading("detail")
    async def _show_detail(self, position: int) -> None:
        asked = partial(read_around, position=position, pages=self._events.lacking)
        detail, pages = (await self.ask(asked) if position else None) or (None, {})
        self._events.draw(pages)
        self._detail = detail
        now, needle = self.host.now, self.needle
        self.query_one("#detail", RowsView).show(
            lambda width: detail_rows(detail, width, now()) if detail else unmatched_rows(needle, width), home=True
        )
        self.show_bar()
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def _events(self) -> EventList:
        return self.query_one("#events", EventList)

    @property
    def place(self) -> ScreenAddress:
        """The place with the event that the cursor is on."""
        position = self._events.position if self.is_mounted else 0
        return ScreenAddress("history", self._place.skill, event=position or self._place.event)

    @property
    def crumbs(self) -> list[str]:
        """Skills, the skill, history, the event."""
        skill = [self._place.skill] if self._place.skill else []
        version = [f"@{self._detail.version}"] if skill and self._detail and self._detail.version else []
        return ["Skills", *skill, *version, "history"]

    @property
    def note(self) -> str:
        """How many events are listed."""
        listing = self._listing
        return history_note(
            len(listing.positions),
            listing.changes,
            listing.total,
            scanning=listing.is_scanning,
            needle=self.needle,
        )

    @property
    def shown_version(self) -> int:
        """The version that the skill had at the event, where it is not the newest."""
        detail = self._detail
        return detail.version if detail and self._place.skill and detail.version < detail.newest else 0

    @property
    def copied_id(self) -> str:
        """The id of the event."""
        return self._detail.envelope.event_id if self._detail else ""

    @property
    def command(self) -> str:
        """The command that shows the skill as the event left it, else the log."""
        if self._detail and self._detail.version:
            return f"germline show {self._detail.skill}@{self._detail.version} --blame"
        return f"germline log {self._place.skill}".strip()

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the event under the cursor allows."""
        detail, skill = self._detail, self._place.skill
        offers = {
            "open": detail and (detail.skill or self._is_change),
            "why": detail and detail.skill,
            "diff": (detail and detail.diff) or len(self._marks) == _MARKS,
            "travel": skill,
            "mark": skill and detail and detail.is_version,
            "every": skill or (detail and detail.skill),
            "revert": self.shown_version,
            "evidence": detail and any(detail.grounds),
        }
        if action in offers:
            return self.offered(offers[action])
        return super().check_action(action, parameters)

    @property
    def _is_change(self) -> bool:
        """Whether the row under the cursor is that of a change with more events, or one of these."""
        position = self._events.position
        return self._listing.behind(position) > 0 or self._listing.is_unfolded(position)

    @reading("fold")
    async def action_open(self) -> None:
        """Show the events of a change, or the change alone again; of a single event, the skill as it left it."""
        listing, position = self._listing, self._events.position
        if not self._is_change:
            self.action_why()
            return
        if listing.is_unfolded(position):
            self._target = listing.fold(position)
        else:
            await listing.unfold(position)
            self._target = position
        self._show_events()
        self.refresh_bindings()

    def action_why(self) -> None:
        """Show the skill line by line, as the event left it."""
        detail = self._detail
        if detail:
            ref = str(max(detail.version, 1))
            self.host.go(ScreenAddress("why", detail.skill, ref, event=detail.envelope.position))

    def on_row_list_chosen(self) -> None:
        """Open what was clicked twice."""
        if self.check_action("open", ()):
            self.action_open()

    async def action_travel(self, step: int) -> None:
        """Go to the event that made the next older or newer version."""
        skill, position = self._place.skill, self._events.position
        target = await self.ask(partial(read_version_at, skill=skill, position=position, step=step))
        if target:
            self._events.go_to(self._listing.row_of(target))
        elif target == 0:
            self.notify("the first version" if step < 0 else "the newest version", timeout=2)

    def action_mark(self) -> None:
        """Mark the version under the cursor, or take its mark away; the older of three goes."""
        detail = self._detail
        if detail is None:
            return
        if self._marks.pop(detail.envelope.position, None) is None:
            self._marks[detail.envelope.position] = detail.version
        while len(self._marks) > _MARKS:
            del self._marks[next(iter(self._marks))]
        self._events.marks = tuple(self._marks)
        self._events.refresh()
        self.refresh_bindings()

    async def action_diff(self) -> None:
        """Show the whole change, or that between two marked versions."""
        detail, skill = self._detail, self._place.skill
        if len(self._marks) == _MARKS:
            old, new = sorted(self._marks.values())
            diff = await self.ask(partial(read_diff, skill=skill, old=old, new=new)) or ()
            title = f"diff @{old} @{new}"
        elif detail:
            diff, skill, title = detail.diff, detail.skill, f"event {detail.envelope.position}"
        else:
            return
        self.app.push_screen(diff_sheet(["Skills", skill, title], diff, self.host))

    def action_every(self) -> None:
        """Change between the events of one skill and those of the whole registry."""
        detail, position = self._detail, self._events.position
        skill = "" if self._place.skill or detail is None else detail.skill
        self.host.go(ScreenAddress("history", skill, event=position))

    async def action_undo(self) -> None:
        """Ask whether to take the last change back; on a move, say that this brings no folder back."""
        if self._detail and (undoing := undoing_words(self._detail)):
            self.notify(undoing, timeout=8)
        else:
            await super().action_undo()

    def action_revert(self) -> None:
        """Ask whether to go back to the version that the skill had at the event."""
        if self._detail and self.shown_version:
            self.ask_about(reverting(self._detail.skill, self.shown_version))

    async def action_evidence(self) -> None:
        """Show the evidence behind the event: that of the signal which it raises or answers."""
        if self._detail:
            await self.open_evidence([*self.crumbs, f"event {self._events.position}"], *self._detail.grounds)
