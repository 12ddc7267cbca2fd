"""One connection to the database: patient with other processes, strict about transactions."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from events.clock import monotonic_s, pause
from events.errors import StorageError, UsageError
from events.sqlite_errors import is_busy, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")

_RETRY_S: Final = 0.0005
"""Between two tries for the lock; with eight writers it kept .84–1.04 of one writer's rate (trust.md)."""


class Session:
    """Statements on one connection; every error leaves as one of germline's own.

    SQLite's busy handler stays off: waiting is a bounded, jittered retry of our own. One thread at a time.
    """

    def __init__(self, connection: sqlite3.Connection, location: str, patience_s: float) -> None:
        self.connection = connection
        self.location = location
        self._patience_s = patience_s
        self._depth = 0

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query; bound it, or page through it."""
        try:
            return self._patiently(lambda: self.connection.execute(sql, parameters).fetchall())
        except (UnicodeEncodeError, OverflowError) as error:
            raise UsageError(f"no registry could hold what is asked for: {error}") from error

    def write(self, sql: str, rows: Iterable[Sequence[object]]) -> int:
        """Run one statement for every row, inside a transaction; returns how many rows it changed."""
        self._require_transaction()
        try:
            return self.connection.executemany(sql, rows).rowcount
        except sqlite3.Error as error:
            raise typed(error, self.location) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; inside another transaction, a part that is undone alone if it fails."""
        name = f"part_{self._depth}"
        self._begin(name)
        self._depth += 1
        try:
            yield
            self._require_transaction()
            self._run(f"RELEASE {name}" if self._depth > 1 else "COMMIT")
        except BaseException:
            self._undo(name)
            raise
        finally:
            self._depth -= 1

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def _begin(self, name: str) -> None:
        if self._depth:
            self._require_transaction()
            self._run(f"SAVEPOINT {name}")
        else:
            # IMMEDIATE: a transaction that reads first and writes later is refused under contention (trust.md).
            self._patiently(lambda: self.connection.execute("BEGIN IMMEDIATE"))

    def _require_transaction(self) -> None:
        """Refuse to go on where SQLite itself ended the transaction, as it does when the disk is full.

        A write, or a savepoint, would begin another one and commit piecemeal.
        """
        if not self.connection.in_transaction:
            raise StorageError(f"the transaction on {self.location} is over: nothing of it was written")

    def _undo(self, name: str) -> None:
        if not self.connection.in_transaction:
            return
        if self._depth > 1:
            self._run(f"ROLLBACK TO {name}")
            self._run(f"RELEASE {name}")
        else:
            self._run("ROLLBACK")

    def _run(self, sql: str) -> None:
        try:
            self.connection.execute(sql)
        except sqlite3.Error as error:
            raise typed(error, self.location) from error

    def _patiently(self, attempt: Callable[[], T]) -> T:
        try:
            return attempt()
        except sqlite3.Error as error:
            if not is_busy(error):
                raise typed(error, self.location) from error
        deadline_s = monotonic_s() + self._patience_s
        while True:
            pause(_RETRY_S)
            try:
                return attempt()
            except sqlite3.Error as error:
                if not is_busy(error) or monotonic_s() > deadline_s:
                    raise typed(error, self.location) from error
