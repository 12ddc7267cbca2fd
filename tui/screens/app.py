"""The app: leads from screen to screen, reads and writes for them, and follows the registry as it grows."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import App
from textual.command import CommandPalette
from textual.filter import LineFilter

from events.clock import SystemClock
from events.errors import UsageError
from tui.screens.addresses import ScreenAddress, place_of
from tui.screens.base import PlaceScreen
from tui.screens.host_protocol import Settings
from tui.screens.keymap import checked_keys
from tui.screens.navigation import Trail
from tui.session.access import Access
from tui.text.rows import ascii_of, clean
from tui.text.terminal_text import STEERING, one_line
from tui.widgets.keys import APP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from rich.segment import Segment
    from textual.app import SystemCommand
    from textual.binding import Binding, BindingType
    from textual.color import Color
    from textual.command import Provider
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.theme import Theme

    from registry.query.library import Library
    from tui.screens.addresses import View
    from tui.session.changes import OpenRegistry

FOLLOW_S: Final = 1.0
"""Between two looks at the head of the log: one indexed row, 0.1 ms."""
GARBAGE_SEARCHES: Final = (2_000, 10, 10)
"""After how many new objects garbage is searched for: a key press makes 1,500, and the search takes 1 ms."""
TURN_S: Final = 0.0005
"""How long a thread that reads may keep the others waiting: with the 5 ms of Python an event is drawn .4 s after
it was jumped to while a million are counted beside it, with this .05 s (measured)."""

WIDTHS: Final = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]
HEIGHTS: Final = [(0, "-flat"), (16, "-high")]
"""From how many cells on a screen has which class: below 60 × 16 it says that it is too small."""

_PALETTE_TAKES: Final = "a skill, a screen, a change, an event, sql-analyst@3:7"

SCREENS: Final[dict[View, str]] = {
    "skills": "SkillsScreen",
    "history": "HistoryScreen",
    "why": "WhyScreen",
    "signals": "SignalsScreen",
    "presets": "PresetsScreen",
    "review": "ReviewScreen",
    "trends": "TrendsScreen",
    "sessions": "SessionsScreen",
    "usage": "UsageScreen",
    "start": "StartScreen",
    "audits": "AuditsScreen",
}
"""The screen of each view, in the module of that name: imported when it is first shown, 5 to 60 ms each."""


def screen_for(view: View) -> type[PlaceScreen]:
    """Give the screen that shows a view."""
    kind: type[PlaceScreen] = getattr(import_module(f"tui.screens.{view}"), SCREENS[view])
    return kind


def _go_to() -> type[Provider]:
    """Name what the palette offers beside Textual's own, once it is opened."""
    from tui.screens.palette import GoTo  # noqa: PLC0415 - the first frame needs none of it

    return GoTo


class _Unsteered(LineFilter):
    """Takes what steers a terminal out of lines that are drawn: the last look at text, whichever widget has it."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Give the same segments, without it."""
        del background
        return [
            part
            if part.text.isascii() and part.text.isprintable()
            else part._replace(text=STEERING.sub("", part.text))
            for part in segments
        ]


_UNSTEERED: Final = _Unsteered()
_WITH_PLACE: Final = 2
"""How many screens there are at least while a place is shown: an empty one lies below."""


