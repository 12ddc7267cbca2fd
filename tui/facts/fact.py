"""A fact: a label, what it says in parts that carry a tone, and what a screen can draw of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tui.text.rows import RowPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from events.types.score import Delta, Effect, Score
    from tui.text.rows import Row, Tone


class ScorePair(NamedTuple):
    """Two scores by one measure and their paired difference, None where it was not measured."""

    before: Score
    after: Score
    delta: Delta | None


class Fact(NamedTuple):
    """One fact; a label that is "" goes on with the fact before.

    `note` says what the figures rest on. `drawing` is drawn by the screens in place of the figures.
    Texts are as they were stored: each painter makes them safe for where it writes.
    """

    label: str
    parts: Row
    note: str = ""
    drawing: ScorePair | Effect | None = None


def fact(label: str, text: str, tone: Tone = "") -> Fact:
    """Make a fact of one text."""
    return Fact(label, (RowPart(text, tone),))


def listed(label: str, texts: Iterable[str], tone: Tone = "") -> Iterator[Fact]:
    """Make a fact of each text, the first behind the label."""
    for at, text in enumerate(texts):
        yield fact("" if at else label, text, tone)
