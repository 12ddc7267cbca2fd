"""The chain of causes as one row: from the evidence to the line, the link that is looked at marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tui.views.rows import Part, cut_row, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.views.rows import Row

_LEAD: Final = 8
"""Cells for what tells that links were left out, at both ends."""


class Link(NamedTuple):
    """One link: what it is in a word or two, and its event; 0 for the evidence and for the line itself."""

    word: str
    position: int = 0


def chain_row(links: Sequence[Link], at: int, width: int) -> list[Row]:
    """Write the chain, oldest cause first; where it has no room, the first links go until the one at hand fits."""
    room = width - _LEAD
    start = next((one for one in range(at + 1) if width_of(_links(links[one : at + 2], at - one)) <= room), at)
    lead = (Part(" …", "dim"), Part(" › ", "dim")) if start else (Part(" "),)
    return [cut_row((*lead, *_links(links[start:], at - start)), width)]


def _links(links: Sequence[Link], at: int) -> Row:
    parts: list[Part] = []
    for number, link in enumerate(links):
        figure = f" #{link.position}" if link.position else ""
        parts += [Part(" › ", "dim")] if number else []
        parts.append(Part(f"{link.word}{figure}", "mark" if number == at else "dim"))
    return tuple(parts)
