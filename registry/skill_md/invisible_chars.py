"""Characters that a reader does not see and a model does."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

HIDDEN = "<*hidden*>"
"""What replaces invisible characters in the template of an error."""


class Hidden(NamedTuple):
    """A character that does not show; line and column count from 1."""

    line: int
    column: int
    code: int
    name: str


_PLAIN = re.compile(r"[\t\n\r\x20-\x7e]*")
# Variation selectors, which carry arbitrary bytes when strung together; Mongolian ones included.
_SELECTORS = frozenset(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x180E), 0x180F))
)
_EMOJI_BEFORE = frozenset({"So", "Sm", "Sk"})  # symbols and skin tones
_EMOJI_PUNCTUATION = frozenset("‼⁉〰")
_KEYCAP = "\N{COMBINING ENCLOSING KEYCAP}"


def hidden_characters(text: str) -> list[Hidden]:
    """List every hidden character of a text.

    These are format characters (Unicode category Cf: zero-width, bidirectional, tags), control characters but
    tab and line ends, line and paragraph separators, and variation selectors that do not follow an emoji.
    """
    hidden = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not _PLAIN.fullmatch(line):
            hidden += [
                Hidden(number, at + 1, ord(char), unicodedata.name(char, f"U+{ord(char):04X}"))
                for at, char in enumerate(line)
                if _hides(line, at)
            ]
    return hidden


def _hides(line: str, at: int) -> bool:
    char = line[at]
    if char in _SELECTORS:
        return not _styles_emoji(line, at)
    return unicodedata.category(char) in {"Cf", "Cc", "Cs", "Zl", "Zp"} and char not in "\t\r"


def _styles_emoji(line: str, at: int) -> bool:
    if line[at] not in "\ufe0e\ufe0f" or at == 0:
        return False
    before = line[at - 1]
    keycap = before in "0123456789#*" and line[at + 1 : at + 2] == _KEYCAP
    return keycap or before in _EMOJI_PUNCTUATION or unicodedata.category(before) in _EMOJI_BEFORE
