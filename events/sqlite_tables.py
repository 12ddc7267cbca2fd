"""The tables beside the events: blobs, documents of projections, episodes, checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.contents import blob_name, content_hash, episode_row
from events.errors import BusyError, StorageError
from events.log import Document, StoredEpisode
from events.paging import LAST, PAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from events.sqlite_session import Session


class SqliteTables:
    """The tables of one registry on one connection."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the write lock: all writes inside, appends too, commit together or not at all."""
        return self._session

    def put_blob(self, body: bytes, *, kind: str) -> str:
        """Keep bytes under their content hash (SHA-256, hex) and return it."""
        name = blob_name(body, kind=kind)
        with self._session:
            self._session.write(
                "INSERT INTO blobs (name, kind, body) SELECT ?1, ?2, ?3"
                " WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE name = ?1)",
                [(name, kind, body)],
            )
        return name

    def get_blob(self, name: str) -> bytes | None:
        """Return the bytes kept under a hash, None if there are none (or they were erased)."""
        for (body,) in self._session.rows("SELECT body FROM blobs WHERE name = ?", (name,)):
            return bytes(body)
        return None

    def blob_kinds(self) -> dict[str, str]:
        """Return what each blob was first kept as, by its hash."""
        return dict(self._session.rows("SELECT name, kind FROM blobs ORDER BY name"))

    def erase_blob(self, name: str) -> bool:
        """Remove the bytes kept under a hash; tells whether there were any. `scrub` makes it final."""
        with self._session:
            return self._session.write("DELETE FROM blobs WHERE name = ?", [(name,)]) > 0

    def scrub(self) -> bool:
        """Leave no trace of erased bytes in the files; false where a reader, or a full disk, is in the way."""
        try:
            self._session.rows("VACUUM")  # pages that were ever divided keep stale bytes: all are written anew
            ((busy, _, _),) = self._session.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        except (BusyError, StorageError):
            return False
        return not busy

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Write documents, replacing those at the same place."""
        with self._session:
            self._session.write(
                "INSERT OR REPLACE INTO documents (view, key, seq, body) VALUES (?, ?, ?, ?)", documents
            )

    def drop_documents(self) -> None:
        """Delete every document: the projection is disposable."""
        with self._session:
            self._session.write("DELETE FROM documents", [()])

    def document(self, view: str, key: str, *, at: int | None = None) -> Document | None:
        """Return the last document of a sequence, or the last with `seq` at most `at`."""
        found = self._session.rows(
            "SELECT view, key, seq, body FROM documents WHERE view = ? AND key = ? AND seq <= ?"
            " ORDER BY seq DESC LIMIT 1",
            (view, key, LAST if at is None else at),
        )
        return Document(*found[0]) if found else None

    def documents(
        self,
        view: str,
        key: str | None = None,
        *,
        after: int = -1,
        upto: int | None = None,
        limit: int = -1,
        newest_first: bool = False,
    ) -> list[Document]:
        """List the documents of a view (and key) with `seq` above `after`, at most `upto`, by (key, seq)."""
        order = "DESC" if newest_first else "ASC"
        only, keys = ("", ()) if key is None else ("AND key = ? ", (key,))
        rows = self._session.rows(
            f"SELECT view, key, seq, body FROM documents WHERE view = ? {only}AND seq > ? AND seq <= ?"  # noqa: S608 - no text from outside
            f" ORDER BY key {order}, seq {order} LIMIT ?",
            (view, *keys, after, LAST if upto is None else upto, limit),
        )
        return [Document(*row) for row in rows]

    def put_episodes(self, episodes: Sequence[StoredEpisode]) -> int:
        """Keep episodes not known yet; returns how many were new."""
        with self._session:
            return self._session.write(
                "INSERT INTO episodes (episode, source, body, content_hash) SELECT ?1, ?2, ?3, ?4"
                " WHERE NOT EXISTS (SELECT 1 FROM episodes WHERE episode = ?1)",
                [episode_row(one) for one in episodes],
            )

    def drop_episodes(self, longer: Mapping[str, str]) -> int:
        """Remove each episode of which a longer reading is kept: its id to the other's; returns how many went."""
        with self._session:
            return self._session.write(
                "DELETE FROM episodes WHERE episode = ?1 AND ?1 <> ?2"
                " AND EXISTS (SELECT 1 FROM episodes WHERE episode = ?2)",
                list(longer.items()),
            )

    def episodes(self) -> Iterator[StoredEpisode]:
        """Yield every known episode, ordered by id."""
        last = ""
        while page := self._session.rows(
            "SELECT episode, source, body FROM episodes WHERE episode > ? ORDER BY episode LIMIT ?", (last, PAGE)
        ):
            yield from (StoredEpisode(*row) for row in page)
            last = page[-1][0]

    def put_checkpoint(self, name: str, body: bytes) -> None:
        """Keep how far a source was read, under its name."""
        with self._session:
            self._session.write(
                "INSERT OR REPLACE INTO checkpoints (name, body, content_hash) VALUES (?, ?, ?)",
                [(name, body, content_hash(name, body=body))],
            )

    def checkpoint(self, name: str) -> bytes | None:
        """Return how far one source was read, None where nobody kept it."""
        found = self._session.rows("SELECT body FROM checkpoints WHERE name = ?", (name,))
        return bytes(found[0][0]) if found else None

    def checkpoints(self) -> Mapping[str, bytes]:
        """Return how far each source was read."""
        return dict(self._session.rows("SELECT name, body FROM checkpoints ORDER BY name"))

    def close(self) -> None:
        """Let go of the file."""
        self._session.close()
