"""The event log in a database: what appending, reading and counting have in common in every dialect of SQL."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Self

from events.errors import ConflictError, CorruptLogError
from events.store.append_checks import check_follows, first_receipt
from events.store.contents import hashes_in_order
from events.store.envelope import Envelope, encode, require_whole, seal
from events.store.pages import LAST, SELECT, Selection, read_pages
from events.store.protocol import Receipt
from events.store.sql_tables import Tables
from events.store.tip import Tip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from events.store.envelope import EventDraft
    from events.store.pages import EventPage
    from events.store.protocol import Head, Integrity, StoredDocument
    from events.store.sql_session import SqlSession

    Encoded = Sequence[tuple[EventDraft, bytes]]

_HASHES: Final = "SELECT position, hash FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?"


_FIRST_SINCE: Final = "SELECT min(position) FROM events WHERE at >= ?"


class EventLog(Tables):
    """An append-only, hash-chained log with the tables that belong to it, as `events.store.protocol` promises.

    A log belongs to the thread that opened it; another thread or process opens its own.
    """

    def __init__(self, session: SqlSession, beside: Path) -> None:
        super().__init__(session)
        self.location = session.location
        """The registry as people name it, without a password."""
        self.beside = beside
        """The path that the names of files beside the registry begin with: locks, drawn versions.

        On this machine, and nobody else's; its folder may not be there yet.
        """
        self._tip = Tip(session)

    @property
    @abstractmethod
    def backend(self) -> str:
        """Name the database and its version."""

    @abstractmethod
    def another(self) -> Self:
        """Open the same log once more, for another thread."""

    def give_way(self, wait: Callable[[], None]) -> None:
        """Call this before each query from now on: who reads beside others waits in it until they have read."""
        self._session.give_way = wait

    def append(
        self,
        drafts: Sequence[EventDraft],
        *,
        expected: Mapping[str, int],
        project: Callable[[Sequence[Envelope]], Sequence[StoredDocument]] | None = None,
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
        return read_pages(self._page, selection, after=after, limit=limit)

    def at(self, positions: Sequence[int]) -> list[Envelope]:
        """Return the events at these positions, in the order of positions.

        Raises: CorruptLogError for one that is not what was hashed when it was appended.
        """
        return self._among("position", list(positions))

    def of_streams(self, streams: Iterable[str]) -> list[Envelope]:
        """Return all events of several short streams, in the order of positions.

        Raises: CorruptLogError for one that is not what was hashed, and where a stream has a gap.
        """
        envelopes, reached = self._among("stream", list(streams)), Counter[str]()
        for envelope in envelopes:
            reached[envelope.stream] += 1
            if envelope.version != reached[envelope.stream]:
                what = f"version {reached[envelope.stream]} of {envelope.stream} is missing"
                raise CorruptLogError(what, position=envelope.position, hint="germline verify")
        return envelopes

    def hashes(self, *, after: int = 0, upto: int | None = None) -> Iterator[bytes]:
        """Yield the stored hash of each event beyond position `after`, up to `upto`: 32 bytes each, in order.

        The leaves of the Merkle tree (events/integrity/merkle.py), read a million at a time: only the two columns,
        page by page, so that a reader on another connection disturbs no writer. `upto` None reads all.
        Raises: CorruptLogError, with its position, where an event is missing or its hash is not 64 hex digits.
        """
        end = LAST if upto is None else upto
        return hashes_in_order(
            lambda reached, size: self._session.rows(_HASHES, (reached, end, size)), after=after
        )

    def first_since(self, moment: str) -> int:
        """Return the position of the first event at a moment (RFC 3339, UTC) or later, 0 where there is none.

        Clocks go backwards, so later events may be from before it. Reads every event's time.
        """
        ((position,),) = self._session.rows(_FIRST_SINCE, (moment,))
        return position or 0

    def head(self) -> Head:
        """Return the last position and its hash."""
        return self._heads(())[0]

    def stream_versions(self, streams: Iterable[str]) -> dict[str, int]:
        """Return the version of each stream, 0 for one that does not exist."""
        return self._heads(tuple(streams))[1]

    @abstractmethod
    def subscribe(self, *, after: int = 0, poll_s: float = 0.2) -> Iterator[Envelope]:
        """Yield events beyond `after` as they come, for ever, each once and in order."""

    @abstractmethod
    def verify(self) -> Integrity:
        """Check every event, link, counter and content hash; never raises for what it finds."""

    @abstractmethod
    def _at_once(self, encoded: Encoded, expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Append one event by one statement; nothing where looking under the lock tells more."""

    @abstractmethod
    def _insert(self, encoded: Encoded, expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Write events behind the head, inside a transaction."""

    @abstractmethod
    def _write(self, envelopes: Sequence[Envelope]) -> None:
        """Write sealed events, inside a transaction."""

    @abstractmethod
    def _page(self, page: EventPage) -> Sequence[tuple[Any, ...]]:
        """Read a page of events, as rows."""

    @abstractmethod
    def _heads(self, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
        """Read the head and the version of each stream, 0 for one that does not exist."""

    def _sealed(self, encoded: Encoded, expected: Mapping[str, int]) -> tuple[Envelope, ...]:
        """Seal events behind the place where the log is thought to end."""
        return seal(encoded, position=self._tip.position, previous=self._tip.hash, versions=expected)

    def _among(self, column: str, values: list[int] | list[str]) -> list[Envelope]:
        """Return the events whose column holds one of the values, in the order of positions."""
        if not values:
            return []
        condition, parameter = self.any_of(column, values)
        rows = self._session.rows(f"{SELECT} WHERE {condition} ORDER BY position", (parameter,))
        return [require_whole(Envelope._make(row)) for row in rows]
