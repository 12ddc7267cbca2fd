"""The store that everything rests on: the event log and the tables beside it, as a protocol.

Promises that every backend keeps (the contract suite in `tests/contract/` checks each of them):

1. Positions are 1, 2, 3 … without a gap; a reader that has seen position n has seen all before it.
2. `append` is all or nothing, and durable when it returns.
3. Each batch names the version it expects of every stream it writes; a mismatch is a `ConflictError`
   with both numbers, and nothing is written.
4. Event ids are unique. Appending the same ids again returns the first receipt; a part of them is a conflict.
5. Events are never changed or removed; the database itself refuses.
6. A projection's documents change in the transaction of the events they were folded from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from events.store.envelope import Envelope, EventDraft


class Head(NamedTuple):
    """The last event of the log: position 0 and the genesis hash for an empty one."""

    position: int
    hash: str


class Receipt(NamedTuple):
    """What an append wrote; `repeated` is true when the same event ids had been written before."""

    envelopes: tuple[Envelope, ...]
    repeated: bool = False


class StoredDocument(NamedTuple):
    """A piece of a projection: disposable, rebuilt from the log.

    Documents of one `view` and `key` form a sequence by `seq` (0 where there is only one). A tuple of the
    columns of their table, in order: a rebuild makes more of them than there are events.
    """

    view: str
    key: str
    seq: int
    body: bytes


class StoredEpisode(NamedTuple):
    """An episode as the registry keeps it; `body` is its record without text, `content_hash` covers it."""

    episode: str
    source: str
    body: bytes


class Problem(NamedTuple):
    """A place where the store does not hold what it promises; `position` 0 where no event is to blame.

    `kind` is one word where a checkpoint is contradicted (events/integrity/checkpoint.py), "" otherwise.
    """

    position: int
    what: str
    kind: str = ""


class Integrity(NamedTuple):
    """The result of a verification."""

    events: int
    head: Head
    problems: tuple[Problem, ...]


class Tables(Protocol):
    """The tables beside the events, readable at any time, writable inside `transaction()`."""

    def put_blob(self, body: bytes, *, kind: str) -> str:
        """Keep bytes under their content hash (SHA-256, hex) and return it.

        Raises: ValueError for a kind that is not in `events.store.contents.BLOB_KINDS`.
        """
        ...

    def get_blob(self, name: str) -> bytes | None:
        """Return the bytes kept under a hash, None if there are none (or they were erased).

        Raises: CorruptLogError where others lie there.
        """
        ...

    def get_blobs(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes kept under several hashes, by hash; those that there are none of are left out.

        Raises: CorruptLogError where others lie there.
        """
        ...

    def blob_kinds(self) -> dict[str, str]:
        """Return what each blob was first kept as, by its hash."""
        ...

    def erase_blob(self, name: str) -> bool:
        """Remove the bytes kept under a hash; tells whether there were any. `scrub` makes it final."""
        ...

    def scrub(self) -> bool:
        """Leave no trace of erased bytes in the files; false where a reader, or a full disk, is in the way."""
        ...

    def put_documents(self, documents: Sequence[StoredDocument]) -> None:
        """Write documents, replacing those at the same place."""
        ...

    def drop_documents(self) -> None:
        """Delete every document: the projection is disposable."""
        ...

    def document(self, view: str, key: str, *, at: int | None = None) -> StoredDocument | None:
        """Return the last document of a sequence, or the last with `seq` at most `at`."""
        ...

    def documents(
        self,
        view: str,
        key: str | None = None,
        *,
        after: int = -1,
        upto: int | None = None,
        limit: int = -1,
        newest_first: bool = False,
    ) -> list[StoredDocument]:
        """List the documents of a view (and key) with `seq` above `after`, at most `upto`, by (key, seq)."""
        ...

    def every_document(self) -> Iterator[StoredDocument]:
        """Yield every document, by (view, key, seq), page by page: what is written meanwhile may be among them."""
        ...

    def documents_at(self, view: str, places: Iterable[tuple[str, int]]) -> list[StoredDocument]:
        """Return the documents of a view at exactly these places, each a key and a `seq`, by (key, seq)."""
        ...

    def put_episodes(self, episodes: Sequence[StoredEpisode]) -> int:
        """Keep episodes not known yet; returns how many were new."""
        ...

    def drop_episodes(self, longer: Mapping[str, str]) -> int:
        """Remove each episode of which a longer reading is kept: its id to the other's; returns how many went."""
        ...

    def episodes(self) -> Iterator[StoredEpisode]:
        """Yield every known episode, ordered by id."""
        ...

    def put_map(self, name: str, body: bytes) -> None:
        """Keep a small map under its name: how far logs were read, say."""
        ...

    def get_map(self, name: str) -> bytes | None:
        """Return the map of a name, None where there is none."""
        ...

    def maps(self) -> Mapping[str, bytes]:
        """Return every map, by name."""
        ...


