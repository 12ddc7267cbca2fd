"""Times and durations as people write and read them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from events.errors import UsageError
from tui.text.numbers import count

_DURATION: Final = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)([smhd])")
_UNIT_S: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_UNITS_S: Final = (
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)


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
