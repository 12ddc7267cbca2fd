"""The scores that the benches put into the events they make."""

from __future__ import annotations

from typing import Final

from events.types.candidate_events import CandidateScored
from events.types.score import Delta, Score

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


def scored(candidate: str, capsule: str, base_version: int, sent: int) -> CandidateScored:
    """Make the measurement of a candidate that is a little better."""
    before, after = score(0.44), score(0.46)
    return CandidateScored(
        candidate=candidate,
        capsule=capsule,
        base_version=base_version,
        before=before,
        after=after,
        delta=Delta(value=0.02, low=0.01, high=0.03, tasks=118),
        effect=None,
        audit_before=before,
        audit_after=after,
        sent=sent,
    )
