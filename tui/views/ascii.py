"""The marks of the screens for a terminal without Unicode: each of them as one sign of ASCII."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len

from tui.plain import MARKS

_TABLE: Final = str.maketrans(MARKS)


def ascii_of(text: str) -> str:
    """Write a text in ASCII, as wide as it was; what is no mark of ours becomes "?"."""
    said = text if text.isascii() else text.translate(_TABLE)
    if said.isascii():
        return said
    return "".join(char if char.isascii() else "?" * cell_len(char) for char in said)
