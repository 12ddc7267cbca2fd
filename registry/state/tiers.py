"""The tier of a line: one value, derived here, from what led to the line.

Whatever shows a tier asks `line_tier`; whatever counts one asks the figures of the candidate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from events.types.score import Score
from events.types.tiers import ProvenFigures, SeenFigures, SupportedFigures, Tier

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateProposed, CandidateScored
    from events.types.runs import Rollouts
    from events.types.score import Effect
    from events.types.tiers import TierFigures
    from registry.state.candidate import Candidate
    from registry.state.line import ProjectedLine

LineTier = Tier | Literal["by hand", "imported", "none"]
"""The tier of a line, or whose word it rests on where it has none."""


def tier_at_promotion(proposed: CandidateProposed, scored: CandidateScored | None) -> TierFigures | None:
    """Tell what a promotion by the gate makes of the lines that it brings.

    None where it brings no line, or nothing was measured. A claim that was judged by `recovered` alone is seen:
    earlier versions promoted such, and did not count how often it worked.
    """
    if scored is None or not proposed.new_lines:
        return None
    if scored.rollouts is not None:
        return proven_by_runs(scored.rollouts)
    if scored.effect is None:
        return None
    if scored.effect.endpoint == "recovered":
        return SeenFigures(worked=0, tried=0, low=0.0, runs=scored.effect.scope)
    return supported_by(scored.effect)


def claims_tested(scored: CandidateScored | None, *, counted: bool) -> bool:
    """Tell whether logs were asked about the claims of a candidate: `counted`, or compared by its measurement.

    Runs of an agent, a trial and a person speak for a line, not for what it claims of logs.
    """
    if counted or scored is None:
        return counted
    replayed = isinstance(scored.after, Score) and scored.after.kind == "replay"
    return replayed or scored.effect is not None


def supported_by(effect: Effect) -> SupportedFigures:
    """Write down what logs support, of an effect on outcomes that passed all checks of the gate."""
    return SupportedFigures(
        difference=effect.risk_difference,
        low=effect.low,
        high=effect.high,
        episodes=effect.obeyed + effect.disobeyed,
        tasks=effect.tasks,
        robustness=effect.e_value,
        scope=effect.scope,
        times_as_strong=effect.confounding.times_as_strong if effect.confounding else None,
    )


def proven_by_runs(runs: Rollouts) -> ProvenFigures:
    """Write down what runs of an agent prove, which the gate let through."""
    return ProvenFigures(
        by="rollouts",
        difference=runs.difference,
        low=runs.low,
        high=runs.high,
        sessions=runs.pairs,
        source=runs.comparison,
    )


def line_tier(line: ProjectedLine, candidate: Candidate | None) -> LineTier:
    """Name the tier of a line; `candidate` is the one that brought it.

    A person's own lines are "by hand", those of an import "imported", and "none" is what fell from its tier. The
    stamp, blank lines and what front matter needs say nothing that a log could speak for: "none" as well.
    """
    if not line.id or not line.text.strip():
        return "none"
    if candidate is None:
        return "imported" if line.version == 1 else "by hand"
    if candidate.tier is not None:
        return candidate.tier.tier
    return "by hand" if candidate.reviewed and candidate.tier_change is None else "none"
