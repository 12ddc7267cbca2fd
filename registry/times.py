"""Times as people write them: a date, or a date with a time of day."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Final

from events.clock import rfc3339
from events.errors import UsageError

_DATE_CHARS: Final = len("2026-11-01")


def first_moment(text: str) -> str:
    """Turn a date or a time into RFC 3339, UTC; a date means its beginning.

    Raises: UsageError for what is neither.
    """
    return rfc3339(_parsed(text))


def last_moment(text: str) -> str:
    """Turn a date or a time into RFC 3339, UTC; a date means its end."""
    moment = _parsed(text)
    return rfc3339(datetime.combine(moment, time.max, moment.tzinfo) if len(text) <= _DATE_CHARS else moment)


def _parsed(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no time", hint="write it as 2026-11-01 or 2026-11-01T12:00:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
