"""The Signals screen: what the logs show, on what evidence, and what it would lead to under the preset."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from events.errors import GermlineError
from tui.reads.signals import Prospects, SignalDetail, SignalLine, read_signal, read_signals
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.screens.sheet import EvidenceSheet, tried_sheet
from tui.screens.worker import reading
from tui.text.numbers import count
from tui.text.rows import clean
from tui.text.words import signal_name
from tui.views.signals import detail_rows, signal_row, signals_header
from tui.widgets.keys import SIGNALS

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tui.screens.host_protocol import Host


class SignalsScreen(ListScreen["SignalLine"]):
    """Lists the signals as they are raised: open ones first, and of those the most severe."""

    BINDINGS: ClassVar[list[BindingType]] = [*SIGNALS]
    FIND_HINT = "show signals that hold …"
    PANES = ("#signals", "#signal")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._every: tuple[SignalLine, ...] = ()
        self._open_only = False
        self._newest_first = False
        self._detail: SignalDetail | None = None
        self._there: tuple[bool, ...] | None = None
        self._prospects: Prospects | None = None

    async def load(self) -> None:
        """Read the signals; the cursor stays on the one it is on."""
        self._target = self.place.item
        self._every = await self.host.access.read(read_signals)
        empty = ("no signal was raised yet", "germline scan PATH")
        self.show_header(signals_header, empty=None if self._every else empty)
        self._list()
        self._read_detail()
        self._look_ahead()

    @reading("ahead")
    async def _look_ahead(self) -> None:
        try:
            self._prospects = await self.host.access.prospects()
        except GermlineError as error:
            self.tell(error)
            return
        self._show_signal(home=False)

    def _list(self) -> None:
        """List what is asked for, and put the cursor on the target where it is listed."""
        wanted = self.needle.casefold()
        shown = [line for line in self._every if (line.open or not self._open_only) and wanted in _text(line)]
        shown.sort(key=_newest if self._newest_first else _most_severe)
        self.show_list(shown, lambda line, width: signal_row(line, width, self.host.now()))
        names = [line.raised.event.fingerprint for line in shown]
        self._table.cursor = names.index(self._target) if self._target in names else self._table.cursor
        self.show_bar()

    def find(self, *, done: bool) -> None:
        """List the signals that hold the text; the cursor stays on its signal where that is listed."""
        self._list()
        if done:
            self._target = self.place.item
        self._read_detail()

    def on_row_list_moved(self) -> None:
        """Tell about another signal."""
        self.keep_target()
        self._read_detail()

    @reading("detail")
    async def _read_detail(self) -> None:
        line = self._selected
        if line is None:
            self._detail = None
            self._show_signal(home=True)
            return
        if self._detail is None or self._detail.signal != line.raised:
            self._detail = self._there = None
            self._show_signal(home=True)
        self._detail = await self.ask(partial(read_signal, signal=line.raised))
        self._show_signal(home=False)
        if self._detail and self._detail.evidence:
            there = await self.standing(self._detail.evidence)
            self._there = there if self._selected is line else None
            self._show_signal(home=False)

    def _show_signal(self, *, home: bool) -> None:
        detail, there, prospects = self._detail, self._there, self._prospects
        self.show_detail(
            lambda line, width: detail_rows(line, detail, there, prospects, width, self.host.now()), home=home
        )
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the signal that the cursor is on."""
        line = self._selected if self.is_mounted else None
        return ScreenAddress(
            "signals", self._place.skill, item=line.raised.event.fingerprint if line else self._target
        )

    @property
    def crumbs(self) -> list[str]:
        """Signals, and which of them."""
        return ["Signals", "open"] if self._open_only else ["Signals"]

    @property
    def note(self) -> str:
        """How many there are, and how many of them are open."""
        open_now = sum(line.open for line in self._every)
        shown = f"{len(self._shown):,} of " if len(self._shown) != len(self._every) else ""
        return f"{shown}{count(len(self._every), 'signal')}, {open_now:,} open"

    @property
    def copied_id(self) -> str:
        """The fingerprint of the signal."""
        return self._selected.raised.event.fingerprint if self._selected else ""

    @property
    def command(self) -> str:
        """The command that shows it."""
        return f"germline ui --at {shlex.quote(self.place.address)}"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the signal under the cursor allows."""
        detail = self._detail
        offers = {
            "evidence": detail and (detail.evidence or detail.erased),
            "why": detail and detail.lines,
            "tried": detail and detail.tried,
            "only_open": self._every,
            "order": self._every,
        }
        if action in offers:
            return self.offered(offers[action])
        return super().check_action(action, parameters)

    def action_evidence(self) -> None:
        """Show all evidence of the signal in full."""
        line, detail, there = self._selected, self._detail, self._there
        if line and detail and (detail.evidence or detail.erased):
            crumbs = ["Signals", signal_name(line.raised.event, clean)]
            self.app.push_screen(EvidenceSheet(crumbs, detail, there, self.host))

    def on_row_list_chosen(self) -> None:
        """Show the evidence of a signal that was clicked twice."""
        self.action_evidence()

    def action_why(self) -> None:
        """Show the line that answers the signal."""
        if self._detail and self._detail.lines:
            line = self._detail.lines[0]
            self.host.go(ScreenAddress("why", line.skill, "", line.number))

    def action_tried(self) -> None:
        """Show all that was tried for the signal."""
        line, detail = self._selected, self._detail
        if line and detail:
            crumbs = ["Signals", signal_name(line.raised.event, clean)]
            self.app.push_screen(tried_sheet(crumbs, detail.tried, self.host))

    def action_only_open(self) -> None:
        """Change between open signals alone and all of them."""
        self._open_only = not self._open_only
        self.find(done=True)

    def action_order(self) -> None:
        """Change between the newest first and the most severe first."""
        self._newest_first = not self._newest_first
        self.notify(
            "the newest first" if self._newest_first else "open ones first, the most severe of them", timeout=2
        )
        self.find(done=True)


def _text(line: SignalLine) -> str:
    signal = line.raised.event
    return f"{signal.kind} {signal.calls_for} {signal.template} {signal.action} {' '.join(signal.runs)}".casefold()


def _newest(line: SignalLine) -> tuple[int, ...]:
    return (-line.raised.position,)


def _most_severe(line: SignalLine) -> tuple[bool, float, str]:
    return not line.open, -line.raised.event.severity, line.raised.event.fingerprint
