"""Transactions on one connection to a database, nested and undone alike in every dialect of SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from events.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _at_once() -> None:
    """Wait for nobody."""


class SqlSession(ABC):
    """Statements on one connection; every error leaves as one of germline's own.

    `with session:` is a transaction that holds the write lock, and may be entered again inside itself. Parameters
    are written `?`. One thread at a time.
    """

    def __init__(self, location: str, patience_s: float) -> None:
        self.location = location
        self._patience_s = patience_s
        self._depth = 0
        self.give_way: Callable[[], None] = _at_once
        """Called before each query: who reads beside others waits here until they have read."""
        self.doubts = 0
        """How often what was known of the log became void: something was undone, or others may have written."""

    @property
    def idle(self) -> bool:
        """Tell that no transaction is open."""
        return not self._depth

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query; bound it, or page through it."""

    @abstractmethod
    def write(self, sql: str, rows: Sequence[Sequence[object]]) -> int:
        """Run one statement for every row, inside a transaction; returns how many rows it changed."""

    @abstractmethod
    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the file or the connection."""

    def __enter__(self) -> None:
        """Take the write lock; inside another transaction, begin a part that is undone alone if it fails."""
        if self._depth:
            self._check_open()
            self.run(f"SAVEPOINT part_{self._depth}")
        else:
            self._begin()
        self._depth += 1

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        """Commit what was written, or undo it if anything was raised."""
        self._depth -= 1
        if kind is not None:
            self._undo()
            return
        try:
            self._check_open()
            self.run(f"RELEASE part_{self._depth}" if self._depth else "COMMIT")
        except BaseException:
            self._undo()
            raise

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction that holds the write lock, waiting for it."""

    @property
    @abstractmethod
    def _is_begun(self) -> bool:
        """Tell that there is a transaction to undo."""

    @property
    def _is_open(self) -> bool:
        """Tell that there is a transaction to go on in."""
        return self._is_begun

    def _check_open(self) -> None:
        """Refuse to go on in a transaction that the database itself ended, as where the disk is full.

        A write, or a savepoint, would begin another one and commit piecemeal.
        """
        if not self._is_open:
            raise StorageError(
                f"the transaction on {self.location} is over: nothing of it was written",
                hint="run the command again",
            )

    def _undo(self) -> None:
        self.doubts += 1
        if not self._is_begun:
            return
        if self._depth:
            self.run(f"ROLLBACK TO part_{self._depth}")
            self.run(f"RELEASE part_{self._depth}")
        else:
            self.run("ROLLBACK")
