"""The PostgreSQL log keeps the contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import settings

from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog
from tests.contract.event_log_contract import AppendContract, LogContract, ReadContract, TransactionContract
from tests.contract.event_log_machine import EventLogMachine
from tests.contract.promise_contract import PromiseContract
from tests.contract.subscription_contract import SubscriptionContract
from tests.contract.tables_contract import TablesContract

if TYPE_CHECKING:
    from tests.contract.event_log_contract import Opener
    from tests.postgres_server import Server


class PostgresOpener(LogContract):
    """Opens the log in a schema of the test's own."""

    @pytest.fixture(autouse=True)
    def _server(self, postgres: Server) -> None:
        self.server = postgres

    def opener(self, tmp_path: Path) -> Opener:
        address = PostgresAddress.parse(self.server.empty_address())
        return lambda: PostgresLog.open(address, tmp_path / "registry", create=True, patience_s=0.05)


class TestPostgresAppends(PostgresOpener, AppendContract):
    """What is written."""


class TestPostgresTransactions(PostgresOpener, TransactionContract):
    """What belongs together."""


class TestPostgresReads(PostgresOpener, ReadContract):
    """What is read."""


class TestPostgresTables(PostgresOpener, TablesContract):
    """What lies beside the events."""


class TestPostgresPromises(PostgresOpener, PromiseContract):
    """What leaves."""


class TestPostgresSubscriptions(PostgresOpener, SubscriptionContract):
    """Who follows the events."""


class PostgresMachine(EventLogMachine):
    """The model against a server."""

    server: ClassVar[Server]

    def fresh(self) -> PostgresLog:
        self.address = PostgresAddress.parse(self.server.empty_address())
        return self.reopened()

    def reopened(self) -> PostgresLog:
        return PostgresLog.open(self.address, Path(), create=True)


TestPostgresMachine = pytest.mark.usefixtures("machine_server")(PostgresMachine.TestCase)
TestPostgresMachine.settings = settings(max_examples=15, stateful_step_count=20, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def machine_server(postgres: Server) -> None:
    PostgresMachine.server = postgres
