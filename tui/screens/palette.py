"""The command palette: everything that can be reached or done by its name."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.app import SystemCommand
from textual.command import Hit, Provider
from textual.content import Content
from textual.markup import escape

from events.errors import GermlineError, UsageError
from registry.query.library import Library
from registry.query.signal_kinds import kind_word
from tui.screens.addresses import ScreenAddress, View, place_of
from tui.screens.base import PlaceScreen
from tui.screens.confirm import ConfirmChange
from tui.session.changes import reverting, switching
from tui.text.rows import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.command import Hits
    from textual.fuzzy import Matcher

    from registry.query.library import Raised
    from tui.screens.app import GermlineApp
    from tui.session.changes import Change

_VIEWS: Final[dict[View, tuple[str, str]]] = {
    "skills": ("All skills", "With their scores"),
    "history": ("All events", "The history of the registry"),
    "signals": ("All signals", "What the logs show, and what it leads to"),
    "sessions": ("All sessions", "What agents did, session by session"),
    "usage": ("Usage", "Which lines of skills and instructions earn their place"),
    "start": ("Start", "What costs most, what worked next, and which line says so"),
    "audits": ("Audits", "What evaluators report of a skill, iteration by iteration"),
    "presets": ("All presets", "The numbers, and what each would pick next"),
    "review": ("Review", "What waits for a person's word"),
}
_ACTIONS: Final = (
    ("copy_id", "Copy the id", "Of what the cursor is on"),
    ("copy_command", "Copy the command", "That shows what the cursor is on"),
    ("copy_address", "Copy the address", "The command that opens this place here"),
    ("undo", "Undo …", "Take the last change back, by a new event"),
    ("redo", "Redo …", "Take the last undo back, by a new event"),
)
_SCANS: Final = "Reads the sessions of this project, or the logs of germline.toml, and raises signals"
_EVOLVES: Final = "Takes turns of evolution: what passes the gate becomes a version, and is written to its files"
_EVENT: Final = re.compile(r"(?:event\s*)?#?\s*([1-9][0-9]{0,17})", re.IGNORECASE)
_MOST_SIGNALS: Final = 20


def commands_of(app: GermlineApp) -> Iterator[SystemCommand]:
    """List what can be done here; textual reads the titles as markup, and what a registry names is none."""
    return (command._replace(title=escape(clean(command.title))) for command in _commands(app))


def _commands(app: GermlineApp) -> Iterator[SystemCommand]:
    """List skills, screens, changes, copies, themes, and the way out."""
    from strategies.policy.auto import AUTO  # noqa: PLC0415 - 100 ms that no first screen needs
    from strategies.policy.presets import PRESETS  # noqa: PLC0415 - as above

    for name in app.access.state.names:
        yield SystemCommand(f"Why {name}", "The skill line by line", partial(app.go, ScreenAddress("why", name)))
        yield SystemCommand(f"History of {name}", "Its events", partial(app.go, ScreenAddress("history", name)))
        yield SystemCommand(
            f"Trends of {name}", "Scores, tasks and size", partial(app.go, ScreenAddress("trends", name))
        )
    for view, (title, tooltip) in _VIEWS.items():
        yield SystemCommand(
            title, tooltip, partial(app.go, ScreenAddress(view, app.place.skill if view == "skills" else ""))
        )
    for preset in dict.fromkeys([*PRESETS, *app.access.state.own_presets, AUTO]):
        if preset != app.access.state.preset:
            ask = partial(_ask, app, switching(preset))
            yield SystemCommand(f"Use preset {preset} …", "From here on; asks for a reason", ask)
    skill = app.place.skill
    for words, about in (
        (("scan",), _SCANS),
        (("evolve",), _EVOLVES),
        *(((("evolve", skill), _EVOLVES),) if skill in app.access.state.names else ()),
    ):
        yield SystemCommand(f"Run germline {' '.join(words)} …", about, partial(_run, app, words, about))
    base = app.base
    if isinstance(base, PlaceScreen):
        if version := base.shown_version:
            skill = base.place.skill
            ask = partial(_ask, app, reverting(skill, version))
            yield SystemCommand(f"Revert {skill} to @{version} …", "By a new event; asks for a reason", ask)
        for action, title, tooltip in _ACTIONS:
            if base.check_action(action, ()):
                yield SystemCommand(title, tooltip, partial(base.run_action, action))
    yield SystemCommand("Theme", "Change the colours, and keep them", app.action_change_theme)
    yield SystemCommand("Help", "The keys that work here", app.action_keys)
    yield SystemCommand("Quit", "Leave germline", app.exit)


def _run(app: GermlineApp, words: Sequence[str], about: str) -> None:
    from tui.screens.command_sheet import CommandSheet  # noqa: PLC0415 - most who look run nothing

    app.push_screen(CommandSheet(words, about, app))


def _ask(app: GermlineApp, change: Change) -> None:
    app.push_screen(ConfirmChange(change, app))


class GoTo(Provider):
    """Leads to what is typed: `41` or `event 41`, `sql-analyst@3`, `sql-analyst@3:7`, the words of a signal."""

    _signals: tuple[Raised, ...] = ()

    @property
    def _germline(self) -> GermlineApp:
        from tui.screens.app import GermlineApp  # noqa: PLC0415 - the app offers this provider

        assert isinstance(self.app, GermlineApp)  # noqa: S101 - no other app has it
        return self.app

    async def startup(self) -> None:
        """Read the signals, once for each time that the palette opens."""
        try:
            self._signals = tuple(await self._germline.access.read(Library.signals))
        except GermlineError:
            self._signals = ()  # the screen below says what is the matter

    async def search(self, query: str) -> Hits:
        """Offer the place that was typed, and the signals that fit it."""
        app = self._germline
        for title, place in _places(query.strip(), app):
            command = escape(clean(f"germline ui --at {place.address}"))
            yield Hit(1.0, Content(clean(title)), partial(app.go, place), help=command)
        matcher = self.matcher(query)
        matches = 0
        for raised in self._signals:
            name = f"Signal {clean(raised.event.template or raised.event.action)}"
            if (score := matcher.match(name)) > 0 and matches < _MOST_SIGNALS:
                matches += 1
                place = ScreenAddress("signals", item=raised.event.fingerprint)
                yield Hit(
                    score,
                    _found_in(name, matcher),
                    partial(app.go, place),
                    help=escape(kind_word(raised.event.kind)),
                )


def _found_in(name: str, matcher: Matcher) -> Content:
    """Mark what matches; `Matcher.highlight` reads the text as markup, and what a log says is none."""
    highlighted = Content(name)
    _, offsets = matcher.fuzzy_search.match(matcher.query, name)
    for at in offsets:
        highlighted = highlighted.stylize(matcher.match_style, at, at + 1)
    return highlighted


def _places(query: str, app: GermlineApp) -> Iterator[tuple[str, ScreenAddress]]:
    if event := _EVENT.fullmatch(query):
        position = int(event[1])
        if position <= app.access.state.head:
            yield f"Go to event {position}", ScreenAddress("history", event=position)
        return
    try:
        place = place_of(query)
    except UsageError:
        return
    if place.skill in app.access.state.names and (place.ref or place.line or place.event):
        yield f"Go to {place.address}", place
