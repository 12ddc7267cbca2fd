"""Logs that are no stream: tables of SQLite, or folders of JSON files, given as one JSON object a row.

The place of a row is made of its number in its table, and not of what lies before it: so it stays the same while
others come, change and go. A row that changed since is not the one that was read, and is no longer there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import msgspec

from events.sqlite.foreign_database import MAGIC, foreign_database
from strategies.files.benchmark_results import result_beside

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from events.sqlite.foreign_database import ForeignDatabase

ROW_BITS: Final = 24
"""A row has this many bits of room: 16 MiB. What is longer is passed over, as a line that is too long."""

_TOO_LONG: Final = b'"a row of 16 MiB or more"'
_ROWS: Final = 2 ** (53 - ROW_BITS)
_SUFFIXES: Final = (".db", ".sqlite", ".vscdb")
_JSON: Final = frozenset(["data", "value", "revert"])
"""Columns whose text is JSON."""


class StoreRow(NamedTuple):
    """A row as JSON, its place, and its number in its table, from 1."""

    raw: bytes
    byte_start: int
    number: int


class Store(Protocol):
    """What every store gives."""

    kind: str

    def folders(self) -> Mapping[str, str]:
        """Give the folder that each session ran in, by its id."""
        ...

    def rows(self, within: Callable[[str], bool] | None = None) -> Iterator[StoreRow]:
        """Give the rows of each session one after the other, of those that ran `within` a folder."""
        ...

    def at(self, byte_starts: list[int]) -> list[bytes]:
        """Give the rows at these places, b"" for one that is not there."""
        ...


class _Table(NamedTuple):
    """A table: the columns of it that are read, and which of its rows hold sessions or belong to one.

    `where` is a condition that every row that is read fulfils, `of_session` one on the session's id as well.
    """

    name: str
    columns: tuple[str, ...]
    of_session: str = ""
    where: str = "1"
    order: str = "rowid"


class _Kind(NamedTuple):
    """A kind of store: its tables, the first that of sessions, which `id` names; `folder` says where one ran."""

    name: str
    tables: tuple[_Table, ...]
    id: str = "id"
    folder: str = ""


_COMPOSER: Final = "composerData:"
_KINDS: Final = (
    _Kind(
        "opencode",
        (
            _Table(
                "session",
                ("id", "parent_id", "directory", "model", "revert", "time_created"),
                order="time_created",
            ),
            _Table("message", ("id", "time_created", "data"), "session_id = ?", order="time_created, id"),
            _Table("part", ("id", "message_id", "time_created", "data"), "session_id = ?", order="id"),
        ),
        folder="directory",
    ),
    _Kind(
        "copilot-store",
        (
            _Table("sessions", ("id", "cwd", "branch", "created_at")),
            _Table("session_files", ("turn_index", "file_path", "tool_name", "first_seen_at"), "session_id = ?"),
            _Table("turns", ("turn_index", "user_message", "assistant_response", "timestamp"), "session_id = ?"),
        ),
        folder="cwd",
    ),
    _Kind(
        "cursor-store",
        (
            _Table("cursorDiskKV", ("key", "value"), where="key >= 'composerData:' AND key < 'composerData;'"),
            _Table(
                "cursorDiskKV",
                ("key", "value"),
                "key >= 'bubbleId:' || ? || ':' AND key < 'bubbleId:' || ?1 || ';'",
                "key >= 'bubbleId:' AND key < 'bubbleId;'",
            ),
        ),
        id="key",
    ),
)


def store_of(path: Path) -> Store | None:
    """Give the store that a file is, None for any other; raises OSError, UnreadableLogError."""
    if path.suffix == ".json":
        folder = SessionFolder(path)
        return folder if folder.messages.is_dir() else None
    if path.suffix not in _SUFFIXES:
        return None
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None
    with foreign_database(path) as database:
        kind = next((kind for kind in _KINDS if _holds(database, kind)), None)
    return SqliteStore(path, kind) if kind else None


def may_be_store(path: Path) -> bool:
    """Tell by its name alone whether a file may be a store."""
    return path.suffix in _SUFFIXES or (path.suffix == ".json" and path.name.startswith(SESSION_FILE))


def changed_with(path: Path, status: os.stat_result) -> os.stat_result:
    """Give the status of a log with that of what lies beside it and is read with it.

    That is the log of a database, the messages of a session, the result of a trial. Size and time are of both.
    """
    beside = result_beside(path)
    if may_be_store(path):
        beside = SessionFolder(path).messages if path.suffix == ".json" else Path(f"{path}-wal")
    if beside is None:
        return status
    try:
        other = beside.stat()
    except OSError:
        return status
    fields = list(status)
    fields[6] += other.st_size
    return type(status)(fields, {"st_mtime_ns": max(status.st_mtime_ns, other.st_mtime_ns)})


def _holds(database: ForeignDatabase, kind: _Kind) -> bool:
    return all(set(table.columns[:1]) <= database.columns(table.name) for table in kind.tables)


class SqliteStore:
    """A database that holds sessions."""

    def __init__(self, path: Path, kind: _Kind) -> None:
        self.kind = kind.name
        self._path = path
        self._kind = kind

    def folders(self) -> Mapping[str, str]:
        """Give the folder that each session ran in, by its id; none where the store does not tell."""
        table, folder = self._kind.tables[0], self._kind.folder
        if not folder:
            return {}
        with foreign_database(self._path) as database:
            rows = database.rows(f"SELECT {self._kind.id}, {folder} FROM {table.name}")  # noqa: S608 - our own names
            return {_text(name): _text(ran_in) for name, ran_in in rows}

    def rows(self, within: Callable[[str], bool] | None = None) -> Iterator[StoreRow]:
        """Give the rows of each session, its own first."""
        with foreign_database(self._path) as database:
            statements = [_Statement(database, table) for table in self._kind.tables]
            for number, session in statements[0].rows():
                if within and not within(_text(session.get(self._kind.folder))):
                    continue
                yield from self._row(0, number, session)
                key = _text(session.get(self._kind.id)).removeprefix(_COMPOSER)
                for place, statement in enumerate(statements[1:], 1):
                    for number_in_it, row in statement.rows((key,)):
                        yield from self._row(place, number_in_it, row)

    def at(self, byte_starts: list[int]) -> list[bytes]:
        """Give the rows at these places; of no others than it gives as rows."""
        with foreign_database(self._path) as database:
            statements = [_Statement(database, table) for table in self._kind.tables]
            return [self._raw_at(statements, byte_start >> ROW_BITS) for byte_start in byte_starts]

    def _raw_at(self, statements: list[_Statement], key: int) -> bytes:
        number, place = divmod(key, len(statements))
        row = statements[place].row(number)
        return next((store_row.raw for store_row in self._row(place, number, row)), b"") if row else b""

    def _row(self, place: int, number: int, row: Mapping[str, object]) -> Iterator[StoreRow]:
        key = number * len(self._kind.tables) + place
        raw = encoded(self._kind.tables[place].name, row)
        if 0 < key < _ROWS:
            yield StoreRow(raw if len(raw) < 1 << ROW_BITS else _TOO_LONG, key << ROW_BITS, number)


class _Statement:
    """What is asked of a table, as far as it has the columns."""

    def __init__(self, database: ForeignDatabase, table: _Table) -> None:
        self._database = database
        there = database.columns(table.name)
        self._columns = tuple(column for column in table.columns if column in there)
        order = table.order if set(table.order.split(", ")) <= there else "rowid"
        self._select = f"SELECT rowid, {', '.join(self._columns)} FROM {table.name} WHERE {table.where}"  # noqa: S608 - our own names
        self._of_session = f"{self._select} AND {table.of_session or '1'} ORDER BY {order}"

    def rows(self, parameters: tuple[object, ...] = ()) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give the rows of a session, or all, with their numbers."""
        for number, *values in self._database.rows(self._of_session, parameters):
            yield number, dict(zip(self._columns, values, strict=True))

    def row(self, number: int) -> dict[str, Any] | None:
        """Give the row of a number."""
        rows = self._database.rows(f"{self._select} AND rowid = ?", (number,))
        return next((dict(zip(self._columns, values, strict=True)) for _, *values in rows), None)


