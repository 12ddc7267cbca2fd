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


class MonthAgreementRow(Part):
    """A month (`2026-11`): how many answers of people it had, and how many of these agreed with the gate."""

    month: str
    agreed: int
    answers: int


class AgreementRow(Part):
    """How often people agreed that what the gate let through should pass, with a 95 % interval.

    Of what the gate left open people `accepted` and `rejected` so many.
    """

    agreed: int
    answers: int
    low: float
    high: float
    months: tuple[MonthAgreementRow, ...]
    accepted: int
    rejected: int


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
