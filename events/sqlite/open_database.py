"""Opening the database file: who may read it, how safely it is written, and whether it is ours at all."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Final

from events.clock import monotonic_s
from events.errors import BusyError, CorruptLogError, NotFoundError, StorageError
from events.integrity.checks import as_text
from events.sqlite.errors import typed
from events.sqlite.session import SqliteSession

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION_ID: Final = 0x676C6E65
"""`glne`, in the header of every registry: no other application's database is taken for ours."""

SCHEMA_VERSION: Final = 2
"""The last step of `events.sqlite.migrations`."""

_READABLE_SINCE: Final = 1
"""Steps after this one changed only what may be written: a reader needs none of them."""

PARTIAL: Final = ".germline-partial-"
"""How the names of a copy that is not whole yet begin, and of the folder of a swap that is under way.

The machine and the process id of a copy's maker follow: several machines may copy into one folder, and of each
other's processes they know nothing. In the name of a folder, those of the registry and of what it will be."""

_MORE_THAN_TORN: Final = 2
"""Transactions behind damage that no power cut explains: one at most was being written."""


def open_session(path: Path, *, create: bool, read_only: bool, patience_s: float) -> SqliteSession:
    """Open a registry's database, bringing its schema up to date where it may be written.

    Raises: NotFoundError if there is none and `create` is false; CorruptLogError for another kind of file;
    StorageError for one that cannot be opened, or that a newer germline wrote.
    """
    if not path.exists():
        require_none_aside(path)  # else an empty one would stand where a restore is to be finished
    if not path.exists():
        if not create:
            raise NotFoundError(f"there is no registry at {path}", hint="germline init")
        _make(path)
    deadline_s = monotonic_s() + patience_s
    while True:
        clear_leftovers(path, thorough=not read_only)
        opened = _identity(path)
        if not read_only:
            _require_whole_log(path)
        reopened = _Reopening(path, read_only=read_only)
        session = SqliteSession(_connect(path, read_only=read_only), str(path), patience_s, reopened)
        try:
            _prepare(session, read_only=read_only)
        except BaseException:
            session.close()
            raise
        if _identity(path) == opened and not _is_half_swapped(path):
            return session
        session.close()  # another was put in its place (events.sqlite.swap) before this one was held, or was to be
        if monotonic_s() > deadline_s:
            raise BusyError(f"the registry {path} is being replaced", hint="run the command again")


def require_none_aside(path: Path) -> None:
    """Raise NotFoundError where there is no registry, and there was: it lies aside, or was seen by the sidecar."""
    from events.integrity.sidecar import sidecar_of  # noqa: PLC0415 - where there is no registry
    from events.sqlite.swap import kept_aside, named_errors  # noqa: PLC0415 - the same

    with named_errors(path):
        kept = kept_aside(path)
    if kept:
        raise NotFoundError(
            f"there is no registry at {path}; what a restore or a repair took from there is {kept}",
            hint=f"germline restore {quote(str(kept))} --to {quote(str(path))}   or move that folder away",
        )
    if not path.exists() and (sidecar := sidecar_of(path)).exists():
        move = f"mv {quote(str(sidecar))} {quote(f'{sidecar}.old')}"
        raise NotFoundError(
            f"there is no registry at {path}, and there was: {sidecar.name} holds its checkpoints",
            hint=f"germline restore FILE   or, to begin another: {move}",
        )


def clear_leftovers(path: Path, *, thorough: bool = False) -> None:
    """Undo a replacement that was killed midway, which shows by a second name of the file.

    What is `thorough` also takes away what was killed before that. Raises: StorageError where the folder refuses.
    """
    with suppress(OSError):
        if path.stat().st_nlink > 1 or (
            thorough and any(entry.name.startswith(PARTIAL) for entry in path.parent.iterdir())
        ):
            from events.sqlite.swap import named_errors, sweep  # noqa: PLC0415 - after a kill

            with named_errors(path):
                sweep(path)


def _is_half_swapped(path: Path) -> bool:
    """Tell whether a swap was killed while this was opened: its log would be put back over what comes now."""
    with suppress(OSError):
        if path.stat().st_nlink > 1:
            from events.sqlite.swap import unsettled  # noqa: PLC0415 - after a kill

            return bool(unsettled(path))
    return False


