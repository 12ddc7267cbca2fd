"""What a trial does to the tier of the line that it switched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.tiers import ProvenFigures
from registry.decide.commands import ChangeTier

if TYPE_CHECKING:
    from events.types.trial_events import TrialFigures
    from registry.state.candidate import Candidate


def tier_after_trial(candidate: Candidate, trial: str, shown: TrialFigures) -> ChangeTier | None:
    """Give the change of tier that a trial leads to; None where it neither proves nor refutes the line."""
    name = candidate.proposed.capsule
    if shown.decision == "harmful":
        return ChangeTier(candidate.id, name, None, f"trial {trial} shows that it does harm")
    if shown.decision != "proven" or shown.difference is None:
        return None
    figures = ProvenFigures(
        by="trial",
        difference=shown.difference,
        low=shown.low,
        high=shown.high,
        sessions=shown.given.sessions + shown.denied.sessions,
        source=trial,
    )
    return ChangeTier(candidate.id, name, figures, f"trial {trial} proves it")
