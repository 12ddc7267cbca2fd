"""Text safe for a terminal, and cut to the columns it may take."""

from __future__ import annotations

import re
from typing import Final

STEERING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff]"
)
"""What steers a terminal instead of being read: control characters but tab and line feed, and what reorders text.

Halves of characters too: Python reads them for the bytes of a name that is no UTF-8, and no stream writes them.
"""


def one_line(text: str) -> str:
    """Make text from a log or a skill safe to print in a line: what steers a terminal is shown, not obeyed.

    So is what does not show at all, and may speak to a model.
    """
    line = harmless(text.rstrip("\r\n").replace("\r", " ")).replace("\t", " ").replace("\n", " ")
    if line.isascii():
        return line
    from registry.skill_md.invisible_chars import hidden_characters  # noqa: PLC0415 - few texts need it, and the list of commands none

    unseen = {hidden_character.column - 1 for hidden_character in hidden_characters(line)}
    return "".join(ascii(char)[1:-1] if at in unseen else char for at, char in enumerate(line))


def harmless(text: str) -> str:
    """Do the same for a whole text, its lines and tabs left as they are."""
    return STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


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
    path = one_line(path)
    if columns(path) <= width:
        return path
    slashes = [at for at, char in enumerate(path) if char == "/" and at]
    cuts = (f"{path[: slashes[0]]}/…{path[at:]}" for at in slashes)
    return next((cut for cut in cuts if columns(cut) <= width), clip_middle(path, width))
