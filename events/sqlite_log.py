"""The event log in one SQLite file: the default store, and the one that every promise is measured on."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from events.clock import pause
from events.envelope import Envelope, Origin, encode, seal
from events.errors import ConflictError
from events.log import Head, Receipt
from events.paging import COLUMNS, SELECT, Selection, read_pages
from events.receipts import check_follows, check_versions, first_receipt
from events.sqlite_open import open_session
from events.sqlite_read import question, read_hashes
from events.sqlite_tables import SqliteTables
from events.sqlite_tip import standing
from events.tip import Tip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from events.envelope import Draft
    from events.log import Document, Integrity
    from events.sqlite_session import Session

_PATIENCE_S: Final = 10.0
"""How long to wait for the write lock: a hundred times the worst append of eight writers (110 ms, trust.md)."""

_INSERT: Final = f"INSERT INTO events ({COLUMNS}) VALUES ({', '.join('?' * len(Envelope._fields))})"  # noqa: S608 - our own column names

_ORIGINS: Final = (
    f"SELECT {', '.join(Origin._fields)} FROM events"  # noqa: S608 - our own column names
    " WHERE position IN (SELECT value FROM json_each(?)) ORDER BY position"
)

_ORIGIN: Final = partial(tuple.__new__, Origin)
"""Makes an origin from a row without a call into Python: a look at a skill makes hundreds."""


class SqliteLog(SqliteTables):
    """An append-only, hash-chained log in one SQLite file, in WAL mode, synced at every commit.

    Keeps the promises of `events.log.EventLog`. A log belongs to the thread that opened it; another thread
    or process opens its own.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.location = session.location
        self._tip = Tip(session)

    @classmethod
    def open(
        cls, path: Path, *, create: bool = False, read_only: bool = False, patience_s: float = _PATIENCE_S
    ) -> Self:
        """Open the log in the file `path`; with `create`, make it (0600, in a folder 0700) if it is missing.

        Units: patience_s seconds to wait for another process's lock. Raises: NotFoundError,
        CorruptLogError for a file of another kind, StorageError, BusyError.
        """
        return cls(open_session(path, create=create, read_only=read_only, patience_s=patience_s))

    @property
    def backend(self) -> str:
        """Name the database and its version."""
        return f"SQLite {sqlite3.sqlite_version}"

    @property
    def beside(self) -> Path:
        """Give the path that the names of files beside the registry begin with: locks, drawn versions."""
        return Path(self.location).absolute()

    def another(self) -> Self:
        """Open the same log once more, for another thread."""
        return self.open(Path(self.location))

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
        had in time; StorageError when the disk says no; UsageError for text that cannot be stored.
        """
        encoded = [(draft, encode(draft.event)) for draft in drafts]
        try:
            if project is None and len(encoded) == 1 and (written := self._at_once(encoded, expected)):
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
            self._session.write(_INSERT, envelopes)
            self._tip.move(envelopes)

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
        rows = self._session.rows(_ORIGINS, (json.dumps(list(positions)),))
        return list(map(_ORIGIN, rows))

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
        """Yield events beyond `after` as they come, for ever, each once and in order."""
        while True:
            for envelope in self.read(after=after):
                after = envelope.position
                yield envelope
            pause(poll_s)

    def verify(self) -> Integrity:
        """Check every event, link, counter and content hash; never raises for what it finds.

        Reads on a connection of its own: what an open transaction has not committed is not looked at.
        """
        from events.sqlite_verify import verify_file  # noqa: PLC0415 - for the one command that verifies

        return verify_file(self.location)

    def _among(self, column: str, values: list[int] | list[str]) -> list[Envelope]:
        """Return the events whose unique column holds one of the values, in the order of positions."""
        sql = f"{SELECT} WHERE {column} IN (SELECT value FROM json_each(?)) ORDER BY position"  # noqa: S608 - no text from outside
        return [Envelope._make(row) for row in self._session.rows(sql, (json.dumps(values),))]

    def _at_once(
        self, encoded: Sequence[tuple[Draft, bytes]], expected: Mapping[str, int]
    ) -> tuple[Envelope, ...]:
        """Write one event where the log is thought to stand; nothing where that is in vain.

        The statement is a transaction of its own: BEGIN and COMMIT would cost it 8 of 30 µs (measured 2026-11-22).
        """
        tip, session = self._tip, self._session
        if not (tip.alone and session.idle and tip.fits(expected)):
            return ()
        envelopes = seal(encoded, position=tip.position, previous=tip.hash, versions=expected)
        if not session.alone(_INSERT, envelopes[0]):
            return ()  # others write too, or the event is known already: looking under the lock tells
        tip.move(envelopes)
        return envelopes

    def _insert(self, encoded: Sequence[tuple[Draft, bytes]], expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Write events behind the head: where it is thought to be, or else where it is."""
        if self._tip.alone and self._tip.fits(expected):
            with suppress(ConflictError):  # the guess was behind, or an event is known already: looking tells
                return self._insert_behind(encoded, expected)
        head, actual = standing(self._session, tuple(expected))
        self._tip.see(head, actual)
        check_versions(expected, actual)
        return self._insert_behind(encoded, expected)

    def _insert_behind(
        self, encoded: Sequence[tuple[Draft, bytes]], versions: Mapping[str, int]
    ) -> tuple[Envelope, ...]:
        tip = self._tip
        envelopes = seal(encoded, position=tip.position, previous=tip.hash, versions=versions)
        self._session.write(_INSERT, envelopes)
        tip.move(envelopes)
        return envelopes