class GermlineApp(App[None], inherit_bindings=False):
    """The screens of germline on one registry, which `library` opens for reading and `registry` for writing."""

    TITLE = "germline"
    CSS_PATH = "theme.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*APP]
    COMMANDS = App.COMMANDS | {_go_to}
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def __init__(
        self,
        library: Callable[[], AbstractContextManager[Library]],
        registry: OpenRegistry | None = None,
        *,
        at: str | None = None,
        now: Callable[[], str] | None = None,
        settings: Settings | None = None,
        remember: Callable[[str], str] | None = None,
        owns_process: bool = False,
    ) -> None:
        """Start at an address; `remember` keeps the theme that is chosen, and says where.

        With `owns_process`, searches for garbage are short from then on, and leave out what is there.

        Raises: UsageError for an address, a key or a theme that is none.
        """
        super().__init__()
        self.settings = settings or Settings()
        self.access = Access(library, registry, seed=self.settings.seed, logs=self.settings.logs)
        self._remember = remember
        self._clock = now or SystemClock().now
        self._trail = Trail(place_of(at))
        self._turn_s = sys.getswitchinterval()
        self._owns_process = owns_process
        self._minute = ""
        self.shares: dict[View, int] = {}
        self.waiting: Mapping[str, int] = {}
        self.set_keymap(checked_keys(self.settings.keys))
        self.theme = self._known_theme(self.settings.theme)
        self.set_class(self.settings.ascii, "-ascii")

    def _known_theme(self, name: str) -> str:
        if name not in self.available_themes:
            names = ", ".join(sorted(self.available_themes))
            raise UsageError(f"there is no theme {name!r}", hint=f"ui.theme is one of {names}")
        return name

    def on_mount(self) -> None:
        """Begin with the place asked for, and follow the registry from here on."""
        sys.setswitchinterval(TURN_S)
        place = self._trail.here
        self.push_screen(screen_for(place.view)(place, self))
        self.keep_what_is_there()
        self.set_interval(FOLLOW_S, self.follow)
        self.theme_changed_signal.subscribe(self, self._keep_theme)

    async def on_unmount(self) -> None:
        """Let go of the registry."""
        self.access.close()
        sys.setswitchinterval(self._turn_s)

    def keep_what_is_there(self) -> None:
        """Leave what is there out of searches for garbage, where nobody else lives here, and search often.

        What is there takes 50 ms of a search; half a million new objects, as commands wait for, take 400 ms.
        """
        if self._owns_process:
            gc.freeze()
            gc.set_threshold(*GARBAGE_SEARCHES)

    # -- the registry ----------------------------------------------------------------------------------

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text."""
        return self._clock()

    @work(group="follow", exclusive=True)
    async def follow(self) -> None:
        """Look whether the log has grown, and show what is new; what could not be read is read again."""
        has_grown = await self.access.look()
        if len(self.screen_stack) < _WITH_PLACE:
            return  # the screens were closed meanwhile
        if has_grown or self.base.must_retry:
            self.base.reload()
        elif self._minute != (minute := self.now()[:16]):
            self._minute = minute
            self.base.relayout()

    # -- what a registry says ----------------------------------------------------------------------------

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Say something in a corner of the screen: what is in it is shown, and never read as markup."""
        del markup
        shown = "\n".join(map(clean, message.split("\n")))
        super().notify(shown, title=clean(title), severity=severity, timeout=timeout, markup=False)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Let no line of any widget steer the terminal: what a widget did not show is left out here."""
        return [*super().get_line_filters(), _UNSTEERED]

    # -- places ----------------------------------------------------------------------------------------

    @property
    def base(self) -> PlaceScreen:
        """The screen of the place, below whatever opened above it."""
        base = self.screen_stack[1]
        assert isinstance(base, PlaceScreen)  # noqa: S101 - nothing else ever stands on the empty first screen
        return base

    @property
    def place(self) -> ScreenAddress:
        """The place that is shown, with the cursor where it is."""
        return self.base.place

    def _show(self) -> None:
        place = self._trail.here
        self.switch_screen(screen_for(place.view)(place, self))

    def go(self, place: ScreenAddress) -> None:
        """Show another place, and remember the one left."""
        self._trail.go(place, self.place)
        self._show()

    def _walk(self, step: int) -> None:
        if self._trail.leads(step):
            self._trail.walk(step, self.place)
            self._show()

    def go_before(self, place: ScreenAddress) -> None:
        """Show the earlier text of a line, and remember the way back to the later one."""
        self._trail.go_before(place, self.place)
        self._show()

    @property
    def can_return(self) -> bool:
        """Whether there is a way back to what a line says later."""
        return self._trail.can_return

    def go_return(self) -> None:
        """Return to what a line says later."""
        if self._trail.can_return:
            self._trail.go_return(self.place)
            self._show()

    def step_back(self) -> None:
        """Go back to where the person came from, else up to the view above."""
        if self._trail.has_past:
            self._walk(-1)
        elif self.place.view != "skills":
            self.close_view()

    def close_view(self) -> None:
        """Close the view for the one above it; the last one quits."""
        place = self.place
        if place.view in {"why", "trends"} and not self.base.has_notice:
            self.go(ScreenAddress("history", place.skill))
        elif place.view != "skills":
            self.go(ScreenAddress("skills", place.skill))
        else:
            self.exit()

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what leads somewhere."""
        if action == "walk":
            return self._trail.leads(int(str(parameters[0])))
        if action == "view" and parameters in {("why",), ("trends",)}:
            return bool(self.place.skill)
        return super().check_action(action, parameters)

    def action_walk(self, step: int) -> None:
        """Go along the trail of places that were shown."""
        self._walk(step)

    def action_view(self, view: View) -> None:
        """Show one of the screens, on the same skill."""
        place = self.place
        if place.view != view:
            self.go(ScreenAddress(view, place.skill, place.ref if view == "why" else ""))

    def copy(self, text: str) -> None:
        """Put a text on the clipboard of the terminal (OSC 52), and into a file for those that take none."""
        if not text:
            return
        from tui.session.clipboard_file import kept_where  # noqa: PLC0415 - the first frame needs none of it

        text = one_line(text)  # pasted, a line end would run what is before it
        self.copy_to_clipboard(text)
        self.notify(f"copied {text}\n{kept_where(text)}", timeout=4)

    def _keep_theme(self, theme: Theme) -> None:
        if self._remember is None or theme.name == self.settings.theme:
            return
        self.settings = replace(self.settings, theme=theme.name)
        try:
            self.notify(f"{theme.name} is kept in {self._remember(theme.name)}", timeout=4)
        except (UsageError, OSError) as error:
            self.notify(f"{theme.name} is not kept: {error}", severity="warning", timeout=6)

    def get_key_display(self, binding: Binding) -> str:
        """Write a key as the bottom line shows it."""
        shown = super().get_key_display(binding)
        return ascii_of(shown) if self.settings.ascii else shown

    def action_keys(self) -> None:
        """List the keys that work here, and the words that are used here."""
        from tui.screens.help import HelpSheet, key_lines, terms_on  # noqa: PLC0415 - the first frame needs none of it

        keys, terms = key_lines(self, self.screen), terms_on(self.screen)
        self.push_screen(HelpSheet(keys, terms, plain=self.settings.ascii))

    def get_system_commands(self, screen: Screen[None]) -> Iterable[SystemCommand]:
        """Offer everything by name."""
        from tui.screens.palette import commands_of  # noqa: PLC0415 - the first frame needs none of it

        del screen
        for command in commands_of(self):
            yield command._replace(title=ascii_of(command.title)) if self.settings.ascii else command

    def action_command_palette(self) -> None:
        """Open the palette, which says what it takes."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=_PALETTE_TAKES, id="--command-palette"))
