"""Quotes: which kept texts hold what a piece of evidence says, however often it was written as JSON in between."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LEAST_CHARS: Final = 24
"""A shorter text is no quote: it may stand in any prompt by chance (a guess)."""

_WINDOW_CHARS: Final = 160
"""How much of either end of a long text is looked for: whoever quotes it may leave out its middle (a guess)."""

_BETWEEN: Final = re.compile(rb'(?:\\+(?:["/bfnrt]|u[0-9a-fA-F]{4})?|["\x00-\x20\x7f-\xff])+')
"""What JSON writes otherwise than a text has it, once or several times over: all of it counts as one space."""


class Quotes:
    """The texts that are looked for; a text of a few characters is never found."""

    def __init__(self, texts: Iterable[str]) -> None:
        folded = (_folded(text.encode(errors="replace")) for text in texts)
        self._windows = tuple(dict.fromkeys(window for one in folded for window in _windows(one)))

    def __bool__(self) -> bool:
        """Tell whether anything can be found."""
        return bool(self._windows)

    def stand_in(self, body: bytes) -> bool:
        """Tell whether one of the texts stands in a body, whole or with its beginning or its end."""
        folded = _folded(body) if self._windows else b""
        return any(window in folded for window in self._windows)


def _windows(folded: bytes) -> Iterator[bytes]:
    if len(folded) >= _LEAST_CHARS:
        yield folded[:_WINDOW_CHARS].strip()
        yield folded[-_WINDOW_CHARS:].strip()


def _folded(raw: bytes) -> bytes:
    return _BETWEEN.sub(b" ", raw).strip()
