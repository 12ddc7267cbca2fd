"""The Audits screen as rows: evaluators by iterations, and what one of them reports, with the drafts, in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.audit_events import MOST_ITERATIONS
from tui.facts.audits import audit_facts, draft_facts, draft_label, evaluator_facts, evaluator_table
from tui.text.rows import RowPart, cell, clean, cut_row, indented
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.audit.audit_record import AuditRecord
    from tui.facts.audits import EvaluatorResults
    from tui.text.rows import Row

_NAME: Final = 22
_SKILL: Final = 16
_CELL: Final = 11
_ROOMY: Final = 100
_TITLES: Final = tuple(map(draft_label, range(MOST_ITERATIONS + 1)))


class AuditLine(NamedTuple):
    """A row of the list: an evaluator of an audit."""

    record: AuditRecord
    results: EvaluatorResults

    @property
    def address(self) -> str:
        """The row as the screen's address names it."""
        return f"{self.record.started.capsule}:{self.results.evaluator}"


def audit_lines(records: Sequence[AuditRecord]) -> list[AuditLine]:
    """List the evaluators of the last audit of each skill."""
    last = {record.started.capsule: record for record in records}
    return [
        AuditLine(record, row) for record in last.values() for row in evaluator_table(record, record.iterations)
    ]


def audit_header(width: int) -> list[Row]:
    """Name the columns of the list."""
    titles = (
        *((cell(" skill", _SKILL, "dim"),) if width >= _ROOMY else ()),
        cell(" evaluator", _NAME, "dim"),
        *(cell(title, _CELL, "dim", right=True) for title in _TITLES),
    )
    return [cut_row(titles, width)]


def audit_row(line: AuditLine, width: int) -> Row:
    """Write one evaluator: what it reported in each iteration; a draft that was rolled back is dim."""
    pairs = zip(line.results.cells, line.record.iterations, strict=True)
    cells = (cell(text or "–", _CELL, "" if judged.kept else "dim", right=True) for text, judged in pairs)
    skill = cell(f" {clean(line.record.started.capsule)}", _SKILL, "dim")
    return cut_row(
        (*((skill,) if width >= _ROOMY else ()), cell(f" {line.results.evaluator}", _NAME), *cells), width
    )


def audit_detail_rows(line: AuditLine, width: int) -> list[Row]:
    """Tell what an evaluator reports, then of the audit, then draft by draft."""
    width -= 2
    facts = (
        *evaluator_facts(line.record, line.results.evaluator),
        *audit_facts(line.record),
        *(fact for judged in line.record.judged for fact in draft_facts(judged)),
    )
    heading: Row = (RowPart(line.results.evaluator, "strong"),)
    return indented([heading, *fact_rows(facts, width)], width)
