"""Driving the screens: open them on a registry, press keys, read what stands in a pane."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from textual._compositor import Compositor
from textual.css.stylesheet import Stylesheet
from textual.widgets import Input

from tests.story import NOW
from tui.screens.addresses import place_of
from tui.screens.app import GermlineApp
from tui.screens.base import PlaceScreen
from tui.session.open_registry import open_library, open_registry
from tui.text.rows import text_of
from tui.widgets.rows_view import RowList, RowsView

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from concurrent.futures import Executor
    from pathlib import Path

    from textual.css.model import RuleSet
    from textual.css.types import CSSLocation
    from textual.pilot import Pilot
    from textual.screen import Screen

    from tui.screens.host_protocol import Settings


_ROUNDS: Final = 5
"""What one read shows may ask for another one; no chain of them is longer."""

_LAY_OUT_EVERY_S: Final = 1.0
"""Besides, the screens are laid out whenever a test waits: not for each step of the way, 60 times a second."""


_render: Final = Compositor.render_update


def _rendered(compositor: Compositor, full: bool = False, **rest: Any) -> Any:  # noqa: ANN401, FBT001, FBT002 - as textual has it
    """Draw for pictures alone: `Screens` draws what tests look at, and nobody sees what each key changed."""
    if full:
        return _render(compositor, full, **rest)
    compositor._dirty_regions.clear()
    return None


_parse: Final = Stylesheet._parse_rules
_PARSED: Final[dict[object, list[RuleSet]]] = {}


def _parsed(sheet: Stylesheet, css: str, read_from: CSSLocation, *given: Any, **named: Any) -> list[RuleSet]:  # noqa: ANN401 - handed on
    """Parse each style once for all screens that are opened: for each it took a tenth of opening them."""
    key = (css, read_from, given, *sorted(named.items()), *sheet._variables.items())
    if key not in _PARSED:
        _PARSED[key] = _parse(sheet, css, read_from, *given, **named)
    return _PARSED[key]


class Stillness:
    """Waits until no task has a turn to take and no thread works: all that is left to wait for are timers.

    Textual asks every widget to call back instead, six times for each key, and waits until the process idles.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.run_in_executor
        self._threads: set[asyncio.Future[object]] = set()

    def run_in_executor(
        self, executor: Executor | None, call: Callable[..., object], *given: object
    ) -> asyncio.Future[object]:
        """Stand in for what starts the work of a thread, and take note of it."""
        work = self._start(executor, call, *given)
        self._threads.add(work)
        work.add_done_callback(self._threads.discard)
        return work

    async def __call__(self, *_: object) -> bool:
        """Wait for it, in place of whatever textual waits for."""
        turns = self._loop._ready  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        while turns or self._threads:
            if turns:
                await asyncio.sleep(0)
            else:
                await asyncio.wait(self._threads, return_when=asyncio.FIRST_COMPLETED)
        return True


class Screens:
    """The screens under test: presses keys, waits until everything is read, and reads panes as text."""

    def __init__(self, app: GermlineApp, pilot: Pilot[None], stillness: Stillness) -> None:
        self.app = app
        self.pilot = pilot
        self._stillness = stillness
        self._drawn: set[Screen[object]] = set()

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when all that the last one asked for was read.

        What is typed into a field is drawn when all of it is typed.
        """
        for at, key in enumerate(keys, 1):
            await self.pilot.press(key)
            if at == len(keys) or len(key) > 1 or not isinstance(self.app.focused, Input):
                await self.settle()

    async def go(self, address: str) -> None:
        """Show the place of an address, as a link to it would."""
        self.app.go(place_of(address))
        await self.settle()

    async def resize(self, width: int, height: int) -> None:
        """Give the terminal another size."""
        await self.pilot.resize_terminal(width, height)
        await self.settle()

    @property
    def _is_timed(self) -> bool:
        """Whether what is under way may wait for a timer: a worker, or a new size, which textual holds back."""
        return self.app._resize_timer is not None or any(not worker.is_finished for worker in self.app.workers)

    async def settle(self) -> None:
        """Wait until nothing is being read any more; a screen that is new is drawn once."""
        for _ in range(_ROUNDS):
            await self._stillness()
            while self._is_timed:  # noqa: ASYNC110 - neither workers nor timers set an event
                await asyncio.sleep(0.002)
            await self.pilot.pause(0)
            self._look()
        await self._stillness()
        if self.app.screen not in self._drawn:
            self._drawn.add(self.app.screen)
            assert self.drawn

    def _look(self) -> None:
        """Ask for the rows in sight, as drawing them does: some are read when they are first looked at."""
        for rows in self.app.screen.query(RowsView):
            first = rows.scroll_offset.y
            for index in range(first, min(first + rows.size.height, rows.count)):
                rows.row(index)

    def pane(self, selector: str) -> str:
        """Return the text of a pane, all of its rows."""
        rows = self.app.screen.query_one(selector, RowsView)
        return "\n".join(text_of(rows.row(index)).rstrip() for index in range(rows.count))

    def row(self, selector: str) -> str:
        """Return the row that the cursor of a list is on."""
        rows = self.app.screen.query_one(selector, RowList)
        return text_of(rows.row(rows.cursor)).rstrip()

    @property
    def top(self) -> str:
        """The top bar."""
        return self.pane("#top")

    @property
    def drawn(self) -> str:
        """All that is drawn, as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(part.text for part in strip) for strip in strips)

    @property
    def keys(self) -> set[str]:
        """The ids of the bindings that work now."""
        return {active.binding.id or "" for active in self.app.screen.active_bindings.values() if active.enabled}


@asynccontextmanager
async def screens(
    path: Path,
    at: str | None = None,
    *,
    size: tuple[int, int] = (120, 30),
    settings: Settings | None = None,
    owns_process: bool = False,
) -> AsyncIterator[Screens]:
    """Open the screens on a registry, at an address, in a terminal of some size."""
    app = GermlineApp(
        lambda: open_library(path),
        lambda *, dry_run: open_registry(path, dry_run=dry_run, is_own=True),
        at=at,
        now=lambda: NOW,
        settings=settings,
        owns_process=owns_process,
    )
    stillness = Stillness()
    with (
        patch.object(asyncio.get_running_loop(), "run_in_executor", stillness.run_in_executor),
        patch("textual.app.wait_for_idle", stillness),
        patch("textual.pilot.wait_for_idle", stillness),
        patch("textual.pilot.Pilot._wait_for_screen", stillness),
        patch.object(Compositor, "render_update", _rendered),
        patch.object(Stylesheet, "_parse_rules", _parsed),
        patch("textual.screen.UPDATE_PERIOD", _LAY_OUT_EVERY_S),
    ):
        async with app.run_test(size=size, notifications=True) as pilot:
            opened = Screens(app, pilot, stillness)
            while not (isinstance(app.screen, PlaceScreen) and app.screen.is_mounted):
                await pilot.pause(0)
            await opened.settle()
            yield opened
            assert opened.drawn
