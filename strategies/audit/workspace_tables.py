"""Tables of a workspace, with their columns as they are written there: CSV, TSV, JSON, JSON lines and SQLite."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import TableColumns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Row = dict[str, str]

_MAGIC: Final = b"SQLite format 3\0"
_MOST_BYTES: Final = 16 * 1024**2
_MOST_COLUMNS: Final = 200
DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}


def tables_in(files: Iterable[tuple[str, bytes]]) -> tuple[TableColumns, ...]:
    """Read the columns of the tables among files; what is none, is damaged or very large gives nothing."""
    small = ((path, content) for path, content in files if len(content) <= _MOST_BYTES)
    return tuple(table for path, content in small for table in _tables(path, content))


def rows_of(path: str, text: str) -> list[Row] | None:
    """Read the rows of a table with named columns; None for what is none."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in DELIMITERS:
        reader = csv.DictReader(text.splitlines(), delimiter=DELIMITERS[suffix])
        rows = [{key: value for key, value in row.items() if isinstance(value, str)} for row in reader]
        return rows if reader.fieldnames else None
    records = _records(suffix, text)
    if records is None:
        return None
    return [{key: _cell(value) for key, value in row.items()} for row in records]


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _tables(path: str, content: bytes) -> Iterator[TableColumns]:
    if content.startswith(_MAGIC):
        yield from _sqlite_tables(path, content)
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in DELIMITERS:
        header = next(csv.reader(text.splitlines()[:1], delimiter=DELIMITERS[suffix]), [])
        columns = tuple(header)
    else:
        columns = tuple(dict.fromkeys(key for row in _records(suffix, text) or () for key in row))
    if columns:
        yield TableColumns(path=path, table=PurePosixPath(path).stem, columns=columns[:_MOST_COLUMNS])


def _records(suffix: str, text: str) -> list[dict[str, object]] | None:
    """Read the objects of a JSON array or of JSON lines, or the one object that a file is."""
    try:
        if suffix == ".jsonl":
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        elif suffix == ".json":
            whole = json.loads(text)
            values = whole if isinstance(whole, list) else [whole]
        else:
            return None
    except (ValueError, RecursionError):
        return None
    return values if values and all(isinstance(value, dict) for value in values) else None


def _sqlite_tables(path: str, content: bytes) -> Iterator[TableColumns]:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.deserialize(content)
            pairs = connection.execute(
                "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
                "WHERE m.type IN ('table', 'view') ORDER BY m.name, c.cid"
            ).fetchall()
            for table, columns in groupby(pairs, key=itemgetter(0)):
                names = tuple(column for _, column in columns)
                yield TableColumns(path=path, table=table, columns=names[:_MOST_COLUMNS])
        except sqlite3.Error:
            return
