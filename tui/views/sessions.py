"""The Sessions screen as rows: the list, what is known of a session, and its messages and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes.episode import began_at, lasted_ms
from tui.facts.fact import fact
from tui.facts.sessions import (
    NOTHING,
    cost_words,
    duration_words,
    mark_of,
    outcome_part,
    part_lines,
    project_words,
    session_facts,
    tokens_words,
)
from tui.reads.sessions import errors_in
from tui.text.durations import age
from tui.text.numbers import brief, count
from tui.text.rows import BLANK, RowPart, cell, clean, cut_row, labelled, wrap
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord
    from tui.reads.sessions import SessionDetail
    from tui.text.rows import Row

_ROOMY: Final = 110
_LABEL: Final = 9
_INDENT: Final = 16
_DEEPEST: Final = 20
"""Cells by which a line of a text may be indented as in its log."""


def sessions_header(width: int, short: int) -> list[Row]:
    """Name the columns of the list."""
    titles = (
        cell(f" {'id':<{short}}", short + 1, "dim"),
        cell("age", 5, "dim", right=True),
        cell("  outcome", 13, "dim"),
        cell("err", 5, "dim", right=True),
        cell("steps", 7, "dim", right=True),
        cell("time", 7, "dim", right=True),
        cell("tokens", 7, "dim", right=True),
        *((cell("USD", 8, "dim", right=True), cell("  format", 14, "dim")) if width >= _ROOMY else ()),
        cell("  project", _project(width), "dim"),
        RowPart("  task", "dim"),
    )
    return [cut_row(titles, width)]


def _project(width: int) -> int:
    return 18 if width >= _ROOMY else 11


def session_row(record: EpisodeRecord, task: str | None, short: int, width: int, now: str) -> Row:
    """Write one session in one row; a task that is None is not read yet."""
    outcome, errors = outcome_part(record), errors_in(record)
    money = (cell(cost_words(record), 8, right=True), cell(f"  {record.format}", 14, "dim"))
    asked = "" if task is None else f"  {clean(' '.join(task.split()))}"
    return cut_row(
        (
            cell(f" {record.id[:short]}", short + 1, "accent"),
            cell(age(at, now) if (at := began_at(record)) else NOTHING, 5, "dim", right=True),
            cell(f"  {outcome.text}", 13, outcome.tone),
            cell(brief(errors, 4), 5, "bad" if errors else "dim", right=True),
            cell(brief(len(record.steps), 6), 7, right=True),
            cell(duration_words(lasted_ms(record)), 7, right=True),
            cell(tokens_words(record), 7, right=True),
            *(money if width >= _ROOMY else ()),
            cell(f"  {clean(project_words(record))}", _project(width), "strong"),
            RowPart(asked),
        ),
        width,
    )


def session_rows(record: EpisodeRecord, task: str | None, width: int, now: str, *, decides: str = "") -> list[Row]:
    """Tell about one session, with what a label would decide; a task that is None is still being read."""
    facts = [fact("decides", decides, "accent")] if decides else []
    facts += session_facts(record, "…" if task is None else task, now)
    return [(RowPart(" "), *row) for row in fact_rows(facts, width - 2)]


def transcript_rows(detail: SessionDetail, width: int, now: str) -> tuple[list[Row], list[int]]:
    """Write a session step by step, and say which rows begin a step that failed."""
    rows = [*session_rows(detail.record, detail.task, width, now), BLANK]
    if detail.without_text:
        rows += [
            (RowPart(" "), *row)
            for row in labelled("texts", (RowPart(f"not shown: {detail.without_text}", "warn"),), width - 2)
        ]
        rows.append(BLANK)
    failing: list[int] = []
    for step in detail.steps:
        if step.failed:
            failing.append(len(rows))
        for at, part in enumerate(step.parts):
            mark = mark_of(step) if at == 0 else RowPart(" ")
            number = f"{step.number:>4} " if at == 0 else " " * 5
            head: Row = (RowPart(" "), mark, RowPart(number, "dim"), cell(part.label, _LABEL, part.tone or "dim"))
            for row in _text_rows(part_lines(part), width - _INDENT - 1):
                rows.append((*head, *row))
                head = (RowPart(" " * _INDENT),)
    return rows, failing


def _text_rows(lines: Sequence[str], width: int) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        text = clean(line)
        indent = min(len(text) - len(text.lstrip()), _DEEPEST)
        pieces = wrap((RowPart(text.strip()),), max(width - indent, 1))
        rows += [(RowPart(" " * indent), *piece) for piece in pieces]
    return rows


def steps_note(detail: SessionDetail) -> str:
    """Count the steps, and those that failed."""
    return f"{count(len(detail.steps), 'step')}, {count(errors_in(detail.record), 'error')}"
