"""The only source of time and identity: everything else is handed them."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from datetime import time as time_of_day
from typing import Final, Protocol

from events.errors import UsageError

_DATE_CHARS: Final = len("2026-11-01")


class Clock(Protocol):
    """Tells the time and makes identities."""

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text with six fraction digits and `Z`."""
        ...

    def new_id(self) -> str:
        """Make a UUIDv7 that no one has made before."""
        ...


def rfc3339(moment: datetime) -> str:
    """Write a moment as RFC 3339 UTC text with six fraction digits and `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def first_moment(text: str) -> str:
    """Turn a date or a time into RFC 3339, UTC; a date means its beginning.

    Raises: UsageError for what is neither.
    """
    return rfc3339(_parsed(text))


def last_moment(text: str) -> str:
    """Turn a date or a time into RFC 3339, UTC; a date means its end."""
    moment = _parsed(text)
    return rfc3339(
        datetime.combine(moment, time_of_day.max, moment.tzinfo) if len(text) <= _DATE_CHARS else moment
    )


def _parsed(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no time", hint="write it as 2026-11-01 or 2026-11-01T12:00:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def uuid7(unix_ms: int, noise: bytes) -> str:
    """Lay out a UUIDv7 (RFC 9562, 5.7) from milliseconds and ten random bytes."""
    value = (unix_ms & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(noise[:10])
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


class SystemClock:
    """The machine's own time and randomness."""

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text with six fraction digits and `Z`."""
        return rfc3339(datetime.now(UTC))

    def new_id(self) -> str:
        """Make a UUIDv7 that no one has made before."""
        return uuid7(time.time_ns() // 1_000_000, os.urandom(10))


def new_split_key() -> str:
    """Draw the key that divides tasks into splits, once in a registry's life."""
    return os.urandom(16).hex()


def new_key_seed() -> bytes:
    """Draw what a secret key is made of (32 bytes)."""
    return os.urandom(32)


def new_salt() -> str:
    """Draw the salt of one piece of evidence (16 bytes, hex)."""
    return os.urandom(16).hex()


def monotonic_s() -> float:
    """Tell the seconds since some fixed moment, on a clock that never goes backwards."""
    return time.monotonic()


def pause(about_s: float) -> None:
    """Sleep for half to one and a half of `about_s`: waiting processes part ways instead of colliding again."""
    time.sleep(about_s * (0.5 + int.from_bytes(os.urandom(2)) / 0xFFFF))
