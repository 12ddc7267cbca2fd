"""Scores in documents: a measurement, or null with the reason why there is none."""

from typing import TYPE_CHECKING

from events.types.score import Delta, Score
from tui.documents.document import Part

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateScored
    from events.types.score import Measured


def score_of(measured: "Measured | None") -> Score | None:
    """Return a score, None for what nobody measured."""
    return measured if isinstance(measured, Score) else None


class AuditScores(Part):
    """What the audit split says of a candidate."""

    before: Score | None
    after: Score | None
    delta: Delta | None

    @classmethod
    def of(cls, scored: "CandidateScored") -> "AuditScores":
        """Read them from the measurement of a candidate."""
        return cls(
            before=score_of(scored.audit_before), after=score_of(scored.audit_after), delta=scored.audit_delta
        )
