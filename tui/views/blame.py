"""Blame as rows: every line of a skill, with the event that wrote it in the gutter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from events.score import Unmeasured
from tui.figures import age
from tui.views.marks import UNPROVEN, delta_part
from tui.views.rows import Part, cell, clean, cut_row, marked, toned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.reads import BlameLine, BlamePage
    from tui.views.markdown import Tones
    from tui.views.rows import Row, Tone

_ROOMY: Final = 98
_GUTTER: Final = 21
_STAMP: Final = "stamp"


def blame_rows(
    page: BlamePage, width: int, now: str, *, needle: str = "", tones: Sequence[Tones] = ()
) -> list[Row]:
    """Write the gutter `event · age · strategy · Δscore │ line │ text`; runs of one event are joined.

    Shapes: `tones` has an entry for each line, or none at all.
    """
    numbers = len(str(len(page.lines)))
    events = max((len(str(one.line.origin)) for one in page.lines), default=1) + 1 if width >= _ROOMY else 0
    rows = []
    for at, one in enumerate(page.lines):
        first = at == 0 or page.lines[at - 1].line.origin != one.line.origin
        gutter = _gutter(one, events, now) if first else _joined(one, page.lines[at + 1 : at + 2], events)
        text = clean(one.line.text)
        number = (Part(" │ ", "dim"), cell(str(one.line.number), numbers, "dim", right=True), Part(" │ ", "dim"))
        if needle or not tones:
            said = marked(text, matches_in(text, needle), "mark", _tone(one))
        else:
            said = toned(text, tones[at], _tone(one))
        rows.append(cut_row((*gutter, *number, *said), width))
    return rows


def _gutter(one: BlameLine, events: int, now: str) -> Row:
    unproven = isinstance(one.row.after, Unmeasured) and one.word != _STAMP
    delta = UNPROVEN if unproven else delta_part(one.delta) if is_learned(one) else Part("")
    return (
        cell(str(one.line.origin), events, "dim", right=True),
        cell(f" {one.word}", 10, "accent" if is_learned(one) else ""),
        cell(age(one.at, now), 4, "dim", right=True),
        cell(delta.text, 7, delta.tone, right=True),
    )


def _joined(one: BlameLine, following: Sequence[BlameLine], events: int) -> Row:
    goes_on = following and following[0].line.origin == one.line.origin
    return (cell(" " * events + ("  │" if goes_on else "  ╰"), events + _GUTTER, "dim"),)


def _tone(one: BlameLine) -> Tone:
    return "strong" if is_learned(one) else "dim" if one.word == _STAMP else ""


def is_learned(one: BlameLine) -> bool:
    """Tell whether a strategy wrote a line, not a person."""
    return one.word in {"repair", "harden", "innovate"}


def matches_in(text: str, needle: str) -> list[tuple[int, int]]:
    """Find a text in a line, whatever its case."""
    found = re.finditer(re.escape(needle), text, re.IGNORECASE) if needle else ()
    return [match.span() for match in found]


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
    rows = [(one.line.number, one) for one in page.lines]
    written = next((number for number, one in rows if one.line.id and one.line.origin == event), 0)
    came = next((n for n, one in rows if one.line.version == page.capsule.version and is_learned(one)), 0)
    learned = max(((one.line.version, -number) for number, one in rows if is_learned(one)), default=(0, -1))
    return written or came or -learned[1]
