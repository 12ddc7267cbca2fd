"""The Skills screen: every skill with its score, and the card of the one the cursor is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tui.figures import count
from tui.keys import SKILLS
from tui.places import Place
from tui.reads import SkillCard, SkillsPage, read_skills
from tui.screens.base import PlaceScreen
from tui.views.skills import card_rows, skill_rows, skills_header
from tui.widgets.rows_view import Line, RowList, RowsView

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class SkillsScreen(PlaceScreen):
    """Lists the skills of the registry."""

    BINDINGS: ClassVar[list[BindingType]] = [*SKILLS]
    FIND_HINT = "show skills that hold …"
    PANES = ("#skills", "#card")
    _page = SkillsPage((), 0)

    def panes(self) -> ComposeResult:
        """Lay out the table above the card."""
        yield Line(id="columns")
        yield RowList(id="skills")
        yield RowsView(id="card", classes="below")

    async def load(self) -> None:
        """Read the skills."""
        name = self.place.skill
        self._page = await self.host.access.read(read_skills)
        self.query_one("#columns", Line).show(skills_header)
        if self._page.cards:
            self.say("", "")
        else:
            self.say("no skill is in the registry yet", "germline import PATH")
        self.find(done=True)
        names = [card.capsule.name for card in self._cards]
        if name in names:
            self._table.cursor = names.index(name)

    def find(self, *, done: bool) -> None:  # noqa: ARG002 - a filter works letter by letter
        """List the skills that hold the text."""
        self._table.show(lambda width: skill_rows(self._cards, width, self.host.now()))
        self._show_card()
        self.show_bar()

    def on_row_list_moved(self) -> None:
        """Show the card of another skill."""
        self._show_card()
        self.refresh_bindings()

    def _show_card(self) -> None:
        card = self._card
        self.query_one("#card", RowsView).show(
            lambda width: card_rows(card, width, self.host.now()) if card else [], home=True
        )

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def _table(self) -> RowList:
        return self.query_one("#skills", RowList)

    @property
    def _cards(self) -> list[SkillCard]:
        wanted = self.needle.casefold()
        return [
            card
            for card in self._page.cards
            if wanted in f"{card.capsule.name} {card.description} {card.capsule.aliases}".casefold()
        ]

    @property
    def _card(self) -> SkillCard | None:
        cards = self._cards
        return cards[min(self._table.cursor, len(cards) - 1)] if cards else None

    @property
    def place(self) -> Place:
        """The place with the skill that the cursor is on."""
        card = self._card if self.is_mounted else None
        return Place("skills", card.capsule.name if card else self._place.skill)

    @property
    def note(self) -> str:
        """How many skills there are."""
        loose = f", {count(self._page.loose, 'open signal')} not taken up" if self._page.loose else ""
        return f"{count(len(self._page.cards), 'skill')}{loose}"

    @property
    def copied_id(self) -> str:
        """The name of the skill."""
        return self._card.capsule.name if self._card else ""

    @property
    def command(self) -> str:
        """The command that shows the skill."""
        return f"germline show {self._card.capsule.name}" if self._card else "germline status"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what needs a skill only where there is one."""
        if action in {"open", "why"} and not self._page.cards:
            return False
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Show the history of the skill."""
        if self._card:
            self.host.go(Place("history", self._card.capsule.name))

    def on_row_list_chosen(self) -> None:
        """Show the history of a skill that was clicked twice."""
        self.action_open()

    def action_why(self) -> None:
        """Show the skill line by line."""
        if self._card:
            self.host.go(Place("why", self._card.capsule.name))
