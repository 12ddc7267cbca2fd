"""Differences of files, line by line on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.query.diffs import DiffLine, shorten, with_blanks_shown
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tui.cli.output.invocation import Invocation

_SIGNS: Final = {" ": " ", "+": "+", "-": "−", "?": "…"}
_TONES: Final = {" ": "", "+": "good", "-": "bad", "?": "dim"}


def print_files(
    call: Invocation, files: Sequence[tuple[str, Sequence[DiffLine]]], *, unclaimed: Collection[str] = ()
) -> None:
    """Print what changed in each file, with a few lines around it; new lines that no claim covers are marked."""
    for path, rows in files:
        call.say(f"\n{call.paint(path, 'strong')}")
        _print_rows(call, rows, unclaimed)


def _print_rows(call: Invocation, rows: Sequence[DiffLine], unclaimed: Collection[str]) -> None:
    paint = call.paint
    for row in with_blanks_shown(shorten(rows)):
        number = row.new_no or row.old_no or ""
        text = f"{number:>5} {_SIGNS[row.kind]} {one_line(row.text)}"
        whole = paint(text.rstrip(), _TONES[row.kind])
        if row.kind == "+" and row.text.strip() in unclaimed:
            whole += paint("   no claim", "warn")
        call.say(_marked(call, row, number) if row.spans and paint.enabled else whole)
        if row.spans and not paint.enabled:
            call.say(f"{'':>8}{_underline(row)}".rstrip())


def _marked(call: Invocation, row: DiffLine, number: int | str) -> str:
    """Colour a line, and the words in it that changed more strongly."""
    paint, tone = call.paint, _TONES[row.kind]
    pieces, at = [paint(f"{number:>5} {_SIGNS[row.kind]} ", tone)], 0
    for start, end in row.spans:
        pieces += [paint(one_line(row.text[at:start]), tone), paint(one_line(row.text[start:end]), "mark")]
        at = end
    return "".join([*pieces, paint(one_line(row.text[at:]), tone)])


def _underline(row: DiffLine) -> str:
    marks = [" "] * len(row.text)
    for start, end in row.spans:
        marks[start:end] = "^" * (end - start)
    return "".join(marks)
