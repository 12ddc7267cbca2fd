"""The event log in a schema of a PostgreSQL database: the store that a team shares.

One advisory lock a registry, held to the end of a transaction, makes positions gap-free: the order in which
numbers are given out is the order in which they are committed, so that a reader cannot skip one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from events.envelope import GENESIS, Envelope, Origin, encode, seal
from events.errors import ConflictError, CorruptLogError
from events.log import Head, Receipt
from events.paging import COLUMNS, SELECT, Selection, read_pages
from events.postgres_read import question, read_hashes, standing
from events.postgres_schema import prepare
from events.postgres_session import Session
from events.postgres_tables import PostgresTables
from events.receipts import check_follows, check_versions, first_receipt
from events.tip import Tip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from events.envelope import Draft
    from events.log import Document, Integrity
    from events.postgres_address import PostgresAddress

_PATIENCE_S: Final = 10.0
"""How long to wait for the write lock, as on SQLite."""

_TYPES: Final = tuple(
    "bytea" if name == "payload" else "int8" if name in {"position", "version", "schema"} else "text"
    for name in Envelope._fields
)
_VALUES: Final = ", ".join(f"%s::{kind}" for kind in _TYPES)
_INSERT: Final = f"INSERT INTO events ({COLUMNS}) VALUES ({_VALUES})"  # noqa: S608 - our own column names
_ALONE: Final = (
    f"INSERT INTO events ({COLUMNS}) SELECT {_VALUES}"  # noqa: S608 - the same
    " WHERE {lock} AND NOT EXISTS (SELECT FROM events WHERE position = %s)"
)
"""One event, if the lock is free and its position too: else no row, which costs less than an error."""
_BEHIND: Final = (
    "SELECT place, previous, hash FROM append_event({key},"
    " %s::text, %s::text, %s::int8, %s::text, %s::int8, %s::text, %s::text, %s::text, %s::text, %s::bytea)"
)
"""One event behind whatever the head is by then."""
_COPY: Final = f"COPY events ({COLUMNS}) FROM STDIN (FORMAT BINARY)"
_MANY: Final = 8
"""Events from which COPY beats an INSERT for each (2.4 against 3.0 ms for a hundred, measured 2026-11-22)."""

_ORIGINS: Final = (
    f"SELECT {', '.join(Origin._fields)} FROM events WHERE position = ANY(%s::bigint[]) ORDER BY position"  # noqa: S608 - the same
)


class PostgresLog(PostgresTables):
    """An append-only, hash-chained log in one schema of a database.

    Keeps the promises of `events.log.EventLog`. A log belongs to the thread that opened it; another thread
    or process opens its own.
    """

    def __init__(self, session: Session, beside: Path, patience_s: float) -> None:
        super().__init__(session)
        self.location = session.location
        self.beside = beside
        self._patience_s = patience_s
        self._tip = Tip(session)
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
        session = Session(address, read_only=read_only, patience_s=patience_s)
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
        session = Session(self._session.address, read_only=self._session.read_only, patience_s=self._patience_s)
        return type(self)(session, self.beside, self._patience_s)

    def append(
        self,
        drafts: Sequence[Draft],
        *,
        expected: Mapping[str, int],
        project: Callable[[Sequence[Envelope]], Sequence[Document]] | None = None,
    ) -> Receipt:
        """Append events in one transaction; `project` turns them into documents inside the same one.

        Shapes: expected maps every stream of the drafts to the version it is expected to have (0: new).
        Raises: ConflictError on a version mismatch or partly known ids; BusyError when the lock is not
        had in time; StorageError when the server says no; UsageError for text that cannot be stored.
        """
        encoded = [(draft, encode(draft.event)) for draft in drafts]
        try:
            lone = len(encoded) == len(expected) == 1 and project is None and self._session.idle
            if lone and (written := self._alone(encoded, expected)):
                return Receipt(written)
            with self._session:
                envelopes = self._insert(encoded, expected)
                if project is not None:
                    self.put_documents(project(envelopes))
        except ConflictError as conflict:
            return first_receipt(encoded, conflict, lambda ids: self._among("event_id", ids))
        return Receipt(envelopes)

    def take_over(self, envelopes: Sequence[Envelope]) -> None:
        """Write events of another log, byte for byte; raises ConflictError unless they follow the head."""
        with self._session:
            check_follows(self.head(), envelopes)
            self._write(envelopes)

    def read(
        self,
        *,
        after: int = 0,
        limit: int = -1,
        stream: str | None = None,
        types: Sequence[str] = (),
        newest_first: bool = False,
    ) -> Iterator[Envelope]:
        """Yield events in the order of positions, beyond position `after` (below it, newest first, if > 0).

        Reads page by page: what is appended meanwhile is seen by a reader that has not passed it.
        """
        selection = Selection(stream, tuple(dict.fromkeys(types)), newest_first)
        return read_pages(lambda page: self._session.rows(*question(page)), selection, after=after, limit=limit)

    def at(self, positions: Sequence[int]) -> list[Envelope]:
        """Return the events at these positions, in the order of positions."""
        return self._among("position", list(positions))

    def origins(self, positions: Sequence[int]) -> list[Origin]:
        """Return what lines need to know of the events at these positions, in the order of positions."""
        return [Origin._make(row) for row in self._session.rows(_ORIGINS, (list(positions),))]

    def hashes(self, *, after: int = 0, upto: int | None = None) -> Iterator[bytes]:
        """Yield the stored hash of each event beyond position `after`, up to `upto`: 32 bytes each, in order."""
        return read_hashes(self._session, after=after, upto=upto)

    def head(self) -> Head:
        """Return the last position and its hash."""
        return standing(self._session, ())[0]

    def stream_versions(self, streams: Iterable[str]) -> dict[str, int]:
        """Return the version of each stream, 0 for one that does not exist."""
        return standing(self._session, tuple(streams))[1]

    def subscribe(self, *, after: int = 0, poll_s: float = 0.2) -> Iterator[Envelope]:
        """Yield events beyond `after` as they come, for ever, each once and in order.

        Being told of an append ends the waiting early; what is read is what the positions say.
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
        from events.postgres_verify import verify_schema  # noqa: PLC0415 - for the one command that verifies

        return verify_schema(self._session)

    def _among(self, column: str, values: list[int] | list[str]) -> list[Envelope]:
        """Return the events whose unique column holds one of the values, in the order of positions."""
        kind = "bigint" if column == "position" else "text"
        sql = f"{SELECT} WHERE {column} = ANY(%s::{kind}[]) ORDER BY position"
        return [Envelope._make(row) for row in self._session.rows(sql, (values,))]

    def _alone(self, encoded: Sequence[tuple[Draft, bytes]], expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Append one event in one way to the server and back; nothing where looking under the lock tells more.

        Where nobody else writes, at the place that we know to be the next; else where the server finds it to be,
        so that nobody holds the lock while a client thinks.
        """
        try:
            if self._tip.alone and self._tip.fits(expected):
                envelopes = self._sealed(encoded, expected)
                if self._session.alone(_ALONE, (*envelopes[0], envelopes[0].position)):
                    self._tip.move(envelopes)
                    return envelopes
            return self._behind(encoded, expected)
        except ConflictError:
            return ()

    def _behind(self, encoded: Sequence[tuple[Draft, bytes]], expected: Mapping[str, int]) -> tuple[Envelope, ...]:
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

    def _insert(self, encoded: Sequence[tuple[Draft, bytes]], expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Write events behind the head, which stands still from the first look in a transaction to its end."""
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

    def _sealed(self, encoded: Sequence[tuple[Draft, bytes]], expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        return seal(encoded, position=self._tip.position, previous=self._tip.hash, versions=expected)

    def _write(self, envelopes: Sequence[Envelope]) -> None:
        if len(envelopes) < _MANY:
            self._session.write(_INSERT, envelopes)
        else:
            self._session.copy_in(_COPY, _TYPES, envelopes)
        self._tip.move(envelopes)
