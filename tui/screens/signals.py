"""The Signals screen: the facts that signals tell, what worked next, and what each leads to under the preset."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, get_args

from events.errors import GermlineError
from tui.reads.sessions import short_ids
from tui.reads.signal_facts import SignalFilter, read_signal_detail, with_sessions
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.screens.sheet import EvidenceSheet, SheetScreen, tried_sheet
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.text.rows import EachRow, clean
from tui.text.signal_words import SignalState
from tui.text.words import signal_name
from tui.views.sessions import session_row
from tui.views.signals import detail_rows, signal_row, signals_header
from tui.widgets.key_bar import KeyBar
from tui.widgets.keys import SIGNAL, SIGNALS
from tui.widgets.rows_view import LineView, RowList, RowsView
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from strategies.episodes.episode import EpisodeRecord
    from tui.reads.signal_facts import SignalDetail, SignalFact, SignalFacts
    from tui.reads.signals import Prospects
    from tui.screens.host_protocol import Host
    from tui.text.rows import Row

_STATES: Final = ("", *get_args(SignalState))


class SignalsScreen(ListScreen["SignalFact"]):
    """Lists a row for each fact: what no line answers first, and of that what costs most."""

    BINDINGS: ClassVar[list[BindingType]] = [*SIGNALS]
    FIND_HINT = "show what holds …"
    PANES = ("#signals", "#signal")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._facts: SignalFacts | None = None
        self._filter = SignalFilter()
        self._newest_first = False
        self._detail: SignalDetail | None = None
        self._there: tuple[bool, ...] | None = None
        self._prospects: Prospects | None = None

    async def load(self) -> None:
        """Read the facts; the cursor stays on the one it is on."""
        self._target = self.place.item
        self._facts = facts = await self.host.access.signal_facts(fixes=False)
        empty = ("no signal was raised yet", NEXT_STEPS["no sessions"])
        self.show_header(lambda width: signals_header(width, facts.short), empty=None if facts.facts else empty)
        self.list_items()
        self.show_selected()
        self._look_ahead()
        self._read_worked_next()

    @reading("ahead")
    async def _look_ahead(self) -> None:
        try:
            self._prospects = await self.host.access.prospects()
        except GermlineError as error:
            self.tell(error)
            return
        self._show_fact(home=False)

    @reading("worked")
    async def _read_worked_next(self) -> None:
        try:
            self._facts = await self.host.access.signal_facts(fixes=True)
        except GermlineError as error:
            self.tell(error)
            return
        self._target = self.place.item
        self.list_items()
        self._show_fact(home=False)

    def list_items(self) -> None:
        """List the facts that are asked for."""
        facts = self._facts
        if facts is None:
            return
        shown = list(self._filter._replace(text=self.needle).chosen(facts.facts))
        if self._newest_first:
            shown.sort(key=lambda fact: fact.group.newest.position, reverse=True)
        self.show_list(shown, lambda fact, width: signal_row(fact, facts.short, width))
        self.return_to_target(_is_named)
        self.show_bar()

    def show_selected(self) -> None:
        """Tell about a fact, and of its evidence once that is read."""
        self._read_detail()

    @reading("detail")
    async def _read_detail(self) -> None:
        fact = self._selected
        if fact is None:
            self._detail = None
            self._show_fact(home=True)
            return
        if self._detail is None or self._detail.fact.id != fact.id:
            self._detail = self._there = None
            self._show_fact(home=True)
        self._detail = await self.ask(partial(read_signal_detail, fact=fact))
        self._show_fact(home=False)
        if self._detail and self._detail.evidence:
            there = await self.standing(self._detail.evidence)
            self._there = there if self._selected and self._selected.id == fact.id else None
            self._show_fact(home=False)

    def _show_fact(self, *, home: bool) -> None:
        self.show_detail(lambda fact, width: self.rows_of(fact, self._detail, width), home=home)
        self.refresh_bindings()

    def rows_of(self, fact: SignalFact, detail: SignalDetail | None, width: int) -> Sequence[Row]:
        """Tell about a fact, as far as it was read."""
        short = self._facts.short if self._facts else 0
        return detail_rows(fact, detail, self._there, self._prospects, width, short, self.host.now())

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the fact that the cursor is on."""
        fact = self._selected if self.is_mounted else None
        return ScreenAddress("signals", self._place.skill, item=fact.id if fact else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Signals, and which of them."""
        return ["Signals", *([self._filter.words] if self._filter.words else [])]

    @property
    def note(self) -> str:
        """How many there are, and how many of them are open."""
        every = self._facts.facts if self._facts else ()
        left = sum(fact.state == "open" for fact in every)
        shown = f"{len(self._shown):,} of " if len(self._shown) != len(every) else ""
        return f"{shown}{count(len(every), 'fact')}, {left:,} open"

    @property
    def copied_id(self) -> str:
        """The fingerprint of the fact."""
        return self._selected.id if self._selected else ""

    @property
    def command(self) -> str:
        """The command that shows it."""
        return f"germline signals {shlex.quote(self._selected.id)}" if self._selected else "germline signals"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the fact under the cursor allows."""
        detail, fact = self._detail, self._selected
        offers = {
            "open": fact,
            "evidence": detail and (detail.evidence or detail.erased),
            "why": fact and fact.lines,
            "tried": detail and detail.tried,
            "next_state": self._facts,
            "same_kind": self._facts,
            "same_skill": self._facts,
            "order": self._facts,
        }
        if action in offers:
            return self.offered(offers[action])
        return super().check_action(action, parameters)

    @property
    def _trail(self) -> list[str]:
        return ["Signals", signal_name(self._selected.group.head, clean)] if self._selected else ["Signals"]

    @reading("sessions")
    async def action_open(self) -> None:
        """Show all about the fact, with the sessions that show it."""
        fact, detail = self._selected, self._detail
        if fact and detail:
            thresholds = self.host.settings.thresholds
            whole = await self.host.access.study(partial(with_sessions, detail=detail, thresholds=thresholds))
            self.app.push_screen(SignalSheet(self._trail, self, fact, whole))

    def on_row_list_chosen(self) -> None:
        """Show all about a fact that was clicked twice."""
        self.action_open()

    def action_evidence(self) -> None:
        """Show all evidence of the fact in full."""
        detail, there = self._detail, self._there
        if detail and (detail.evidence or detail.erased):
            self.app.push_screen(EvidenceSheet(self._trail, detail, there, self.host))

    def action_why(self) -> None:
        """Show the line that answers the fact."""
        fact = self._selected
        if fact and fact.lines:
            line = fact.lines[0]
            self.host.go(ScreenAddress("why", line.skill, "", line.number))

    def action_tried(self) -> None:
        """Show all that was tried for the fact."""
        if self._detail:
            self.app.push_screen(tried_sheet(self._trail, self._detail.tried, self.host))

    def action_next_state(self) -> None:
        """Go from all facts to the open ones, those that wait, those that are answered, and back."""
        state = _STATES[(_STATES.index(self._filter.state) + 1) % len(_STATES)]
        self._choose(self._filter._replace(state=state))

    def action_same_kind(self) -> None:
        """Change between facts of this kind alone and all of them."""
        kind = self._selected.group.head.kind if self._selected and not self._filter.kind else ""
        self._choose(self._filter._replace(kind=kind))

    def action_same_skill(self) -> None:
        """Change between facts of this skill alone and all of them."""
        skill = self._selected.route.skill if self._selected and not self._filter.skill else ""
        if not skill and not self._filter.skill:
            self.notify("it goes to no skill", timeout=2)
            return
        self._choose(self._filter._replace(skill=skill))

    def _choose(self, wanted: SignalFilter) -> None:
        self._filter = wanted
        self.find(done=True)

    def action_order(self) -> None:
        """Change between the newest first and the costliest first."""
        self._newest_first = not self._newest_first
        self.notify("the newest first" if self._newest_first else "what costs most first", timeout=2)
        self.find(done=True)


def _is_named(fact: SignalFact, name: str) -> bool:
    """Tell whether a name, or its beginning, means a fact: that of any of its signals."""
    return any(fingerprint.startswith(name) for fingerprint in fact.group.fingerprints)


class SignalSheet(SheetScreen):
    """All about one fact, above the sessions that show it; enter opens one of them."""

    BINDINGS: ClassVar[list[BindingType]] = [*SIGNAL]

    def __init__(
        self, crumbs: Sequence[str], below: SignalsScreen, fact: SignalFact, detail: SignalDetail
    ) -> None:
        self._detail = detail
        shown = count(len(detail.shown_in), "session")
        super().__init__(crumbs, lambda width: below.rows_of(fact, detail, width), below.host, shown)
        self._short = short_ids(detail.shown_in)

    def compose(self) -> ComposeResult:
        """Lay out the page above the sessions."""
        yield LineView(id="top")
        yield RowsView(id="page")
        yield RowList(id="shown", classes="below")
        yield KeyBar()

    def on_mount(self) -> None:
        """Show the page and the sessions."""
        super().on_mount()
        shown = self._detail.shown_in
        self._table.show(
            lambda width: EachRow(
                len(shown), lambda at: session_row(shown[at], None, self._short, width, self._host.now())
            )
        )
        self._table.focus()

    @property
    def _table(self) -> RowList:
        return self.query_one("#shown", RowList)

    @property
    def _record(self) -> EpisodeRecord | None:
        shown = self._detail.shown_in
        return shown[min(self._table.cursor, len(shown) - 1)] if shown else None

    def on_row_list_chosen(self) -> None:
        """Show the session that was clicked twice."""
        self.action_open()

    def action_open(self) -> None:
        """Show the session among all of them."""
        record = self._record
        if record:
            self.dismiss()
            self._host.go(ScreenAddress("sessions", item=record.id))
