"""Driving the screens: open them on a registry, press keys, read what stands in a pane."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from tests.story import NOW
from tui.app import GermlineApp
from tui.bootstrap import open_library, open_registry
from tui.screens.base import PlaceScreen
from tui.views.rows import text_of
from tui.widgets.rows_view import RowList, RowsView

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from tui.host import Settings


_ROUNDS: Final = 5
"""What one read shows may ask for another one; no chain of them is longer."""


class Screens:
    """The screens under test: presses keys, waits until everything is read, and reads panes as text."""

    def __init__(self, app: GermlineApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when all that the last one asked for was read."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is being read or drawn any more."""
        await self.pilot.pause(0.01)
        for _ in range(_ROUNDS):
            await self.pilot.pause(0)
            while any(not worker.is_finished for worker in self.app.workers):
                await self.pilot.pause(0.002)

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
    def keys(self) -> set[str]:
        """The ids of the bindings that work now."""
        return {one.binding.id or "" for one in self.app.screen.active_bindings.values() if one.enabled}


async def _next_turn(*_: float) -> None:
    """Let what was posted arrive: `settle` knows what to wait for, and need not guess from the processor's load.

    Textual waits, twice for each key, until the process is idle for 20 ms, and up to a second where threads read.
    """
    await asyncio.sleep(0.001)


@asynccontextmanager
async def screens(
    path: Path, at: str | None = None, *, size: tuple[int, int] = (120, 30), settings: Settings | None = None
) -> AsyncIterator[Screens]:
    """Open the screens on a registry, at an address, in a terminal of some size."""
    app = GermlineApp(
        lambda: open_library(path),
        lambda *, dry_run: open_registry(path, dry_run=dry_run),
        at=at,
        now=lambda: NOW,
        settings=settings,
    )
    with patch("textual.app.wait_for_idle", _next_turn), patch("textual.pilot.wait_for_idle", _next_turn):
        async with app.run_test(size=size, notifications=True) as pilot:
            opened = Screens(app, pilot)
            while not (isinstance(app.screen, PlaceScreen) and app.screen.is_mounted):
                await pilot.pause(0.01)
            await opened.settle()
            yield opened
