"""What an audit ends with: its last good draft as one candidate, live at once only where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.audit_events import METHOD
from events.types.candidate_events import AUDITOR, CandidateProposed, CandidateScored
from events.types.score import Unmeasured
from registry.actions.publish import publish, require_unedited
from registry.decide.commands import Judge, Propose
from strategies.audit.drafts import rewrite_to
from strategies.rollouts.compare.settle import rollout_candidate_id

if TYPE_CHECKING:
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.audit.audit_plan import AuditPlan
    from strategies.audit.audit_verdict import AuditVerdict

_PREFIX: Final = "audit:"


def fingerprint_of(audit: str) -> str:
    """Name what the candidate of an audit answers: no signal that was raised, but the audit itself."""
    return f"{_PREFIX}{audit[:16]}"


def propose_draft(plan: AuditPlan, draft: Capsule, verdict: AuditVerdict) -> str:
    """Propose what a draft makes of the live version, once; returns the candidate, "" where nothing differs."""
    registry = plan.rig.registry
    if plan.arm(draft).digest == plan.arm(plan.base).digest:
        return ""
    rewrite = rewrite_to(registry.log, plan.base, draft)
    proposed = CandidateProposed(
        candidate="",
        capsule=plan.skill,
        base_version=plan.version,
        strategy="repair",
        preset=plan.rig.preset.name,
        proposer=AUDITOR,
        fingerprint=fingerprint_of(plan.audit),
        edits=rewrite.edits,
        claims=(),
        triggers=(),
        reason=f"{METHOD}, {verdict.result} by {verdict.rule}: {verdict.reason}"[:300],
        evaluator="",
        files=rewrite.files,
        born=rewrite.born,
    )
    name = rollout_candidate_id(plan.base, proposed, "")
    if registry.candidate(name) is None:
        registry.execute(Propose(proposed.model_copy(update={"candidate": name})), actor=f"{AUDITOR}:{METHOD}")
    return name


def promote_draft(registry: Registry, candidate: str) -> int:
    """Let the candidate of an audit become a version, as decided by the audit; returns its number.

    Nothing was proven: its lines have no tier, and the version counts as not measured. Raises: RefusedError where
    the files were edited by hand; ConflictError where it is decided, or the skill moved on.
    """
    known = registry.candidates_of([candidate])[candidate]
    proposed = known.proposed
    require_unedited(registry, proposed.capsule)
    unmeasured = Unmeasured(reason=f"decided by {METHOD}, and not measured against tasks that decide")
    scored = CandidateScored(
        candidate=candidate,
        capsule=proposed.capsule,
        base_version=proposed.base_version,
        before=registry.capsule(proposed.capsule).score,
        after=unmeasured,
        delta=None,
        effect=None,
        audit_before=unmeasured,
        audit_after=unmeasured,
        sent=0,
    )
    reasons = (f"decided by {METHOD}: {proposed.reason}",)
    command = Judge(scored, registry.clock.new_id(), "promote", reasons)
    registry.execute(command, actor=f"{AUDITOR}:{METHOD}")
    publish(registry, proposed.capsule)
    return registry.capsule(proposed.capsule).version
