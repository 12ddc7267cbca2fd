"""The SQLite log keeps the contract."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import settings

from events.sqlite.log import SqliteLog
from tests.contract.event_log_contract import AppendContract, LogContract, ReadContract, TransactionContract
from tests.contract.event_log_machine import EventLogMachine
from tests.contract.promise_contract import PromiseContract
from tests.contract.subscription_contract import SubscriptionContract
from tests.contract.tables_contract import TablesContract

if TYPE_CHECKING:
    from tests.contract.event_log_contract import Opener


class SqliteOpener(LogContract):
    """Opens the log in a file of the test's own folder."""

    def opener(self, tmp_path: Path) -> Opener:
        return lambda: SqliteLog.open(tmp_path / "registry" / "germline.db", create=True, patience_s=0.05)


class TestSqliteAppends(SqliteOpener, AppendContract):
    """What is written."""


class TestSqliteTransactions(SqliteOpener, TransactionContract):
    """What belongs together."""


class TestSqliteReads(SqliteOpener, ReadContract):
    """What is read."""


class TestSqliteTables(SqliteOpener, TablesContract):
    """What lies beside the events."""


class TestSqlitePromises(SqliteOpener, PromiseContract):
    """What leaves."""


class TestSqliteSubscriptions(SqliteOpener, SubscriptionContract):
    """Who follows the events."""


class SqliteMachine(EventLogMachine):
    """The model against a file."""

    def fresh(self) -> SqliteLog:
        self.folder = TemporaryDirectory()
        return self.reopened()

    def reopened(self) -> SqliteLog:
        return SqliteLog.open(Path(self.folder.name) / "germline.db", create=True)

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestSqliteMachine = SqliteMachine.TestCase
TestSqliteMachine.settings = settings(max_examples=15, stateful_step_count=20, deadline=None, derandomize=True)
