"""The score that the benches put into the events they make."""

from __future__ import annotations

from typing import Final

from events.types.score import Score

EVALUATOR: Final = "e" * 64


def score(value: float) -> Score:
    """Make a score as the gate does."""
    return Score(
        value=value,
        n=412,
        low=value - 0.05,
        high=value + 0.05,
        kind="replay",
        endpoint="outcome",
        evaluator=EVALUATOR,
        split="sealed",
        coverage=0.93,
        measured_at="2026-11-21T08:00:00.000000Z",
    )
