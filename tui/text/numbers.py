"""Figures: numbers, shares and intervals as people read them."""

from __future__ import annotations

from typing import Final

_THOUSANDS: Final = "kMGTPE"


def share(value: float) -> str:
    """Write a number in [0, 1] as `.442`."""
    return f"{value:.3f}".removeprefix("0")


def signed(value: float, digits: int = 3) -> str:
    """Write a difference with its sign: `+.017`, `−.3`."""
    text = f"{abs(value):.{digits}f}"
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return sign + text.removeprefix("0")


def interval(low: float, high: float, digits: int = 3) -> str:
    """Write an interval: `[.010, .019]`, with signs only below zero."""
    low_text, high_text = (signed(bound, digits).lstrip("+±") for bound in (low, high))
    return f"[{low_text}, {high_text}]"


def count(number: int, noun: str) -> str:
    """Write a number with its noun: `1 task`, `1,204 episodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def brief(number: int, room: int) -> str:
    """Write a count in full where it fits into `room` letters, else its first digits: `19,015`, `1.23M`.

    Four letters hold any count up to 999,999,999,999.
    """
    full = f"{number:,}"
    if len(full) <= room:
        return full
    whole, *rest = full.split(",")
    if len(rest) > len(_THOUSANDS):  # as only a log of somebody else says
        return f"{whole}e{3 * len(rest)}"
    digits = rest[0][: max(0, min(3, room - 2) - len(whole))]
    return f"{whole}{'.' if digits else ''}{digits}{_THOUSANDS[len(rest) - 1]}"


def owed_words(turns: float) -> str:
    """Write turns that are owed: `.50`, `1.20`, `−.30`."""
    text = f"{abs(turns):.2f}".removeprefix("0")
    return f"−{text}" if turns < 0 and text.strip("0.") else text
