"""An audit: a skill is run beside no skill, judged, and changed draft by draft until nothing is left to change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from events.errors import UpstreamError
from events.types.audit_events import AuditEnded, AuditJudged, AuditMove, AuditStarted
from events.types.candidate_events import AUDITOR
from registry.decide.commands import RecordFact
from strategies.audit.audit_model import drift_of
from strategies.audit.audit_record import audit_record
from strategies.audit.audit_verdict import judge_draft
from strategies.audit.drafts import drafted, texts_beside
from strategies.audit.edit_moves import draft_edits
from strategies.audit.edit_routing import route_edits
from strategies.audit.evaluate_draft import DraftEvaluation
from strategies.audit.propose_audit import propose_draft
from strategies.audit.run_divergence import divergence
from strategies.gate.lint import limits_of
from strategies.rollouts.compare.comparison import runs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.audit.audit_plan import AuditPlan
    from strategies.audit.audit_record import AuditRecord
    from strategies.audit.audit_types import DraftEdit
    from strategies.audit.audit_verdict import AuditedPair, AuditVerdict
    from strategies.audit.edit_routing import EditRoute
    from strategies.audit.evaluate_draft import EvaluatedDraft

_MOST_REASON_CHARS: Final = 1_000


@dataclass(frozen=True)
class AuditEnd:
    """How an audit ended: its record, the last good draft, and its verdict."""

    record: AuditRecord
    draft: EvaluatedDraft
    verdict: AuditVerdict


@dataclass
class _Progress:
    """The last good draft, its verdict, and what is done to it next.

    `refused` are the sets of targets that were rolled back from it.
    """

    good: EvaluatedDraft
    verdict: AuditVerdict
    route: EditRoute
    refused: list[frozenset[str]] = field(default_factory=list)


def audit_skill(plan: AuditPlan) -> AuditEnd:
    """Audit a skill, from where the same audit stopped.

    What was run, asked and reported before is kept: nothing is paid for twice. The skill itself is not changed;
    the last good draft is proposed as one candidate.
    Raises: what running and asking raise, a cap too; everything up to there is kept.
    """
    record = _begun(plan)
    registry = plan.rig.registry
    with runs_of(plan.rig) as runs:
        evaluation = DraftEvaluation(plan, runs)
        evaluation.remember(record)
        progress, because = _first(plan, evaluation), ""
        for iteration in range(1, plan.iterations + 1):
            because = _iterate(plan, evaluation, progress, iteration)
            if because:
                break
        because = because or f"all {plan.iterations} iterations are over"
        ended = AuditEnded(
            audit=plan.audit,
            capsule=plan.skill,
            draft=progress.good.digest,
            because=because,
            candidate=propose_draft(plan, progress.good.capsule, progress.verdict) if plan.version else "",
            runs=runs.spent.runs,
            reused=runs.spent.reused,
            cost_usd=runs.spent.cost_usd,
        )
        if record.ended is None or not _says_the_same(record.ended, ended):
            registry.execute(RecordFact((ended,)), actor="germline")
    return AuditEnd(audit_record(registry, plan.audit) or record, progress.good, progress.verdict)


def _says_the_same(before: AuditEnded, now: AuditEnded) -> bool:
    """Tell whether an audit ended so before, and nothing was run since."""
    return not now.runs and before.model_copy(update={"runs": 0, "reused": 0, "cost_usd": 0.0}) == now.model_copy(
        update={"reused": 0}
    )


def _begun(plan: AuditPlan) -> AuditRecord:
    known = audit_record(plan.rig.registry, plan.audit)
    if known is not None:
        return known
    started = AuditStarted(
        audit=plan.audit,
        capsule=plan.skill,
        version=plan.version,
        draft=plan.arm(plan.base).digest,
        tasks=len(plan.tasks),
        agent=plan.rig.harness.agent.name,
        model=plan.model,
        pairs=plan.pairs,
    )
    plan.rig.registry.execute(RecordFact((started,)), actor="germline")
    return _begun(plan)


def _first(plan: AuditPlan, evaluation: DraftEvaluation) -> _Progress:
    """Evaluate the skill as it was given."""
    given = evaluation.evaluated(plan.base, 0)
    if not given.pairs:
        what = f"no pair of runs was left to look at; {given.lost[0]}"
        raise UpstreamError(what, hint="try the agent's command by hand, then type the same again")
    progress = _Progress(given, judge_draft(given.pairs), route_edits(given.pairs))
    _record_judged(plan, _judged(plan, given, progress.verdict, progress.route))
    return progress


def _iterate(plan: AuditPlan, evaluation: DraftEvaluation, progress: _Progress, iteration: int) -> str:
    """Make the next draft, run it and judge it; returns why the audit ends, "" where it goes on."""
    log, good, route = plan.rig.registry.log, progress.good, progress.route
    if not route.targets:
        return _rest(progress)
    moves = draft_edits(route, good.capsule, texts_beside(log, good.capsule))
    made = drafted(log, plan.base, good.capsule, moves.edits, limits_of(plan.rig.preset, AUDITOR))
    left_out = (*(f"{target.quote or target.action}: {target.why}" for target in moves.left), *made.refused)
    if not made.made:
        return f"no further change can be made: {'; '.join(left_out)[:_MOST_REASON_CHARS]}"
    draft = evaluation.evaluated(made.capsule, iteration)
    verdict = judge_draft(draft.pairs, good.pairs, route.aims)
    kept = not verdict.rolls_back
    following = route_edits(draft.pairs) if kept else route
    changes = {
        "iteration": iteration,
        "kept": kept,
        "moves": _moves(made.made, good.pairs),
        "left_out": left_out,
        "drift": plan.asking and drift_of(evaluation.first, replace(plan.asking, look=iteration)),
    }
    _record_judged(plan, _judged(plan, draft, verdict, following).model_copy(update=changes))
    if kept:
        progress.good, progress.verdict, progress.route, progress.refused = draft, verdict, following, []
    else:
        progress.refused.append(route.keys)
        progress.route = route_edits(good.pairs, progress.refused)
    return ""


def _rest(progress: _Progress) -> str:
    """Say why nothing more is tried."""
    held, anchors = progress.good.anchors
    if progress.route.halted:
        return "a hurt ended it: the core is sound, and no further change is tried"
    if progress.refused:
        return "nothing is left to try: every further change was rolled back"
    if progress.verdict.result == "hurt":
        return "nothing is left to change, though it still hurts"
    if held < anchors:
        return f"nothing is left to change; {anchors - held} of {anchors} anchors fail with the skill"
    return "converged: no hurt, all anchors hold, and nothing is left to change"


def _moves(made: Iterable[DraftEdit], pairs: Sequence[AuditedPair]) -> tuple[AuditMove, ...]:
    """Write moves down as events hold them, each with the step at which the two runs of its task part."""
    by_task = {pair.material.task: pair.material for pair in reversed(pairs)}
    listed = []
    for move in made:
        material = by_task.get(move.task)
        parted = divergence(material.with_skill, material.without_skill) if material else None
        shown = parted._asdict() if parted else {}
        listed.append(
            AuditMove(
                move=move.move,
                action=move.action,
                evaluator=move.evaluator,
                task=move.task,
                reason=move.reason,
                quote=move.quote,
                lines=tuple(line for edit in move.edits for line in edit.text),
                files=tuple(move.files),
                **shown,
            )
        )
    return tuple(listed)


def _judged(plan: AuditPlan, draft: EvaluatedDraft, verdict: AuditVerdict, route: EditRoute) -> AuditJudged:
    """Write a verdict down as that of the skill as it was given."""
    held, anchors = draft.anchors
    return AuditJudged(
        audit=plan.audit,
        capsule=plan.skill,
        iteration=0,
        draft=draft.digest,
        result=verdict.result,
        by=verdict.rule,
        reason=verdict.reason[:_MOST_REASON_CHARS],
        way=route.pipeline,
        kept=True,
        lost_anchors=verdict.lost_anchors,
        anchors_held=held,
        anchors=anchors,
        left=len(route.targets),
        void=len(route.void),
        lost_pairs=draft.lost,
        model_held=draft.standing.held,
        model_wrong=draft.standing.wrong,
    )


def _record_judged(plan: AuditPlan, judged: AuditJudged) -> None:
    """Record a verdict, once."""
    record = audit_record(plan.rig.registry, plan.audit)
    if record is None or judged not in record.judged:
        plan.rig.registry.execute(RecordFact((judged,)), actor="germline")
