"""The schema on PostgreSQL, as numbered steps that each run once: step n takes a registry from n-1 to n.

A registry is a PostgreSQL schema of its own. Text is compared byte by byte (COLLATE "C"), as on SQLite, so that
every backend lists things in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from psycopg import sql

from events.errors import CorruptLogError, NotFoundError, StorageError
from events.store.envelope import GENESIS

if TYPE_CHECKING:
    from events.postgres.session import PostgresSession

_FIRST: Final = (
    """CREATE TABLE {at}.events (
        position bigint PRIMARY KEY,
        event_id text COLLATE "C" NOT NULL CONSTRAINT events_by_id UNIQUE,
        stream text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        type text COLLATE "C" NOT NULL,
        schema bigint NOT NULL,
        at text COLLATE "C" NOT NULL,
        actor text COLLATE "C" NOT NULL,
        causation text COLLATE "C" NOT NULL,
        correlation text COLLATE "C" NOT NULL,
        previous_hash text COLLATE "C" NOT NULL,
        hash text COLLATE "C" NOT NULL,
        payload bytea NOT NULL,
        CONSTRAINT events_by_stream UNIQUE (stream, version)
    )""",
    "CREATE INDEX events_by_type ON {at}.events (type, position)",
    """CREATE TABLE {at}.blobs (
        name text COLLATE "C" PRIMARY KEY, kind text COLLATE "C" NOT NULL, body bytea NOT NULL
    )""",
    """CREATE TABLE {at}.episodes (
        episode text COLLATE "C" PRIMARY KEY, source text COLLATE "C" NOT NULL, body bytea NOT NULL,
        content_hash text COLLATE "C" NOT NULL
    )""",
    """CREATE TABLE {at}.checkpoints (
        name text COLLATE "C" PRIMARY KEY, body bytea NOT NULL, content_hash text COLLATE "C" NOT NULL
    )""",
    """CREATE TABLE {at}.documents (
        view text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, seq bigint NOT NULL, body bytea NOT NULL,
        PRIMARY KEY (view, key, seq)
    )""",
    """CREATE FUNCTION {at}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION '% are never %', TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = 'restrict_violation';
    END $$""",
    # That the position is the next one is also what an append relies on that did not read the head first.
    # Listeners are notified at the commit, once: a hint, since a reader by positions misses nothing.
    """CREATE FUNCTION {at}.only_append() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        lowest bigint; highest bigint; written bigint; before bigint;
    BEGIN
        SELECT min(position), max(position), count(*) INTO lowest, highest, written FROM written_events;
        IF written = 0 THEN RETURN NULL; END IF;
        SELECT max(position) INTO before FROM {at}.events WHERE position < lowest;
        IF lowest <> coalesce(before, 0) + 1 OR highest <> lowest + written - 1 THEN
            RAISE EXCEPTION 'events are only ever appended, behind event %', coalesce(before, 0)
                USING ERRCODE = 'restrict_violation';
        END IF;
        PERFORM pg_notify({channel}, '');
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER events_only_appended AFTER INSERT ON {at}.events
        REFERENCING NEW TABLE AS written_events FOR EACH STATEMENT EXECUTE FUNCTION {at}.only_append()""",
    # A blob may be erased, and an episode go once a longer reading is kept; neither is ever changed.
    *(
        f"CREATE TRIGGER {table}_refuse_{action.lower()} BEFORE {action} ON {{at}}.{table}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {{at}}.refuse('{done}')"
        for table, actions in {
            "events": ("UPDATE", "DELETE", "TRUNCATE"),
            "blobs": ("UPDATE", "TRUNCATE"),
            "episodes": ("UPDATE", "TRUNCATE"),
        }.items()
        for action, done in (("UPDATE", "changed"), ("DELETE", "removed"), ("TRUNCATE", "removed"))
        if action in actions
    ),
    # Their owner too: a change of an event needs a GRANT first.
    "REVOKE UPDATE, DELETE, TRUNCATE ON {at}.events FROM PUBLIC, CURRENT_USER",
    "REVOKE UPDATE, TRUNCATE ON {at}.blobs, {at}.episodes FROM PUBLIC, CURRENT_USER",
)
_SECOND: Final = (
    # A writer waits for the lock in the server, and has all at hand once it is had: with eight writers on two
    # cores an append takes 0.8 ms of processor time, where asking, hashing afar and trying again took 1.8
    # (measured 2026-11-22). Volatile: what is read once the lock is had is the present state.
    """CREATE FUNCTION {at}.append_event(
        key bigint, event_id text, stream text, before bigint, type text, schema bigint, at text, actor text,
        causation text, correlation text, payload bytea, OUT place bigint, OUT previous text, OUT hash text
    ) LANGUAGE plpgsql VOLATILE AS $$
    #variable_conflict use_variable
    DECLARE
        version bigint; sep CONSTANT text := chr(31);
    BEGIN
        PERFORM pg_catalog.pg_advisory_xact_lock(key);
        SELECT max(e.version) INTO version FROM {at}.events AS e WHERE e.stream = stream;
        IF coalesce(version, 0) <> before THEN RETURN; END IF;
        SELECT e.position, e.hash INTO place, previous FROM {at}.events AS e ORDER BY e.position DESC LIMIT 1;
        place := coalesce(place, 0) + 1;
        previous := coalesce(previous, {genesis});
        hash := encode(sha256(convert_to(
            previous || place || sep || event_id || sep || stream || sep || before + 1 || sep || type || sep
            || schema || sep || at || sep || actor || sep || causation || sep || correlation, 'UTF8')
            || payload), 'hex');
        INSERT INTO {at}.events VALUES (place, event_id, stream, before + 1, type, schema, at, actor, causation,
            correlation, previous, hash, payload);
    END $$""",
)
STEPS: Final = (_FIRST, _SECOND)

SCHEMA_VERSION: Final = len(STEPS)
_READABLE_SINCE: Final = 1
"""Steps after this one changed only what may be written: a reader needs none of them."""

_THERE: Final = """SELECT
    (SELECT count(*) FROM pg_namespace WHERE nspname = %s),
    (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v')),
    (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relname = 'germline_steps')"""


def prepare(session: PostgresSession, *, create: bool, read_only: bool) -> None:
    """See that a registry is there, and bring its schema up to date where it may be written.

    Raises: NotFoundError if there is none and `create` is false; CorruptLogError for a schema that holds
    something else; StorageError for one that a newer germline wrote, or a database that cannot keep all text.
    """
    version = _version(session)
    if version > SCHEMA_VERSION:
        raise StorageError(
            f"the registry {session.location} has schema {version}; this germline knows {SCHEMA_VERSION}",
            hint="upgrade germline",
        )
    if version == SCHEMA_VERSION or (read_only and version >= _READABLE_SINCE):
        return
    if not version and not create:
        raise NotFoundError(f"there is no registry at {session.location}", hint="germline init")
    if read_only:
        raise StorageError(
            f"the registry {session.location} has schema {version} and is open for reading only",
            hint="germline project, by somebody who may write there: it brings the schema up to date",
        )
    if session.rows("SHOW server_encoding") != [("UTF8",)]:
        raise StorageError(
            f"the database of {session.location} cannot keep all text: its encoding is not UTF8",
            hint="createdb --encoding UTF8 --template template0 NAME",
        )
    _migrate(session)


def _version(session: PostgresSession) -> int:
    """Return the last step that the registry has taken; 0 where there is no registry."""
    name = session.address.registry
    ((schema, tables, ours),) = session.rows(_THERE, (name, name, name))
    if ours:
        ((version,),) = session.rows(placed(session, "SELECT coalesce(max(step), 0) FROM {at}.germline_steps"))
        return int(version)
    if schema and tables:
        raise CorruptLogError(
            f"the schema {name} in the database of {session.location} holds something else, and no registry",
            hint="name another: postgresql://…/DATABASE?registry=NAME",
        )
    return 0


def _migrate(session: PostgresSession) -> None:
    """Take the steps that a registry lacks, all of them or none.

    Two processes may come here at once: the version is asked again under the write lock.
    """
    with session:
        if not (version := _version(session)):
            _begin(session)
        for number, step in enumerate(STEPS[version:], version + 1):
            for statement in step:
                session.run(placed(session, statement))
            session.write("INSERT INTO germline_steps (step) VALUES (%s)", [(number,)])


def _begin(session: PostgresSession) -> None:
    ((there,),) = session.rows("SELECT count(*) FROM pg_namespace WHERE nspname = %s", (session.address.registry,))
    if not there:  # somebody who may not make one can be given one that is empty
        session.run(placed(session, "CREATE SCHEMA {at}"))
    session.run(
        placed(
            session,
            "CREATE TABLE {at}.germline_steps"
            " (step bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT statement_timestamp())",
        )
    )


def placed(session: PostgresSession, statement: str) -> sql.Composed:
    """Put a statement into the schema of the registry."""
    return sql.SQL(statement).format(
        at=sql.Identifier(session.address.registry),
        channel=sql.Literal(session.channel),
        genesis=sql.Literal(GENESIS),
    )
