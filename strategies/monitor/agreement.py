"""Agreement: how often people say the same as the gate of what it lets through, month by month."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from events.types.candidate_events import AWAITS_PERSON, CandidateHeld, CandidateReviewed, PromotionReviewed
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from registry.query.library import Library


class MonthAgreement(NamedTuple):
    """A month (`2026-11`): how many answers of people it had, and how many of these agreed with the gate."""

    month: str
    agreed: int
    answers: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often people agreed with the gate that a candidate should pass, with a 95 % interval.

    An answer is a second look at a promotion, or a decision on a candidate that the gate let through and held for
    a person. What the gate left open is no answer to it: of that people `accepted` and `rejected` so many.
    """

    agreed: int
    answers: int
    low: float
    high: float
    months: tuple[MonthAgreement, ...]
    accepted: int
    rejected: int


def agreement_of(library: Library, skill: str = "") -> Agreement:
    """Count the answers of people on one skill, or on all.

    Which promotions were looked at matters: those that are drawn stand for all, those that somebody named do not.
    """
    let_through: dict[str, bool] = {}
    decided: set[str] = set()
    months: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    left_open: Counter[str] = Counter()
    for envelope in library.log.read(types=("CandidateHeld", "CandidateReviewed", "PromotionReviewed")):
        event, candidate, month = envelope.event, envelope.stream, envelope.at[:7]
        if skill and getattr(event, "capsule", "") != skill:
            continue
        match event:
            case CandidateHeld():
                let_through[candidate] = any(reason.startswith(AWAITS_PERSON) for reason in event.reasons[:1])
            case CandidateReviewed() if not let_through.get(candidate):
                decided.add(candidate)
                left_open[event.decision] += 1
            case CandidateReviewed():
                decided.add(candidate)
                months[month] += 1
                agreed[month] += event.decision == "approve"
            case PromotionReviewed() if candidate not in decided:  # a person's own promotion is not the gate's
                months[month] += 1
                agreed[month] += event.decision == "agree"
    low, high = wilson(agreed.total(), months.total())
    return Agreement(
        agreed=agreed.total(),
        answers=months.total(),
        low=low,
        high=high,
        months=tuple(MonthAgreement(month, agreed[month], months[month]) for month in sorted(months)),
        accepted=left_open["approve"],
        rejected=left_open["reject"],
    )
