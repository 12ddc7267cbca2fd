"""What happens to a candidate: proposed, scored, reviewed, and one of three verdicts."""

from __future__ import annotations

from typing import Literal

from events.base import Frozen
from events.claims import Claim, Trigger
from events.parts import Edit, Reason, Strategy
from events.score import Censoring, Delta, Effect, Measured


class CandidateProposed(Frozen):
    """A proposed set of edits to one capsule, with its claims and reasons; not live.

    `removes` holds the live claims whose lines the edits take away.
    """

    type: Literal["CandidateProposed"] = "CandidateProposed"
    candidate: str
    capsule: str
    base_version: int
    strategy: Strategy
    preset: str
    proposer: str
    fingerprint: str
    edits: tuple[Edit, ...]
    claims: tuple[Claim, ...]
    triggers: tuple[Trigger, ...]
    reason: str
    evaluator: str
    removes: tuple[Claim, ...] = ()


class CandidateScored(Frozen):
    """A candidate is measured, once, as a whole.

    `outcome_effect` is what obeying goes with in outcomes where `effect` is on another endpoint; null where no
    outcomes exist. `censoring` says what each arm lost on the endpoint `recovered`.
    """

    type: Literal["CandidateScored"] = "CandidateScored"
    candidate: str
    capsule: str
    base_version: int
    before: Measured
    after: Measured
    delta: Delta | None
    effect: Effect | None
    audit_before: Measured
    audit_after: Measured
    audit_delta: Delta | None = None
    audit_effect: Effect | None = None
    outcome_effect: Effect | None = None
    censoring: Censoring | None = None
    sent: int


class CandidateReviewed(Frozen):
    """A person looks at a candidate and decides."""

    type: Literal["CandidateReviewed"] = "CandidateReviewed"
    candidate: str
    capsule: str
    decision: Literal["approve", "reject"]
    reason: Reason


class CandidatePromoted(Frozen):
    """A candidate becomes a version."""

    type: Literal["CandidatePromoted"] = "CandidatePromoted"
    candidate: str
    capsule: str
    version: int
    reasons: tuple[str, ...]


class CandidateRejected(Frozen):
    """A candidate is refused, for good, under its evaluator."""

    type: Literal["CandidateRejected"] = "CandidateRejected"
    candidate: str
    capsule: str
    reasons: tuple[str, ...]


class CandidateHeld(Frozen):
    """A candidate is neither promoted nor refused; the reasons name what is missing."""

    type: Literal["CandidateHeld"] = "CandidateHeld"
    candidate: str
    capsule: str
    reasons: tuple[str, ...]
