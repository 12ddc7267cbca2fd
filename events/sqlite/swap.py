"""Putting one database in the place of another as a whole: nobody writes meanwhile, nothing is thrown away."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import BusyError, ConflictError, StorageError
from events.fsync import sync
from events.sqlite.errors import COMPLAINTS, is_busy, typed
from events.store.envelope import GENESIS
from events.store.protocol import Head

if TYPE_CHECKING:
    from collections.abc import Iterator

_BESIDE: Final = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database: it belongs to that database alone."""

_HEAD: Final = "SELECT position, hash FROM events ORDER BY position DESC LIMIT 1"


def swap_in(new: Path, path: Path, *, aside: Path, beside: tuple[Path, ...] = (), standing: Head | None) -> None:
    """Put the database `new` at `path`, and what stood there into the folder `aside`, byte for byte as it was.

    `beside` are further files that go aside with it. `standing` is the head that the replaced registry had when
    this was decided, None where it could not be read. What a database's log holds that is not in it yet is copied
    before SQLite opens the database for writing, and so may clear the log: a crash at any moment loses nothing.

    Raises: BusyError while another process has the registry open; ConflictError where it grew meanwhile;
    StorageError where the disk refuses.
    """
    with named_errors(path):
        if not path.exists():
            put(new, path)
            return
        attached = [path.with_name(path.name + suffix) for suffix in _BESIDE]
        companions = [file for file in (*attached, *beside) if file.exists()]
        before = _states(companions)
        aside.mkdir(mode=0o700, parents=True)
        try:
            for file in companions:
                _copy(file, aside / file.name)
            with _alone(path, standing):
                _require_unchanged(path, before, _states(companions))
                path.rename(aside / path.name)
                for file in companions:
                    file.unlink(missing_ok=True)
                sync(aside)
                put(new, path)
        except BaseException:  # Ctrl-C as well: either the new one is there, or all is as it was
            if not path.exists():
                _go_back(path, aside, companions)
            if not (aside / path.name).exists():
                shutil.rmtree(aside)
            raise


def _go_back(path: Path, aside: Path, companions: list[Path]) -> None:
    """Put back what was moved aside, what belongs to it first."""
    for file in companions:
        if not file.exists():
            _copy(aside / file.name, file)
    (aside / path.name).rename(path)
    sync(path.parent)


def _require_unchanged(path: Path, before: object, now: object) -> None:
    if before != now:
        raise ConflictError(f"{path} was written to meanwhile", hint="run the command again")


def _states(files: list[Path]) -> list[tuple[int, int]]:
    """Tell the size of each file, and when it was written last."""
    return [(status.st_size, status.st_mtime_ns) for status in map(Path.stat, files)]


@contextmanager
def named_errors(place: Path) -> Iterator[None]:
    """Say in our own words what the disk refused."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"cannot write {error.filename or place}: {error.strerror}",
            hint="make room or mend permissions, then run the command again: nothing was changed",
        ) from error


def put(new: Path, path: Path) -> None:
    """Put a closed database at `path`, where none is or one that is not needed any more; raises OSError."""
    for suffix in _BESIDE:  # of a database that is gone: SQLite would take it for the new one's
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    new.replace(path)
    sync(path.parent)


def _copy(file: Path, target: Path) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with file.open("rb") as source, os.fdopen(descriptor, "wb") as out:
        shutil.copyfileobj(source, out)
    sync(target)


@contextmanager
def _alone(path: Path, standing: Head | None) -> Iterator[None]:
    """Hold a registry so that no other process has it open; one that SQLite cannot read is held by nobody.

    A connection that closes on a database which was moved leaves it and its log as they are.
    """
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None)
    with closing(connection):
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            head = Head(*(connection.execute(_HEAD).fetchone() or (0, GENESIS))) if standing else None
        except COMPLAINTS as error:
            if is_busy(error):
                raise BusyError(
                    f"the registry {path} is in use by another process",
                    hint="stop what has it open (germline ui, germline watch), then run the command again",
                ) from error
            if standing:
                raise typed(error, str(path)) from error
            head = None
        if head != standing:
            raise ConflictError(
                f"the registry {path} grew from {standing.position if standing else 0} to"
                f" {head.position if head else 0} events meanwhile",
                hint="run the command again",
            )
        yield
