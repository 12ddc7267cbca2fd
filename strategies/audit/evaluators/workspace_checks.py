"""What files say against the data they come from: names of columns, values, and figures that can be recomputed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from strategies.audit.evaluators.deliverable_checks import plain_name
from strategies.audit.evaluators.run_contrast import holds
from strategies.audit.evaluators.table_text import table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from strategies.audit.evaluators.evaluator_types import AuditMaterial, RunRecord
    from strategies.audit.evaluators.table_text import TableRead

_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_LEAST_DIGITS: Final = 3
"""Digits from which a figure that agrees with the data is no accident (a guess)."""
_CENTS: Final = 2


class DataFault(NamedTuple):
    """Something that contradicts the data: what kind of thing, where, as it is written, and as the data has it."""

    kind: Literal["column", "value"]
    path: str
    wrong: str
    wanted: str


class WorkspaceData(NamedTuple):
    """What the workspace of a task says: its tables, how names of columns are spelled, numbers, figures.

    `spelled` maps each name without case and separators to its spellings; `copied` are the numbers that its texts
    hold, `figures` what its tables give: rows, sums, means, extremes of columns.
    """

    tables: dict[str, TableRead]
    spelled: dict[str, frozenset[str]]
    copied: frozenset[str]
    figures: frozenset[str]


def workspace_data(material: AuditMaterial) -> WorkspaceData:
    """Read the workspace of a task."""
    tables = _tables(material.workspace)
    spelled = dict[str, set[str]]()
    names = [name for table in material.requirements.tables for name in table.columns]
    names += [name for table in tables.values() for name in table.columns]
    for name in names:
        spelled.setdefault(plain_name(name), set()).add(name)
    return WorkspaceData(
        tables,
        {plain: frozenset(names) for plain, names in spelled.items() if plain},
        frozenset(match for text in material.workspace.values() for match in _NUMBER.findall(text)),
        frozenset(_figures(tables.values())),
    )


def data_faults(material: AuditMaterial, data: WorkspaceData, run: RunRecord) -> tuple[DataFault, ...]:
    """List names of columns that are not written as in the workspace, and values that its column does not hold.

    A name that the prompt spells so, or that a deliverable asks for, is right as it is.
    """
    asked = {name for wanted in material.requirements.deliverables for name in wanted.header}
    faults = (
        fault
        for path, table in sorted(_tables(run.files).items())
        for at, column in enumerate(table.columns)
        for fault in _column_faults(path, column, table.cells(at), data)
    )
    return tuple(
        fault
        for fault in faults
        if fault.kind != "column" or not (fault.wrong in asked or holds(material.prompt, fault.wrong))
    )


def recomputed_figures(data: WorkspaceData, run: RunRecord) -> frozenset[str]:
    """List the figures that a run wrote and the workspace gives too, but holds nowhere as they are."""
    written = {match for text in (*run.files.values(), run.answer) for match in _NUMBER.findall(text)}
    return frozenset(number for number in written - data.copied if _normal(number) in data.figures)


def _column_faults(path: str, column: str, cells: list[str], data: WorkspaceData) -> Iterator[DataFault]:
    spellings = data.spelled.get(plain_name(column), frozenset())
    if spellings and column not in spellings:
        yield DataFault("column", path, column, min(spellings))
    known = {
        cell
        for table in data.tables.values()
        for at, name in enumerate(table.columns)
        if name == column
        for cell in table.cells(at)
    }
    foreign = next((cell for cell in cells if cell and cell not in known and not _NUMBER.fullmatch(cell)), "")
    if known and foreign:
        yield DataFault("value", path, foreign, column)


def _figures(tables: Iterable[TableRead]) -> Iterator[str]:
    for table in tables:
        yield from _worth(float(len(table.rows)))
        for at in range(len(table.columns)):
            cells = table.cells(at)
            if cells and all(_NUMBER.fullmatch(cell.strip()) for cell in cells):
                numbers = [float(cell) for cell in cells]
                for figure in (sum(numbers), sum(numbers) / len(numbers), min(numbers), max(numbers)):
                    yield from _worth(figure)


def _worth(figure: float) -> Iterator[str]:
    text = _normal(f"{figure:.{_CENTS}f}")
    if sum(char.isdigit() for char in text) >= _LEAST_DIGITS:
        yield text


def _normal(number: str) -> str:
    return f"{float(number):.{_CENTS}f}".rstrip("0").rstrip(".")


def _tables(files: Mapping[str, str]) -> dict[str, TableRead]:
    tables = ((path, table_of(path, text)) for path, text in files.items())
    return {path: table for path, table in tables if table is not None and table.columns}
