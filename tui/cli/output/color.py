"""Colour on a terminal: never the only sign of anything, and never where nobody asked for it."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from tui.text.terminal_text import columns, harmless

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

_CODES: Final = {
    "dim": "2",
    "strong": "1",
    "good": "32",
    "bad": "31",
    "warn": "33",
    "accent": "36",
    "mark": "7",
    "added": "32",
    "removed": "31",
}
_OWN: Final = re.compile(rf"(\x1b\[(?:0|{'|'.join(_CODES.values())})m)")
MIN_WIDTH: Final = 40
_USUAL_WIDTH: Final = 80


class Paint(NamedTuple):
    """Puts ANSI colours around texts, or leaves them alone."""

    enabled: bool

    @classmethod
    def of(cls, stream: TextIO) -> Paint:
        """Decide as no-color.org and bixense.com/clicolors say: NO_COLOR, CLICOLOR_FORCE, then a terminal."""
        if os.environ.get("NO_COLOR"):
            return cls(enabled=False)
        forced = os.environ.get("CLICOLOR_FORCE", "0") not in {"", "0"}
        return cls(enabled=forced or (stream.isatty() and os.environ.get("TERM") != "dumb"))

    def __call__(self, text: str, tone: str) -> str:
        """Colour a text by what it means: dim, strong, good, bad, warn, accent, mark."""
        return f"\x1b[{_CODES[tone]}m{text}\x1b[0m" if self.enabled and text and tone else text


def printable(text: str, stream: TextIO) -> str:
    """Make text safe to print, whatever data is in it: of what steers a terminal our own colours are left.

    A character is shown as its escape in JSON, so an answer in JSON is read as it was.
    """
    if text.isascii() and text.isprintable():
        return text
    if not Paint.of(stream).enabled:
        return harmless(text)
    parts = _OWN.split(text)  # every other one is a colour
    return "".join(part if at % 2 else harmless(part) for at, part in enumerate(parts))


def column(texts: Iterable[str], least: int, beside: int) -> int:
    """Choose the width of a column: that of its longest text, where `beside` columns are left for the others."""
    return max(least, min(max(map(columns, texts), default=0), width() - beside))


def width() -> int:
    """Tell how wide lines may be: as COLUMNS says, else the terminal's own columns, 80 where there is none.

    Source: `shutil.get_terminal_size`, which would load what archives and copies files.
    """
    try:
        columns = int(os.environ.get("COLUMNS", "0"))
    except ValueError:
        columns = 0
    if columns <= 0 and sys.__stdout__ is not None:
        with suppress(OSError, ValueError):  # closed, or no terminal
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns
    return max(columns if columns > 0 else _USUAL_WIDTH, MIN_WIDTH)
