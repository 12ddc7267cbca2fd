"""An audit: a skill is run beside no skill, judged, and changed draft by draft until nothing is left to change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from events.errors import UpstreamError
from events.types.audit_events import MOST_TRIES, AuditEnded, AuditJudged, AuditMove, AuditStarted
from events.types.candidate_events import AUDITOR
from registry.decide.commands import RecordFact
from strategies.audit.audit_model import drift_of
from strategies.audit.audit_record import audit_record
from strategies.audit.audit_verdict import WORSE, judge_draft, sign_evidence
from strategies.audit.drafts import Drafted, drafted, texts_beside
from strategies.audit.edit_moves import draft_edits
from strategies.audit.edit_routing import route_edits
from strategies.audit.evaluate_draft import DraftEvaluation
from strategies.audit.passage_trials import MOST_SEARCHES, PassageSearch, hurt_tasks
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
_QUIET: Final = 2
"""Iterations in a row without a hurt, after which a skill with nothing left to change has converged."""


@dataclass(frozen=True)
class AuditEnd:
    """How an audit ended: its record, the last good draft, and its verdict."""

    record: AuditRecord
    draft: EvaluatedDraft
    verdict: AuditVerdict


@dataclass(frozen=True)
class _Progress:
    """The last good draft, its verdict, and what is done to it next; `earlier` is what it was made from.

    `refused` are the sets of targets that were rolled back from it, or could not be made. `quiet` counts the
    iterations in a row, up to this draft, in which nothing hurt. `searches` counts those for passages by runs, and
    `is_searched` tells that one found nothing in this draft; what the route makes of it is judged from round
    `judged_from` on.
    """

    good: EvaluatedDraft
    verdict: AuditVerdict
    route: EditRoute
    refused: tuple[frozenset[str], ...] = ()
    quiet: int = 0
    earlier: _Progress | None = None
    searches: int = 0
    is_searched: bool = False
    judged_from: int = 0

    def with_draft(self, draft: EvaluatedDraft, verdict: AuditVerdict, earlier: _Progress | None) -> _Progress:
        """Go on from a draft that was not rolled back."""
        quiet = 0 if verdict.result == "hurt" else self.quiet + 1
        return _Progress(draft, verdict, route_edits(draft.pairs), (), quiet, earlier, self.searches)

    def without_route(self) -> _Progress:
        """Try something else next than what was tried last."""
        refused = (*self.refused, self.route.keys)
        return replace(self, refused=refused, route=route_edits(self.good.pairs, refused), judged_from=0)


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
            progress, because = _iterate(plan, evaluation, progress, iteration)
            if because:
                break
        because = because or f"all {plan.iterations} iterations are over"
        because += _warning(plan, progress.verdict)
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
    verdict, route = judge_draft(given.pairs), route_edits(given.pairs)
    _record_judged(plan, _judged(plan, given, verdict, route))
    return _Progress(given, verdict, route, quiet=int(verdict.result != "hurt"))


def _iterate(
    plan: AuditPlan, evaluation: DraftEvaluation, progress: _Progress, iteration: int
) -> tuple[_Progress, str]:
    """Make the next draft, run it and judge it; gives also why the audit ends, "" where it goes on.

    Where a draft is rolled back, Repair tries something else in the same iteration. Where nothing is left to
    change, a draft that nothing hurts is looked at once more.
    """
    if not progress.route.targets and not progress.refused and 0 < progress.quiet < _QUIET:
        return _look_again(plan, evaluation, progress, iteration)
    for attempt in range(MOST_TRIES):
        progress, made, left_out = _next_draft(plan, _searched(plan, evaluation, progress))
        if not made.made:
            why = f"no further change can be made: {'; '.join(left_out)[:_MOST_REASON_CHARS]}"
            return progress, why if left_out else _rest(progress)
        unseen = [(None,) * len(plan.tasks)] * progress.judged_from
        draft = evaluation.evaluated(made.capsule, iteration, unseen)
        verdict = judge_draft(draft.pairs, progress.good.pairs, progress.route.aims)
        following = (
            progress.without_route() if verdict.rolls_back else progress.with_draft(draft, verdict, progress)
        )
        changes = {
            "iteration": iteration,
            "attempt": attempt,
            "kept": not verdict.rolls_back,
            "moves": _moves(made.made, progress.good.pairs),
            "left_out": left_out,
            "drift": _drift(plan, evaluation, iteration),
        }
        judged = _judged(plan, draft, verdict, following.route)
        _record_judged(plan, judged.model_copy(update=changes))
        progress = following
        if not verdict.rolls_back:
            break
    return progress, ""


def _searched(plan: AuditPlan, evaluation: DraftEvaluation, progress: _Progress) -> _Progress:
    """Find by runs what harms, where the last good draft hurts and no trace says why, or two such were wrong.

    What is found was chosen by these runs, so that the draft without it is judged by further ones.
    """
    tasks = hurt_tasks(progress.verdict.hurts)
    traced = any(target.action in {"harmful", "swap"} for target in progress.route.targets)
    left = progress.searches < MOST_SEARCHES and not progress.is_searched
    if not tasks or not left or (traced and len(progress.refused) < MOST_TRIES):
        return progress
    search = PassageSearch(plan, evaluation, progress.good, tasks, first=3 * plan.pairs * progress.searches)
    route = search.route()
    searched = replace(progress, is_searched=not route.targets, searches=progress.searches + 1)
    return replace(searched, route=route, judged_from=search.judged_from) if route.targets else searched


def _next_draft(plan: AuditPlan, progress: _Progress) -> tuple[_Progress, Drafted, tuple[str, ...]]:
    """Change the last good draft as its route asks, or as a later one does where none of that can be made."""
    log, good, left_out = plan.rig.registry.log, progress.good, list[str]()
    while progress.route.targets:
        moves = draft_edits(progress.route, good.capsule, texts_beside(log, good.capsule))
        made = drafted(log, plan.base, good.capsule, moves.edits, limits_of(plan.rig.preset, AUDITOR))
        left_out += (f"{target.quote or target.action}: {target.why}" for target in moves.left)
        left_out += made.refused
        if made.made:
            return progress, made, tuple(left_out)
        progress = progress.without_route()
    return progress, Drafted(good.capsule, (), ()), tuple(left_out)


def _look_again(
    plan: AuditPlan, evaluation: DraftEvaluation, progress: _Progress, iteration: int
) -> tuple[_Progress, str]:
    """Run the last good draft in further pairs, and judge it by all of them.

    What it was kept for may have been luck: it is rolled back where the further pairs alone say so.
    """
    good, earlier = progress.good, progress.earlier
    further = evaluation.evaluated(good.capsule, iteration, good.gains)
    again = replace(further, pairs=(*good.pairs, *further.pairs))
    if earlier and (alone := judge_draft(further.pairs, earlier.good.pairs)).change == "hurt":
        verdict, following = alone, earlier.without_route()
    else:
        verdict = judge_draft(again.pairs)
        following = progress.with_draft(again, verdict, earlier)
    judged = _judged(plan, again, verdict, following.route)
    changes = {
        "iteration": iteration,
        "kept": not verdict.rolls_back,
        "drift": _drift(plan, evaluation, iteration),
    }
    _record_judged(plan, judged.model_copy(update=changes))
    no_pair = "" if further.pairs else f"no further pair of runs was left to look at; {further.lost[0]}"
    return following, no_pair


def _drift(plan: AuditPlan, evaluation: DraftEvaluation, iteration: int) -> float | None:
    """Ask what was asked first once more, and tell which share of answers differs; None without a model."""
    return drift_of(evaluation.first, replace(plan.asking, look=iteration)) if plan.asking else None


def _rest(progress: _Progress) -> str:
    """Say why nothing more is tried."""
    held, anchors = progress.good.anchors
    if progress.route.halted:
        return "a hurt ended it: the core is sound, and no further change is tried"
    if progress.refused:
        return "nothing is left to try: every further change was rolled back, or could not be made"
    if progress.verdict.result == "hurt":
        return "nothing is left to change, though it still hurts"
    if held < anchors:
        return f"nothing is left to change; {anchors - held} of {anchors} anchors fail with the skill"
    return f"converged: no hurt in {progress.quiet} iterations, all anchors hold, and nothing is left to change"


def _warning(plan: AuditPlan, verdict: AuditVerdict) -> str:
    """Say that a skill is worse than none as its last good draft is, "" where it is not."""
    worse = sign_evidence(verdict.worse, verdict.better) >= WORSE
    if verdict.result != "hurt" and not worse:
        return ""
    pairs = f"{verdict.worse} of {verdict.pairs} pairs are worse with it than without, {verdict.better} better"
    return f"; {pairs}: it is safer without{f' (germline skill retire {plan.skill})' if plan.version else ''}"


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
