"""Marks: verdicts, scores and differences as toned parts; no meaning is told by colour alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.score import Delta, Score
from tui.figures import count, interval, share, signed
from tui.views.rows import Part

if TYPE_CHECKING:
    from events.score import Measured
    from registry.candidate import Verdict
    from tui.views.rows import Row, Tone

VERDICTS: Final[dict[Verdict | None, tuple[str, Tone]]] = {
    "promote": ("✓", "good"),
    "reject": ("✗", "bad"),
    "hold": ("·", "warn"),
    None: ("?", "dim"),
}
"""A marker and a tone for each verdict: none of them is told by colour alone."""

UNPROVEN: Final = Part("?", "warn")
"""Marks what a person did and nobody measured yet."""


def tone_of(low: float, high: float) -> Tone:
    """Say whether a difference is clear: better, worse, or not told apart from none."""
    return "good" if low > 0 else "bad" if high < 0 else "dim"


def delta_part(delta: Delta | None) -> Part:
    """Write a version's Δ, toned by whether its interval leaves out zero."""
    return Part(signed(delta.value), tone_of(delta.low, delta.high)) if delta else Part("", "dim")


def delta_row(delta: Delta | None) -> Row:
    """Write a Δ with its interval and the tasks it is paired by."""
    if delta is None:
        return (Part("Δ not measured", "dim"),)
    bounds = f" {interval(delta.low, delta.high)}, paired by {count(delta.tasks, 'task')}"
    return Part("Δ ", "dim"), delta_part(delta), Part(bounds, "dim")


def score_part(score: Measured) -> Part:
    """Write a score, or a dash where nothing was measured."""
    return Part(share(score.value), "strong") if isinstance(score, Score) else Part("–", "dim")


def minute(at: str) -> str:
    """Write a time to the minute, as everywhere in UTC: `2026-11-01 12:00`."""
    return f"{at[:10]} {at[11:16]}"
