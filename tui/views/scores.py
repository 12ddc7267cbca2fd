"""Scores and effects as rows: the value, its interval as a bar, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.score import Score
from tui.facts.scores import of_skill
from tui.text.numbers import count, interval, share, signed
from tui.text.rows import RowPart, clean, tone_of, width_of
from tui.views.score_bars import axis_over, interval_bar

if TYPE_CHECKING:
    from events.types.score import Delta, Effect, Measured
    from tui.text.rows import Row, Tone

UNPROVEN: Final = RowPart("?", "warn")
"""Marks what a person did and nobody measured yet."""


BAR: Final = 20
_LEAST_BAR: Final = 6
"""Cells of a bar; a shorter one than the least says nothing (a guess)."""


def score_row(score: Measured) -> Row:
    """Write a score with its interval, size and split; or why there is none."""
    if not isinstance(score, Score):
        return RowPart("? ", "warn"), RowPart(clean(score.reason), "dim")
    noun = "episode" if score.kind == "replay" else "run"
    base = f"  {interval(score.low, score.high)} {score.split}, {count(score.n, noun)}"
    covered = f", {score.coverage:.0%} covered" if score.kind == "replay" else ""
    return RowPart(share(score.value), "strong"), RowPart(base + covered, "dim")


def before_and_after(before: Measured, after: Measured, delta: Delta | None, width: int) -> list[Row]:
    """Draw two scores over one axis, and the difference below them; bars give way before a figure is cut.

    Where evaluators differ the two are not comparable: each is written without a bar, and the seam is named.
    """
    if not (isinstance(before, Score) and isinstance(after, Score)):
        return [(RowPart("before ", "dim"), *score_row(before)), (RowPart("after  ", "dim"), *score_row(after))]
    if before.evaluator != after.evaluator:
        seam: Row = (RowPart("measured by different evaluators: not comparable", "warn"),)
        return [(RowPart("before ", "dim"), *_bare(before)), (RowPart("after  ", "dim"), *_bare(after)), seam]
    axis = axis_over([before.low, before.high, after.low, after.high])
    tone: Tone = tone_of(delta.low, delta.high) if delta else ""
    digits = max(len(share(score.value)) for score in (before, after))
    figures = max(width_of(_bare(score, digits=digits)) for score in (before, after))
    room = min(width - len("before ") - figures - 2, BAR)
    bar = room if room >= _LEAST_BAR else 0
    old = interval_bar(before.value, before.low, before.high, axis, bar, tone="dim") if bar else ()
    new = interval_bar(after.value, after.low, after.high, axis, bar, tone=tone) if bar else ()
    rows: list[Row] = [
        (RowPart("before ", "dim"), *_bare(before, old, digits=digits)),
        (RowPart("after  ", "dim"), *_bare(after, new, digits=digits)),
    ]
    covered = (RowPart(f"; {after.coverage:.0%} covered", "dim"),) if after.kind == "replay" else ()
    return [*rows, (*delta_row(delta), *covered)] if delta else rows


def _bare(score: Score, bar: Row = (), *, digits: int = 0) -> Row:
    """Write a score with its interval and size, and a bar between them; `digits` is how wide the score is."""
    figures = RowPart(f"  {interval(score.low, score.high)} n {score.n:,}", "dim")
    return RowPart(f"{share(score.value):>{digits}}", "strong"), *((RowPart("  "), *bar) if bar else ()), figures


def effect_row(effect: Effect) -> Row:
    """Draw what obeying a claim goes with: the risk difference with its interval around zero."""
    axis = axis_over([0.0, effect.low, effect.high])
    tone = tone_of(effect.low, effect.high)
    bar = interval_bar(effect.risk_difference, effect.low, effect.high, axis, BAR, tone=tone)
    figures = f" {interval(effect.low, effect.high, 2)}"
    return RowPart(signed(effect.risk_difference, 2), tone), RowPart("  "), *bar, RowPart(figures, "dim")


def delta_part(delta: Delta | None) -> RowPart:
    """Write a version's Δ, toned by whether its interval leaves out zero."""
    return RowPart(signed(delta.value), tone_of(delta.low, delta.high)) if delta else RowPart("", "dim")


def delta_row(delta: Delta | None) -> Row:
    """Write a Δ with its interval and the tasks it is paired by."""
    if delta is None:
        return (RowPart("Δ not measured", "dim"),)
    bounds = f" {interval(delta.low, delta.high)}, paired by {count(delta.tasks, 'task')}"
    return RowPart("Δ ", "dim"), delta_part(delta), RowPart(bounds, "dim")


def score_part(score: Measured) -> RowPart:
    """Write the score of a skill, or a dash where none was measured."""
    whole = of_skill(score)
    return RowPart(share(whole.value), "strong") if whole else RowPart("–", "dim")
