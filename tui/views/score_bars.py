"""Bars: scores and their intervals drawn in a few cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.score import Score
from tui.text.rows import RowPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.score import Measured
    from tui.text.rows import Row, Tone

_STEPS: Final = "▁▂▃▄▅▆▇█"
_SEAM: Final = "┊"
_NOTHING: Final = "·"
_FLAT: Final = 0.02
"""Below this spread a trend is drawn as flat as it is: noise must not look like a mountain (a guess)."""


class Axis(NamedTuple):
    """The values at the two ends of a bar."""

    low: float
    high: float


def axis_over(values: Iterable[float]) -> Axis:
    """Choose an axis that holds all values, with a tenth of their spread on either side."""
    every = list(values)
    spread = max(max(every) - min(every), 1e-9)
    return Axis(min(every) - 0.1 * spread, max(every) + 0.1 * spread)


def interval_bar(value: float, low: float, high: float, axis: Axis, width: int, *, tone: Tone = "") -> Row:
    """Draw an interval with its value; a zero inside the axis is marked."""
    marks = ["┄"] * width
    tones: list[Tone] = ["dim"] * width
    for at in range(_place(low, axis, width), _place(high, axis, width) + 1):
        marks[at], tones[at] = "━", tone
    if axis.low < 0 < axis.high:
        zero = _place(0.0, axis, width)
        marks[zero] = "┿" if marks[zero] == "━" else "┊"
    centre = _place(value, axis, width)
    marks[centre], tones[centre] = "●", tone
    return _runs(marks, tones)


def _place(value: float, axis: Axis, width: int) -> int:
    share = (value - axis.low) / (axis.high - axis.low)
    return min(max(round(share * (width - 1)), 0), width - 1)


def _runs(marks: Sequence[str], tones: Sequence[Tone]) -> Row:
    parts: list[RowPart] = []
    for mark, tone in zip(marks, tones, strict=True):
        if parts and parts[-1].tone == tone:
            parts[-1] = RowPart(parts[-1].text + mark, tone)
        else:
            parts.append(RowPart(mark, tone))
    return tuple(parts)


def sparkline(scores: Sequence[Measured], width: int) -> Row:
    """Draw the scores of the last versions, oldest first, one cell each.

    Scores of different evaluators are never compared: each run of one evaluator has a scale of its own, and a
    seam separates two. A dot is a version that nobody measured.
    """
    runs: list[list[Measured]] = []
    last = ""
    for score in scores:
        evaluator = score.evaluator if isinstance(score, Score) else last
        if (evaluator != last and any(isinstance(old, Score) for run in runs for old in run)) or not runs:
            runs.append([])
        runs[-1].append(score)
        last = evaluator
    drawn: Row = ()
    for run in runs:
        drawn = (*drawn, *((RowPart(_SEAM, "dim"),) if drawn else ()), *_scaled(run))
    return _last(drawn, width)


def _scaled(run: Sequence[Measured]) -> Row:
    values = [score.value for score in run if isinstance(score, Score)]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high - low < _FLAT:
        middle = (low + high) / 2
        low, high = middle - _FLAT, middle + _FLAT
    parts = []
    for score in run:
        if isinstance(score, Score):
            step = round((score.value - low) / (high - low) * (len(_STEPS) - 1))
            parts.append(RowPart(_STEPS[step], "accent"))
        else:
            parts.append(RowPart(_NOTHING, "dim"))
    return tuple(parts)


def _last(row: Row, width: int) -> Row:
    """Keep the last cells of a row of single-cell parts."""
    return row[-width:] if width > 0 else ()
