"""What somebody does who can write to the database file, and knows how it is made."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"


@contextmanager
def without_triggers(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a registry with its triggers out of the way, and put them back as if nothing had been."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute(_TRIGGERS).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()


def cut_tail(path: Path, after: int) -> None:
    """Remove every event behind a position: what is left is a whole chain."""
    with without_triggers(path) as connection:
        assert connection.execute("DELETE FROM events WHERE position > ?", (after,)).rowcount > 0


def rewrite_from(path: Path, position: int, actor: str = "person:mallory") -> None:
    """Change who caused an event, and hash it and all that come after again: the result is a whole chain."""
    with without_triggers(path) as connection:
        connection.execute("UPDATE events SET actor = ? WHERE position = ?", (actor, position))
        rows = connection.execute("SELECT * FROM events WHERE position >= ? ORDER BY position", (position,))
        previous = ""
        for row in rows.fetchall():
            before = previous or row[10]
            joined = "\x1f".join(map(str, row[:10]))
            previous = hashlib.sha256((before + joined).encode() + row[12]).hexdigest()
            connection.execute(
                "UPDATE events SET previous_hash = ?, hash = ? WHERE position = ?", (before, previous, row[0])
            )
