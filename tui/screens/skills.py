"""The Skills screen: a digest, every skill, those that need a person first, and the card of one of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from events.errors import GermlineError
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.session.changes import adopting
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.widgets.keys import SKILLS
from tui.widgets.rows_view import LineView
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from registry.query.library import Library
    from tui.reads.skills import OpenWork, SkillCard, Week
    from tui.screens.host_protocol import Host


def _skills(library: Library) -> tuple[SkillCard, ...]:
    from tui.reads.skills import read_skills  # noqa: PLC0415 - behind the first frame, and in the reading thread
    from tui.views import digest, skills  # noqa: F401, PLC0415 - as above: the next to be needed

    return read_skills(library)


def _work(library: Library, draw_every: int, seed: int) -> OpenWork:
    from tui.reads.skills import read_work  # noqa: PLC0415 - as above

    return read_work(library, draw_every=draw_every, seed=seed)


class SkillsScreen(ListScreen["SkillCard"]):
    """Lists the skills of the registry below a digest, those that need a person first."""

    BINDINGS: ClassVar[list[BindingType]] = [*SKILLS]
    FIND_HINT = "show skills that hold …"
    PANES = ("#skills", "#card")
    _every: tuple[SkillCard, ...] = ()
    _work: OpenWork | None = None
    _week: Week | None = None

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._target = place.skill

    def panes(self) -> ComposeResult:
        """Lay out the digest above the list."""
        yield LineView(id="digest")
        yield from super().panes()

    async def load(self) -> None:
        """Read the skills, then what was tried for them: that takes longer the older the registry is."""
        self._target = self.place.skill
        self._every = await self.host.access.read(_skills)
        from tui.views.skills import skills_header  # noqa: PLC0415 - loaded by the reading thread

        empty = ("no skill is in the registry yet", NEXT_STEPS["no skill"])
        self.show_header(skills_header, empty=None if self._every else empty)
        self._show_digest()
        self.find(done=True)
        self.call_after_refresh(self._read_work)

    @reading("work")
    async def _read_work(self) -> None:
        is_first = self._work is None
        try:
            settings = self.host.settings
            self._work = await self.host.access.study(
                partial(_work, draw_every=settings.draw_every, seed=settings.seed)
            )
            if is_first and not self._place.skill and not self._table.cursor:
                self._target = ""  # who has chosen no skill begins with the one that needs them
            self.list_items()
            self.show_selected()
        except GermlineError as error:
            self.tell(error)
            return
        self._read_week()

    @reading("week")
    async def _read_week(self) -> None:
        try:
            self._week = await self.host.access.week(self.host.now())
        except GermlineError as error:
            self.tell(error)
            return
        self._show_digest()
        if (behind := self.host.access.behind_s) is not None:
            self.set_timer(behind, self._read_week)

    def list_items(self) -> None:
        """List the skills that are asked for."""
        self._show_cards()
        self.return_to_target(lambda card, name: card.capsule.name == name)

    def _show_digest(self) -> None:
        from tui.views.digest import digest_rows  # noqa: PLC0415 - loaded by the reading thread

        self.query_one("#digest", LineView).show(
            lambda width: digest_rows(self._every, self._work, self._week, width, self.host.now())
        )

    def _show_cards(self) -> None:
        from tui.views.skills import skill_rows  # noqa: PLC0415 - loaded by the reading thread

        wanted, work = self.needle.casefold(), self._work
        if work:
            self._every = tuple(sorted(self._every, key=lambda card: work.need(card.capsule)))
        self._shown = cards = [
            card
            for card in self._every
            if wanted in f"{card.capsule.name} {card.description} {card.capsule.aliases}".casefold()
        ]
        self._table.show(lambda width: skill_rows(cards, work, width, self.host.now()))
        self.show_bar()

    def show_selected(self) -> None:
        """Show the card of a skill."""
        from tui.views.skills import card_rows  # noqa: PLC0415 - loaded by the reading thread

        card = self._selected
        work = self._work.of(card.capsule.name) if card and self._work else None
        self.show_detail(lambda card, width: card_rows(card, work, width, self.host.now()))
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the skill that the cursor is on."""
        card = self._selected if self.is_mounted else None
        return ScreenAddress("skills", card.capsule.name if card else self._target)

    @property
    def cursor_name(self) -> str:
        """The name of the skill."""
        return self.place.skill

    @property
    def note(self) -> str:
        """How many skills there are."""
        shown = f"{len(self._shown):,} of " if self.needle else ""
        return f"{shown}{count(len(self._every), 'skill')}"

    @property
    def copied_id(self) -> str:
        """The name of the skill."""
        return self._selected.capsule.name if self._selected else ""

    @property
    def command(self) -> str:
        """The command that shows the skill."""
        return f"germline show {self._selected.capsule.name}" if self._selected else "germline status"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what needs a skill only where there is one."""
        card = self._selected
        if action in {"open", "why", "diff", "evidence", "adopt"} and (not card or self.has_notice):
            return False
        if action == "evidence":
            return bool(card and card.versions[-1].candidate) or None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Show the history of the skill."""
        if self._selected:
            self.host.go(ScreenAddress("history", self._selected.capsule.name))

    def action_adopt(self) -> None:
        """Ask whether to take in what was edited in the files of the skill."""
        if self._selected:
            self.ask_about(adopting(self._selected.capsule.name))

    def on_row_list_chosen(self) -> None:
        """Show the history of a skill that was clicked twice."""
        self.action_open()

    def action_why(self) -> None:
        """Show the skill line by line."""
        if self._selected:
            self.host.go(ScreenAddress("why", self._selected.capsule.name))

    async def action_diff(self) -> None:
        """Show what the newest version changed."""
        from tui.reads.history import read_diff  # noqa: PLC0415 - the first frame needs none of it
        from tui.screens.sheet import diff_sheet  # noqa: PLC0415 - as above

        card = self._selected
        if card is None:
            return
        name, new = card.capsule.name, card.capsule.version
        diff = await self.ask(partial(read_diff, skill=name, old=new - 1, new=new))
        if diff is not None:
            crumbs = ["Skills", name, f"diff @{new - 1} @{new}" if new > 1 else "diff @1"]
            self.app.push_screen(diff_sheet(crumbs, diff, self.host))

    async def action_evidence(self) -> None:
        """Show the evidence behind the newest version."""
        from registry.skill_md.render import label  # noqa: PLC0415 - the first frame needs none of it

        card = self._selected
        if card:
            await self.open_evidence(["Skills", label(card.capsule)], card.versions[-1].candidate)
