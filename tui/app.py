"""The app: leads from screen to screen, reads for them, and follows the registry as it grows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeVar

from textual import work
from textual.app import App, SystemCommand

from events.clock import SystemClock
from events.errors import GermlineError
from tui.bootstrap import find_registry, open_library
from tui.keys import APP
from tui.places import Place, place_of
from tui.reader import Reader
from tui.screens.base import PlaceScreen
from tui.screens.help import HelpSheet
from tui.screens.history import HistoryScreen
from tui.screens.skills import SkillsScreen
from tui.screens.why import WhyScreen
from tui.views.help import KeyLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from textual.binding import BindingType
    from textual.screen import Screen

    from registry.library import Library
    from tui.places import View

T = TypeVar("T")

FOLLOW_S: Final = 1.0
"""Between two looks at the head of the log: one indexed row, 0.1 ms."""

WIDTHS: Final = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]
HEIGHTS: Final = [(0, "-flat"), (16, "-high")]
"""From how many cells on a screen has which class: below 60 × 16 it says that it is too small."""

_SCREENS: Final[dict[View, type[PlaceScreen]]] = {
    "skills": SkillsScreen,
    "history": HistoryScreen,
    "why": WhyScreen,
}


HELP_ORDER: Final = ("find", "view", "trail", "copy", "pane", "move", "app")


class State(NamedTuple):
    """What the top bar says of the registry, and how far its log goes."""

    preset: str
    head: int
    names: tuple[str, ...]


class GermlineApp(App[None], inherit_bindings=False):
    """The screens of germline on one registry, which `open_library` opens for reading."""

    TITLE = "germline"
    CSS_PATH = "theme.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*APP]
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def __init__(
        self,
        library: Callable[[], AbstractContextManager[Library]],
        *,
        at: str | None = None,
        now: Callable[[], str] | None = None,
    ) -> None:
        """Start at an address; raises UsageError where it is none."""
        super().__init__()
        self._reader = Reader(library)
        self._clock = now or SystemClock().now
        self._trail = [place_of(at)]
        self._here = 0
        self._minute = ""
        self._returns: list[Place] = []
        self.names: tuple[str, ...] = ()
        self.preset = ""
        self.head = 0
        self.live = True

    def on_mount(self) -> None:
        """Begin with the place asked for, and follow the registry from here on."""
        self.push_screen(self._screen_of(self._trail[0]))
        self.set_interval(FOLLOW_S, self.follow)

    async def on_unmount(self) -> None:
        """Let go of the registry."""
        self._reader.close()

    # -- reading ---------------------------------------------------------------------------------------

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text."""
        return self._clock()

    async def read(self, ask: Callable[[Library], T]) -> T:
        """Answer a question about the registry in the reading thread; raises what it raises."""
        if not self.head:
            await self._read_state()
        return await self._reader.read(ask)

    async def _read_state(self) -> None:
        state = await self._reader.read(_state)
        self.preset, self.head, self.names = state

    @work(group="follow", exclusive=True)
    async def follow(self) -> None:
        """Look whether the log has grown, and show what is new."""
        head, was_live = self.head, self.live
        try:
            if await self._reader.read(_head) != head:
                await self._read_state()
            self.live = True
        except GermlineError:
            self.live = False
        if self.head != head or self.live != was_live:
            self._base.reload()
        elif self._minute != (minute := self.now()[:16]):
            self._minute = minute
            self._base.relayout()

    # -- places ----------------------------------------------------------------------------------------

    @property
    def _base(self) -> PlaceScreen:
        base = self.screen_stack[1]
        assert isinstance(base, PlaceScreen)  # noqa: S101 - nothing else ever stands on the empty first screen
        return base

    def _screen_of(self, place: Place) -> PlaceScreen:
        return _SCREENS[place.view](place, self)

    def go(self, place: Place) -> None:
        """Show another place, and remember the one left."""
        self._trail[self._here] = self._base.place
        del self._trail[self._here + 1 :]
        self._trail.append(place)
        self._returns.clear()
        self._walk(1)

    def _walk(self, step: int) -> None:
        if 0 <= self._here + step < len(self._trail):
            self._trail[self._here] = self._base.place
            self._here += step
            self.switch_screen(self._screen_of(self._trail[self._here]))

    def go_before(self, place: Place) -> None:
        """Show what a line said before, and remember the way back to what it says later."""
        returns = [*self._returns, self._base.place]
        self.go(place)
        self._returns = returns

    @property
    def can_return(self) -> bool:
        """Whether there is a way back to what a line says later."""
        return bool(self._returns)

    def go_return(self) -> None:
        """Return to what a line says later."""
        if self._returns:
            *returns, place = self._returns
            self.go(place)
            self._returns = returns

    def step_back(self) -> None:
        """Go back to where the person came from, else up to the view above."""
        if self._here:
            self._walk(-1)
        elif self._base.place.view != "skills":
            self.close_view()

    def close_view(self) -> None:
        """Close the view for the one above it; the last one quits."""
        place = self._base.place
        if place.view == "why" and not self._base.has_notice:
            self.go(Place("history", place.skill))
        elif place.view != "skills":
            self.go(Place("skills", place.skill))
        else:
            self.exit()

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what leads somewhere."""
        if action == "walk":
            return 0 <= self._here + int(str(parameters[0])) < len(self._trail)
        if action == "view" and parameters == ("why",):
            return bool(self._base.place.skill)
        return super().check_action(action, parameters)

    def action_walk(self, step: int) -> None:
        """Go along the trail of places that were shown."""
        self._walk(step)

    def action_view(self, view: View) -> None:
        """Show one of the screens, on the same skill."""
        place = self._base.place
        if place.view != view:
            self.go(Place(view, place.skill, place.ref if view == "why" else ""))

    def copy(self, text: str) -> None:
        """Put a text on the clipboard of the terminal (OSC 52)."""
        if text:
            self.copy_to_clipboard(text)
            self.notify(f"copied {text}", timeout=2)

    def action_keys(self) -> None:
        """List the keys that work here."""
        lines: dict[str, KeyLine] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.id and active.enabled:
                key = self.get_key_display(replace(binding, key_display=None)).replace("⏎", "enter")
                keys = f"{lines[binding.id].keys} {key}" if binding.id in lines else key
                lines[binding.id] = KeyLine(keys, binding.description, binding.tooltip, binding.id)
        self.push_screen(HelpSheet(sorted(lines.values(), key=_help_order)))

    def get_system_commands(self, screen: Screen[None]) -> Iterable[SystemCommand]:
        """Offer the skills by name, the themes, and the way out."""
        del screen
        for name in self.names:
            yield SystemCommand(f"Why {name}", "The skill line by line", partial(self.go, Place("why", name)))
            yield SystemCommand(f"History of {name}", "Its events", partial(self.go, Place("history", name)))
        yield SystemCommand("All events", "The history of the registry", partial(self.go, Place("history")))
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)
        yield SystemCommand("Help", "The keys that work here", self.action_keys)
        yield SystemCommand("Quit", "Leave germline", self.action_quit)


def _head(library: Library) -> int:
    return library.log.head().position


def _state(library: Library) -> State:
    return State(library.about().preset, _head(library), tuple(library.names()))


def _help_order(line: KeyLine) -> int:
    """Put the keys of the screen first, and those that every screen has last."""
    group = line.key_id.partition(".")[0]
    return HELP_ORDER.index(group) if group in HELP_ORDER else -1


def run(registry: str, *, at: str | None = None) -> None:
    """Open the screens on a registry, named as on the command line ("" for the nearest), at an address."""
    GermlineApp(lambda: open_library(find_registry(registry)), at=at).run()
