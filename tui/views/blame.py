"""Blame as rows: every line of a skill, with the event that wrote it in the gutter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from events.types.score import Unmeasured
from tui.text.durations import age
from tui.text.rows import RowPart, cell, clean, cut_row, marked, toned
from tui.text.words import gutter_word
from tui.views.scores import UNPROVEN, delta_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.reads.markdown_tones import Tones
    from tui.reads.skills import BlameLine, BlamePage
    from tui.text.rows import Row, Tone

_ROOMY: Final = 98
_GUTTER: Final = 21
_STAMP: Final = "stamp"


def blame_rows(
    page: BlamePage, width: int, now: str, *, needle: str = "", tones: Sequence[Tones] = ()
) -> list[Row]:
    """Write the gutter `event · age · tier · Δscore │ line │ text`; runs of one event are joined.

    Shapes: `tones` has an entry for each line, or none at all.
    """
    numbers = len(str(len(page.lines)))
    events = max((len(str(line.line.origin)) for line in page.lines), default=1) + 1 if width >= _ROOMY else 0
    rows = []
    for at, blamed in enumerate(page.lines):
        first = at == 0 or page.lines[at - 1].line.origin != blamed.line.origin
        gutter = _gutter(blamed, events, now) if first else _joined(blamed, page.lines[at + 1 : at + 2], events)
        text = clean(blamed.line.text)
        number = (
            RowPart(" │ ", "dim"),
            cell(str(blamed.line.number), numbers, "dim", right=True),
            RowPart(" │ ", "dim"),
        )
        if needle or not tones:
            words = marked(text, matches_in(text, needle), "mark", _tone(blamed))
        else:
            words = toned(text, tones[at], _tone(blamed))
        rows.append(cut_row((*gutter, *number, *words), width))
    return rows


def _gutter(line: BlameLine, events: int, now: str) -> Row:
    unproven = isinstance(line.row.after, Unmeasured) and line.word != _STAMP
    delta = UNPROVEN if unproven else delta_part(line.delta) if is_learned(line) else RowPart("")
    return (
        cell(str(line.line.origin), events, "dim", right=True),
        cell(f" {gutter_word(line.word, line.tier)}", 10, "accent" if is_learned(line) else ""),
        cell(age(line.at, now), 4, "dim", right=True),
        cell(delta.text, 7, delta.tone, right=True),
    )


def _joined(line: BlameLine, following: Sequence[BlameLine], events: int) -> Row:
    goes_on = following and following[0].line.origin == line.line.origin
    return (cell(" " * events + ("  │" if goes_on else "  ╰"), events + _GUTTER, "dim"),)


def _tone(line: BlameLine) -> Tone:
    return "strong" if is_learned(line) else "dim" if line.word == _STAMP else ""


def is_learned(line: BlameLine) -> bool:
    """Tell whether a strategy wrote a line, not a person."""
    return line.word in {"repair", "harden", "innovate"}


def matches_in(text: str, needle: str) -> list[tuple[int, int]]:
    """Find a text in a line, whatever its case."""
    matches = re.finditer(re.escape(needle), text, re.IGNORECASE) if needle else ()
    return [match.span() for match in matches]


def next_match(page: BlamePage, at: int, step: int, needle: str, *, here: bool) -> int | None:
    """Find the next line from one on that holds a text, or the one before; with `here` that one counts as well."""
    count = len(page.lines)
    order = ((at + step * k) % count for k in range(0 if here else 1, count + 1))
    return next((i for i in order if matches_in(page.lines[i].line.text, needle)), None)


def first_line(page: BlamePage, line: int, event: int) -> int:
    """Choose the line to begin on: the one asked for, one that an event wrote, else the last one learned."""
    numbers = range(1, len(page.lines) + 1)
    if line in numbers:
        return line
    rows = [(line.line.number, line) for line in page.lines]
    written = next((number for number, blamed in rows if blamed.line.id and blamed.line.origin == event), 0)
    came = next((n for n, blamed in rows if blamed.line.version == page.capsule.version and is_learned(blamed)), 0)
    learned = max(
        ((blamed.line.version, -number) for number, blamed in rows if is_learned(blamed)), default=(0, -1)
    )
    return written or came or -learned[1]
