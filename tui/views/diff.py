"""A diff as rows, with the words that changed marked, and what a change would append before it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.query.diffs import shorten, with_blanks_shown
from registry.query.event_summaries import summary
from tui.text.numbers import count
from tui.text.rows import BLANK, RowPart, cell, clean, cut_row, marked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.diffs import DiffLine
    from tui.session.changes import ChangePreview
    from tui.text.rows import Row, Tone

_TONES: Final[dict[str, tuple[Tone, Tone]]] = {
    "+": ("added", "new"),
    "-": ("removed", "old"),
    " ": ("", ""),
    "?": ("dim", "dim"),
}


def diff_rows(diff: Sequence[DiffLine], width: int, *, context: int | None = None) -> list[Row]:
    """Write a diff with its line numbers; with `context`, unchanged lines far from a change are left out."""
    shown = with_blanks_shown(diff if context is None else shorten(diff, context))
    digits = len(str(max((row.new_no or row.old_no or 0 for row in diff), default=0)))
    return [cut_row(_diff_row(row, digits), width) for row in shown]


def _diff_row(row: DiffLine, digits: int) -> Row:
    tone, word = _TONES[row.kind]
    if row.kind == "?":
        return RowPart(" " * (digits + 2)), RowPart(f"⋯ {clean(row.text)}", "dim")
    number = row.old_no if row.kind == "-" else row.new_no
    text = clean(row.text)
    spans = [(start, min(end, len(text))) for start, end in row.spans if start < len(text)]
    return (
        cell(str(number or ""), digits + 1, "dim", right=True),
        RowPart(f" {row.kind} ", tone),
        *marked(text, spans, word, tone),
    )


def changes(diff: Sequence[DiffLine]) -> str:
    """Count what a diff adds and removes: `+2 −1`."""
    added = sum(1 for row in diff if row.kind == "+")
    removed = sum(1 for row in diff if row.kind == "-")
    return f"+{added} −{removed}"


def appended_rows(outcome: ChangePreview, width: int, message: str = "") -> list[Row]:
    """List the events that a yes appends; nothing was written yet. `message` says why that is shown once more."""
    if not outcome.envelopes:
        return [BLANK, (RowPart("  nothing would be appended: it is so already", "dim"),)]
    rows: list[Row] = [BLANK, *([cut_row((RowPart(f"  {message}", "warn"),), width), BLANK] if message else [])]
    rows.append((RowPart(f"  this appends {count(len(outcome.envelopes), 'event')}", "strong"),))
    for envelope in outcome.envelopes:
        row = (
            RowPart("  + ", "added"),
            cell(envelope.type, 19),
            cell(clean(envelope.stream), 24, "dim"),
            RowPart(f" {clean(summary(envelope))}"),
        )
        rows.append(cut_row(row, width))
    if outcome.diff:
        head = (RowPart("  the skill then reads  "), RowPart(changes(outcome.diff), "dim"))
        rows += [BLANK, head, *diff_rows(outcome.diff, width, context=2)]
    return rows
