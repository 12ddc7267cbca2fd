"""Durations as people write them: 90s, 30m, 24h, 7d."""

from __future__ import annotations

import re
from typing import Final

from events.errors import UsageError

_FORM: Final = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)([smhd])")
_UNITS_S: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def seconds_of(text: str, option: str) -> float:
    """Read a duration as seconds; raises UsageError, which names the option, for what is none, and for nothing."""
    found = _FORM.fullmatch(text.strip())
    seconds = float(found[1]) * _UNITS_S[found[2]] if found else 0.0
    if not seconds:
        raise UsageError(f"{option} is {text!r}, which is no duration", hint=f"write it as in {option} 24h or 30m")
    return seconds
