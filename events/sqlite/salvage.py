"""What a damaged registry still proves: the longest run of events that hold, and every row whose hash does."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from events.integrity.checks import Chain, as_text
from events.sqlite.backup import copying
from events.sqlite.errors import COMPLAINTS, typed
from events.sqlite.open_database import open_session
from events.sqlite.swap import named_errors
from events.sqlite.wal_salvage import lay_out, left_out
from events.store.contents import BLOB_KINDS, UNKNOWN, content_hash
from events.store.envelope import GENESIS, Envelope
from events.store.pages import SELECT
from events.store.protocol import Head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from events.sqlite.session import SqliteSession

_BATCH: Final = 1_000
"""Rows written in one go."""

_NEAR: Final = 256
"""Rows that are passed over one by one behind damage; beyond it in strides that double: a page holds fewer."""

_LAST_ROW: Final = 2**62
_TYPE, _AT, _HASH, _PAYLOAD = (Envelope._fields.index(name) for name in ("type", "at", "hash", "payload"))

_PLACES: Final = ", ".join("?" * len(Envelope._fields))
_FOLLOWED: Final = f"{SELECT} NOT INDEXED ORDER BY position"
_INSERT_EVENT: Final = f"INSERT INTO events ({', '.join(Envelope._fields)}) VALUES ({_PLACES})"  # noqa: S608 - our own column names


@dataclass(frozen=True, slots=True)
class Salvage:
    """What was recovered of a damaged registry, and what was not.

    `head` is the last event of the run that holds. `beyond` are later events that could be read, as (position,
    type): what comes before them is missing or changed, or the rest of their command is, so they prove nothing.
    `kept` and `dropped` count the rows of the other source tables by table, `dropped` those whose hash does not
    hold; `trouble` is the errors of SQLite where it could not read. `mended` tells that SQLite alone would have
    shown less: its log was read past the first damaged frame, or the header of the database was mended.
    """

    head: Head
    beyond: tuple[tuple[int, str], ...]
    kept: Mapping[str, int]
    dropped: Mapping[str, int]
    trouble: tuple[str, ...]
    mended: bool


class _Table(NamedTuple):
    """A source table beside the events: its columns, which of them holds bytes, what tells if a row holds."""

    columns: tuple[str, ...]
    raw: int
    holds: Callable[[tuple[Any, ...]], bool]


_TABLES: Final = {
    "blobs": _Table(("name", "kind", "body"), 2, lambda row: _named(row[0], row[2])),
    "episodes": _Table(
        ("episode", "source", "body", "content_hash"), 2, lambda row: _hashed(row[3], row[0], row[1], body=row[2])
    ),
    "checkpoints": _Table(("name", "body", "content_hash"), 1, lambda row: _hashed(row[2], row[0], body=row[1])),
}


@dataclass(slots=True)
class _Reading:
    """How far the events can be followed in one view of the database.

    `before` is where the command began that the last event belongs to, `at` its time: all events of one command
    carry the same.
    """

    chain: Chain = field(default_factory=lambda: Chain([]))
    head: Head = field(default_factory=lambda: Head(0, GENESIS))
    before: Head = field(default_factory=lambda: Head(0, GENESIS))
    at: object = None
    proven: list[tuple[int, str]] = field(default_factory=list)
    beyond: list[tuple[int, str]] = field(default_factory=list)
    next_at: object = None
    trouble: list[str] = field(default_factory=list)
    left_out: int = 0

    def take(self, row: tuple[Any, ...]) -> None:
        """Follow one more event, or note that it is behind the break."""
        if not self.chain.problems:
            self.chain.follow([row])
        if self.chain.problems or _decoded(row, _PAYLOAD) is None:
            if not self.beyond and row[0] == self.head.position + 1:
                self.next_at = row[_AT]
            self.beyond.append((row[0], _word(row[_TYPE])))
            return
        if row[_AT] != self.at:
            self.before, self.at = self.head, row[_AT]
            self.proven.clear()
        self.proven.append((row[0], _word(row[_TYPE])))
        self.head = Head(row[0], row[_HASH].decode())

    def leave_half_a_command(self) -> None:
        """Go back to where a command ends: half of what belongs together is a state that never was.

        Where the next event cannot be read, nobody knows whether it belonged to the last one.
        """
        if (self.beyond or self.trouble) and self.head.position and self.next_at in (None, self.at):
            self.beyond[:0] = self.proven
            self.head = self.before


@dataclass(slots=True)
class _Written:
    """What was written of the tables beside the events, and what was not, by table."""

    kept: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    trouble: list[str] = field(default_factory=list)


def salvage(path: Path, new: Path) -> Salvage:
    """Write all that a damaged registry proves into a new database at `new`; the damaged one is only read.

    It is read twice: as SQLite sees it, and with all of its log, which SQLite leaves at the first damaged frame,
    below a header that holds. Whichever shows more events that hold is taken. Raises: StorageError where `new`
    cannot be written.
    """
    with copying(path, part="-image") as image:
        as_it_is = _follow(path, immutable=False)
        with named_errors(image):
            lay_out(path, image)
        whole = _follow(image, immutable=True)
        mended = whole.head.position > as_it_is.head.position or (
            whole.head == as_it_is.head and not whole.trouble and bool(as_it_is.left_out)
        )
        best, source = (whole, image) if mended else (as_it_is, path)
        written = _write(source, new, best, immutable=mended)
    return Salvage(
        best.head, tuple(best.beyond), written.kept, written.dropped, (*best.trouble, *written.trouble), mended
    )


@contextmanager
def _reading(path: Path, *, immutable: bool) -> Iterator[sqlite3.Connection]:
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
    with closing(sqlite3.connect(address, uri=True, timeout=10, isolation_level=None)) as connection:
        connection.text_factory = bytes  # text as stored: what is no longer UTF-8 is a finding, not an error
        yield connection


def _follow(path: Path, *, immutable: bool) -> _Reading:
    """Follow the chain from the first event to the last that holds, and list what can be read behind it."""
    reading = _Reading()
    try:
        with _reading(path, immutable=immutable) as connection:
            for row in connection.execute(_FOLLOWED):
                reading.take(row)
            reading.left_out = 0 if immutable else left_out(path)
    except COMPLAINTS as error:
        reading.trouble.append(str(error))
    reading.leave_half_a_command()
    return reading


def _write(source: Path, new: Path, best: _Reading, *, immutable: bool) -> _Written:
    """Write the events that hold, and the rows of the other tables that do."""
    written = _Written()
    with (
        closing(open_session(new, create=True, read_only=False, patience_s=0)) as session,
        _reading(source, immutable=immutable) as damaged,
        session,
    ):
        _insert(session, _INSERT_EVENT, _events(damaged, best.head.position))
        for name, table in _TABLES.items():
            marks = ", ".join("?" * len(table.columns))
            statement = f"INSERT INTO {name} ({', '.join(table.columns)}) VALUES ({marks})"  # noqa: S608 - our own names
            _insert(session, statement, _sound(damaged, name, written))
    return written


def _insert(session: SqliteSession, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
    left = iter(rows)
    while page := list(islice(left, _BATCH)):
        session.write(statement, page)


def _events(damaged: sqlite3.Connection, upto: int) -> Iterator[tuple[Any, ...]]:
    """Read once more the events that hold, as they are to be written: just as they were followed.

    Asked for by their positions, a damaged tree may give others than the first of all.
    """
    if not upto:  # nothing could be read: asking again would only raise
        return
    try:
        for row in islice(damaged.execute(_FOLLOWED), upto):
            yield _decoded(row, _PAYLOAD) or ()
    except COMPLAINTS as error:
        raise typed(error, "the damaged registry") from error


def _sound(damaged: sqlite3.Connection, name: str, written: _Written) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table whose hash holds, each key once, passing over what cannot be read."""
    table, seen = _TABLES[name], set()
    for stored in _rows(damaged, name, table.columns, written.trouble):
        row = _kinded(stored) if name == "blobs" else stored
        whole = _decoded(row, table.raw) if row[0] not in seen and _holds(table, row) else None
        if whole is None:
            written.dropped[name] += 1
            continue
        seen.add(row[0])
        written.kept[name] += 1
        yield whole


