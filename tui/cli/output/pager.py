"""Paging: long answers go through the PAGER that a person set, on a terminal only."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LESS: Final = "FRX"
"""What git gives `less` too: leave where it fits, show colours, leave the text on the screen."""


@contextmanager
def paged() -> Iterator[None]:
    """Send what is printed inside through PAGER, where one is set and somebody is watching."""
    stated = os.environ.get("PAGER", "")
    pager = _words(stated) if stated and sys.stdout.isatty() else []
    if not pager:
        yield
        return
    import subprocess  # noqa: PLC0415 - where somebody watches: 10 ms

    environment = {"LESS": _LESS, **os.environ}
    with (
        suppress(BrokenPipeError),  # who left the pager has read enough
        subprocess.Popen(pager, stdin=subprocess.PIPE, text=True, env=environment) as viewer,  # noqa: S603 - the person's own PAGER
        redirect_stdout(viewer.stdin),
    ):
        yield


def _words(stated: str) -> list[str]:
    import shlex  # noqa: PLC0415 - the same

    return shlex.split(stated)
