"""Candidates: proposed sets of edits with their measurements and verdicts; rejected ones stay for ever."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from events.candidate_events import (
    CandidateHeld,
    CandidatePromoted,
    CandidateProposed,
    CandidateRejected,
    CandidateScored,
)
from events.errors import CorruptLogError

if TYPE_CHECKING:
    from events.envelope import Envelope

Verdict = Literal["promote", "reject", "hold"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate as its stream tells it.

    `scored_id` is the event id of its last `CandidateScored`, which every mutation it causes carries.
    `version` is the capsule version it became. `reverted` marks a promotion that was taken back.
    """

    proposed: CandidateProposed
    position: int
    at: str
    actor: str
    scored: CandidateScored | None = None
    scored_id: str = ""
    times_scored: int = 0
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    judged: int = 0
    version: int | None = None
    reverted: bool = False

    @property
    def id(self) -> str:
        """The hash of its memory key."""
        return self.proposed.candidate


def apply_candidate(candidate: Candidate | None, envelope: Envelope) -> Candidate:
    """Fold one event of a candidate's stream into its state.

    Raises: CorruptLogError if the stream does not begin with a proposal.
    """
    event = envelope.event
    if isinstance(event, CandidateProposed):
        return Candidate(event, envelope.position, envelope.at, envelope.actor)
    if candidate is None:
        raise CorruptLogError(
            f"event {envelope.position} ({envelope.type}) names a candidate that was never proposed",
            position=envelope.position,
            hint="germline verify",
        )
    if isinstance(event, CandidateScored):
        return replace(
            candidate, scored=event, scored_id=envelope.event_id, times_scored=candidate.times_scored + 1
        )
    if isinstance(event, CandidatePromoted):
        return _judged(candidate, "promote", event.reasons, envelope.position, version=event.version)
    if isinstance(event, CandidateRejected):
        return _judged(candidate, "reject", event.reasons, envelope.position)
    if isinstance(event, CandidateHeld):
        return _judged(candidate, "hold", event.reasons, envelope.position)
    return candidate


def _judged(
    candidate: Candidate, verdict: Verdict, reasons: tuple[str, ...], position: int, version: int | None = None
) -> Candidate:
    return replace(candidate, verdict=verdict, reasons=reasons, judged=position, version=version)


def freeze_candidate(candidate: Candidate) -> bytes:
    """Write a candidate's state as JSON, the same bytes for the same state."""
    state = {
        "proposed": candidate.proposed.model_dump(mode="json"),
        "position": candidate.position,
        "at": candidate.at,
        "actor": candidate.actor,
        "scored": candidate.scored.model_dump(mode="json") if candidate.scored else None,
        "scored_id": candidate.scored_id,
        "times_scored": candidate.times_scored,
        "verdict": candidate.verdict,
        "reasons": candidate.reasons,
        "judged": candidate.judged,
        "version": candidate.version,
        "reverted": candidate.reverted,
    }
    return json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()


def thaw_candidate(body: bytes) -> Candidate:
    """Read a candidate's state back."""
    state = json.loads(body)
    scored = state["scored"]
    return Candidate(
        **{
            **state,
            "proposed": CandidateProposed.model_validate(state["proposed"]),
            "scored": CandidateScored.model_validate(scored) if scored else None,
            "reasons": tuple(state["reasons"]),
        }
    )
