"""The Review screen: what waits for a person's word, with everything there is to know about it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from events.errors import GermlineError
from tui.reads.review import ReviewLine, read_page, read_review
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.screens.sheet import EvidenceSheet, diff_sheet
from tui.session.changes import deciding, looking_over
from tui.text.numbers import count
from tui.views.review import candidate_rows, review_header, review_row
from tui.widgets.keys import REVIEW
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tui.reads.review import CandidatePage
    from tui.screens.host_protocol import Host
    from tui.session.changes import Answer


class ReviewScreen(ListScreen["ReviewLine"]):
    """Lists candidates that wait, and below them promotions that were drawn for a second look."""

    BINDINGS: ClassVar[list[BindingType]] = [*REVIEW]
    FIND_HINT = "show candidates that hold …"
    PANES = ("#review", "#candidate")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._every: tuple[ReviewLine, ...] = ()
        self._page: CandidatePage | None = None

    async def load(self) -> None:
        """Read what waits; the cursor stays on the candidate it is on."""
        self._target = self.place.item
        settings = self.host.settings
        self._every = await self.host.access.read(
            partial(read_review, every=settings.draw_every, seed=settings.seed)
        )
        empty = ("nothing waits for review", "germline evolve --review   holds what the gate lets through")
        self.show_header(review_header, empty=None if self._every else empty)
        self.list_items()
        self.show_selected()

    def list_items(self) -> None:
        """List the candidates that are asked for."""
        wanted = self.needle.casefold()
        shown = [line for line in self._every if wanted in _text(line)]
        self.show_list(shown, lambda line, width: review_row(line, width, self.host.now()))
        self.return_to_target(lambda line, name: line.candidate.id.startswith(name))
        self.show_bar()

    def show_selected(self) -> None:
        """Tell about a candidate, once it is read."""
        self._read_page()

    @reading("detail")
    async def _read_page(self) -> None:
        line = self._selected
        if line is None:
            self._show_page(None)
            return
        if self._page is None or self._page.candidate.id != line.candidate.id:
            self._show_page(None)
        try:
            page = await self.host.access.study(partial(read_page, candidate=line.candidate))
        except GermlineError as error:
            self.tell(error)
            return
        self._show_page(page)

    def _show_page(self, page: CandidatePage | None) -> None:
        self._page = page
        self.show_detail(lambda line, width: candidate_rows(line, page, width, self.host.now()) if page else [])
        self.show_bar()
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the candidate that the cursor is on."""
        line = self._selected if self.is_mounted else None
        skill = line.candidate.proposed.capsule if line else self._place.skill
        return ScreenAddress("review", skill, item=line.candidate.id[:12] if line else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Review, and the candidate."""
        return ["Review", self._selected.candidate.id[:12]] if self._selected else ["Review"]

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
        return self._selected.candidate.id if self._selected else ""

    @property
    def command(self) -> str:
        """The command that shows the candidate."""
        return f"germline candidate show {self.copied_id[:12]}" if self._selected else "germline candidates"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the candidate under the cursor allows."""
        page, line = self._page, self._selected
        offers = {
            "decide": line and line.standing != "answered",  # at once: the page may still be read
            "diff": page and page.files,
            "evidence": page and (page.evidence or page.erased),
            "same": page and page.signal,
            "why": page,
        }
        if action in offers:
            return self.offered(offers[action])
        return super().check_action(action, parameters)

    def action_decide(self, answer: Answer) -> None:
        """Ask for the reason, and append the decision."""
        if self._selected:
            ask = deciding if self._selected.standing == "waits" else looking_over
            self.ask_about(ask(self._selected.candidate, answer))

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
        if self._selected:
            candidate = self._selected.candidate
            ref = str(candidate.version or "")
            self.host.go(ScreenAddress("why", candidate.proposed.capsule, ref))


def _text(line: ReviewLine) -> str:
    proposed = line.candidate.proposed
    lines = " ".join(proposed.new_lines)
    return f"{line.candidate.id} {proposed.capsule} {proposed.strategy} {proposed.proposer} {lines}".casefold()
