"""Figures: numbers, ages, intervals and durations as people write and read them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from events.errors import UsageError

_DURATION: Final = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)([smhd])")
_UNIT_S: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


_THOUSANDS: Final = "kMGTPE"
_UNITS_S: Final = (
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)


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
    """Write a count in full where it fits into `room` letters, else its first digits: `19,015`, `1.23M`."""
    full = f"{number:,}"
    if len(full) <= room:
        return full
    whole, *rest = full.split(",")
    if len(rest) > len(_THOUSANDS):  # as only a log of somebody else says
        return f"{whole}e{3 * len(rest)}"
    digits = rest[0][: 3 - len(whole)]
    return f"{whole}{'.' if digits else ''}{digits}{_THOUSANDS[len(rest) - 1]}"


def ago(at: str, now: str) -> str:
    """Write how long ago a time was: `2 days ago`, `just now`; one without a zone is in UTC.

    Both are RFC 3339; the log may say what is none.
    """
    try:
        then, today = (
            time if time.tzinfo else time.replace(tzinfo=UTC) for time in map(datetime.fromisoformat, (at, now))
        )
    except (TypeError, ValueError):
        return "at no known time"
    seconds = (today - then).total_seconds()
    for size_s, noun in _UNITS_S:
        if seconds >= size_s:
            return f"{count(int(seconds // size_s), noun)} ago"
    return "just now"


def age(at: str, now: str) -> str:
    """Write an age in a few letters: `9d`, `12m`, `2mo`, `now`."""
    words = ago(at, now).split()
    if words[0] in {"just", "at"}:
        return "now" if words[0] == "just" else "?"
    unit = words[1].rstrip("s")
    return f"{words[0].replace(',', '')}{'mo' if unit == 'month' else unit[0]}"


def minute(at: str) -> str:
    """Write a time to the minute, as everywhere in UTC: `2026-11-01 12:00`."""
    return f"{at[:10]} {at[11:16]}"


def seconds_of(text: str, option: str) -> float:
    """Read a duration as seconds; raises UsageError, which names the option, for what is none, and for nothing."""
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _UNIT_S[match[2]] if match else 0.0
    if not seconds:
        raise UsageError(f"{option} is {text!r}, which is no duration", hint=f"write it as in {option} 24h or 30m")
    return seconds


def owed_words(turns: float) -> str:
    """Write turns that are owed: `.50`, `1.20`, `−.30`."""
    text = f"{abs(turns):.2f}".removeprefix("0")
    return f"−{text}" if turns < 0 and text.strip("0.") else text
