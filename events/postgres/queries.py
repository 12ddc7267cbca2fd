"""Queries for events, the head and the versions of streams, in the SQL of PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.store.envelope import GENESIS
from events.store.pages import SELECT
from events.store.protocol import Head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.postgres.session import PostgresSession
    from events.store.pages import EventPage

_STANDING: Final = """SELECT position, hash, ARRAY(
        SELECT coalesce((SELECT max(version) FROM events WHERE stream = asked.name), 0)
        FROM unnest(?::text[]) WITH ORDINALITY AS asked(name, place) ORDER BY place)
    FROM events ORDER BY position DESC LIMIT 1"""
"""The head, and the versions of streams in the order in which their names are given."""


def question(page: EventPage) -> tuple[str, tuple[object, ...]]:
    """Ask for a page of events: the statement and its parameters.

    Each question fits an index: positions lie sorted behind a type, and versions behind a stream.
    """
    stream, types = page.selection.stream, list(page.selection.types)
    beyond, order = ("<", "DESC") if page.selection.newest_first else (">", "ASC")
    if stream is not None:
        only = "AND type = ANY(?) " if types else ""
        sql = (
            f"{SELECT} WHERE stream = ? AND version {beyond} ? AND position {beyond} ? {only}"
            f"ORDER BY version {order} LIMIT ?"
        )
        return sql, (stream, page.version, page.position, *([types] if types else []), page.size)
    nearest = f"position {beyond} ? ORDER BY position {order} LIMIT ?"
    if types:
        sql = (
            f"SELECT found.* FROM unnest(?::text[]) AS asked(kind)"  # noqa: S608 - no text from outside
            f" CROSS JOIN LATERAL ({SELECT} WHERE type = asked.kind AND {nearest}) AS found"
            f" ORDER BY position {order} LIMIT ?"
        )
        return sql, (types, page.position, page.size, page.size)
    return f"{SELECT} WHERE {nearest}", (page.position, page.size)


def standing(session: PostgresSession, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
    """Read the head and the version of each stream, 0 for one that does not exist, at one moment."""
    names = list(streams)
    for position, digest, versions in session.rows(_STANDING, (names,)):
        return Head(position, digest), dict(zip(names, versions, strict=True))
    return Head(0, GENESIS), dict.fromkeys(names, 0)
