"""The Usage screen: which lines of skills and instructions earn their place, and why one does or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tui.facts.usage import worth_sentence
from tui.reads.usage import read_usage
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.text.numbers import count
from tui.views.usage import UsageLine, usage_detail_rows, usage_header, usage_lines, usage_row
from tui.widgets.keys import USAGE

if TYPE_CHECKING:
    from textual.binding import BindingType

    from registry.query.library import Library
    from strategies.usage.line_usage import FileUsage
    from tui.screens.host_protocol import Host


class UsageScreen(ListScreen[UsageLine]):
    """Lists the lines of one skill, or of all, those first that hurt."""

    BINDINGS: ClassVar[list[BindingType]] = [*USAGE]
    FIND_HINT = "show lines that hold …"
    PANES = ("#lines", "#line")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._files: tuple[FileUsage, ...] = ()
        self._witnessed_only = False

    async def load(self) -> None:
        """Measure the lines; the cursor stays on the one it is on."""
        self._target = self.place.item
        self._files = await self.host.access.study(self._read)
        empty = ("no skill and no instructions say anything yet", "germline import CLAUDE.md")
        self.show_header(usage_header, empty=None if usage_lines(self._files) else empty)
        self.find(done=True)

    def _read(self, library: Library) -> tuple[FileUsage, ...]:
        names = [self._place.skill] if self._place.skill else library.live_names()
        settings = self.host.settings
        return read_usage(
            library, names, self.host.now(), seed=settings.seed, logs=settings.logs, sources=settings.sources
        )

    def list_items(self) -> None:
        """List the lines that are asked for."""
        wanted = self.needle.casefold()
        shown = [
            line
            for line in usage_lines(self._files)
            if wanted in f"{line.usage.worth.verdict} {line.usage.line.text}".casefold()
            and not (self._witnessed_only and line.usage.worth.verdict == "unwitnessed")
        ]
        self.show_list(shown, usage_row)
        self.return_to_target(lambda line, name: line.address == name)
        self.show_bar()

    def show_selected(self) -> None:
        """Tell about a line."""
        sentence = worth_sentence(self._files)
        self.show_detail(lambda line, width: usage_detail_rows(line, sentence, width))
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the line that the cursor is on."""
        line = self._selected if self.is_mounted else None
        return ScreenAddress("usage", self._place.skill, item=line.address if line else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Usage, and of which skill."""
        return ["Usage", *([self._place.skill] if self._place.skill else [])]

    @property
    def note(self) -> str:
        """What all lines are worth, in one sentence."""
        shown = f"{count(len(self._shown), 'line')} shown. " if self.needle or self._witnessed_only else ""
        return f"{shown}{worth_sentence(self._files)}" if self._files else ""

    @property
    def copied_id(self) -> str:
        """The line as `why` takes it."""
        return self._selected.address if self._selected else ""

    @property
    def command(self) -> str:
        """The command that tells about the line, to which a correction can be added."""
        if self._selected is None:
            return "germline usage"
        return f"germline usage {self._selected.file.capsule.name} --line {self._selected.usage.line.number}"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is."""
        if action in {"why", "only_witnessed"}:
            return self.offered(self._files)
        return super().check_action(action, parameters)

    def action_why(self) -> None:
        """Show the line in its skill, and why it is there."""
        if line := self._selected:
            self.host.go(ScreenAddress("why", line.file.capsule.name, line=line.usage.line.number))

    def on_row_list_chosen(self) -> None:
        """Show the line that was clicked twice."""
        self.action_why()

    def action_only_witnessed(self) -> None:
        """Change between lines of which logs could tell and all of them."""
        self._witnessed_only = not self._witnessed_only
        self.find(done=True)
