"""Copies of a whole registry in one file: made while others write, and verified before they count."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError, UsageError
from events.fsync import sync
from events.integrity.checkpoint import check_against
from events.integrity.checkpoint_file import read_kept
from events.integrity.sidecar import sidecar_of
from events.sqlite.errors import COMPLAINTS, typed
from events.sqlite.log import SqliteLog
from events.sqlite.open_database import PARTIAL, open_session
from events.sqlite.queries import standing
from events.sqlite.swap import named_errors, put, swap_in, sweep
from events.sqlite.verify import verify_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from events.integrity.checkpoint import Checkpoint
    from events.store.protocol import Head, Integrity, Problem
    from events.store.sql_log import EventLog

    Advance = Callable[[int, int], None]
    """Takes how many bytes are copied, and of how many."""
    Check = Callable[[EventLog], None]
    """Looks at what a copy holds beside its events, once these hold; raises what it finds."""

_PATIENCE_S: Final = 10.0
"""How long to wait for another process's lock, as `events.sqlite.log` does."""

_PAGES: Final = 2_048
"""Pages copied between two reports of progress: 8 MB, a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Lack:
    """What a registry holds and a backup does not; `head` is that of the registry.

    `common` is the last position where both say the same. `erasures` counts texts that were erased since:
    the backup still has them.
    """

    head: Head
    common: int
    episodes: int
    blobs: int
    erasures: int

    @property
    def events(self) -> int:
        """How many events would go."""
        return self.head.position - self.common


def back_up(path: Path, target: Path, *, advance: Advance | None = None, check: Check | None = None) -> Integrity:
    """Copy a registry to `target`, which appears whole, verified and durable, or not at all.

    The copy is one moment of the registry: writers go on meanwhile, and what they append is not in it. It is
    one file, which only its owner may read; it can be opened as a registry anywhere, for reading also from a
    medium that takes no writes.

    Raises: CorruptLogError where the copy does not hold what a registry promises; StorageError, NotFoundError;
    what `check` raises.
    """
    seen = witnessed(path)  # before the moment that is copied, or it might know of later events
    with copying(target) as partial:
        head = _copy(path, partial, advance)
        integrity = checked(partial, head, path)
        if check is not None:
            with closing(SqliteLog.open(partial, read_only=True)) as log:
                check(log)
        if problems := contradictions(partial, seen):
            raise CorruptLogError(
                f"{path}: {problems[0].what}",
                position=problems[0].position,
                hint="germline verify   or   germline doctor --repair --dry-run",
            )
        with named_errors(target):
            put(partial, target)
    return integrity


def back_up_log(log: EventLog, target: Path, *, advance: Advance | None = None) -> Integrity:
    """Copy a registry of another backend to a file, under the same promises; `advance` then counts events.

    Raises: what `events.store.copy.copy_log` raises.
    """
    from events.store.copy import copy_log  # noqa: PLC0415 - a registry in a file needs none of it

    with copying(target) as partial:
        with closing(SqliteLog.open(partial, create=True)) as copy:
            copy_log(log, copy, advance=advance)
            head = copy.head()
        set_journal(partial, "DELETE")
        integrity = checked(partial, head, target)
        with named_errors(target):
            put(partial, target)
    return integrity


def restore(
    backup: Path,
    path: Path,
    *,
    aside: Path,
    over: Head | None,
    advance: Advance | None = None,
) -> Integrity:
    """Put a copy of a backup at `path`; a registry that stood there goes into the folder `aside`.

    `over` is the head of the registry to replace as it was when that was decided; None where there is none, or
    none that can be read.

    Raises: CorruptLogError where the backup does not hold, and what `swap_in` raises.
    """
    with named_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with copying(path) as partial:
        head = _copy(backup, partial, advance)
        integrity = checked(partial, head, backup)
        put_in_place(partial, path, aside=aside, over=over)
    return integrity


def put_in_place(copy: Path, path: Path, *, aside: Path, over: Head | None) -> None:
    """Put a whole and verified database at `path`; its sidecar goes aside too where the new one contradicts it.

    Raises: what `swap_in` raises.
    """
    set_journal(copy, "WAL")
    beside = (sidecar_of(path),) if contradictions(copy, witnessed(path)) else ()
    swap_in(copy, path, aside=aside, beside=beside, standing=over)


def witnessed(path: Path) -> tuple[Checkpoint, ...]:
    """Read the checkpoints in the sidecar of a registry; none where there is no sidecar, or none of use."""
    try:
        return read_kept(sidecar_of(path)).checkpoints
    except UsageError:
        return ()


def contradictions(database: Path, seen: tuple[Checkpoint, ...]) -> tuple[Problem, ...]:
    """Tell where a registry that verifies contradicts what was once seen of it."""
    if not seen:
        return ()
    with closing(SqliteLog.open(database, read_only=True)) as log:
        return check_against(log, seen, roots=False)


def lacking(path: Path, backup: Path) -> Lack:
    """Tell what a registry holds that a backup of it does not; raises what reading either of them raises."""
    with closing(open_session(path, create=False, read_only=True, patience_s=_PATIENCE_S)) as session:
        session.rows("ATTACH ? AS kept", (f"{backup.absolute().as_uri()}?mode=ro",))
        session.rows("BEGIN")
        head = standing(session, ())[0]
        ((common,),) = session.rows(
            "SELECT ifnull(max(position), 0) FROM events JOIN kept.events AS theirs USING (position)"
            " WHERE events.hash = theirs.hash"
        )
        ((episodes,),) = session.rows(
            "SELECT count(*) FROM episodes WHERE episode NOT IN (SELECT episode FROM kept.episodes)"
        )
        ((blobs,),) = session.rows("SELECT count(*) FROM blobs WHERE name NOT IN (SELECT name FROM kept.blobs)")
        ((erasures,),) = session.rows(
            "SELECT count(*) FROM events WHERE type = 'EvidenceErased' AND position > ?", (common,)
        )
        return Lack(head, common, episodes, blobs, erasures)


@contextmanager
def copying(target: Path, *, part: str = "") -> Iterator[Path]:
    """Give the path of an empty file beside `target`, which only its owner reads; nothing of it stays behind."""
    partial = target.with_name(f"{PARTIAL}{os.uname().nodename}~{os.getpid()}{part}")
    with named_errors(target):
        sweep(target)
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield partial
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            partial.with_name(partial.name + suffix).unlink(missing_ok=True)


def checked(copy: Path, head: Head, source: Path) -> Integrity:
    """Verify a copy that has yet to get its name; raises CorruptLogError where it does not hold."""
    integrity = verify_file(str(copy))
    if integrity.problems:
        first = integrity.problems[0]
        raise CorruptLogError(
            f"{source} does not hold what a registry promises: {first.what}",
            position=first.position,
            hint="germline doctor --repair --dry-run",
        )
    if integrity.head != head:
        raise CorruptLogError(
            f"the copy of {source} ends at event {integrity.head.position}, the registry at {head.position}",
            position=integrity.head.position,
            hint="germline verify",
        )
    return integrity


def set_journal(copy: Path, mode: str) -> None:
    """Let a database that nobody else has open keep its journal otherwise, and make all of it durable."""
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}").fetchall()
    except COMPLAINTS as error:
        raise typed(error, str(copy.parent)) from error
    with named_errors(copy):
        sync(copy)


def _copy(path: Path, partial: Path, advance: Advance | None) -> Head:
    """Copy one moment of a registry page by page; returns the head of that moment."""
    with closing(open_session(path, create=False, read_only=True, patience_s=_PATIENCE_S)) as session:
        session.rows("BEGIN")  # else each append of another process would restart the copy
        head = standing(session, ())[0]
        ((page_bytes,),) = session.rows("PRAGMA page_size")

        def tell(status: int, remaining: int, total: int) -> None:
            del status
            if advance is not None:
                advance((total - remaining) * page_bytes, total * page_bytes)

        try:
            with closing(sqlite3.connect(partial, isolation_level=None)) as target:
                target.execute("PRAGMA journal_mode = OFF").fetchall()  # a copy that fails is thrown away
                target.execute("PRAGMA synchronous = OFF")  # and one that does not is synced as a whole
                session.connection.backup(target, pages=_PAGES, progress=tell)
        except COMPLAINTS as error:
            raise typed(error, str(partial.parent)) from error
    set_journal(partial, "DELETE")
    return head
