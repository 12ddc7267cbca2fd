"""The Presets screen: the numbers side by side, and what each would pick next from the signals that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from events.errors import GermlineError
from tui.reads.signals import PresetLine, Prospects, read_presets
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.session.changes import switching
from tui.text.numbers import count
from tui.views.presets import outlook_rows, preset_rows, presets_header
from tui.widgets.keys import PRESETS
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from textual.binding import BindingType


class PresetsScreen(ListScreen["PresetLine"]):
    """Lists the presets, and looks ahead under the one that the cursor is on."""

    BINDINGS: ClassVar[list[BindingType]] = [*PRESETS]
    FIND_HINT = "show presets that hold …"
    PANES = ("#presets", "#outlook")
    _presets: tuple[PresetLine, ...] = ()
    _prospects: Prospects | None = None

    async def load(self) -> None:
        """Read the presets, then what each would pick; the cursor begins on the one in force."""
        self._target = self.place.item
        self._presets = await self.host.access.read(read_presets)
        names = [preset.bound.name for preset in self._presets]
        if self._target not in names:
            self._target = next((preset.bound.name for preset in self._presets if preset.in_force), "")
        self.show_header(presets_header, empty=None)
        self.find(done=True)
        self._look_ahead()

    @reading("ahead")
    async def _look_ahead(self) -> None:
        try:
            self._prospects = await self.host.access.prospects()
        except GermlineError as error:
            self.tell(error)
            return
        self.show_selected()

    def list_items(self) -> None:
        """List the presets that are asked for."""
        wanted = self.needle.casefold()
        self._shown = shown = [line for line in self._presets if wanted in line.bound.name.casefold()]
        self._table.show(lambda width: preset_rows(shown, width))
        self.return_to_target(lambda line, name: line.bound.name == name)
        self.show_bar()

    def show_selected(self) -> None:
        """Look ahead under a preset."""
        prospects = self._prospects
        self.show_detail(lambda line, width: outlook_rows(line, prospects, width))
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the preset that the cursor is on."""
        line = self._selected if self.is_mounted else None
        name = line.bound.name if line else self._target or self._place.item
        return ScreenAddress("presets", self._place.skill, item=name)

    @property
    def crumbs(self) -> list[str]:
        """Presets."""
        return ["Presets"]

    @property
    def note(self) -> str:
        """How many presets there are."""
        shown = f"{len(self._shown):,} of " if self.needle else ""
        return f"{shown}{count(len(self._presets), 'preset')}"

    @property
    def copied_id(self) -> str:
        """The name of the preset."""
        return self._selected.bound.name if self._selected else ""

    @property
    def command(self) -> str:
        """The command that says what it would pick."""
        return f"germline preset preview {self.copied_id}".strip()

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to use a preset that is not in force."""
        if action == "use":
            return not self.has_notice and bool(self._selected and not self._selected.in_force)
        return super().check_action(action, parameters)

    def action_use(self) -> None:
        """Ask for the reason, and let this preset bind from then on."""
        if self._selected and not self._selected.in_force:
            self.ask_about(switching(self._selected.bound.name))

    def on_row_list_chosen(self) -> None:
        """Use a preset that was clicked twice."""
        self.action_use()
