"""One connection to a registry on PostgreSQL: patient with other writers, strict about transactions."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg import pq, sql

from events.clock import pause
from events.errors import GermlineError, StorageError, UsageError
from events.postgres.errors import refused, typed
from events.postgres.lock import Lock
from events.store.sql_session import SqlSession

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psycopg import Connection

    from events.postgres.address import PostgresAddress

Statement = str | sql.Composed
"""SQL of our own; what comes from outside goes in as a parameter or an identifier."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())
"""It writes on standard error, where nobody asked for a log, what we raise as an error anyway."""

_CONNECT_S: Final = "10"
"""How long to wait for a server that does not answer, where the address does not say (libpq waits for ever)."""


def _in_psycopg(statement: Statement) -> Statement:
    """Write the parameters of a statement as psycopg reads them."""
    return statement.replace("?", "%s") if isinstance(statement, str) else statement


class PostgresSession(SqlSession):
    """Statements on one connection; every error leaves as one of germline's own.

    Outside of a transaction a lost connection is replaced.
    """

    def __init__(self, address: PostgresAddress, *, read_only: bool, patience_s: float) -> None:
        super().__init__(str(address), patience_s)
        self.address = address
        self._lock = Lock(address.registry)
        self.channel = f"germline_{address.registry}"
        self.begun = 0
        """How many transactions were begun: what was read in this one holds until it ends."""
        self.read_only = read_only
        self._listening = False
        self._connection = self._connect()

    @property
    def server_version(self) -> str:
        """The version of the server, as it says it."""
        return self._connection.info.parameter_status("server_version") or "of an unknown version"

    def rows(self, statement: Statement, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query; bound it, or page through it."""
        self.give_way()
        try:
            return self._fetch(statement, parameters)
        except StorageError:
            if self._depth or not self._connection.closed:
                raise
        return self._fetch(statement, parameters)  # the server was restarted since: a query may be asked again

    def write(self, statement: Statement, rows: Sequence[Sequence[object]]) -> int:
        """Run one statement for every row, inside a transaction; returns how many rows it changed."""
        self._check_open()
        if not rows:
            return 0
        statement = _in_psycopg(statement)
        with self._typed(), self._connection.cursor(binary=True) as cursor:
            if len(rows) == 1:  # executemany sets up a pipeline, which costs more than it saves
                cursor.execute(statement, rows[0], prepare=True)
            else:
                cursor.executemany(statement, rows)
            return cursor.rowcount

    def copy_in(self, statement: Statement, types: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Write many rows at once, inside a transaction: a COPY in binary, whose columns have these types."""
        self._check_open()
        with self._typed(), self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def alone(self, statement: str, row: Sequence[object]) -> bool:
        """Run an INSERT that is a transaction of its own, lock and all; false where it wrote nothing.

        One way to the server and back. `{lock}` in the statement is where the lock is taken, if it is free.
        """
        self._reach()
        sql_text = _in_psycopg(statement.format(lock=self._lock.at_once))
        with self._typed(), self._connection.cursor(binary=True) as cursor:
            return cursor.execute(sql_text, row, prepare=True).rowcount > 0

    def placed(self, statement: str, row: Sequence[object]) -> tuple[Any, ...]:
        """Call a function that waits for the lock and writes, as a transaction of its own; returns its answer.

        `{key}` in the statement is what the lock is known by.
        """
        self._reach()
        sql_text = _in_psycopg(statement.format(key=self._lock.key))
        with self._typed(), self._connection.cursor(binary=True) as cursor:
            (answer,) = cursor.execute(sql_text, row, prepare=True).fetchall()
            return answer

    def listen(self) -> None:
        """Ask to be notified of appends, where the server can: a replica, or a pooler, may not."""
        if self._depth or (self._listening and not self._connection.closed):
            return
        self._reach()
        try:
            self.run(sql.SQL("LISTEN {}").format(sql.Identifier(self.channel)))
            self._listening = True
        except GermlineError:
            self._listening = False  # the next query replaces a lost connection

    def wait(self, about_s: float) -> None:
        """Wait for the notification of an append, at most so many seconds."""
        if self._depth or not self._listening or self._connection.closed:
            pause(about_s)
            return
        try:
            for _ in self._connection.notifies(timeout=about_s, stop_after=1):
                pass
        except psycopg.Error as error:
            if not self._connection.closed:
                raise typed(error, self.location) from error
            pause(about_s)  # the next query connects again, or says why it cannot

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def stream(self) -> Connection[tuple[Any, ...]]:
        """Open a connection of its own for one long reading."""
        return self._connect()

    def _connect(self) -> Connection[tuple[Any, ...]]:
        options = {"connect_timeout": _CONNECT_S, "application_name": "germline", **dict(self.address.options)}
        try:
            connection = psycopg.connect(**options, autocommit=True, client_encoding="UTF8", prepare_threshold=2)  # type: ignore[arg-type] # libpq's own keywords
        except (psycopg.Error, ValueError, UnicodeError) as error:
            kept = error if isinstance(error, psycopg.Error) else psycopg.ProgrammingError("unreadable")
            raise refused(kept, self.location) from None  # the cause may quote the password
        try:
            connection.execute(self._settings())
        except psycopg.Error as error:
            connection.close()
            raise typed(error, self.location) from error
        return connection

    def _settings(self) -> sql.Composed:
        """Set what germline relies on, whatever the server, the database or the role has as default.

        An acknowledged append must have reached the disk: a setting that gives this up is not taken.
        """
        return sql.SQL(
            "SET search_path TO {registry};"
            "SET lock_timeout TO {patience};"
            "SET default_transaction_isolation TO 'read committed';"
            "SET default_transaction_read_only TO {read_only};"
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        ).format(
            registry=sql.Identifier(self.address.registry),
            patience=f"{max(1, round(self._patience_s * 1000))}ms",
            read_only="on" if self.read_only else "off",
        )

    def _begin(self) -> None:
        def attempt(lock: str) -> bool | None:
            with self._typed():
                answers = self._connection.execute(f"BEGIN; SELECT {lock}", prepare=False)
                answers.nextset()
                if answers.fetchone() == (True,):
                    return True
            self.run("ROLLBACK")
            return None

        try:
            self._reach()
            try:
                self._lock.taken(attempt)
            except StorageError:
                if not self._connection.closed:
                    raise
                self._reach()  # the server was restarted since, and nothing was begun
                self._lock.taken(attempt)
        except GermlineError:
            self._undo()
            raise
        self.begun += 1

    def _reach(self) -> None:
        """Connect again where the connection was lost, unless a transaction was lost with it."""
        if self._connection.closed and not self._depth:
            self._connection = self._connect()
            self._listening = False
            self.doubts += 1

    @property
    def _is_begun(self) -> bool:
        return not self._connection.closed and self._status != pq.TransactionStatus.IDLE

    @property
    def _is_open(self) -> bool:
        return not self._connection.closed and self._status == pq.TransactionStatus.INTRANS

    @property
    def _status(self) -> pq.TransactionStatus:
        return self._connection.info.transaction_status

    def run(self, statement: Statement) -> None:
        """Run a statement, or several, that return nothing."""
        with self._typed():
            self._connection.execute(statement, prepare=False)  # several statements at once cannot be prepared

    def _fetch(self, statement: Statement, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        self._reach()
        with self._typed(), self._connection.cursor(binary=True) as cursor:
            return cursor.execute(_in_psycopg(statement), parameters).fetchall()

    @contextmanager
    def _typed(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise typed(error, self.location, lost=self._connection.closed) from error
        except (UnicodeEncodeError, OverflowError) as error:
            raise UsageError(f"no registry could hold what is asked for: {error}") from error
