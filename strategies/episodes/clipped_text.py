"""Texts that are too long to be shown whole: how they begin and how they end."""

from __future__ import annotations

from typing import Final

LEFT_OUT: Final = "[… {} characters left out …]"


def clipped(text: str, most_chars: int) -> str:
    """Leave out the middle of a text that is too long: how it began and how it ended say most."""
    if len(text) <= most_chars:
        return text
    half = most_chars // 2
    return f"{text[:half]}\n{LEFT_OUT.format(len(text) - 2 * half)}\n{text[-half:]}"


def indented(text: str, most_chars: int) -> list[str]:
    """Give the lines of a text, clipped, behind two blanks: so none of them passes for a line of ours."""
    return [f"  {line}" for line in clipped(text, most_chars).splitlines()]
