"""The tables beside the events in a database: blobs, documents of projections, episodes, stored maps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from events.store.contents import blob_name, content_hash, episode_row, whole_blob
from events.store.pages import LAST, PAGE
from events.store.protocol import StoredDocument, StoredEpisode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from events.store.sql_session import SqlSession


class Tables(ABC):
    """The tables of one registry on one connection, readable at any time, writable inside `transaction()`."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the write lock: all writes inside, appends too, commit together or not at all."""
        return self._session

    @abstractmethod
    def any_of(self, column: str, values: list[int] | list[str]) -> tuple[str, object]:
        """Ask for rows whose column holds one of the values: a condition and its parameter."""

    def put_blob(self, body: bytes, *, kind: str) -> str:
        """Keep bytes under their content hash (SHA-256, hex) and return it.

        Raises: ValueError for a kind that is not in `events.store.contents.BLOB_KINDS`.
        """
        name = blob_name(body, kind=kind)
        with self._session:
            self._session.write(
                "INSERT INTO blobs (name, kind, body) SELECT ?, ?, ?"
                " WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE name = ?)",
                [(name, kind, body, name)],
            )
        return name

    def get_blob(self, name: str) -> bytes | None:
        """Return the bytes kept under a hash, None if there are none (or they were erased).

        Raises: CorruptLogError where others lie there.
        """
        for (body,) in self._session.rows("SELECT body FROM blobs WHERE name = ?", (name,)):
            return whole_blob(name, bytes(body))
        return None

    def get_blobs(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes kept under several hashes, by hash; those that there are none of are left out.

        Raises: CorruptLogError where others lie there.
        """
        condition, parameter = self.any_of("name", wanted := list(names))
        if not wanted:
            return {}
        rows = self._session.rows(f"SELECT name, body FROM blobs WHERE {condition}", (parameter,))  # noqa: S608 - no text from outside
        return {name: whole_blob(name, bytes(body)) for name, body in rows}

    def blob_kinds(self) -> dict[str, str]:
        """Return what each blob was first kept as, by its hash."""
        return dict(self._session.rows("SELECT name, kind FROM blobs ORDER BY name"))

    def erase_blob(self, name: str) -> bool:
        """Remove the bytes kept under a hash; tells whether there were any. `scrub` makes it final."""
        with self._session:
            return self._session.write("DELETE FROM blobs WHERE name = ?", [(name,)]) > 0

    @abstractmethod
    def scrub(self) -> bool:
        """Leave no trace of erased bytes in the files; false where a reader, or a full disk, is in the way."""

    def put_documents(self, documents: Sequence[StoredDocument]) -> None:
        """Write documents, replacing those at the same place."""
        if documents:
            with self._session:
                self._session.write(
                    "INSERT INTO documents (view, key, seq, body) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT (view, key, seq) DO UPDATE SET body = excluded.body",
                    documents,
                )

    def drop_documents(self) -> None:
        """Delete every document: the projection is disposable."""
        with self._session:
            self._session.run("DELETE FROM documents")

    def document(self, view: str, key: str, *, at: int | None = None) -> StoredDocument | None:
        """Return the last document of a sequence, or the last with `seq` at most `at`."""
        for document in self.documents(view, key, upto=at, limit=1, newest_first=True):
            return document
        return None

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
        order = "DESC" if newest_first else "ASC"
        only, keys = ("", ()) if key is None else ("AND key = ? ", (key,))
        rows = self._session.rows(
            f"SELECT view, key, seq, body FROM documents WHERE view = ? {only}AND seq > ? AND seq <= ?"  # noqa: S608 - no text from outside
            f" ORDER BY key {order}, seq {order} LIMIT ?",
            (view, *keys, after, LAST if upto is None else upto, LAST if limit < 0 else limit),
        )
        return [StoredDocument(*row) for row in rows]

    def documents_of(self, view: str, keys: Iterable[str], *, upto: int | None = None) -> list[StoredDocument]:
        """List the documents of a view with one of some keys, and `seq` at most `upto`, by (key, seq)."""
        condition, parameter = self.any_of("key", list(keys))
        rows = self._session.rows(
            f"SELECT view, key, seq, body FROM documents WHERE view = ? AND {condition} AND seq <= ?"  # noqa: S608 - no text from outside
            " ORDER BY key, seq",
            (view, parameter, LAST if upto is None else upto),
        )
        return [StoredDocument(*row) for row in rows]

    def every_document(self) -> Iterator[StoredDocument]:
        """Yield every document, by (view, key, seq), page by page: what is written meanwhile may be among them."""
        last: tuple[str, str, int] = ("", "", -1)
        while page := self._session.rows(
            "SELECT view, key, seq, body FROM documents WHERE (view, key, seq) > (?, ?, ?)"
            " ORDER BY view, key, seq LIMIT ?",
            (*last, PAGE),
        ):
            yield from map(StoredDocument._make, page)
            last = page[-1][:3]

    @abstractmethod
    def documents_at(self, view: str, places: Iterable[tuple[str, int]]) -> list[StoredDocument]:
        """Return the documents of a view at exactly these places, each a key and a `seq`, by (key, seq)."""

    def put_episodes(self, episodes: Sequence[StoredEpisode]) -> int:
        """Keep episodes not known yet; returns how many were new."""
        with self._session:
            return self._session.write(
                "INSERT INTO episodes (episode, source, body, content_hash) SELECT ?, ?, ?, ?"
                " WHERE NOT EXISTS (SELECT 1 FROM episodes WHERE episode = ?)",
                [(*episode_row(episode), episode.episode) for episode in episodes],
            )

    def drop_episodes(self, longer: Mapping[str, str]) -> int:
        """Remove each episode of which a longer reading is kept: its id to the other's; returns how many went."""
        with self._session:
            return self._session.write(
                "DELETE FROM episodes WHERE episode = ? AND EXISTS (SELECT 1 FROM episodes WHERE episode = ?)",
                [(short, long) for short, long in longer.items() if short != long],
            )

    def episodes(self) -> Iterator[StoredEpisode]:
        """Yield every known episode, ordered by id."""
        last = ""
        while page := self._session.rows(
            "SELECT episode, source, body FROM episodes WHERE episode > ? ORDER BY episode LIMIT ?", (last, PAGE)
        ):
            yield from (StoredEpisode(*row) for row in page)
            last = page[-1][0]

    def episode_sources(self) -> dict[str, str]:
        """Say of every known episode, by id, where it was read."""
        return dict(self._session.rows("SELECT episode, source FROM episodes"))

    def put_map(self, name: str, body: bytes) -> None:
        """Keep a small map under its name: how far logs were read, say."""
        with self._session:
            self._session.write(
                "INSERT INTO checkpoints (name, body, content_hash) VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET body = excluded.body, content_hash = excluded.content_hash",
                [(name, body, content_hash(name, body=body))],
            )

    def get_map(self, name: str) -> bytes | None:
        """Return the map of a name, None where there is none."""
        for (body,) in self._session.rows("SELECT body FROM checkpoints WHERE name = ?", (name,)):
            return bytes(body)
        return None

    def maps(self) -> Mapping[str, bytes]:
        """Return every map, by name."""
        return dict(self._session.rows("SELECT name, body FROM checkpoints ORDER BY name"))

    def close(self) -> None:
        """Let go of the file or the connection."""
        self._session.close()
