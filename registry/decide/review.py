"""Review: a person's decision about a candidate, as the events that it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import ConflictError, NotFoundError, RefusedError
from events.types.candidate_events import (
    CandidatePromoted,
    CandidateRejected,
    CandidateReviewed,
    LineTierChanged,
    PromotionReviewed,
)
from events.types.score import Score, Unmeasured
from registry.decide.promote import PromotionGrounds, promotion

if TYPE_CHECKING:
    from events.types.frozen import Frozen
    from registry.decide.commands import ChangeTier, LookOver, Review
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule


def review(capsule: Capsule, candidate: Candidate, command: Review) -> list[Frozen]:
    """List what follows from a person's decision: the review itself, then the verdict, then perhaps a version.

    An approved candidate keeps the scores that were measured; where there are none its version stays unproven. One
    that is offered as seen is accepted as that: it changes no score.
    Raises: ConflictError where the skill moved on from the base; EditError where an edit does not fit;
    SkillFormatError where the result is no valid skill.
    """
    reviewed = CandidateReviewed(
        candidate=candidate.id, capsule=capsule.name, decision=command.decision, reason=command.reason
    )
    if command.decision == "reject":
        reason = f"rejected by a person: {command.reason}"
        return [reviewed, CandidateRejected(candidate=candidate.id, capsule=capsule.name, reasons=(reason,))]
    base = candidate.scored.base_version if candidate.scored else candidate.proposed.base_version
    if candidate.proposed.skill is not None and capsule.version:
        raise ConflictError(
            f"a skill named {capsule.name} came into the registry since candidate {candidate.id[:12]} was drafted",
            stream=f"capsule:{capsule.name}",
            expected=0,
            actual=capsule.version,
            hint=f"germline candidate reject {candidate.id[:12]} --reason TEXT",
        )
    if base != capsule.version:
        raise ConflictError(
            f"stale base: candidate {candidate.id[:12]} changes {capsule.name}@{base}, which is at version "
            f"{capsule.version} now",
            stream=f"capsule:{capsule.name}",
            expected=base,
            actual=capsule.version,
            hint=f"germline evolve {capsule.name} --review   measures it again on the live version",
        )
    promoted = CandidatePromoted(
        candidate=candidate.id,
        capsule=capsule.name,
        version=capsule.version + 1,
        reasons=(f"{_accepted(candidate)} by a person: {command.reason}",),
    )
    return [reviewed, promoted, *promotion(capsule, candidate.proposed, _grounds(capsule, candidate))]


def promote_proven(capsule: Capsule, candidate: Candidate, reason: str) -> list[Frozen]:
    """List what follows from the proof of a trial: the verdict, and the version that the candidate becomes.

    What the skill learned since its base does not matter: the trial gave its lines beside all of that.
    Raises: EditError where an edit does not fit any more; SkillFormatError where the result is no valid skill.
    """
    promoted = CandidatePromoted(
        candidate=candidate.id, capsule=capsule.name, version=capsule.version + 1, reasons=(reason,)
    )
    grounds = _grounds(capsule, candidate, unmeasured="proven by a trial, and not measured on logs")
    return [promoted, *promotion(capsule, candidate.proposed, grounds._replace(cause="promotion"))]


def look_over(candidate: Candidate | None, command: LookOver) -> PromotionReviewed:
    """Return what a person says of a promotion, once.

    Raises: RefusedError for what was not promoted; ConflictError where somebody decided before.
    """
    if candidate is None or candidate.version is None:
        raise RefusedError(
            f"candidate {command.candidate[:12]} was not promoted: there is nothing to agree with",
            hint="germline candidates",
        )
    if candidate.looked_over:
        raise ConflictError(
            f"somebody looked at candidate {candidate.id[:12]} before: {candidate.looked_over.decision}s",
            hint=f"germline candidate show {candidate.id[:12]}",
        )
    return PromotionReviewed(
        candidate=candidate.id,
        capsule=command.capsule,
        version=candidate.version,
        decision=command.decision,
        reason=command.reason,
    )


def tier_change(candidate: Candidate | None, command: ChangeTier) -> list[LineTierChanged]:
    """List what follows where lines climb or fall: nothing, where the candidate has these figures already.

    Raises: NotFoundError for an unknown candidate; RefusedError for one that is rejected.
    """
    candidate = require_candidate(candidate, command.candidate)
    if candidate.verdict == "reject" and command.figures is not None:
        raise RefusedError(
            f"candidate {candidate.id[:12]} was rejected: it has no tier",
            hint=f"germline candidate show {candidate.id[:12]}",
        )
    if candidate.tier == command.figures:
        return []
    change = LineTierChanged(
        candidate=candidate.id,
        capsule=command.capsule,
        before=candidate.tier,
        after=command.figures,
        reason=command.reason,
    )
    return [change]


def require_candidate(candidate: Candidate | None, name: str) -> Candidate:
    """Return a candidate that was proposed; raises NotFoundError where none was."""
    if candidate is None:
        raise NotFoundError(f"no candidate {name} was proposed", hint="germline candidates")
    return candidate


def _is_seen(candidate: Candidate) -> bool:
    return candidate.tier is not None and candidate.tier.tier == "seen"


def _accepted(candidate: Candidate) -> str:
    return "accepted as seen" if _is_seen(candidate) else "approved"


def _grounds(
    capsule: Capsule, candidate: Candidate, *, unmeasured: str = "approved by a person, and not measured"
) -> PromotionGrounds:
    scored, tested = candidate.scored, candidate.claims_tested
    if _is_seen(candidate):  # what is only seen counts in no score: the skill keeps the one it has
        return PromotionGrounds(capsule.score, capsule.score, None, candidate.scored_id, tested, cause="override")
    if scored is None or not isinstance(scored.after, Score):
        why = Unmeasured(reason=unmeasured)
        return PromotionGrounds(capsule.score, why, None, "", tested, cause="override")
    return PromotionGrounds(
        scored.before,
        scored.after,
        scored.delta,
        candidate.scored_id,
        tested,
        scored.attributions,
        cause="override",
    )
