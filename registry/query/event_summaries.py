"""Summaries: what each event did, in one line, for lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from events.types.candidate_events import BY_HAND, CandidateProposed
from events.types.registry_events import LOOKED_UP
from registry.query.signal_kinds import kind_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.store.envelope import Envelope
    from events.types.tiers import TierFigures


def summary(envelope: Envelope) -> str:
    """Say in one line what an event did; types of a newer germline are named as such.

    Raises: CorruptLogError where the payload is no event of its type.
    """
    if not envelope.is_known:
        return f"{envelope.type}: written by a newer germline"
    say = _SAY.get(envelope.type)
    return envelope.type if say is None else say(envelope.event)


def origin_words(proposed: CandidateProposed) -> str:
    """Say what kind of change a candidate is, and who proposes it: `repair by recovery`, `harden by hand`."""
    return f"{proposed.strategy} by {'hand' if proposed.proposer == BY_HAND else proposed.proposer}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _edits(event: Any) -> str:  # noqa: ANN401 - an event of any type with edits
    ops: dict[str, int] = {}
    for edit in event.edits:
        ops[edit.op] = ops.get(edit.op, 0) + max(len(edit.text), len(edit.target))
    return ", ".join(f"{op} {_count(n, 'line')}" for op, n in ops.items()) or "no edit"


def _cost(event: Any) -> str:  # noqa: ANN401 - an event with a cost, or none
    most = "" if event.usage else "at most "
    return f", {most}{event.cost_usd:.4f} USD" if event.cost_usd else ""


def _first(reasons: tuple[str, ...]) -> str:
    return reasons[0] if reasons else ""


def _tested_against(event: Any) -> str:  # noqa: ANN401 - a SkillTested
    if event.line is not None:
        return f"itself without the line {event.line.text!r}"
    return f"{' + '.join(event.beside)} without it" if event.beside else "no skill"


def _tier(figures: TierFigures | None) -> str:
    return figures.tier if figures else "none"


_SAY: dict[str, Callable[[Any], str]] = {
    "RegistryCreated": lambda e: f"registry created, preset {e.preset}",
    "PresetSwitched": lambda e: f"preset {e.previous} → {e.preset}: {e.reason}",
    "PresetDefined": lambda e: f"preset {e.preset} defined",
    "EvaluatorRegistered": lambda e: (
        f"{e.kind} evaluator {e.evaluator[:8]} over "
        f"{_count(e.tasks, 'task') if e.kind == 'rollout' else _count(e.episodes, 'episode')}"
    ),
    "JudgeCalibrated": lambda e: f"judge {e.judge}: agreement {e.agreement:.2f} on {_count(e.items, 'item')}",
    "RunsScored": lambda e: f"{_count(e.runs, 'run')} scored by {e.model}, as a note",
    "SessionsReviewed": lambda e: f"{e.decision} {_count(e.sessions, 'session')} as training data: {e.reason}",
    "RolloutsReviewed": lambda e: f"{e.decision} {_count(e.runs, 'finished run')} for export: {e.reason}",
    "SignalRaised": lambda e: (
        f"{kind_word(e.kind)}: {e.template or e.action or '(no action)'}, "
        f"{e.count:,}× in {_count(e.episodes, 'episode')}"
    ),
    "SignalAssigned": lambda e: (
        f"signal {e.fingerprint[:8]} {'no longer assigned' if e.withdrawn else 'assigned'} to {e.capsule}"
    ),
    "ReadingCorrected": lambda e: (
        f"line {e.line} of {e.gene} read as {e.claim.kind if e.claim else 'nothing that logs hold'}"
    ),
    "OutcomeRecorded": lambda e: (
        f"git hints that episode {e.episode[:12]} ended in {e.value:g}: {e.source}"
        if e.source in LOOKED_UP
        else f"episode {e.episode[:12]} ended in {e.value:g}, says {e.source}"
    ),
    "CycleFinished": lambda e: f"{e.strategy}: {e.verdict}, {e.tried} tried; {_first(e.reasons)}",
    "TrainingStarted": lambda e: (
        f"training begins: {_count(e.explore, 'explore task')}, {e.sealed:,} sealed, {e.audit:,} audit; "
        f"{e.proposer} proposes, agent {e.agent}"
    ),
    "TrainingEpochEnded": lambda e: (
        f"epoch {e.epoch}: {len(e.promoted)} promoted, {len(e.held)} held, {len(e.rejected)} rejected; "
        f"version {e.version} is live, {_count(e.runs, 'run')} so far{f'; {e.because}' if e.because else ''}"
    ),
    "ResearchStarted": lambda e: (
        f"research of {e.target} begins: {_count(len(e.surface), 'file')} may change; measured by "
        f"{e.measured_by}, {e.proposer} proposes"
    ),
    "NoiseMeasured": lambda e: (
        f"unchanged files give {e.middle:g} in {_count(e.runs, 'run')}, with a noise of {e.deviation:g}"
    ),
    "ExperimentProposed": lambda e: (
        f"experiment {e.experiment}: {', '.join(file.path for file in e.after) or 'nothing that fits'}; {e.reason}"
    ),
    "ExperimentEnded": lambda e: f"experiment {e.experiment}: {e.verdict}; {_first(e.reasons)}",
    "ExperimentUndone": lambda e: f"experiment {e.experiment} taken back: {e.reason}",
    "AuditTaskInterpreted": lambda e: (
        f"task {e.task} read by {e.by}: {_count(len(e.kept), 'anchor')} locked, {len(e.dropped):,} dropped"
    ),
    "AuditStarted": lambda e: f"audit begins: {_count(e.tasks, 'task')}, agent {e.agent}, {e.model or 'no model'}",
    "EvaluatorReported": lambda e: (
        f"{e.evaluator}: {_count(sum(row.result == 'hurt' for row in e.tasks), 'pair')} hurt, "
        f"{sum(row.result == 'helped' for row in e.tasks):,} helped, of {len(e.tasks):,}"
    ),
    "AuditJudged": lambda e: (
        f"iteration {e.iteration}: {e.result} by {e.by}; {_count(len(e.moves), 'edit')}"
        f"{'' if e.kept else ', rolled back'}; {e.reason}"
    ),
    "AuditEnded": lambda e: (
        f"audit ends: {e.because}; {f'candidate {e.candidate[:12]}' if e.candidate else 'no candidate'}"
    ),
    "AdviceGiven": lambda e: f"advice: {f'{e.started} begun; ' * bool(e.started)}{e.track}; {_first(e.reasons)}",
    "ModelAsked": lambda e: (
        f"{e.role} asked {e.model}: {e.error or e.outcome}"
        f"{f', {e.usage.total:,} tokens' if e.usage else ''}{_cost(e)}{', replayed' if e.replayed else ''}"
    ),
    "ModelBatchSent": lambda e: f"{e.role} asked {e.model} {_count(len(e.prompts), 'prompt')} in batch {e.batch}",
    "NotesTaken": lambda e: f"notes by {e.model} on {_count(e.candidates, 'candidate')}",
    "EvidenceErased": lambda e: f"evidence {e.evidence[:8]} erased: {e.reason}",
    "GeneBorn": lambda e: (
        f"gene {e.gene} {e.title or '(preamble)'}, {_count(len(e.lines), 'line')}"
        f"{f', from {e.derived_from}' if e.derived_from else ''}"
    ),
    "GeneMutated": lambda e: f"gene {e.gene} version {e.version}: {_edits(e)}",
    "GeneMoved": lambda e: f"gene {e.gene} moved",
    "GeneProtected": lambda e: f"gene {e.gene} protected: {e.reason}",
    "GeneReleased": lambda e: f"gene {e.gene} released: {e.reason}",
    "GeneRetired": lambda e: f"gene {e.gene} retired: {e.reason}",
    "CapsuleImported": lambda e: f"imported from {e.source}, {_count(len(e.files) + 1, 'file')}",
    "CapsuleBorn": lambda e: f"a new skill, written to {e.source}",
    "CapsuleVersioned": lambda e: f"version {e.version}: {e.summary}",
    "CapsuleReverted": lambda e: f"back to version {e.to_version}: {e.reason}",
    "CapsuleDescribed": lambda e: f"front matter: {_edits(e)}",
    "FileChanged": lambda e: f"{e.path} {'changed' if e.entry else 'removed'}",
    "HandEditAdopted": lambda e: f"hand edit of {', '.join(e.files)} adopted",
    "VersionMerged": lambda e: (
        f"version {e.origin_version} of registry {e.origin.registry[:8]} merged: "
        f"{f'candidate {e.candidate[:12]}' if e.candidate else e.outcome}; "
        f"there {e.origin_cause} by {e.origin.actor}"
    ),
    "CapsuleMoved": lambda e: f"moved to {e.source}, from {e.previous}",
    "AliasMoved": lambda e: f"{e.alias} → {e.version or 'removed'}{': ' + e.reason if e.reason else ''}",
    "AliasDeployed": lambda e: (
        f"{e.alias} {f'deployed to {e.folder}' if e.folder else f'no longer deployed to {e.previous}'}"
        f"{': ' + e.reason if e.reason else ''}"
    ),
    "VersionRetired": lambda e: f"version {e.version} retired: {e.reason}",
    "VersionScored": lambda e: f"version {e.version} measured: {e.score.value:.3f} by {e.score.evaluator[:8]}",
    "SkillTested": lambda e: (
        f"version {e.version} against {_tested_against(e)}: "
        f"{e.verdict}, {e.rollouts.difference:+.3f} "
        f"[{e.rollouts.low:+.3f}, {e.rollouts.high:+.3f}] in {_count(e.rollouts.pairs, 'pair')}, agent {e.agent}"
    ),
    "SkillModelsCompared": lambda e: f"version {e.version} under {e.first.model} and {e.second.model}: {e.reason}",
    "DescriptionJudged": lambda e: (
        f"description, {e.verdict}: found {e.reached.before:.2f} → {e.reached.after:.2f}, "
        f"spared {e.spared.before:.2f} → {e.spared.after:.2f}; {e.description}"
    ),
    "RetirementProposed": lambda e: (
        f"retire it? {e.success:.0%} of {_count(e.uses, 'session')} succeeded [{e.low:.2f}, {e.high:.2f}]"
        if e.cause == "sessions"
        else f"retire it? runs with it did worse than without any skill: {e.success:.0%} of {e.uses:,} passed"
    ),
    "CapsuleRetired": lambda e: f"retired: {e.reason}",
    "CapsuleRestored": lambda e: f"restored: {e.reason}",
    "CandidateProposed": lambda e: f"{origin_words(e)}: {e.reason}",
    "ComparisonFrozen": lambda e: (
        f"comparison {e.comparison[:8]} frozen: {_count(e.sealed_tasks, 'sealed task')}, agent {e.agent}"
    ),
    "CandidateScored": lambda e: f"scored on version {e.base_version}",
    "CandidateReviewed": lambda e: f"{e.decision}: {e.reason}",
    "PromotionReviewed": lambda e: f"{e.decision}s with version {e.version}: {e.reason}",
    "CandidatePromoted": lambda e: f"promoted to version {e.version}",
    "CandidateRejected": lambda e: f"rejected: {_first(e.reasons).removeprefix('rejected ')}",
    "TrialStarted": lambda e: (
        f"trial of {', '.join(factor.name for factor in e.factors)}, by "
        f"{'blocks of time' if e.unit == 'block' else 'session'}, up to {_count(e.budget, 'session')}"
    ),
    "TrialAssigned": lambda e: (
        f"{'block' if e.unit.isdecimal() else 'session'} {e.unit[:36]} has its arm"
        f"{'' if set(e.shares) <= {0.5} else ', drawn with ' + ', '.join(f'{share:.2f}' for share in e.shares)}"
        f"{f'; {e.missed:,} missed before it' if e.missed else ''}"
        f"{f'; not switched: {e.problem}' if e.problem else ''}"
    ),
    "TrialLooked": lambda e: (
        f"{_count(sum(sum(unit.sessions) for unit in e.counted), 'session')} counted; "
        + ", ".join(f"{result.factor} {result.decision}" for result in e.results)
    ),
    "TrialEnded": lambda e: (
        f"trial ended: {', '.join(f'{result.factor} {result.decision}' for result in e.results) or e.reason}"
    ),
    "CandidateHeld": lambda e: f"held: {_first(e.reasons)}",
    "SeenLineJudged": lambda e: (
        f"outcomes {'support it' if e.supported else 'do not support it yet'}: share {e.sent:,} of alpha, "
        f"p {e.p:.2g} in {_count(e.decisions, 'decision')}"
    ),
    "LineTierChanged": lambda e: f"tier {_tier(e.before)} → {_tier(e.after)}: {e.reason}",
}
