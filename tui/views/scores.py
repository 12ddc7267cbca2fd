"""Scores and effects as rows: the value, its interval as a bar, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.score import Score
from tui.figures import count, interval, share, signed
from tui.views.bars import axis_over, interval_bar
from tui.views.marks import delta_part, delta_row, tone_of
from tui.views.rows import Part, clean, width_of

if TYPE_CHECKING:
    from events.score import Delta, Effect, Measured
    from tui.views.rows import Row, Tone

BAR: Final = 20
_LEAST_BAR: Final = 6
"""Cells of a bar; a shorter one than the least says nothing (a guess)."""


def score_row(score: Measured) -> Row:
    """Write a score with its interval, size and split; or why there is none."""
    if not isinstance(score, Score):
        return Part("? ", "warn"), Part(clean(score.reason), "dim")
    noun = "episode" if score.kind == "replay" else "run"
    base = f"  {interval(score.low, score.high)} {score.split}, {count(score.n, noun)}"
    covered = f", {score.coverage:.0%} covered" if score.kind == "replay" else ""
    return Part(share(score.value), "strong"), Part(base + covered, "dim")


def before_and_after(before: Measured, after: Measured, delta: Delta | None, width: int) -> list[Row]:
    """Draw two scores over one axis, and the difference below them; bars give way before a figure is cut.

    Where evaluators differ the two are not comparable: each is written without a bar, and the seam is named.
    """
    if not (isinstance(before, Score) and isinstance(after, Score)):
        return [(Part("before ", "dim"), *score_row(before)), (Part("after  ", "dim"), *score_row(after))]
    if before.evaluator != after.evaluator:
        seam: Row = (Part("measured by different evaluators: not comparable", "warn"),)
        return [(Part("before ", "dim"), *_bare(before)), (Part("after  ", "dim"), *_bare(after)), seam]
    axis = axis_over([before.low, before.high, after.low, after.high])
    tone: Tone = tone_of(delta.low, delta.high) if delta else ""
    digits = max(len(share(one.value)) for one in (before, after))
    figures = max(width_of(_bare(one, digits=digits)) for one in (before, after))
    room = min(width - len("before ") - figures - 2, BAR)
    bar = room if room >= _LEAST_BAR else 0
    old = interval_bar(before.value, before.low, before.high, axis, bar, tone="dim") if bar else ()
    new = interval_bar(after.value, after.low, after.high, axis, bar, tone=tone) if bar else ()
    rows: list[Row] = [
        (Part("before ", "dim"), *_bare(before, old, digits=digits)),
        (Part("after  ", "dim"), *_bare(after, new, digits=digits)),
    ]
    covered = (Part(f"; {after.coverage:.0%} covered", "dim"),) if after.kind == "replay" else ()
    return [*rows, (*delta_row(delta), *covered)] if delta else rows


def _bare(score: Score, bar: Row = (), *, digits: int = 0) -> Row:
    """Write a score with its interval and size, and a bar between them; `digits` is how wide the score is."""
    figures = Part(f"  {interval(score.low, score.high)} n {score.n:,}", "dim")
    return Part(f"{share(score.value):>{digits}}", "strong"), *((Part("  "), *bar) if bar else ()), figures


def score_pair(before: Measured, after: Measured, delta: Delta | None) -> Row:
    """Write two scores in one line: `.441 → .460   Δ +.019 [.011, .027]`."""
    if not (isinstance(before, Score) and isinstance(after, Score)):
        return (Part("not measured", "dim"),)
    pair: Row = (Part(share(before.value)), Part(" → ", "dim"), Part(share(after.value), "strong"))
    if delta is None:
        return pair
    bounds = Part(f" {interval(delta.low, delta.high)}", "dim")
    return *pair, Part("   Δ ", "dim"), delta_part(delta), bounds


def effect_row(effect: Effect) -> Row:
    """Draw what obeying a claim goes with: the risk difference with its interval around zero."""
    axis = axis_over([0.0, effect.low, effect.high])
    tone = tone_of(effect.low, effect.high)
    bar = interval_bar(effect.risk_difference, effect.low, effect.high, axis, BAR, tone=tone)
    figures = f" {interval(effect.low, effect.high, 2)}"
    return Part(signed(effect.risk_difference, 2), tone), Part("  "), *bar, Part(figures, "dim")


def effect_ground(effect: Effect) -> Row:
    """Say what an effect rests on."""
    scope = f"; ground: {', '.join(clean(run) for run in effect.scope)}" if effect.scope else ""
    arms = f"{effect.obeyed:,} obeyed, {effect.disobeyed:,} did not, {count(effect.tasks, 'task')}"
    return (Part(f"{arms}; judged by {effect.endpoint}{scope}", "dim"),)
