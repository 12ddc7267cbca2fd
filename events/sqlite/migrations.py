"""The schema, as numbered steps that each run once: step n takes a registry from `user_version` n-1 to n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlite_utils import Database

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.sqlite.session import SqliteSession

_EVENT_COLUMNS: Final = {
    "position": int,
    "event_id": str,
    "stream": str,
    "version": int,
    "type": str,
    "schema": int,
    "at": str,
    "actor": str,
    "causation": str,
    "correlation": str,
    "previous_hash": str,
    "hash": str,
    "payload": bytes,
}

_EVENT_TRIGGERS: Final = (
    """CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END""",
    """CREATE TRIGGER events_refuse_delete BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never removed'); END""",
    # INSERT OR REPLACE removes a row without asking the trigger above: refused for every key it could match.
    # That the position is the next one is also what an append relies on that did not read the head first.
    """CREATE TRIGGER events_refuse_replace BEFORE INSERT ON events
    WHEN NEW.position IS NOT (SELECT ifnull(max(position), 0) + 1 FROM events)
      OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id)
      OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND version = NEW.version)
    BEGIN SELECT RAISE(ABORT, 'events are only ever appended'); END""",
)

_SOURCE_TRIGGERS: Final = (
    # A blob may be erased, an episode may not; neither is ever changed. Checkpoints move on by design.
    """CREATE TRIGGER blobs_refuse_update BEFORE UPDATE ON blobs
    BEGIN SELECT RAISE(ABORT, 'blobs are never changed'); END""",
    """CREATE TRIGGER blobs_refuse_replace BEFORE INSERT ON blobs
    WHEN EXISTS (SELECT 1 FROM blobs WHERE name = NEW.name)
    BEGIN SELECT RAISE(ABORT, 'blobs are never replaced'); END""",
    """CREATE TRIGGER episodes_refuse_update BEFORE UPDATE ON episodes
    BEGIN SELECT RAISE(ABORT, 'episodes are never changed'); END""",
    """CREATE TRIGGER episodes_refuse_delete BEFORE DELETE ON episodes
    BEGIN SELECT RAISE(ABORT, 'episodes are never removed'); END""",
    """CREATE TRIGGER episodes_refuse_replace BEFORE INSERT ON episodes
    WHEN EXISTS (SELECT 1 FROM episodes WHERE episode = NEW.episode)
    BEGIN SELECT RAISE(ABORT, 'episodes are never replaced'); END""",
)

_DOCUMENTS: Final = """CREATE TABLE documents (
    view TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (view, key, seq)
) STRICT, WITHOUT ROWID"""


def _first(database: Database) -> None:
    """Make the events, the source tables beside them, and the documents of projections."""
    events = database.table("events")
    events.create(_EVENT_COLUMNS, pk="position", not_null=_EVENT_COLUMNS, strict=True)
    events.create_index(["event_id"], "events_by_id", unique=True)
    events.create_index(["stream", "version"], "events_by_stream", unique=True)
    events.create_index(["type"], "events_by_type")
    for name, columns in {
        "blobs": {"name": str, "kind": str, "body": bytes},
        "episodes": {"episode": str, "source": str, "body": bytes, "content_hash": str},
        "checkpoints": {"name": str, "body": bytes, "content_hash": str},
    }.items():
        database.table(name).create(columns, pk=next(iter(columns)), not_null=columns, strict=True)
    for statement in (_DOCUMENTS, *_EVENT_TRIGGERS, *_SOURCE_TRIGGERS):
        database.execute(statement)


def _second(database: Database) -> None:
    """Let an episode go once a longer reading of it is kept, as a blob may be erased."""
    database.execute("DROP TRIGGER IF EXISTS episodes_refuse_delete")


_STEPS: Final[tuple[Callable[[Database], None], ...]] = (_first, _second)


def migrate(session: SqliteSession, *, application_id: int, to_version: int) -> None:
    """Run the steps that a registry lacks, all of them or none.

    Two processes may come here at once: the version is asked again under the write lock.
    """
    with session:
        ((version,),) = session.rows("PRAGMA user_version")
        database = Database(session.connection, recursive_triggers=False)
        for step in _STEPS[version:to_version]:
            step(database)
        session.rows(f"PRAGMA application_id = {application_id:d}")
        session.rows(f"PRAGMA user_version = {to_version:d}")
