"""Candidates: proposed sets of edits with their measurements and verdicts; rejected ones stay for ever."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from events.errors import CorruptLogError
from events.types.catalogue import NAMES_IN
from events.types.score import Score
from registry.state.tiers import claims_tested, tier_at_promotion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from events.store.envelope import Envelope
    from events.types.candidate_events import (
        CandidateHeld,
        CandidatePromoted,
        CandidateProposed,
        CandidateRejected,
        CandidateReviewed,
        CandidateScored,
        ComparisonFrozen,
        LineTierChanged,
        PromotionReviewed,
        SeenLineJudged,
    )
    from events.types.tiers import TierFigures

Verdict = Literal["promote", "reject", "hold"]

EVENTS: Final = NAMES_IN["candidate_events"]
"""The types of the events of candidates."""

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
"""What an id may be: it stands in commands to type."""

_FOR_GOOD: Final = frozenset({"promote", "reject"})

_VERDICTS: Final[dict[str, Verdict]] = {
    "CandidatePromoted": "promote",
    "CandidateRejected": "reject",
    "CandidateHeld": "hold",
}


@dataclass(frozen=True)
class Candidate:
    """A candidate as its stream tells it.

    `scored_id` is the event id of its last `CandidateScored`, which every mutation it causes carries. `preset` is
    that of its last verdict, `reviewed` what a person decided, `looked_over` a person's later opinion of it.
    `judged` is the position of its last verdict, `version` the capsule version it became. `reverted` marks a
    promotion that was taken back since: under its evaluator it counts as rejected. `comparisons` are those by
    runs that were frozen for it. `tier` is what supports its lines by now, None for nothing, and `tiered_at` the
    time since when; `tier_change` is the last event that changed it, `counted` whether one of them gave figures of
    logs, `asked` the last time that outcomes were asked about a line that is only seen. `steps` are the types and
    positions of its events.
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
    comparisons: tuple[str, ...] = ()
    preset: str = ""
    reviewed: CandidateReviewed | None = None
    looked_over: PromotionReviewed | None = None
    tier: TierFigures | None = None
    tiered_at: str = ""
    tier_change: LineTierChanged | None = None
    counted: bool = False
    asked: SeenLineJudged | None = None
    steps: tuple[tuple[str, int], ...] = ()

    @property
    def id(self) -> str:
        """The hash of its memory key."""
        return self.proposed.candidate

    @property
    def capsule(self) -> str:
        """The capsule that it would change."""
        return self.proposed.capsule

    @property
    def evaluator(self) -> str:
        """The evaluator that measured it last; that which it was proposed under where none gave it a score."""
        score = self.scored.after if self.scored else None
        return score.evaluator if isinstance(score, Score) else self.proposed.evaluator

    @property
    def is_decided(self) -> bool:
        """Whether the gate decided on it for good, or a person did."""
        return self.verdict in _FOR_GOOD

    @property
    def fell(self) -> bool:
        """Whether its lines lost their tier after they had become a version."""
        return self.verdict == "promote" and self.tier is None and self.tier_change is not None

    @property
    def taken_back(self) -> bool:
        """Whether its promotion no longer counts: the version was taken back, or its lines lost their tier."""
        return self.reverted or self.fell

    @property
    def claims_tested(self) -> bool:
        """Whether logs were asked about its claims."""
        return claims_tested(self.scored, counted=self.counted)

    @property
    def counts(self) -> bool:
        """Whether scores count its claims: not what is only seen, what fell from its tier, nor the untested."""
        return not self.fell and (self.tier is None or self.tier.tier != "seen") and self.claims_tested


