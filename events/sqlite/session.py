"""One connection to the database: patient with other processes, strict about transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple

from events.clock import monotonic_s, pause
from events.errors import ConflictError, GermlineError, UsageError
from events.sqlite.errors import COMPLAINTS, is_busy, typed
from events.store.sql_session import SqlSession

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_PAUSES_S: Final = (0.0005, 0.001, 0.002, 0.004, *[0.008] * 8)
"""Between tries for the lock, at first.

While the others sleep, the holder of the lock goes on with its pages in the cache and its guess right: handing the
lock on at every append, as a queue does, is slower than one writer alone. All that woke every half a millisecond
took the processors from the one at work (that kept .84-1.04 of its rate on a quiet machine; .33 on a
busy one, measured 2026-11-22)."""

_LAST_S: Final = 0.0005
"""Between tries of who has waited for 70 ms: on a slow disk the lock is free for a hundredth of the time only."""


class SqliteSession(SqlSession):
    """Statements on one connection; every error leaves as one of germline's own.

    `reopened` gives another connection where what was read by this one may be wrong; then it is read again.

    SQLite's busy handler stays off: waiting is a bounded, jittered retry of our own.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        location: str,
        patience_s: float,
        reopened: Callable[[], sqlite3.Connection | None] = lambda: None,
    ) -> None:
        super().__init__(location, patience_s)
        self.connection = connection
        self._reopened = reopened
        self._cursor = connection.cursor()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query; bound it, or page through it."""
        self.give_way()
        while True:
            try:
                fetched = self._patiently(self._fetch, sql, parameters)
            except GermlineError:
                if not self._reconnected():
                    raise
            else:
                if not self._reconnected():
                    return fetched

    def write(self, sql: str, rows: Iterable[Sequence[object]]) -> int:
        """Run one statement for every row, inside a transaction; returns how many rows it changed."""
        self._check_open()
        try:
            return self._cursor.executemany(sql, rows).rowcount
        except COMPLAINTS as error:
            raise typed(error, self.location) from error

    def alone(self, sql: str, row: Sequence[object]) -> bool:
        """Run an INSERT of one row that is a transaction of its own; false where it wrote nothing.

        That is so where another process holds the lock, or the row is refused: in both cases others write too.
        """
        try:
            self._cursor.execute(sql, row)
        except COMPLAINTS as error:
            self.doubts += 1
            problem = typed(error, self.location)
            if isinstance(problem, ConflictError):  # a BusyError is one
                return False
            raise problem from error
        return True

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def _reconnected(self) -> bool:
        """Tell whether there is another connection to ask now."""
        if (connection := self._reopened()) is None:
            return False
        self.connection.close()
        self.connection, self._cursor = connection, connection.cursor()
        return True

    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""
        try:
            self._cursor.execute(sql)
        except COMPLAINTS as error:
            raise typed(error, self.location) from error

    def _begin(self) -> None:
        # IMMEDIATE: a transaction that reads first and writes later is refused under contention.
        self._patiently(self._cursor.execute, "BEGIN IMMEDIATE")

    @property
    def _is_begun(self) -> bool:
        return self.connection.in_transaction

    def _fetch(self, sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(sql, parameters).fetchall()
        except (UnicodeEncodeError, OverflowError) as error:
            raise UsageError(f"no registry could hold what is asked for: {error}") from error

    def _patiently(self, attempt: Callable[[*Ts], T], *parameters: *Ts) -> T:
        try:
            return attempt(*parameters)
        except COMPLAINTS as error:
            if not is_busy(error):
                raise typed(error, self.location) from error
        self.doubts += 1
        deadline_s = monotonic_s() + self._patience_s
        pauses = iter(_PAUSES_S)
        while True:
            pause(next(pauses, _LAST_S))
            try:
                return attempt(*parameters)
            except COMPLAINTS as error:
                if not is_busy(error) or monotonic_s() > deadline_s:
                    raise typed(error, self.location) from error
