"""The Why screen as rows: the blame of every line, and everything about the one the cursor is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.query.event_summaries import origin_words
from tui.facts.candidates import figure_part, verdict_part
from tui.facts.fact import Fact, listed
from tui.facts.line import earlier_facts, line_facts, tried_facts
from tui.text.durations import age
from tui.text.rows import BLANK, RowPart, beside, clean, cut_row, indented, labelled, width_of
from tui.text.words import claim_words
from tui.views.evidence import evidence_summary
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.provenance import Why
    from registry.state.candidate import Candidate
    from tui.reads.skills import Link
    from tui.text.rows import Row

_LEAD: Final = 8
"""Cells for what tells that links were left out, at both ends."""


_TWO_COLUMNS: Final = 130
_FIGURES: Final = frozenset({"endpoint", "effect", "score"})
"""The facts from which on the second column goes on, where there are two."""


def why_rows(why: Why, there: Sequence[bool] | None, width: int, now: str) -> list[Row]:
    """Tell everything about one line; `there` says which evidence still is where it was, None while unknown."""
    width -= 1
    facts = [*line_facts(why, now)]
    if width >= _TWO_COLUMNS:
        half = (width - 3) // 2
        cut = next((at for at, fact in enumerate(facts) if fact.label in _FIGURES), len(facts))
        left = [*_text(why, half), *fact_rows(facts[:cut], half)]
        rows = beside(left, fact_rows(facts[cut:], half, limit=4), left_width=half)
    else:
        rows = [*_text(why, width), *fact_rows(facts, width, limit=4)]
    rows += [*fact_rows(earlier_facts(why, most=1), width, limit=2), *fact_rows(tried_facts(why), width, limit=2)]
    rows += evidence_summary(why, there, width)
    return indented(rows, width)


def _text(why: Why, width: int) -> list[Row]:
    """Write what the line says."""
    text = clean(why.line.text).strip() or "(an empty line)"
    return labelled(f"line {why.line.number}", (RowPart(text, "strong"),), width, limit=3)


def chain_row(links: Sequence[Link], at: int, width: int) -> list[Row]:
    """Write the chain, oldest cause first; where it has no room, the first links go until the one at hand fits."""
    room = width - _LEAD
    start = next(
        (first for first in range(at + 1) if width_of(_links(links[first : at + 2], at - first)) <= room), at
    )
    lead = (RowPart(" …", "dim"), RowPart(" › ", "dim")) if start else (RowPart(" "),)
    return [cut_row((*lead, *_links(links[start:], at - start)), width)]


def _links(links: Sequence[Link], at: int) -> Row:
    parts: list[RowPart] = []
    for number, link in enumerate(links):
        figure = f" #{link.position}" if link.position else ""
        parts += [RowPart(" › ", "dim")] if number else []
        parts.append(RowPart(f"{link.word}{figure}", "mark" if number == at else "dim"))
    return tuple(parts)


def tried_rows(tried: Sequence[Candidate], width: int, now: str) -> list[Row]:
    """Write each candidate with its lines, its claims, its figures and the reasons of its verdict."""
    rows: list[Row] = []
    for candidate in tried:
        rows += [BLANK] if rows else []
        rows += _candidate(candidate, width - 2, now)
    rows = rows or [(RowPart("nothing else was tried", "dim"),)]
    return indented(rows, width - 2)


def _candidate(candidate: Candidate, width: int, now: str) -> list[Row]:
    proposed = candidate.proposed
    where = (
        f"{proposed.capsule}@{candidate.version}"
        if candidate.version
        else f"for {proposed.capsule}@{proposed.base_version}"
    )
    origin = clean(origin_words(proposed))
    head = f"{where}, {origin}, {age(candidate.at, now)}, event {candidate.position}"
    rows: list[Row] = [(verdict_part(candidate), RowPart(f"   {head}", "dim"))]
    for text in (text for text in proposed.new_lines if text.strip()):
        rows += labelled("", (RowPart(clean(text).strip(), "strong"),), width, limit=3)
    figure = figure_part(candidate)
    facts = [
        *listed("claim", map(claim_words, (*proposed.claims, *proposed.removes))),
        *([Fact("effect", (figure,))] if figure else []),
        *listed("because", candidate.reasons),
    ]
    return [*rows, *fact_rows(facts, width)]
