"""Facts as rows of a screen: figures drawn as bars where they can be, what they rest on below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.facts.fact import ScorePair
from tui.text.rows import LABEL_WIDTH, RowPart, clean, labelled
from tui.views.scores import before_and_after, effect_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui.facts.fact import Fact
    from tui.text.rows import Row


def fact_rows(facts: Iterable[Fact], width: int, *, limit: int = 3) -> list[Row]:
    """Write facts behind their labels, each in at most `limit` rows."""
    rows: list[Row] = []
    for fact in facts:
        for at, row in enumerate(_rows_of(fact, width - LABEL_WIDTH)):
            rows += labelled("" if at else fact.label, row, width, limit=limit)
    return rows


def _rows_of(fact: Fact, width: int) -> list[Row]:
    note: list[Row] = [(RowPart(clean(fact.note), "dim"),)] if fact.note else []
    if fact.drawing is None:
        return [tuple(RowPart(clean(part.text), part.tone) for part in fact.parts), *note]
    if isinstance(fact.drawing, ScorePair):
        return [*before_and_after(*fact.drawing, width), *note]
    return [effect_row(fact.drawing), *note]
