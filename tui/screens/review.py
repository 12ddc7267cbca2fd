"""The Review screen: what waits for a person's word, with everything there is to know about it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from events.errors import GermlineError
from tui.figures import count
from tui.keys import REVIEW
from tui.places import Place
from tui.review_reads import ReviewLine, read_candidate, read_review
from tui.screens.base import PlaceScreen
from tui.screens.reading import reading
from tui.screens.sheet import diff_sheet, evidence_sheet
from tui.views.notice import unmatched_rows
from tui.views.review import candidate_rows, review_header, review_row
from tui.views.rows import EachRow
from tui.widgets.rows_view import Line, RowList, RowsView
from tui.writing import deciding, looking_over

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.cli.proposed import Page
    from tui.host import Host
    from tui.views.rows import Row
    from tui.writing import Answer


class ReviewScreen(PlaceScreen):
    """Lists candidates that wait, and below them promotions that were drawn for a second look."""

    BINDINGS: ClassVar[list[BindingType]] = [*REVIEW]
    FIND_HINT = "show candidates that hold …"
    PANES = ("#review", "#candidate")

    def __init__(self, place: Place, host: Host) -> None:
        super().__init__(place, host)
        self._every: tuple[ReviewLine, ...] = ()
        self._shown: list[ReviewLine] = []
        self._page: Page | None = None
        self._target = place.item

    def panes(self) -> ComposeResult:
        """Lay out the list above the candidate."""
        yield Line(id="columns")
        yield RowList(id="review")
        yield RowsView(id="candidate", classes="below")

    async def load(self) -> None:
        """Read what waits; the cursor stays on the candidate it is on."""
        self._target = self.place.item
        settings = self.host.settings
        self._every = await self.host.access.study(
            partial(read_review, every=settings.draw_every, seed=settings.seed)
        )
        self.query_one("#columns", Line).show(review_header)
        if self._every:
            self.say("", "")
        else:
            self.say("nothing waits for review", "germline evolve --review   holds what the gate lets through")
        self._list()
        self._read_page()

    def _list(self) -> None:
        wanted = self.needle.casefold()
        self._shown = shown = [one for one in self._every if wanted in _text(one)]
        self._table.show(
            lambda width: EachRow(len(shown), lambda at: review_row(shown[at], width, self.host.now()))
        )
        found = (at for at, one in enumerate(shown) if self._target and one.candidate.id.startswith(self._target))
        self._table.cursor = next(found, self._table.cursor)
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
        one = self._one
        if one is None:
            self._show_page(None, None)
            return
        if self._page is None or self._page.candidate.id != one.candidate.id:
            self._show_page(one, None)
        try:
            page = await self.host.access.study(partial(read_candidate, candidate=one.candidate))
        except GermlineError as error:
            self.tell(error)
            return
        self._show_page(one, page)

    def _show_page(self, one: ReviewLine | None, page: Page | None) -> None:
        self._page = page

        def rows(width: int) -> list[Row]:
            if one is None:
                return unmatched_rows(self.needle, width)
            return candidate_rows(one, page, width, self.host.now()) if page else []

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
    def place(self) -> Place:
        """The place with the candidate that the cursor is on."""
        one = self._one if self.is_mounted else None
        skill = one.candidate.proposed.capsule if one else self._place.skill
        return Place("review", skill, item=one.candidate.id[:12] if one else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Review, and the candidate."""
        return ["Review", self._one.candidate.id[:12]] if self._one else ["Review"]

    @property
    def note(self) -> str:
        """How many wait, and how many were drawn."""
        waiting, drawn = (sum(one.standing == standing for one in self._every) for standing in ("waits", "drawn"))
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
        page, one = self._page, self._one
        offers = {
            "decide": page and one and one.standing != "seen",
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
            self.app.push_screen(evidence_sheet(crumbs, page, page.there, self.host))

    def on_row_list_chosen(self) -> None:
        """Show the evidence of a candidate that was clicked twice."""
        self.action_evidence()

    def action_same(self) -> None:
        """Show the signal that it answers."""
        if self._page and self._page.signal:
            self.host.go(Place("signals", item=self._page.signal.event.fingerprint))

    def action_why(self) -> None:
        """Show the skill line by line: at the version that it became, else as it is."""
        if self._one:
            candidate = self._one.candidate
            ref = str(candidate.version or "")
            self.host.go(Place("why", candidate.proposed.capsule, ref))


def _text(one: ReviewLine) -> str:
    proposed = one.candidate.proposed
    lines = " ".join(proposed.new_lines)
    return f"{one.candidate.id} {proposed.capsule} {proposed.strategy} {proposed.proposer} {lines}".casefold()
