"""Putting one database in the place of another as a whole: nobody writes meanwhile, nothing is thrown away."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from contextlib import closing, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import BusyError, ConflictError, StorageError
from events.fsync import sync
from events.sqlite.errors import COMPLAINTS, is_busy, typed
from events.sqlite.open_database import PARTIAL
from events.store.envelope import GENESIS
from events.store.protocol import Head

if TYPE_CHECKING:
    from collections.abc import Iterator

_BESIDE: Final = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database: it belongs to that database alone."""

_TAKEN: Final = ("replaced", "damaged")
"""How the folders are called that `germline restore` and `doctor --repair` put a registry into; a time follows."""

_HEAD: Final = "SELECT position, hash FROM events ORDER BY position DESC LIMIT 1"


def swap_in(new: Path, path: Path, *, aside: Path, beside: tuple[Path, ...] = (), standing: Head | None) -> None:
    """Put the database `new` at `path`, and what stood there into the folder `aside`, byte for byte as it was.

    `beside` are further files that go aside with it. `standing` is the head that the replaced registry had when
    this was decided, None where it could not be read. At every moment there is a registry at `path`, on file
    systems with hard links; what a kill leaves, `sweep` undoes. What a database's log holds that is not in it yet
    is copied before SQLite opens the database for writing, and so may clear the log.

    Raises: BusyError while another process has the registry open; ConflictError where it grew meanwhile;
    StorageError where the disk refuses.
    """
    with named_errors(path):
        if not path.exists():
            for file in filter(Path.exists, beside):
                aside.mkdir(mode=0o700, exist_ok=True)
                file.rename(aside / file.name)
            put(new, path)
            return
        attached = [path.with_name(path.name + suffix) for suffix in _BESIDE]
        companions = [file for file in (*attached, *beside) if file.exists()]
        before = _states(companions)
        half = path.with_name(f"{PARTIAL}{path.name}~{aside.name}")
        half.mkdir(mode=0o700)
        with _held(half):
            try:
                for file in companions:
                    _copy(file, half / file.name)
                with _alone(path, standing):
                    _require_unchanged(path, before, _states(companions))
                    _keep(path, half / path.name)
                    for file in companions:
                        file.unlink(missing_ok=True)
                    put(new, path)
            finally:  # Ctrl-C as well: either the new one is there, or all is as it was
                _settle(half, path, aside)


def sweep(path: Path) -> None:
    """Undo what a killed `swap_in` left beside a registry, and take away half-written copies; raises OSError."""
    for half in unsettled(path):
        with suppress(BlockingIOError, FileNotFoundError), _held(half):
            _settle(half, path, path.with_name(half.name.rpartition("~")[2]))
    for leftover in path.parent.glob(f"{PARTIAL}{escape(os.uname().nodename)}~*"):
        owner = leftover.name.rpartition("~")[2].partition("-")[0]
        with suppress(PermissionError):  # it lives, and is another user's
            try:
                os.kill(int(owner), 0)
            except (ProcessLookupError, OverflowError, ValueError):
                leftover.unlink(missing_ok=True)


def unsettled(path: Path) -> list[Path]:
    """List the folders of swaps that are under way, or were killed; a link leads to what is none of ours."""
    return [half for half in path.parent.glob(f"{escape(PARTIAL + path.name)}~*") if not half.is_symlink()]


def kept_aside(path: Path) -> Path | None:
    """Find the last registry that was taken from `path`, where there is none now; raises OSError."""
    sweep(path)
    if path.exists():
        return None
    kept = [file for kind in _TAKEN for file in path.parent.glob(f"*{kind}-[0-9]*Z/{escape(path.name)}")]
    return max(kept, key=lambda file: file.parent.name.rpartition("-")[2], default=None)


@contextmanager
def _held(half: Path) -> Iterator[None]:
    """Hold the folder of a swap that is under way; raises BlockingIOError while another process does."""
    descriptor = os.open(half, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _keep(path: Path, kept: Path) -> None:
    """Give a database a second name that outlasts the first; without hard links, it has only the second then."""
    try:
        os.link(path, kept)
    except OSError:
        path.rename(kept)
    for folder in (kept.parent, path.parent):
        sync(folder)


def _settle(half: Path, path: Path, aside: Path) -> None:
    """Give the folder of a swap its name where another database is at `path`; else put back what was to go."""
    kept = half / path.name
    if kept.exists() and path.exists() and not kept.samefile(path):
        half.rename(aside)
    else:
        if kept.exists():
            for file in sorted(half.iterdir(), key=lambda file: file == kept):  # a log before its database
                file.replace(path.with_name(file.name))
        shutil.rmtree(half)
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
