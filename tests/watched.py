"""A watch in this process, for some looks: what it does is asked, not how its process starts and ends."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tui.cli.commands.logs import watch as watching

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.terminal import Answer, Terminal


def watched(germline: Terminal, *words: str | Path, looks: int) -> Answer:
    """Let `germline watch … --json` look so often, then stop as a signal stops it."""
    stop, seen = threading.Event(), 0
    looked = watching._Watched.looked

    def counted(self: watching._Watched) -> None:
        nonlocal seen
        looked(self)
        seen += 1
        if seen == looks:
            stop.set()

    @contextmanager
    def stopping() -> Iterator[threading.Event]:
        yield stop

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(watching._Watched, "looked", counted)
        patched.setattr(watching, "stopped_by_signals", stopping)
        return germline.does("watch", *words, "--json")
