"""The Start screen as rows: what costs most, and all there is to say about one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.facts.start import thing_facts, thing_title
from tui.text.numbers import brief
from tui.text.rows import BLANK, RowPart, cell, clean, cut_row, wrap
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from tui.reads.start import StartThing
    from tui.text.rows import Row

_ROOM: Final = 5


def start_header(width: int) -> list[Row]:
    """Name the columns of the list."""
    titles = (
        cell("  failed", 9, "dim", right=True),
        cell("corrected", 10, "dim", right=True),
        cell("min", 6, "dim", right=True),
        cell("worked", 12, "dim", right=True),
        RowPart("  the line that it would bring", "dim"),
    )
    return [cut_row(titles, width)]


def start_row(thing: StartThing, width: int) -> Row:
    """Write one thing in one row."""
    lesson, cost = thing.lesson, thing.lesson.cost
    seen = lesson.fix.seen if lesson.fix else None
    failed = f"{brief(cost.failed, _ROOM)}×" if cost.failed else "–"
    worked = f"{seen.worked:,} of {seen.tried:,}" if seen else "–"
    return cut_row(
        (
            cell(failed, 9, "bad" if cost.failed else "dim", right=True),
            cell(brief(cost.corrections, _ROOM) if cost.corrections else "–", 10, right=True),
            cell(brief(round(cost.minutes), _ROOM) if cost.minutes >= 1 else "–", 6, right=True),
            cell(worked, 12, "good" if seen else "dim", right=True),
            RowPart(f"  {clean(lesson.line or thing_title(thing))}", "" if lesson.line else "dim"),
        ),
        width,
    )


def thing_rows(thing: StartThing, width: int) -> list[Row]:
    """Tell about one thing: what it took, what worked next, and how that looked in one session."""
    title = wrap((RowPart(clean(thing_title(thing)), "strong"),), width - 2)
    rows = [*title, BLANK, *fact_rows(thing_facts(thing), width - 2, limit=4)]
    return [(RowPart(" "), *row) if row else BLANK for row in rows]
