"""The History screen: every event of a skill or of the registry, and what the one under the cursor changed."""

from __future__ import annotations

from array import array
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on

from events.errors import GermlineError
from tui.event_reads import (
    EventDetail,
    read_around,
    read_diff,
    read_lines,
    read_matching,
    read_newer,
    read_place,
    read_positions,
    read_version_at,
)
from tui.keys import HISTORY
from tui.places import Place
from tui.screens.base import PlaceScreen
from tui.screens.reading import reading
from tui.screens.sheet import diff_sheet
from tui.views.history import detail_rows, history_note
from tui.views.notice import unmatched_rows
from tui.widgets.event_list import EventList
from tui.widgets.rows_view import RowsView
from tui.writing import reverting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.host import Host

_MARKS: Final = 2


class HistoryScreen(PlaceScreen):
    """Lists events newest first; moving through versions shows the skill change."""

    BINDINGS: ClassVar[list[BindingType]] = [*HISTORY]
    FIND_HINT = "show events that hold …"
    PANES = ("#events", "#detail")

    def __init__(self, place: Place, host: Host) -> None:
        super().__init__(place, host)
        self._opened = self._head = self._below = self._total = 0
        self._target = place.event
        self._found = array("q")
        self._detail: EventDetail | None = None
        self._marks: dict[int, int] = {}

    def panes(self) -> ComposeResult:
        """Lay out the list beside the detail; a narrow screen stacks them."""
        yield EventList(self.host.now, id="events")
        yield RowsView(id="detail", classes="beside")

    # -- the list --------------------------------------------------------------------------------------

    async def load(self) -> None:
        """List the events; where they are listed already, add the new ones and go on where it stopped."""
        await (access := self.host.access).ready()
        if self._head and self._opened == access.opened:
            await self._add_newer()
            self.say("", "")
            await self._scan()
        else:
            place = self._place
            if place.skill and not place.event:
                self._target = await access.read(partial(read_place, skill=place.skill, ref=place.ref))
            self._opened, self._head = access.opened, access.state.head
            self.say("", "")
            await self._list_all()

    async def _list_all(self) -> None:
        """List from the newest event down; the cursor goes to the target once it is there."""
        if self._place.skill or self.needle:
            self._found, self._total, self._below = array("q"), 0, self._head + 1
            self._show_events(self._found, grown=False)
            await self._scan()
        else:
            self._total, self._below = self._head, 0
            self._show_events(range(self._head, 0, -1), grown=False)

    async def _scan(self) -> None:
        """Find older events, piece by piece, from where the last one was found."""
        while self._below:
            chunk = await self.host.access.read(
                partial(read_positions, skill=self._place.skill, below=self._below)
            )
            kept = await self._matching(chunk)
            self._below = chunk[-1] if chunk else 0
            self._total += len(chunk)
            self._found.extend(kept)
            self._show_events(self._found, grown=True)

    async def _add_newer(self) -> None:
        head = self.host.access.state.head
        newer = await self.host.access.read(
            partial(read_newer, skill=self._place.skill, after=self._head, upto=head),
        )
        kept = await self._matching(newer)
        self._head = head
        self._total += len(newer)
        if kept:
            events = self._events
            self._target = kept[0] if events.cursor == 0 else events.position
            self._found = kept + self._found
            is_whole = isinstance(events.positions, range)
            self._show_events(range(head, 0, -1) if is_whole else self._found, grown=False)

    async def _matching(self, positions: array[int]) -> array[int]:
        """Keep the events that hold the text looked for."""
        if not self.needle:
            return positions
        return await self.host.access.read(partial(read_matching, positions=positions, needle=self.needle))

    def _show_events(self, positions: Sequence[int], *, grown: bool) -> None:
        events = self._events
        before = events.position
        events.show_events(positions, grown=grown)
        if self._target and len(positions) and positions[-1] <= self._target:
            events.go_to(self._target)
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

    def find(self, *, done: bool) -> None:  # noqa: ARG002 - a filter works letter by letter
        """List the events that hold the text."""
        self._refilter()

    @reading("load")
    async def _refilter(self) -> None:
        try:
            self._target = self._events.position or self._target
            await self._list_all()
        except GermlineError as error:
            self.say(error.message, error.hint)

    # -- the detail ------------------------------------------------------------------------------------

    @on(EventList.Moved)
    def _read_detail(self) -> None:
        """Read the event that the cursor moved to."""
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
    def place(self) -> Place:
        """The place with the event that the cursor is on."""
        position = self._events.position if self.is_mounted else 0
        return Place("history", self._place.skill, event=position or self._place.event)

    @property
    def crumbs(self) -> list[str]:
        """Skills, the skill, history, the event."""
        skill = [self._place.skill] if self._place.skill else []
        version = [f"@{self._detail.version}"] if skill and self._detail and self._detail.version else []
        return ["Skills", *skill, *version, "history"]

    @property
    def note(self) -> str:
        """How many events are listed."""
        shown = len(self._events.positions) if self.is_mounted else 0
        return history_note(shown, self._total, scanning=self._below > 0, needle=self.needle)

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
            "why": detail and detail.skill,
            "diff": (detail and detail.diff) or len(self._marks) == _MARKS,
            "travel": skill,
            "mark": skill and detail and detail.is_version,
            "every": skill or (detail and detail.skill),
            "revert": self.shown_version,
            "evidence": detail and any(detail.grounds),
        }
        if action in offers:
            return False if self.has_notice else bool(offers[action]) or None
        return super().check_action(action, parameters)

    def action_why(self) -> None:
        """Show the skill line by line, as the event left it."""
        detail = self._detail
        if detail:
            ref = str(max(detail.version, 1))
            self.host.go(Place("why", detail.skill, ref, event=detail.envelope.position))

    def on_row_list_chosen(self) -> None:
        """Show the skill as an event left it that was clicked twice."""
        if self.check_action("why", ()):
            self.action_why()

    async def action_travel(self, step: int) -> None:
        """Go to the event that made the next older or newer version."""
        skill, position = self._place.skill, self._events.position
        found = await self.ask(partial(read_version_at, skill=skill, position=position, step=step))
        if found:
            self._events.go_to(found)
        elif found == 0:
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
        self.host.go(Place("history", skill, event=position))

    def action_revert(self) -> None:
        """Ask whether to go back to the version that the skill had at the event."""
        if self._detail and self.shown_version:
            self.ask_about(reverting(self._detail.skill, self.shown_version))

    async def action_evidence(self) -> None:
        """Show the evidence behind the event: that of the signal which it raises or answers."""
        if self._detail:
            await self.open_evidence([*self.crumbs, f"event {self._events.position}"], *self._detail.grounds)
