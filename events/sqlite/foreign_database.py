"""The database of another program, read while it may be written: nothing of it changes, and nobody waits.

SQLite itself would take locks that hold up a writer's checkpoint, and leave `-wal` and `-shm` beside a database
that had none. So one without a log is opened as immutable, and of one with a log a copy is read. The copy is whole
because the log is: a checkpoint writes only pages that the log still holds, and when the log begins again its
header changes, which is looked at before and after.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from events.errors import FailedLogError, UnreadableLogError
from events.sqlite.errors import COMPLAINTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAGIC: Final = b"SQLite format 3\0"
"""How a database begins."""

_LOGS: Final = ("-wal", "-journal")
_HEADER_BYTES: Final = 32
"""The header of a log, in which its salts change whenever it begins again."""

_ATTEMPTS: Final = 10
_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
"""Tables that lie in the file: what a view or a virtual table answers is computed by whoever wrote it."""


class ForeignDatabase:
    """Another program's database, open to be read. Text comes as bytes: it need not be UTF-8."""

    def __init__(self, connection: sqlite3.Connection, location: str) -> None:
        self._connection = connection
        self._location = location

    def columns(self, table: str) -> frozenset[str]:
        """Give the columns of a table that are stored; none where there is no such table.

        Raises: UnreadableLogError, as all that is asked here.
        """
        if table.encode() not in {name for (name,) in self.rows(_TABLES)}:
            return frozenset()
        listed = self.rows("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(name.decode("utf-8", "replace") for (name,) in listed)

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Give the rows that a query gives, one by one."""
        try:
            yield from self._connection.execute(statement, parameters)
        except COMPLAINTS as error:
            raise _unreadable(self._location, error) from error


@contextmanager
def foreign_database(path: Path) -> Iterator[ForeignDatabase]:
    """Open a database of another program as it is at this moment.

    Raises: FailedLogError where it changes faster than it can be read; OSError where its files cannot be.
    """
    if not _beginnings(path):
        before = _identity(path)
        with _opened(f"{path.absolute().as_uri()}?mode=ro&immutable=1", path) as database:
            yield database
        if _identity(path) != before:
            raise _busy(path)
        return
    with TemporaryDirectory(prefix="germline-") as folder:
        copy = Path(folder, "copy.db")
        if not any(_copied(path, copy) for _ in range(_ATTEMPTS)):
            raise _busy(path)
        with _opened(f"{copy.as_uri()}?mode=rw", path) as database:
            yield database


@contextmanager
def _opened(address: str, path: Path) -> Iterator[ForeignDatabase]:
    try:
        connection = sqlite3.connect(address, uri=True, timeout=0, isolation_level=None)
    except COMPLAINTS as error:
        raise _unreadable(str(path), error) from error
    with closing(connection):
        connection.text_factory = bytes
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        yield ForeignDatabase(connection, str(path))


def _copied(path: Path, copy: Path) -> bool:
    """Copy a database and its logs; false where a log began again meanwhile, or went."""
    before = _beginnings(path)
    shutil.copyfile(path, copy)
    for suffix in _LOGS:
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
        if suffix in before:
            try:
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
            except FileNotFoundError:
                return False
    return _beginnings(path) == before == _beginnings(copy)


def _beginnings(path: Path) -> dict[str, bytes]:
    """Give the headers of the logs beside a database; of an empty one there is nothing to be read."""
    headers = {}
    for suffix in _LOGS:
        log = Path(f"{path}{suffix}")
        if log.is_symlink() or not log.is_file():
            continue  # SQLite makes no link of it, and a pipe would keep us waiting
        try:
            with log.open("rb") as opened:
                header = opened.read(_HEADER_BYTES)
        except FileNotFoundError:
            continue
        if header.strip(b"\0"):
            headers[suffix] = header
    return headers


def _identity(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _busy(path: Path) -> FailedLogError:
    return FailedLogError(f"{path}: it changes faster than it can be read", hint="run the command again")


def _unreadable(location: str, error: Exception) -> UnreadableLogError:
    return UnreadableLogError(f"{location}: SQLite cannot read it ({error})", hint="copy the file again")
