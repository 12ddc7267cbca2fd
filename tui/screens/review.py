"""The Review screen: what waits for a person's word, with everything there is to know about it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from events.errors import GermlineError
from tui.reads.review import ReviewLine, read_page, read_review
from tui.screens.addresses import ScreenAddress
from tui.screens.base import PlaceScreen
from tui.screens.sheet import EvidenceSheet, diff_sheet
from tui.screens.worker import reading
from tui.session.changes import deciding, looking_over
from tui.text.numbers import count
from tui.text.rows import EachRow
from tui.views.frame import unmatched_rows
from tui.views.review import candidate_rows, review_header, review_row
from tui.widgets.keys import REVIEW
from tui.widgets.rows_view import LineView, RowList, RowsView

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.reads.review import CandidatePage
    from tui.screens.host_protocol import Host
    from tui.session.changes import Answer
    from tui.text.rows import Row


class ReviewScreen(PlaceScreen):
    """Lists candidates that wait, and below them promotions that were drawn for a second look."""

    BINDINGS: ClassVar[list[BindingType]] = [*REVIEW]
    FIND_HINT = "show candidates that hold …"
    PANES = ("#review", "#candidate")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._every: tuple[ReviewLine, ...] = ()
        self._shown: list[ReviewLine] = []
        self._page: CandidatePage | None = None
        self._target = place.item

    def panes(self) -> ComposeResult:
        """Lay out the list above the candidate."""
        yield LineView(id="columns")
        yield RowList(id="review")
        yield RowsView(id="candidate", classes="below")

    async def load(self) -> None:
        """Read what waits; the cursor stays on the candidate it is on."""
        self._target = self.place.item
        settings = self.host.settings
        self._every = await self.host.access.study(
            partial(read_review, every=settings.draw_every, seed=settings.seed)
        )
        self.query_one("#columns", LineView).show(review_header)
        if self._every:
            self.say("", "")
        else:
            self.say("nothing waits for review", "germline evolve --review   holds what the gate lets through")
        self._list()
        self._read_page()

    def _list(self) -> None:
        wanted = self.needle.casefold()
        self._shown = shown = [line for line in self._every if wanted in _text(line)]
        self._table.show(
            lambda width: EachRow(len(shown), lambda at: review_row(shown[at], width, self.host.now()))
        )
        rows = (at for at, line in enumerate(shown) if self._target and line.candidate.id.startswith(self._target))
        self._table.cursor = next(rows, self._table.cursor)
        self.show_bar()

    def find(self, *, done: bool) -> None:
        """List the candidates that hold the text; the cursor stays on its candidate where that is listed."""
        self._list()
        if done:
            self._target = self.place.item
        self._read_page()

    def on_row_list_moved(self) -> None:
        """Tell about another candidate."""
        if self.focused is self._table:  # else a filter moved it, which may be forgotten again
            self._target = self.place.item
        self._read_page()

    @reading("detail")
    async def _read_page(self) -> None:
        line = self._one
        if line is None:
            self._show_page(None, None)
            return
        if self._page is None or self._page.candidate.id != line.candidate.id:
            self._show_page(line, None)
        try:
            page = await self.host.access.study(partial(read_page, candidate=line.candidate))
        except GermlineError as error:
            self.tell(error)
            return
        self._show_page(line, page)

    def _show_page(self, line: ReviewLine | None, page: CandidatePage | None) -> None:
        self._page = page

        def rows(width: int) -> list[Row]:
            if line is None:
                return unmatched_rows(self.needle, width)
            return candidate_rows(line, page, width, self.host.now()) if page else []

        self.query_one("#candidate", RowsView).show(rows, home=True)
        self.show_bar()
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def _table(self) -> RowList:
        return self.query_one("#review", RowList)

    @property
    def _one(self) -> ReviewLine | None:
        return self._shown[min(self._table.cursor, len(self._shown) - 1)] if self._shown else None

    @property
    def place(self) -> ScreenAddress:
        """The place with the candidate that the cursor is on."""
        line = self._one if self.is_mounted else None
        skill = line.candidate.proposed.capsule if line else self._place.skill
        return ScreenAddress("review", skill, item=line.candidate.id[:12] if line else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Review, and the candidate."""
        return ["Review", self._one.candidate.id[:12]] if self._one else ["Review"]

    @property
    def note(self) -> str:
        """How many wait, and how many were drawn."""
        waiting, drawn = (
            sum(line.standing == standing for line in self._every) for standing in ("waits", "drawn")
        )
        return f"{count(waiting, 'candidate')} to decide, {drawn:,} to look at"

    @property
    def copied_id(self) -> str:
        """The id of the candidate."""
        return self._one.candidate.id if self._one else ""

    @property
    def command(self) -> str:
        """The command that shows the candidate."""
        return f"germline candidate show {self.copied_id[:12]}" if self._one else "germline candidates"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the candidate under the cursor allows."""
        page, line = self._page, self._one
        offers = {
            "decide": page and line and line.standing != "answered",
            "diff": page and page.files,
            "evidence": page and (page.evidence or page.erased),
            "same": page and page.signal,
            "why": page,
        }
        if action in offers:
            return False if self.has_notice else bool(offers[action]) or None
        return super().check_action(action, parameters)

    def action_decide(self, answer: Answer) -> None:
        """Ask for the reason, and append the decision."""
        if self._one:
            ask = deciding if self._one.standing == "waits" else looking_over
            self.ask_about(ask(self._one.candidate, answer))

    def action_diff(self) -> None:
        """Show every file that it would change, whole."""
        page = self._page
        if page:
            rows = [row for _, diff in page.files for row in diff]
            self.app.push_screen(diff_sheet(["Review", page.candidate.id[:12], "diff"], rows, self.host))

    def action_evidence(self) -> None:
        """Show all evidence in full."""
        page = self._page
        if page and (page.evidence or page.erased):
            crumbs = ["Review", page.candidate.id[:12]]
            self.app.push_screen(EvidenceSheet(crumbs, page, page.there, self.host))

    def on_row_list_chosen(self) -> None:
        """Show the evidence of a candidate that was clicked twice."""
        self.action_evidence()

    def action_same(self) -> None:
        """Show the signal that it answers."""
        if self._page and self._page.signal:
            self.host.go(ScreenAddress("signals", item=self._page.signal.event.fingerprint))

    def action_why(self) -> None:
        """Show the skill line by line: at the version that it became, else as it is."""
        if self._one:
            candidate = self._one.candidate
            ref = str(candidate.version or "")
            self.host.go(ScreenAddress("why", candidate.proposed.capsule, ref))


def _text(line: ReviewLine) -> str:
    proposed = line.candidate.proposed
    lines = " ".join(proposed.new_lines)
    return f"{line.candidate.id} {proposed.capsule} {proposed.strategy} {proposed.proposer} {lines}".casefold()
