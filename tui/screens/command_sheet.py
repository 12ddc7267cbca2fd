"""A command run from the screens: what it prints as it goes on, in a child process that a key interrupts."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from typing import TYPE_CHECKING, ClassVar, Final

from tui.screens.sheet import SheetScreen
from tui.session.own_command import own_command
from tui.text.rows import RowPart, clean, wrap
from tui.widgets.keys import COMMAND
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from tui.screens.host_protocol import Host
    from tui.text.rows import Row

_STEERS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_NARROWEST: Final = 40
_LAST: Final = 2_000
"""Lines of output that are kept: more nobody scrolls through."""


class CommandSheet(SheetScreen, inherit_bindings=False):
    """Runs a command once a person says so, and shows its output, its progress last."""

    BINDINGS: ClassVar[list[BindingType]] = [*COMMAND]

    def __init__(self, words: Sequence[str], about: str, host: Host) -> None:
        super().__init__([f"germline {' '.join(words)}"], self._page_rows, host)
        self._words = words
        self._about = about
        self._lines: list[str] = []
        self._live = ""
        self._child: asyncio.subprocess.Process | None = None
        self._ended: int | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to run what does not run yet, to stop what runs, and to close what does not."""
        runs = self._child is not None and self._ended is None
        if action == "run":
            return self._child is None
        if action == "stop":
            return runs
        if action == "close":
            return not runs
        return super().check_action(action, parameters)

    @reading("command")
    async def action_run(self) -> None:
        """Run the command on this registry, and show what it prints."""
        self._live = "…"
        reader, writer = os.openpty()  # progress is written to terminals alone
        settings = {"COLUMNS": str(max(self.size.width - 2, _NARROWEST)), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        settings |= {"GERMLINE_REGISTRY": self._host.settings.registry} if self._host.settings.registry else {}
        try:
            self._child = await asyncio.create_subprocess_exec(
                *own_command(),
                *self._words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                env=os.environ | settings,
            )
        finally:
            os.close(writer)
        self._refresh_page()
        await self._follow(reader)
        self._ended = await self._child.wait()
        self._live = ""
        self._host.follow()
        self._refresh_page()

    async def _follow(self, reader: int) -> None:
        loop, rest = asyncio.get_running_loop(), b""
        try:
            while piece := await loop.run_in_executor(None, _read, reader):
                *lines, rest = (rest + piece).split(b"\n")
                self._lines += [_shown(line) for line in lines]
                del self._lines[:-_LAST]
                self._live = _shown(rest)
                self._refresh_page()
        finally:
            os.close(reader)
        self._lines += [_shown(rest)] if rest.strip() else []

    def action_stop(self) -> None:
        """Interrupt the command as ctrl+c would: what it appended is kept."""
        if self._child is not None and self._ended is None:
            self._child.send_signal(signal.SIGINT)

    def on_unmount(self) -> None:
        """Interrupt what runs when germline is left."""
        self.action_stop()

    def _refresh_page(self) -> None:
        self.show(self._page_rows)
        self.query_one("#page").scroll_end(animate=False)
        self.refresh_bindings()

    def _page_rows(self, width: int) -> Sequence[Row]:
        if self._child is None:
            return wrap((RowPart(self._about),), width)
        rows = [row for line in self._lines for row in wrap((RowPart(clean(line)),), width)]
        if self._ended is None:
            return [*rows, (RowPart(clean(self._live) or "…", "accent"),)]
        end = (
            RowPart("done", "good") if self._ended == 0 else RowPart(f"ended with exit code {self._ended}", "bad")
        )
        return [*rows, (end,)]


def _read(reader: int) -> bytes:
    """Read what a terminal was written; nothing once nobody writes to it any more."""
    try:
        return os.read(reader, 65_536)
    except OSError:  # how Linux ends a terminal without writers
        return b""


def _shown(line: bytes) -> str:
    """Give what a terminal would show of a line that may have been written over."""
    text = _STEERS.sub("", line.decode("utf-8", "replace"))
    return text.rstrip("\r").rpartition("\r")[2]
