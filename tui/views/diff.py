"""A diff as rows: markers as well as colours, and the words that changed marked within their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.diffs import shorten, with_blanks_shown
from tui.views.rows import Part, cell, clean, cut_row, marked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.diffs import DiffLine
    from tui.views.rows import Row, Tone

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
        return Part(" " * (digits + 2)), Part(f"⋯ {clean(row.text)}", "dim")
    number = row.old_no if row.kind == "-" else row.new_no
    text = clean(row.text)
    spans = [(start, min(end, len(text))) for start, end in row.spans if start < len(text)]
    return (
        cell(str(number or ""), digits + 1, "dim", right=True),
        Part(f" {row.kind} ", tone),
        *marked(text, spans, word, tone),
    )


def changes(diff: Sequence[DiffLine]) -> str:
    """Count what a diff adds and removes: `+2 −1`."""
    added = sum(1 for row in diff if row.kind == "+")
    removed = sum(1 for row in diff if row.kind == "-")
    return f"+{added} −{removed}"