def _require_whole_log(path: Path) -> None:
    """Raise CorruptLogError where writing would overwrite what SQLite takes for the damaged end of its log.

    SQLite itself passes over it in silence: 299 of 300 flipped bits in the log were events gone.
    """
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or not log.stat().st_size:
        return
    from events.sqlite.wal_salvage import left_out  # noqa: PLC0415 - where another process writes, or one was killed

    if left := left_out(path, at_least=_MORE_THAN_TORN):
        raise CorruptLogError(
            f"{log} is damaged: {left} transactions in it stand behind the damage, where SQLite does not look",
            hint="germline doctor --repair --dry-run",
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what identifies the file there; None where none is."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _make(path: Path) -> None:
    """Make an empty file that only its owner reads, in a folder that only its owner enters."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StorageError(
            f"the registry {path} cannot be made: {error.strerror}", hint="check who owns the folder"
        ) from error


def address_of(path: Path, *, read_only: bool) -> str:
    """Write the address by which SQLite opens a registry."""
    mode = "rw" if not read_only else "ro&immutable=1" if rest_of(path) else "ro"
    return f"{path.absolute().as_uri()}?mode={mode}"


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    try:
        return sqlite3.connect(address_of(path, read_only=read_only), uri=True, timeout=0, isolation_level=None)
    except sqlite3.Error as error:
        raise typed(error, str(path)) from error


def rest_of(path: Path) -> tuple[int, int] | None:
    """Return time and size of a file without a log, in a folder where nothing may be written; None for any other.

    So it is on a read-only mount, and in another's folder. SQLite refuses to read there, for it cannot make the
    index of a log (sqlite.org/wal.html, Read-Only Databases), unless its address says `immutable`. The file
    may change, all the same: a reader asks afterwards whether it is still the same. While others have the registry
    open, a log lies beside it, which is then read as ever.
    """
    if os.access(path.parent, os.W_OK) or path.with_name(f"{path.name}-wal").exists():
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class _Reopening:
    """Opens a registry again where it was written since it was opened as immutable."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self._path = path
        self._rest = rest_of(path) if read_only else None

    def __call__(self) -> sqlite3.Connection | None:
        """Return another connection, None where the present one reads the file as it is."""
        if self._rest is None or self._rest == (now := rest_of(self._path)):
            return None
        self._rest = now
        return _connect(self._path, read_only=True)


_QUERIES: Final = (
    "SELECT name FROM sqlite_master WHERE type = 'view' OR lower(sql) LIKE 'create virtual table%' LIMIT 1"
)
"""What runs a query where a table is read: a stranger's may never end."""


def _prepare(session: SqliteSession, *, read_only: bool) -> None:
    for (name,) in session.rows(_QUERIES):
        raise CorruptLogError(
            f"{session.location} holds a view or a virtual table ({as_text(name)[:80]!r}), and no registry does",
            hint="germline restore FILE",
        )
    ((version,),) = session.rows("PRAGMA user_version")
    if version != SCHEMA_VERSION and not (read_only and _READABLE_SINCE <= version < SCHEMA_VERSION):
        _bring_up_to_date(session, read_only=read_only)
    ((application,),) = session.rows("PRAGMA application_id")
    if application != APPLICATION_ID:
        raise _foreign(session.location)
    if not read_only:
        # A backup that is used as it lies keeps a journal of the older kind, where readers and writers wait.
        session.rows("PRAGMA journal_mode = WAL")
        # Every acknowledged append reaches the disk: the log of the database is synced at each commit.
        session.rows("PRAGMA synchronous = FULL")


def _bring_up_to_date(session: SqliteSession, *, read_only: bool) -> None:
    ((version,),) = session.rows("PRAGMA user_version")
    if version > SCHEMA_VERSION:
        raise StorageError(
            f"the registry {session.location} has schema {version}; this germline knows {SCHEMA_VERSION}",
            hint="upgrade germline",
        )
    if read_only:
        raise StorageError(
            f"the registry {session.location} has schema {version} and is open for reading only",
            hint="germline project, by somebody who may write there: it brings the schema up to date",
        )
    ((tables,),) = session.rows("SELECT count(*) FROM sqlite_master")
    ((application,),) = session.rows("PRAGMA application_id")
    if tables and application != APPLICATION_ID:
        raise _foreign(session.location)
    session.rows("PRAGMA journal_mode = WAL")
    from events.sqlite.migrations import migrate  # noqa: PLC0415 - sqlite-utils takes 0.15 s to load, and is rarely needed

    migrate(session, application_id=APPLICATION_ID, to_version=SCHEMA_VERSION)


def _foreign(location: str) -> CorruptLogError:
    return CorruptLogError(
        f"{location} is a database of another application, not a registry",
        hint="name the registry's folder, or start one: germline init",
    )
