"""The event log in a schema of a PostgreSQL database: the store that a team shares.

One advisory lock a registry, held to the end of a transaction, makes positions gap-free: the order in which
numbers are given out is the order in which they are committed, so that a reader cannot skip one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from events.errors import ConflictError, CorruptLogError, GermlineError
from events.postgres.migrations import prepare
from events.postgres.queries import question, standing
from events.postgres.session import PostgresSession
from events.store.append_checks import check_versions
from events.store.envelope import GENESIS, Envelope, seal
from events.store.pages import COLUMNS
from events.store.protocol import Head, StoredDocument
from events.store.sql_log import EventLog

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from events.postgres.address import PostgresAddress
    from events.store.pages import EventPage
    from events.store.protocol import Integrity
    from events.store.sql_log import Encoded

_PATIENCE_S: Final = 10.0
"""How long to wait for the write lock, as on SQLite."""

_TYPES: Final = tuple(
    "bytea" if name == "payload" else "int8" if name in {"position", "version", "schema"} else "text"
    for name in Envelope._fields
)
_VALUES: Final = ", ".join(f"?::{kind}" for kind in _TYPES)
_INSERT: Final = f"INSERT INTO events ({COLUMNS}) VALUES ({_VALUES})"  # noqa: S608 - our own column names
_ALONE: Final = (
    f"INSERT INTO events ({COLUMNS}) SELECT {_VALUES}"  # noqa: S608 - the same
    " WHERE {lock} AND NOT EXISTS (SELECT FROM events WHERE position = ?)"
)
"""One event, if the lock is free and its position too: else no row, which costs less than an error."""
_BEHIND: Final = (
    "SELECT place, previous, hash FROM append_event({key},"
    " ?::text, ?::text, ?::int8, ?::text, ?::int8, ?::text, ?::text, ?::text, ?::text, ?::bytea)"
)
"""One event behind whatever the head is by then."""
_COPY: Final = f"COPY events ({COLUMNS}) FROM STDIN (FORMAT BINARY)"
_MANY: Final = 8
"""Events from which COPY beats an INSERT for each (2.4 against 3.0 ms for a hundred, measured 2026-11-22)."""
_FILES: Final = "SELECT pg_relation_filenode('blobs'), pg_relation_filenode('documents')"


class PostgresLog(EventLog):
    """An append-only, hash-chained log in one schema of a database."""

    _session: PostgresSession

    def __init__(self, session: PostgresSession, beside: Path, patience_s: float) -> None:
        super().__init__(session, beside)
        self._patience_s = patience_s
        self._looked_in = 0

    @classmethod
    def open(
        cls,
        address: PostgresAddress,
        beside: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        patience_s: float = _PATIENCE_S,
    ) -> Self:
        """Open the registry at an address; with `create`, make its schema if it is missing.

        `beside` begins the names of files of this machine that belong to it. Units: patience_s seconds to wait
        for another writer's lock. Raises: NotFoundError, CorruptLogError for a schema of another kind,
        CredentialsError, StorageError, BusyError.
        """
        session = PostgresSession(address, read_only=read_only, patience_s=patience_s)
        try:
            prepare(session, create=create, read_only=read_only)
        except BaseException:
            session.close()
            raise
        return cls(session, beside, patience_s)

    @property
    def backend(self) -> str:
        """Name the database and its version."""
        return f"PostgreSQL {self._session.server_version}"

    def another(self) -> Self:
        """Open the same log once more, for another thread."""
        session = PostgresSession(
            self._session.address, read_only=self._session.read_only, patience_s=self._patience_s
        )
        return type(self)(session, self.beside, self._patience_s)

    def any_of(self, column: str, values: list[int] | list[str]) -> tuple[str, object]:
        """Ask for rows whose column holds one of the values: a condition and its parameter."""
        return f"{column} = ANY(?::{'bigint' if column == 'position' else 'text'}[])", values

    def documents_at(self, view: str, places: Iterable[tuple[str, int]]) -> list[StoredDocument]:
        """Return the documents of a view at exactly these places, each a key and a `seq`, by (key, seq)."""
        asked = list(places)
        rows = self._session.rows(
            "SELECT view, key, seq, body FROM documents WHERE view = ? AND (key, seq) IN"
            " (SELECT * FROM unnest(?::text[], ?::bigint[])) ORDER BY key, seq",
            (view, [key for key, _ in asked], [seq for _, seq in asked]),
        )
        return [StoredDocument(*row) for row in rows]

    def scrub(self) -> bool:
        """Leave no trace of erased bytes in the files; false where a reader, or a full disk, is in the way.

        The files of the tables, that is: what the server's write-ahead log, its replicas and its backups hold
        goes when they are recycled (docs/postgres.md).
        """
        if not self._session.idle:
            return False
        try:
            before = self._session.rows(_FILES)
            # FULL: a plain VACUUM leaves the bytes in pages that it marks as free.
            self._session.run("VACUUM FULL blobs")
            self._session.run("VACUUM FULL documents")
            after = self._session.rows(_FILES)
        except GermlineError:
            return False
        return not set(before[0]) & set(after[0])  # a role that is not the owner gets a warning only

    def subscribe(self, *, after: int = 0, poll_s: float = 0.2) -> Iterator[Envelope]:
        """Yield events beyond `after` as they come, for ever, each once and in order.

        A notification of an append ends the waiting early; what is read is what the positions say.
        """
        while True:
            self._session.listen()
            for envelope in self.read(after=after):
                after = envelope.position
                yield envelope
            self._session.wait(poll_s)

    def verify(self) -> Integrity:
        """Check every event, link, counter and content hash; never raises for what it finds.

        Reads on a connection of its own: what an open transaction has not committed is not looked at.
        """
        from events.postgres.verify import verify_schema  # noqa: PLC0415 - for the one command that verifies

        return verify_schema(self._session)

    def _page(self, page: EventPage) -> list[tuple[Any, ...]]:
        return self._session.rows(*question(page))

    def _heads(self, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
        return standing(self._session, streams)

    def _at_once(self, encoded: Encoded, expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Append one event in one way to the server and back; nothing where looking under the lock tells more.

        Where nobody else writes, at the place that we know to be the next; else where the server finds it to be,
        so that nobody holds the lock while a client thinks.
        """
        if len(expected) != 1 or not self._session.idle:
            return ()
        try:
            if self._tip.alone and self._tip.fits(expected):
                envelopes = self._sealed(encoded, expected)
                if self._session.alone(_ALONE, (*envelopes[0], envelopes[0].position)):
                    self._tip.move(envelopes)
                    return envelopes
            return self._behind(encoded, expected)
        except ConflictError:
            return ()

    def _behind(self, encoded: Encoded, expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Let the server place one event; nothing where its stream is not at the version expected."""
        (checked,) = seal(encoded, position=0, previous=GENESIS, versions=expected)
        _, event_id, stream, version, *others, _, _, payload = checked
        row = (event_id, stream, version - 1, *others, payload)
        place, previous, digest = self._session.placed(_BEHIND, row)
        if place is None:
            return ()
        self._tip.see(Head(place - 1, previous), expected)
        envelopes = self._sealed(encoded, expected)
        if envelopes[0].hash != digest:
            raise CorruptLogError(
                f"the server wrote event {place} with a hash that is not its own",
                position=place,
                hint="germline verify",
            )
        self._tip.move(envelopes)
        return envelopes

    def _insert(self, encoded: Encoded, expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Write events behind the head, which does not move from the first look in a transaction to its end."""
        if self._looked_in != self._session.begun or not self._tip.fits(expected):
            self._look(expected)
        envelopes = self._sealed(encoded, expected)
        self._write(envelopes)
        return envelopes

    def _look(self, expected: Mapping[str, int]) -> None:
        head, actual = standing(self._session, tuple(expected))
        self._tip.see(head, actual)
        self._looked_in = self._session.begun
        check_versions(expected, actual)

    def _write(self, envelopes: Sequence[Envelope]) -> None:
        if len(envelopes) < _MANY:
            self._session.write(_INSERT, envelopes)
        else:
            self._session.copy_in(_COPY, _TYPES, envelopes)
        self._tip.move(envelopes)
