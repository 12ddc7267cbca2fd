"""Colour on a terminal: never the only sign of anything, and never where nobody asked for it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

_CODES: Final = {"dim": "2", "strong": "1", "good": "32", "bad": "31", "warn": "33", "accent": "36", "mark": "7"}
_STEERING: Final = (*range(32), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Control characters, and those that reorder text: what steers a terminal instead of being read."""
_VISIBLE: Final = {code: f"\\u{code:04x}" for code in _STEERING}
_ONE_LINE: Final = {**_VISIBLE, 0x09: " ", 0x0A: " ", 0x0D: " "}
_MANY_LINES: Final = {code: shown for code, shown in _VISIBLE.items() if code not in {0x09, 0x0A, 0x0D}}
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


def one_line(text: str) -> str:
    """Make text from a log or a skill safe to print in a line: what steers a terminal is shown, not obeyed.

    So is what does not show at all, and may speak to a model.
    """
    line = text.rstrip("\r\n").translate(_ONE_LINE)
    if line.isascii():
        return line
    from registry.hidden import hidden_characters  # noqa: PLC0415 - few texts need it, and the list of commands none

    unseen = {one.column - 1 for one in hidden_characters(line)}
    return "".join(ascii(char)[1:-1] if at in unseen else char for at, char in enumerate(line))


def harmless(text: str) -> str:
    """Do the same for a whole text, its lines and tabs left as they are."""
    return text.translate(_MANY_LINES)


def columns(text: str) -> int:
    """Count the columns that a text takes on a terminal: wide characters take two, what joins another one none.

    The screens ask rich, which takes 16 ms to load (measured 2026-11-22): too long for a command.
    """
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # noqa: PLC0415 - most texts are plain

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def fitting(text: str, width: int) -> int:
    """Count the first characters of a text that take at most `width` columns."""
    if columns(text) == len(text):
        return min(len(text), max(width, 0))
    at = 0
    while at < len(text) and (width := width - columns(text[at])) >= 0:
        at += 1
    return at


def clip(text: str, width: int) -> str:
    """Cut a text to at most `width` columns, with an ellipsis where something is missing."""
    return text if columns(text) <= width else text[: fitting(text, width - 1)].rstrip() + "…"


def clip_middle(text: str, width: int) -> str:
    """Cut a text to at most `width` columns where its end says most, as of `SKILL@VERSION`: in the middle."""
    if columns(text) <= width:
        return text
    begun = text[: fitting(text, width // 2)]
    ended = text[::-1][: fitting(text[::-1], width - columns(begun) - 1)][::-1]
    return f"{begun}…{ended}"


def clip_path(path: str, width: int) -> str:
    """Cut a path to at most `width` columns: its first folder stays, and as many of its last ones as fit."""
    if columns(path) <= width:
        return path
    slashes = [at for at, char in enumerate(path) if char == "/" and at]
    cuts = (f"{path[: slashes[0]]}/…{path[at:]}" for at in slashes)
    return next((cut for cut in cuts if columns(cut) <= width), clip_middle(path, width))


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
