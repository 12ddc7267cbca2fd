"""Where the log and its streams stand, as SQLite tells it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from events.envelope import GENESIS
from events.log import Head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.sqlite_session import Session

_AT_ONCE: Final = 500
"""Streams asked for in one statement; SQLite returns at most 2,000 columns (sqlite.org/limits.html)."""


def standing(session: Session, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
    """Read the head and the version of each stream, 0 for one that does not exist."""
    head, versions = Head(0, GENESIS), dict.fromkeys(streams, 0)
    for first in range(0, len(streams) or 1, _AT_ONCE):
        some = streams[first : first + _AT_ONCE]
        for position, digest, *found in session.rows(_question(len(some)), some):
            head = Head(position, digest)
            versions.update((stream, version or 0) for stream, version in zip(some, found, strict=True))
    return head, versions


@cache
def _question(streams: int) -> str:
    version = ", (SELECT max(version) FROM events WHERE stream = ?)"
    return f"SELECT position, hash{version * streams} FROM events ORDER BY position DESC LIMIT 1"  # noqa: S608 - no text from outside
