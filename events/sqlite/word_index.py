"""Documents ranked by the words of their fields: BM25 of SQLite's FTS5, in a file that may be thrown away."""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

_FORMAT: Final = 1
"""The shape of the tables; a file of another one is filled again."""
_LOOKED_AT: Final = 4_000
"""Documents that are scored for one question, those that hold several of its words counted for each (a guess)."""
_MARKED: Final = re.compile("\x01([^\x02]*)\x02")
_WAIT_S: Final = 0.5
"""How long another process that writes is waited for; the index is made in memory then (a guess)."""


class RankedDocument(NamedTuple):
    """A document that shares words with what was asked: its BM25 score, and the words shared, by field."""

    name: str
    score: float
    shared: dict[str, tuple[str, ...]]


class WordIndex:
    """Documents by name, each with the words of its fields; `upto` and `source` say what it was filled from."""

    def __init__(self, fields: Sequence[str], file: Path | None = None) -> None:
        self.fields = tuple(fields)
        self._base = sqlite3.connect(":memory:" if file is None else file, timeout=_WAIT_S, isolation_level=None)
        self._base.execute("PRAGMA synchronous = OFF")  # lost with the machine's power, it is filled again
        self._base.execute("CREATE TABLE IF NOT EXISTS filled (format, source, upto)")
        if self.filled() == ("", 0):  # of another shape, too
            self._base.execute("DROP TABLE IF EXISTS words")
            self._base.execute("DROP TABLE IF EXISTS document")
        self._base.execute("CREATE TABLE IF NOT EXISTS document (id INTEGER PRIMARY KEY, name UNIQUE)")
        columns = ", ".join((*self.fields, "tokenize = 'porter unicode61'"))
        self._base.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5({columns})")

    @classmethod
    def kept_in(cls, file: Path, fields: Sequence[str]) -> Self:
        """Open the index in a file that no stranger can write; an empty one in memory where it cannot be used."""
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600)
            with suppress(sqlite3.Error):
                return cls(fields, file)
        return cls(fields)

    def __len__(self) -> int:
        """Count the documents."""
        (count,) = self._base.execute("SELECT count(*) FROM document").fetchone()
        return int(count)

    def filled(self) -> tuple[str, int]:
        """Say what it was filled from, and up to which position; ("", 0) for an empty one."""
        row = self._base.execute("SELECT format, source, upto FROM filled").fetchone()
        return (row[1], row[2]) if row and row[0] == _FORMAT else ("", 0)

    def fill(
        self, documents: Mapping[str, Sequence[Iterable[str]]], *, source: str, upto: int, whole: bool = False
    ) -> None:
        """Take in documents in the place of those of their names, all at once; one without fields is removed.

        Shapes: the words of each field, in the order of fields. With `whole` nothing else stays.
        """
        self._base.execute("BEGIN IMMEDIATE")
        try:
            if whole:
                self._base.execute("DELETE FROM words")
                self._base.execute("DELETE FROM document")
            for name, words in documents.items():
                self._put(name, [" ".join(field) for field in words])
            self._base.execute("DELETE FROM filled")
            self._base.execute("INSERT INTO filled VALUES (?, ?, ?)", (_FORMAT, source, upto))
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    def _put(self, name: str, texts: Sequence[str]) -> None:
        for (number,) in self._base.execute("SELECT id FROM document WHERE name = ?", (name,)).fetchall():
            self._base.execute("DELETE FROM words WHERE rowid = ?", (number,))
            self._base.execute("DELETE FROM document WHERE id = ?", (number,))
        if texts:
            number = self._base.execute("INSERT INTO document (name) VALUES (?)", (name,)).lastrowid
            columns, places = ", ".join(self.fields), ", ".join("?" * len(texts))
            self._base.execute(
                f"INSERT INTO words (rowid, {columns}) VALUES (?, {places})",  # noqa: S608 - our own names
                (number, *texts),
            )

    def best(self, asked: Iterable[str], weights: Mapping[str, float], limit: int) -> list[RankedDocument]:
        """Rank documents that hold any of the words in a weighted field, the best first, at most `limit`."""
        words = sorted(set(asked))
        if not weights or not (telling := self._telling(words)):
            return []
        any_of = " OR ".join(f'"{word}"' for word in telling)
        places = ", ".join("?" * len(self.fields))
        asked_for = f"{{{' '.join(weights)}}} : ({any_of})"
        ranked = self._base.execute(
            f"SELECT document.id, document.name, -bm25(words, {places}) AS score FROM words"  # noqa: S608 - our own names
            " JOIN document ON id = words.rowid WHERE words MATCH ? ORDER BY score DESC, document.name LIMIT ?",
            (*(weights.get(field, 0.0) for field in self.fields), asked_for, limit),
        ).fetchall()
        marked = ", ".join(f"highlight(words, {at}, '\x01', '\x02')" for at in range(len(self.fields)))
        holds = f"SELECT {marked} FROM words WHERE words MATCH ? AND rowid = ?"  # noqa: S608 - our own names
        return [
            RankedDocument(name, score, self._shared(self._base.execute(holds, (asked_for, number)).fetchone()))
            for number, name, score in ranked
        ]

    def _telling(self, words: Sequence[str]) -> list[str]:
        """Give the words that tell documents apart: the rarest, until enough documents hold one of them."""
        count = "SELECT count(*) FROM words WHERE words MATCH ?"
        holding = [(self._base.execute(count, (f'"{word}"',)).fetchone()[0], word) for word in words]
        telling, looked_at = [], 0
        for documents, word in sorted(holding):
            if looked_at and looked_at + documents > _LOOKED_AT:
                break
            if documents:
                telling.append(word)
            looked_at += documents
        return telling

    def _shared(self, texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        shared = {field: _MARKED.findall(text) for field, text in zip(self.fields, texts, strict=True)}
        return {field: tuple(sorted(set(words))) for field, words in shared.items() if words}

    def close(self) -> None:
        """Close the file."""
        self._base.close()
