"""The tables beside the events, on PostgreSQL: blobs, documents of projections, episodes, checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.contents import blob_name, content_hash, episode_row
from events.errors import GermlineError
from events.log import Document, StoredEpisode
from events.paging import LAST, PAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from events.postgres_session import Session

_PUT_DOCUMENT: Final = (
    "INSERT INTO documents (view, key, seq, body) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (view, key, seq) DO UPDATE SET body = EXCLUDED.body"
)

_FILES: Final = "SELECT pg_relation_filenode('blobs'), pg_relation_filenode('documents')"


class PostgresTables:
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
                "INSERT INTO blobs (name, kind, body) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                [(name, kind, body)],
            )
        return name

    def get_blob(self, name: str) -> bytes | None:
        """Return the bytes kept under a hash, None if there are none (or they were erased)."""
        for (body,) in self._session.rows("SELECT body FROM blobs WHERE name = %s", (name,)):
            return bytes(body)
        return None

    def blob_kinds(self) -> dict[str, str]:
        """Return what each blob was first kept as, by its hash."""
        return dict(self._session.rows("SELECT name, kind FROM blobs ORDER BY name"))

    def erase_blob(self, name: str) -> bool:
        """Remove the bytes kept under a hash; tells whether there were any. `scrub` makes it final."""
        with self._session:
            return self._session.write("DELETE FROM blobs WHERE name = %s", [(name,)]) > 0

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
        return not set(before[0]) & set(after[0])  # who is not the owner is passed over with a warning only

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Write documents, replacing those at the same place."""
        rows = [(document.view, document.key, document.seq, document.body) for document in documents]
        if rows:
            with self._session:
                self._session.write(_PUT_DOCUMENT, rows)

    def drop_documents(self) -> None:
        """Delete every document: the projection is disposable."""
        with self._session:
            self._session.run("DELETE FROM documents")

    def document(self, view: str, key: str, *, at: int | None = None) -> Document | None:
        """Return the last document of a sequence, or the last with `seq` at most `at`."""
        found = self._session.rows(
            "SELECT view, key, seq, body FROM documents WHERE view = %s AND key = %s AND seq <= %s"
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
        only, keys = ("", ()) if key is None else ("AND key = %s ", (key,))
        rows = self._session.rows(
            f"SELECT view, key, seq, body FROM documents WHERE view = %s {only}AND seq > %s AND seq <= %s"  # noqa: S608 - no text from outside
            f" ORDER BY key {order}, seq {order} LIMIT %s",
            (view, *keys, after, LAST if upto is None else upto, LAST if limit < 0 else limit),
        )
        return [Document(*row) for row in rows]

    def put_episodes(self, episodes: Sequence[StoredEpisode]) -> int:
        """Keep episodes not known yet; returns how many were new."""
        with self._session:
            return self._session.write(
                "INSERT INTO episodes (episode, source, body, content_hash) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                [episode_row(one) for one in episodes],
            )

    def drop_episodes(self, longer: Mapping[str, str]) -> int:
        """Remove each episode of which a longer reading is kept: its id to the other's; returns how many went."""
        rows = [(short, long, long) for short, long in longer.items() if short != long]
        with self._session:
            return self._session.write(
                "DELETE FROM episodes WHERE episode = %s AND episode <> %s"
                " AND EXISTS (SELECT 1 FROM episodes WHERE episode = %s)",
                rows,
            )

    def episodes(self) -> Iterator[StoredEpisode]:
        """Yield every known episode, ordered by id."""
        last = ""
        while page := self._session.rows(
            "SELECT episode, source, body FROM episodes WHERE episode > %s ORDER BY episode LIMIT %s", (last, PAGE)
        ):
            yield from (StoredEpisode(*row) for row in page)
            last = page[-1][0]

    def put_checkpoint(self, name: str, body: bytes) -> None:
        """Keep how far a source was read, under its name."""
        with self._session:
            self._session.write(
                "INSERT INTO checkpoints (name, body, content_hash) VALUES (%s, %s, %s)"
                " ON CONFLICT (name) DO UPDATE SET body = EXCLUDED.body, content_hash = EXCLUDED.content_hash",
                [(name, body, content_hash(name, body=body))],
            )

    def checkpoint(self, name: str) -> bytes | None:
        """Return how far one source was read, None where nobody kept it."""
        found = self._session.rows("SELECT body FROM checkpoints WHERE name = %s", (name,))
        return bytes(found[0][0]) if found else None

    def checkpoints(self) -> Mapping[str, bytes]:
        """Return how far each source was read."""
        return dict(self._session.rows("SELECT name, body FROM checkpoints ORDER BY name"))

    def close(self) -> None:
        """Let go of the connection."""
        self._session.close()
