"""What a trial does to the tier of the line that it switched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from events.types.tiers import ProvenFigures
from registry.decide.commands import ChangeTier

if TYPE_CHECKING:
    from registry.state.candidate import Candidate


class TrialFigures(NamedTuple):
    """What a trial that ended shows of one line.

    Units: difference in outcome, given less denied, with the bounds that the trial states, over `sessions`.
    """

    trial: str
    decision: Literal["proven", "harmful", "other"]
    difference: float
    low: float
    high: float
    sessions: int


def tier_after_trial(candidate: Candidate, shown: TrialFigures) -> ChangeTier | None:
    """Give the change of tier that a trial leads to; None where it neither proves nor refutes the line."""
    if shown.decision == "other":
        return None
    name = candidate.proposed.capsule
    if shown.decision == "harmful":
        return ChangeTier(candidate.id, name, None, f"trial {shown.trial} shows that it does harm")
    figures = ProvenFigures(
        by="trial",
        difference=shown.difference,
        low=shown.low,
        high=shown.high,
        sessions=shown.sessions,
        source=shown.trial,
    )
    return ChangeTier(candidate.id, name, figures, f"trial {shown.trial} proves it")