def _kinded(blob: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give a blob, as (name, kind, body), whose kind damage may have taken: its bytes may hold all the same."""
    name, kind, body = blob
    return name, kind if as_text(kind) in BLOB_KINDS else UNKNOWN.encode(), body


def _rows(
    damaged: sqlite3.Connection, name: str, columns: tuple[str, ...], trouble: list[str]
) -> Iterator[tuple[Any, ...]]:
    sql = f"SELECT rowid, {', '.join(columns)} FROM {name} NOT INDEXED WHERE rowid > ? ORDER BY rowid"  # noqa: S608 - our own names
    last, failed, stride = 0, 0, 1
    while last < _LAST_ROW:
        try:
            for rowid, *row in damaged.execute(sql, (last,)):
                last, failed, stride = rowid, 0, 1
                yield tuple(row)
        except COMPLAINTS as error:
            if not failed:
                trouble.append(f"{name}: {error}")
            failed += 1
            stride = stride * 2 if failed > _NEAR else 1
            last += stride
        else:
            return


def _decoded(row: tuple[Any, ...], raw: int) -> tuple[Any, ...] | None:
    """Give a row as it was written, its column `raw` as bytes; None where its text is no longer text."""
    try:
        return tuple(
            value.decode() if isinstance(value, bytes) and at != raw else value for at, value in enumerate(row)
        )
    except UnicodeDecodeError:
        return None


def _holds(table: _Table, row: tuple[Any, ...]) -> bool:
    try:
        return table.holds(row)
    except (TypeError, AttributeError):  # a column of another kind than declared
        return False


def _named(name: bytes, body: bytes) -> bool:
    """Tell whether a blob is what its name says."""
    return hashlib.sha256(body).hexdigest().encode() == name


def _hashed(kept: bytes, *keys: bytes, body: bytes) -> bool:
    return content_hash(*map(as_text, keys), body=body).encode() == kept


def _word(stored: object) -> str:
    return as_text(stored) if isinstance(stored, bytes) else str(stored)
