"""What is wrong with the files that a task asks for: missing, empty, unreadable, or not of the form asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from strategies.audit.evaluators.table_text import (
    JSON_LINES,
    SEPARATORS,
    TableRead,
    is_json,
    likely_separator,
    table_format,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.audit.evaluators.evaluator_types import Deliverable, RunRecord

FaultKind = Literal["missing", "empty", "unreadable", "separator", "header", "spelling", "values", "elsewhere"]


class DeliverableFault(NamedTuple):
    """One fault: the deliverable, its kind, the text that is wrong, and what the task wants instead."""

    path: str
    kind: FaultKind
    wrong: str
    wanted: str


def deliverable_faults(deliverables: Sequence[Deliverable], run: RunRecord) -> tuple[DeliverableFault, ...]:
    """Hold what a run left to what the task asks for."""
    return tuple(fault for wanted in deliverables for fault in _faults(wanted, run))


def only_in(
    faults: Sequence[DeliverableFault], others: Sequence[DeliverableFault]
) -> tuple[DeliverableFault, ...]:
    """Give the faults of one run that another does not have: of another kind, or in another file.

    A file that the other run did not leave at all has no fewer faults there.
    """
    known = {(fault.path, fault.kind) for fault in others}
    missing = {fault.path for fault in others if fault.kind == "missing"}
    return tuple(fault for fault in faults if (fault.path, fault.kind) not in known and fault.path not in missing)


def plain_name(name: str) -> str:
    """Give a name without case and separators: what two spellings of it share."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _faults(wanted: Deliverable, run: RunRecord) -> Iterator[DeliverableFault]:
    text = run.files.get(wanted.path) if wanted.path else run.answer
    if text is None:
        name = wanted.path.rpartition("/")[2]
        other = next((path for path in sorted(run.files) if path.rpartition("/")[2].lower() == name.lower()), "")
        yield DeliverableFault(wanted.path, "elsewhere" if other else "missing", other, wanted.path)
        return
    if not text.strip():
        yield DeliverableFault(wanted.path, "empty", "", wanted.path)
        return
    kind = wanted.format.lower() or table_format(wanted.path)
    table = table_of(f"deliverable.{kind}", text)
    if kind in {*SEPARATORS, "json", *JSON_LINES} and table is None:
        pieces = text.strip().splitlines() if kind in JSON_LINES else [text]
        if kind in SEPARATORS or not all(map(is_json, pieces)):
            yield DeliverableFault(wanted.path, "unreadable", text[:200], kind)
        return
    if table is None:
        return
    if kind in SEPARATORS and len(table.columns) == 1 and len(wanted.header) > 1:
        first = text.partition("\n")[0].rstrip("\r")
        separator = likely_separator(first)
        if separator in first:
            yield DeliverableFault(wanted.path, "separator", separator, SEPARATORS[kind])
            table = TableRead(tuple(first.split(separator)), ())
    yield from _header_faults(wanted, table, is_ordered=kind in SEPARATORS)
    yield from _value_faults(wanted, table)


def _value_faults(wanted: Deliverable, table: TableRead) -> Iterator[DeliverableFault]:
    for column, values in sorted(wanted.values.items()):
        if not values or column not in table.columns:
            continue
        cell = next((cell for cell in table.cells(table.columns.index(column)) if cell not in values), None)
        if cell is not None:
            yield DeliverableFault(wanted.path, "values", cell, ", ".join(values))


def _header_faults(wanted: Deliverable, table: TableRead, *, is_ordered: bool) -> Iterator[DeliverableFault]:
    header, columns = wanted.header, table.columns
    if not header or (columns == header if is_ordered else set(header) <= set(columns)):
        return
    alike = {plain_name(name) for name in header} <= {plain_name(name) for name in columns}
    kind: FaultKind = "spelling" if alike and not set(header) <= set(columns) else "header"
    other = [name for name in columns if name not in header] or columns  # only the order differs
    yield DeliverableFault(wanted.path, kind, ",".join(other), ",".join(header))
