"""Tables of a workspace, with their columns as they are written there: CSV, TSV, JSON, JSON lines and SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import TableColumns
from strategies.audit.evaluators.table_text import SEPARATORS, table_format, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAGIC: Final = b"SQLite format 3\0"
_MOST_BYTES: Final = 16 * 1024**2
_MOST_COLUMNS: Final = 200


def tables_in(files: Iterable[tuple[str, bytes]]) -> tuple[TableColumns, ...]:
    """Read the columns of the tables among files; what is none, is damaged or very large gives nothing."""
    small = ((path, content) for path, content in files if len(content) <= _MOST_BYTES)
    return tuple(table for path, content in small for table in _tables(path, content))


def _tables(path: str, content: bytes) -> Iterator[TableColumns]:
    if content.startswith(_MAGIC):
        yield from _sqlite_tables(path, content)
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    table = table_of(path, text.partition("\n")[0] if table_format(path) in SEPARATORS else text)
    if table is not None and table.columns:
        name = PurePosixPath(path).stem
        yield TableColumns(path=path, table=name, columns=table.columns[:_MOST_COLUMNS])


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
