"""The Why screen: the blame of a skill, and everything that led to the line under the cursor."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from registry.query.provenance import Why, why
from tui.reads.history import EventDetail, read_diff, read_event
from tui.reads.skills import BlameLine, BlamePage, chain_of, read_blame, read_tones
from tui.screens.addresses import ScreenAddress
from tui.screens.base import PlaceScreen
from tui.screens.sheet import EvidenceSheet, diff_sheet, tried_sheet
from tui.views.blame import blame_rows, first_line, next_match
from tui.views.evidence import evidence_rows
from tui.views.history import detail_rows
from tui.views.why import why_rows
from tui.widgets.chain_line import ChainLine
from tui.widgets.keys import WHY
from tui.widgets.rows_view import RowList, RowsView
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.reads.markdown_tones import Tones
    from tui.screens.host_protocol import Host
    from tui.text.rows import Row


class WhyScreen(PlaceScreen):
    """Shows where every line comes from, and proves it for one."""

    BINDINGS: ClassVar[list[BindingType]] = [*WHY]
    FIND_HINT = "go to lines that hold …"
    PANES = ("#blame", "#why")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._ref = place.ref
        self._page: BlamePage | None = None
        self._why: Why | None = None
        self._there: dict[tuple[str, ...], tuple[bool, ...]] = {}
        self._sheet: EvidenceSheet | None = None
        self._tones: Sequence[Tones] = ()
        self._cause: EventDetail | None = None

    def panes(self) -> ComposeResult:
        """Lay out the lines above the reasons."""
        yield RowList(id="blame")
        yield ChainLine(id="chain", classes="below")
        yield RowsView(id="why")

    async def load(self) -> None:
        """Read the skill at its version; the cursor stays on the line that it is on."""
        page = await self.host.access.read(partial(read_blame, skill=self._place.skill, ref=self._ref))
        self.say("", "")
        self._show_page(page)

    def _show_page(self, page: BlamePage) -> None:
        line = self._line
        if line is None:
            number = first_line(page, self._place.line, self._place.event)
        else:
            number = page.number_of(line.line.gene, line.line.id) if line.line.id else 0
            number = number or line.line.number
        self._page, self._tones = page, ()
        self._show_blame()
        self._blame.cursor = number - 1
        self._read_why()
        self._colour()
        self.show_bar()

    @reading("colour")
    async def _colour(self) -> None:
        """Colour the text once it is on the screen: reading it as Markdown takes longer than showing it."""
        page = self._page
        if page is not None:
            texts = [line.line.text for line in page.lines]
            tones = await asyncio.to_thread(read_tones, texts)
            self._tones = tones if page is self._page else ()
            self._show_blame()

    def _show_blame(self) -> None:
        page = self._page
        if page is not None:
            tones = self._tones
            self._blame.show(
                lambda width: blame_rows(page, width, self.host.now(), needle=self.needle, tones=tones)
            )

    def on_row_list_moved(self) -> None:
        """Explain the line that the cursor moved to."""
        self._read_why()

    @reading("why")
    async def _read_why(self) -> None:
        page, line = self._page, self._line
        if page is None or line is None:
            return
        story = await self.ask(
            partial(why, capsule=page.capsule, number=line.line.number, earlier=1, history=page.history)
        )
        if story is None:
            return
        self._why = story
        self._chain.show_links(chain_of(story))
        self._show_why(home=True)
        kept = tuple(record.id for record in story.evidence)
        if kept and kept not in self._there:
            self._there[kept] = await self.standing(story.evidence)
            self._show_why(home=False)

    def _show_why(self, *, home: bool) -> None:
        story, cause, there = self._why, self._cause, self._standing
        if story is None:
            return

        def rows(width: int) -> Sequence[Row]:
            if self._chain.link is None:
                return why_rows(story, there, width, self.host.now())
            return detail_rows(cause, width, self.host.now()) if cause else evidence_rows(story, there, width)

        self.query_one("#why", RowsView).show(rows, home=home)
        if self._sheet is not None and self._sheet.is_attached:
            self._sheet.stand(story, there)
        self.show_bar()
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def _blame(self) -> RowList:
        return self.query_one("#blame", RowList)

    @property
    def _standing(self) -> tuple[bool, ...] | None:
        """Which evidence of the line still is where it was, None while unknown."""
        return self._there.get(tuple(record.id for record in self._why.evidence)) if self._why else None

    @property
    def _chain(self) -> ChainLine:
        return self.query_one("#chain", ChainLine)

    @property
    def shown_version(self) -> int:
        """The version that is shown, where it is not the newest."""
        page = self._page
        return page.capsule.version if page and page.capsule.version < page.latest else 0

    @property
    def _line(self) -> BlameLine | None:
        page = self._page
        return page.lines[min(self._blame.cursor, len(page.lines) - 1)] if page and page.lines else None

    @property
    def _label(self) -> str:
        version = self._page.capsule.version if self._page else self._ref
        return f"{self._place.skill}@{version}" if version else self._place.skill

    @property
    def place(self) -> ScreenAddress:
        """The place with the line that the cursor is on."""
        line = self._line.line.number if self._line else self._place.line
        return ScreenAddress("why", self._place.skill, self._ref, line)

    @property
    def crumbs(self) -> list[str]:
        """Skills, the skill, its version, why."""
        version = [f"@{self._page.capsule.version}"] if self._page else []
        return ["Skills", self._place.skill, *version, "why"]

    @property
    def note(self) -> str:
        """Which version of how many is shown."""
        return f"{self._page.capsule.version} of {self._page.latest}" if self._page else ""

    @property
    def copied_id(self) -> str:
        """The id of the event that wrote the line."""
        return self._why.origin.event_id if self._why else ""

    @property
    def command(self) -> str:
        """The command that explains the line."""
        line = f":{self._line.line.number}" if self._line else ""
        return f"germline why {self._label}{line}"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the line under the cursor allows."""
        story = self._why
        offers = {
            "evidence": story and (story.evidence or story.erased),
            "before": story and story.previous,
            "diff": story,
            "travel": story,
            "same": story and story.signal,
            "tried": story and story.tried,
        }
        if action in offers:
            return self.offered(offers[action])
        if action == "cause":
            return not self.has_notice and self._chain.leads(int(str(parameters[0])))
        if action == "return":
            return self.host.can_return
        if action == "match":
            return bool(self.needle)
        return super().check_action(action, parameters)

    def action_evidence(self) -> None:
        """Show all evidence of the line in full."""
        story = self._why
        if story and (story.evidence or story.erased):
            crumbs = ["Skills", self._label, f"line {story.line.number}"]
            self._sheet = EvidenceSheet(crumbs, story, self._standing, self.host)
            self.app.push_screen(self._sheet)

    def on_row_list_chosen(self) -> None:
        """Show the evidence of a line that was clicked twice."""
        self.action_evidence()

    async def action_before(self) -> None:
        """Go to the earlier text of the line."""
        story = self._why
        if story and story.previous:
            version = story.previous[0].version
            page = await self.ask(partial(read_blame, skill=self._place.skill, ref=str(version)))
            if page is not None:
                number = page.number_of(story.line.gene, story.line.id)
                self.host.go_before(ScreenAddress("why", self._place.skill, str(version), number))

    def action_return(self) -> None:
        """Return to what the line says later."""
        self.host.go_return()

    def action_travel(self, step: int) -> None:
        """Show the skill one version older or newer, the cursor on the same line."""
        page = self._page
        if page is None:
            return
        version = page.capsule.version + step
        if 1 <= version <= page.latest:
            self._ref = str(version)
            self.reload()
        else:
            self.notify("the first version" if step < 0 else "the newest version", timeout=2)

    async def action_diff(self) -> None:
        """Show the change that brought the line."""
        story = self._why
        if story is None:
            return
        new = story.row.version
        diff = await self.ask(partial(read_diff, skill=self._place.skill, old=new - 1, new=new))
        if diff is not None:
            crumbs = ["Skills", self._place.skill, f"diff @{new - 1} @{new}" if new > 1 else "diff @1"]
            self.app.push_screen(diff_sheet(crumbs, diff, self.host))

    async def action_cause(self, step: int) -> None:
        """Look at the next cause back along the chain, or at what it led to."""
        self._chain.walk(step)
        position = self._chain.link.position if self._chain.link else 0
        self._cause = await self.ask(partial(read_event, position=position)) if position else None
        self._show_why(home=True)

    def action_same(self) -> None:
        """Show the signal behind the line, with all that came of it."""
        if self._why and self._why.signal:
            self.host.go(ScreenAddress("signals", item=self._why.signal.event.fingerprint))

    def action_tried(self) -> None:
        """Show what other changes were tried for the signal of the line, and why it is not there."""
        story = self._why
        if story and story.tried:
            crumbs = ["Skills", self._label, f"line {story.line.number}"]
            self.app.push_screen(tried_sheet(crumbs, story.tried, self.host))

    def find(self, *, done: bool) -> None:
        """Mark what matches, and go to the first match from the cursor on."""
        self._show_blame()
        if self.needle:
            self._to_match(1, here=True, is_notified=done)

    def action_match(self, step: int) -> None:
        """Go to the next line that matches, or to the one before."""
        self._to_match(step, here=False, is_notified=True)

    def _to_match(self, step: int, *, here: bool, is_notified: bool) -> None:
        page = self._page
        line = next_match(page, self._blame.cursor, step, self.needle, here=here) if page else None
        if line is not None:
            self._blame.cursor = line
        elif is_notified:
            self.notify(f'no line has "{self.needle}"', timeout=2)
