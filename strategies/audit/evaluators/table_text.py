"""Tables as texts: CSV, TSV, JSON and JSON lines, read into columns and rows."""

from __future__ import annotations

import csv
import json
from functools import lru_cache
from typing import Final, NamedTuple

SEPARATORS: Final = {"csv": ",", "tsv": "\t"}
JSON_LINES: Final = frozenset({"jsonl", "ndjson"})


class TableRead(NamedTuple):
    """A table: its columns, and its rows as texts."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def cells(self, at: int) -> list[str]:
        """List the cells of a column, counted from 0; a row that ends before it has none."""
        return [row[at] for row in self.rows if at < len(row)]


def table_format(path: str) -> str:
    """Give the ending of a path in lower case, without its dot: what its content is read as."""
    return path.rpartition(".")[2].lower()


def likely_separator(line: str) -> str:
    """Give what separates the cells of a line, going by how often it is there."""
    return max(",;\t|", key=line.count)


@lru_cache(maxsize=64)
def table_of(path: str, text: str) -> TableRead | None:
    """Read a table: CSV or TSV, JSON objects in an array, or one object (a single row); None for no table.

    Evaluators read the same files of a pair one after the other: the last ones are remembered.
    """
    ending = table_format(path)
    if ending == "json" or ending in JSON_LINES:
        return _json_table(text, is_lines=ending in JSON_LINES)
    separator = SEPARATORS.get(ending)
    if separator is None or not text.strip():
        return None
    return separated_table(text, separator)


def separated_table(text: str, separator: str) -> TableRead | None:
    """Read the cells of lines, the first of which is the header; None where a quote does not end."""
    try:
        header, *rows = list(csv.reader(text.splitlines(), delimiter=separator)) or [[]]
    except csv.Error:  # a field of more characters than csv reads, as behind a quote that nothing closes
        return None
    return TableRead(tuple(header), tuple(tuple(row) for row in rows if row))


def is_json(text: str) -> bool:
    """Tell whether a text can be read as JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json_table(text: str, *, is_lines: bool) -> TableRead | None:
    try:
        lines = text.splitlines() if is_lines else ()
        parsed = [json.loads(line) for line in lines if line.strip()] if is_lines else json.loads(text)
    except (ValueError, RecursionError):
        return None
    items = parsed if isinstance(parsed, list) else [parsed]
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    columns = tuple(dict.fromkeys(key for item in items for key in item))
    return TableRead(columns, tuple(tuple(_cell(item.get(key, "")) for key in columns) for item in items))


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