@dataclass(frozen=True, slots=True)
class CandidateOutline:
    """A candidate as those count it who ask for all of them: a twentieth of what it takes as a whole.

    Its fields mean what they mean there; `reviewed` and `looked_over` tell whether a person did. `goes_first` is
    whether its first claim is about what comes before an action, at any time.
    """

    id: str
    capsule: str
    fingerprint: str
    position: int
    judged: int
    version: int | None
    verdict: Verdict | None
    reviewed: bool
    looked_over: bool
    fell: bool
    goes_first: bool
    reverted: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether the gate decided on it for good, or a person did."""
        return self.verdict in _FOR_GOOD

    @property
    def taken_back(self) -> bool:
        """Whether its promotion no longer counts."""
        return self.reverted or self.fell


def outline_of(candidate: Candidate) -> CandidateOutline:
    """Keep of a candidate what counts ask for."""
    proposed = candidate.proposed
    return CandidateOutline(
        id=proposed.candidate,
        capsule=proposed.capsule,
        fingerprint=proposed.fingerprint,
        position=candidate.position,
        judged=candidate.judged,
        version=candidate.version,
        verdict=candidate.verdict,
        reviewed=candidate.reviewed is not None,
        looked_over=candidate.looked_over is not None,
        fell=candidate.fell,
        goes_first=[claim.kind for claim in proposed.claims[:1]] == ["anytime_before"],
    )


def fold_candidates(envelopes: Iterable[Envelope]) -> list[Candidate]:
    """Fold the events of candidates, in order, into their states, in the order they were proposed."""
    candidates: dict[str, Candidate] = {}
    fold_into(candidates, envelopes)
    return list(candidates.values())


def fold_into(candidates: dict[str, Candidate], envelopes: Iterable[Envelope]) -> None:
    """Fold further events of candidates into those found so far, by stream."""
    for envelope in envelopes:
        if envelope.is_known:
            candidate = _apply(candidates.get(envelope.stream), envelope)
            step = envelope.type, envelope.position
            candidates[envelope.stream] = replace(candidate, steps=(*candidate.steps, step))


def _apply(candidate: Candidate | None, envelope: Envelope) -> Candidate:
    """Fold one event of a candidate's stream into its state.

    Raises: CorruptLogError if the stream does not begin with a proposal.
    """
    event = envelope.event
    if envelope.type == "CandidateProposed":
        return _proposed(event, envelope)
    if candidate is None:
        raise CorruptLogError(
            f"event {envelope.position} ({envelope.type}) names a candidate that was never proposed",
            position=envelope.position,
            hint="germline verify",
        )
    effect = _EFFECTS.get(envelope.type)
    return effect(candidate, event, envelope) if effect else candidate


def _proposed(event: Any, envelope: Envelope) -> Candidate:  # noqa: ANN401 - a CandidateProposed, by its type
    proposed: CandidateProposed = event
    if not _ID.fullmatch(proposed.candidate):
        raise CorruptLogError(
            f"event {envelope.position} names a candidate {proposed.candidate[:80]!r}, which is no id of one",
            position=envelope.position,
            hint="germline verify",
        )
    return Candidate(proposed, envelope.position, envelope.at, envelope.actor)


def _compared(candidate: Candidate, event: ComparisonFrozen, envelope: Envelope) -> Candidate:
    del envelope  # of these, only the content counts
    return replace(candidate, comparisons=(*candidate.comparisons, event.comparison))


def _scored(candidate: Candidate, event: CandidateScored, envelope: Envelope) -> Candidate:
    return replace(candidate, scored=event, scored_id=envelope.event_id, times_scored=candidate.times_scored + 1)


def _reviewed(candidate: Candidate, event: CandidateReviewed, envelope: Envelope) -> Candidate:
    del envelope  # as above
    return replace(candidate, reviewed=event)


def _looked_over(candidate: Candidate, event: PromotionReviewed, envelope: Envelope) -> Candidate:
    del envelope  # as above
    return replace(candidate, looked_over=event)


def _judged(
    candidate: Candidate, event: CandidatePromoted | CandidateRejected | CandidateHeld, envelope: Envelope
) -> Candidate:
    judged = replace(
        candidate,
        verdict=_VERDICTS[envelope.type],
        reasons=event.reasons,
        judged=envelope.position,
        version=getattr(event, "version", None),
        preset=event.preset,
    )
    if judged.verdict != "promote":
        return judged
    if candidate.reviewed:  # on a person's word the tier stays what it was, and counts from now
        return replace(judged, tiered_at=envelope.at)
    return replace(judged, tier=tier_at_promotion(candidate.proposed, candidate.scored), tiered_at=envelope.at)


def _tier_changed(candidate: Candidate, event: LineTierChanged, envelope: Envelope) -> Candidate:
    counted = candidate.counted or (event.after is not None and event.after.tier in {"seen", "supported"})
    return replace(candidate, tier=event.after, tiered_at=envelope.at, tier_change=event, counted=counted)


def _asked(candidate: Candidate, event: SeenLineJudged, envelope: Envelope) -> Candidate:
    del envelope  # as above
    return replace(candidate, asked=event)


_EFFECTS: Final[dict[str, Callable[[Candidate, Any, Envelope], Candidate]]] = {
    "ComparisonFrozen": _compared,
    "CandidateScored": _scored,
    "CandidateReviewed": _reviewed,
    "PromotionReviewed": _looked_over,
    "SeenLineJudged": _asked,
    "LineTierChanged": _tier_changed,
    **dict.fromkeys(_VERDICTS, _judged),
}