class EventLog(Tables, Protocol):
    """An append-only, hash-chained log with the tables that belong to it."""

    location: str
    """The registry as people name it, without a password."""

    @property
    def backend(self) -> str:
        """Name the database and its version."""
        ...

    @property
    def beside(self) -> Path:
        """Give the path that the names of files beside the registry begin with: locks, drawn versions.

        On this machine, and nobody else's; its folder may not be there yet.
        """
        ...

    def another(self) -> Self:
        """Open the same log once more, for another thread."""
        ...

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
        ...

    def take_over(self, envelopes: Sequence[Envelope]) -> None:
        """Write events of another log, byte for byte; raises ConflictError unless they follow the head."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the write lock: all writes inside, appends too, commit together or not at all."""
        ...

    def read(
        self,
        *,
        after: int = 0,
        limit: int = -1,
        stream: str | None = None,
        types: Sequence[str] = (),
        newest_first: bool = False,
    ) -> Iterator[Envelope]:
        """Yield events in the order of positions, beyond position `after` (below it, newest first, if > 0)."""
        ...

    def at(self, positions: Sequence[int]) -> list[Envelope]:
        """Return the events at these positions, in the order of positions.

        Raises: CorruptLogError for one that is not what was hashed when it was appended.
        """
        ...

    def of_streams(self, streams: Iterable[str]) -> list[Envelope]:
        """Return all events of several short streams, in the order of positions.

        Raises: CorruptLogError for one that is not what was hashed, and where a stream has a gap.
        """
        ...

    def hashes(self, *, after: int = 0, upto: int | None = None) -> Iterator[bytes]:
        """Yield the stored hash of each event beyond position `after`, up to `upto`: 32 bytes each, in order.

        The leaves of the Merkle tree (events/integrity/merkle.py), read a million at a time: only the two columns,
        page by page, so that a reader on another connection disturbs no writer. `upto` None reads all.
        Raises: CorruptLogError, with its position, where an event is missing or its hash is not 64 hex digits.
        """
        ...

    def first_since(self, moment: str) -> int:
        """Return the position of the first event at a moment (RFC 3339, UTC) or later, 0 where there is none.

        Clocks go backwards, so later events may be from before it. Reads every event's time.
        """
        ...

    def head(self) -> Head:
        """Return the last position and its hash."""
        ...

    def stream_versions(self, streams: Sequence[str]) -> dict[str, int]:
        """Return the version of each stream, 0 for one that does not exist."""
        ...

    def subscribe(self, *, after: int = 0, poll_s: float = 0.2) -> Iterator[Envelope]:
        """Yield events beyond `after` as they come, for ever, each once and in order."""
        ...

    def verify(self) -> Integrity:
        """Check every event, link, counter and content hash; never raises for what it finds."""
        ...

    def close(self) -> None:
        """Let go of the file or the connection."""
        ...