SESSION_FILE: Final = "ses_"


class SessionFolder:
    """A session of OpenCode in a folder of files, as older versions kept it: one a message, and one a part.

    Their ids rise with time, so that the number of a file stays while others are added.
    """

    kind = "opencode"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._storage = path.parent.parent.parent
        self.messages = self._storage / "message" / path.stem

    def folders(self) -> Mapping[str, str]:
        """Give the folder that the session ran in."""
        session, _ = _decoded(self._path)
        return {self._path.stem: _text(session.get("directory"))}

    def rows(self, within: Callable[[str], bool] | None = None) -> Iterator[StoreRow]:
        """Give the session, its messages and their parts."""
        if within and not any(map(within, self.folders().values())):
            return
        for number, (table, path) in enumerate(self._files(), 1):
            raw = _of_file(table, path)
            if raw:
                yield StoreRow(raw if len(raw) < 1 << ROW_BITS else _TOO_LONG, number << ROW_BITS, number)

    def at(self, byte_starts: list[int]) -> list[bytes]:
        """Give the rows at these places."""
        files = dict(enumerate(self._files(), 1))
        wanted = [files.get(byte_start >> ROW_BITS) for byte_start in byte_starts]
        return [_of_file(*file) if file else b"" for file in wanted]

    def _files(self) -> Iterator[tuple[str, Path]]:
        yield "session", self._path
        for message in sorted(self.messages.glob("*.json")):
            yield "message", message
            for part in sorted((self._storage / "part" / message.stem).glob("*.json")):
                yield "part", part


def _of_file(table: str, path: Path) -> bytes:
    """Give a file as the row of the store that later versions keep in its place."""
    held, body = _decoded(path)
    if not body:
        return b""
    row: dict[str, object] = {"id": path.stem}
    if table == "session":
        times = held.get("time")
        created = times.get("created") if isinstance(times, dict) else None
        row |= {"parent_id": held.get("parentID"), "directory": held.get("directory"), "time_created": created}
        row["revert"] = msgspec.json.encode(held.get("revert"))
    else:
        row |= {"message_id": path.parent.name} if table == "part" else {}
        row["data"] = body
    return encoded(table, row)


def _decoded(path: Path) -> tuple[Mapping[str, object], bytes]:
    """Give the object in a file, and its bytes; nothing for a link, which may lead anywhere, and for a pipe."""
    if path.is_symlink() or not path.is_file():
        return {}, b""
    body = path.read_bytes()
    try:
        held = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        held = None
    return held if isinstance(held, dict) else {}, body


def encoded(table: str, row: Mapping[str, object]) -> bytes:
    """Give a row as JSON; a column of JSON is put in as it is, and as a text where it is damaged."""
    fields = b"".join(b",%s:%s" % (msgspec.json.encode(name), _value(name, value)) for name, value in row.items())
    return b'{"table":%s%s}' % (msgspec.json.encode(table), fields)


def _value(name: str, value: object) -> bytes:
    if name in _JSON and isinstance(value, bytes):
        try:
            msgspec.json.decode(value, type=msgspec.Raw)
            value.decode()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return msgspec.json.encode(_text(value))
        return value.strip().replace(b"\n", b" ").replace(b"\r", b" ")
    return msgspec.json.encode(_text(value) if isinstance(value, bytes) else value)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
