"""From what was mined to a candidate: its edits, its measurement, and what the gate says of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from events.types.candidate_events import AWAITS_PERSON, CandidateProposed, CandidateScored
from events.types.claims import Trigger
from events.types.registry_events import EvaluatorRegistered
from events.types.score import Score, Unmeasured
from registry.decide.commands import RecordFact
from registry.state.tiers import tier_at_promotion
from strategies.claims.applicability import claims_in, counted_claims, live_claims
from strategies.claims.claim_sentences import seen_with
from strategies.gate.explain import author_rules, claim_rule, gene_rules, text_rules, weight_rule
from strategies.gate.file_findings import file_changes
from strategies.gate.grave_actions import person_rules
from strategies.gate.lint import Limits, findings_on, unclaimed_lines
from strategies.gate.replay.measure import (
    Figures,
    Replayed,
    ReplayEvidence,
    candidate_id,
    contradicted,
    measure,
    measure_removal,
)
from strategies.gate.replay.replicates import scope_of_line
from strategies.gate.rule import failed
from strategies.gate.verdict import Verdict, judge, judge_inert
from strategies.policy.written_rules import METHOD, policy_text
from strategies.propose.placement import answering, appended, first_claimed, newborn, placed_first
from strategies.propose.proposal import OwnSection, relapse
from strategies.tiers.draft_tier import draft_tier, unprojected
from strategies.tiers.seen import seen_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.parts import Edit, Strategy
    from events.types.registry_events import SignalRaised
    from events.types.runs import Attribution
    from events.types.tiers import SeenFigures, TierFigures
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from strategies.gate.lint import LintFinding
    from strategies.gate.replay.evaluation_set import Ground
    from strategies.gate.rule import Rule
    from strategies.policy.presets import Preset
    from strategies.propose.proposal import Copied, NewLines, PlacedEdits, Proposal, Removal, UnmeasuredEdits
    from strategies.rollouts.compare.in_turn import Trials
    from strategies.rollouts.compare.settle import Settled


RELAPSE: Final = "outcomes fell when this was promoted before"
"""How the reason begins where a regression took the same claims back."""
NOT_RUN: Final = "runs of an agent decide here, and none were made: germline evolve makes them"
"""How the reason begins where nobody was there to pay for the runs of a candidate."""
FOR_REVIEW: Final = f"{AWAITS_PERSON}the gate lets it through, and nobody was there to promote it"
"""The reason that a later run, which a person starts, promotes from the stored figures."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What one turn works with: fixed before it begins. With `review` what the gate lets through is held.

    `because` says why `auto` chose the preset, "" where a person named it. `trials` run candidates of the skills
    that have a harness.
    """

    registry: Registry
    ground: Ground
    preset: Preset
    seed: int
    edit_budget: int
    offered: tuple[Strategy, ...]
    review: bool = False
    because: str = ""
    trials: Trials | None = None


@dataclass(frozen=True, slots=True)
class CandidateDraft:
    """A candidate with its figures, not yet judged.

    `measured` is None where stored figures are judged again. Of a claim that is to go, `figures` are those of its
    inverse. `runs` say what an agent did with it, and then decide; where it still `awaits_runs`, nothing promotes
    it. `sends` counts the claims that the sealed logs are asked about, none where explore `refused` it;
    `attributions` say what each edit brought. `actor` is who proposes, "" for the proposer itself. `seen` counts
    how often a claim that is judged by `recovered` worked on the sealed logs.
    """

    proposed: CandidateProposed
    figures: Figures
    measured: ReplayEvidence | None = None
    runs: Settled | None = None
    awaits_runs: bool = False
    refused: Verdict | None = None
    sends: int = 1
    attributions: tuple[Attribution, ...] = ()
    actor: str = ""
    seen: SeenFigures | None = None

    @property
    def by(self) -> str:
        """Who proposes it, as its events name them."""
        return self.actor or f"miner:{self.proposed.proposer}"

    def scored(self, sent: int) -> CandidateScored:
        """Write the measurement down; there must be one."""
        if self.measured is None:
            raise ValueError("nothing was measured")
        sealed, audit = self.measured.sealed, self.measured.audit
        replayed = CandidateScored(
            candidate=self.proposed.candidate,
            capsule=self.proposed.capsule,
            base_version=self.proposed.base_version,
            before=sealed.before,
            after=sealed.after,
            delta=sealed.delta,
            effect=sealed.effect,
            audit_before=audit.before,
            audit_after=audit.after,
            audit_delta=audit.delta,
            audit_effect=audit.effect,
            outcome_effect=self.measured.outcome,
            censoring=self.measured.censoring,
            sent=sent,
            heuristic=self.measured.heuristic,
            hints=self.measured.hints,
            attributions=self.attributions,
        )
        return replayed if self.runs is None else self.runs.beside(replayed)


def key_of(turn: TurnContext, capsule: Capsule, proposal: Proposal) -> str:
    """Name the candidate that a proposal makes, before it is measured."""
    return candidate_id(
        capsule.name,
        proposal.claims,
        turn.ground.evaluator,
        removes=proposal.removes,
        text=proposal.words(capsule),
    )


def draft_lines(
    turn: TurnContext, signal: SignalRaised, capsule: Capsule, home: Gene, proposal: NewLines
) -> CandidateDraft:
    """Measure lines and place them; of those proposed only the ones stay whose claims do."""
    stamp = turn.ground.stamp(turn.registry.clock.now())
    live, division = counted_claims(turn.registry, capsule), turn.ground.division
    write = placed_first if proposal.general else appended
    earlier = capsule.genes[: capsule.genes.index(home)]
    leads = proposal.general and first_claimed(home)
    above = {claim for gene in (earlier if leads else (*earlier, home)) for claim in claims_in(gene)}
    place = sum(claim in above for claim in live)
    measured = measure(
        proposal.claims,
        live,
        division,
        stamp,
        seed=turn.seed,
        place=place,
        endpoint=proposal.endpoint,
        chosen_of=proposal.chosen_of,
    )
    measured = replace(measured, contradicted=contradicted(measured.kept, live_claims(capsule)))
    kept = proposal.keeping(measured.kept)
    lines = [seen_with(line.text, scope_shown(measured.figures)) for line in kept.lines]
    proposed = proposed_as(
        turn, signal, capsule, kept, (write(capsule, home, lines),), key=key_of(turn, capsule, proposal)
    )
    if isinstance(proposal, OwnSection) and _bears(turn.preset, signal, capsule, proposal.copied):
        born, edits = newborn(capsule, home, proposal.copied, lines)
        proposed = proposed.model_copy(update={"born": born, "edits": edits})
    return CandidateDraft(proposed, measured.figures, measured, seen=seen_of(turn, proposal))


def seen_of(turn: TurnContext, proposal: NewLines | PlacedEdits) -> SeenFigures | None:
    """Count on sealed logs how often what a claim asks for worked, where no outcome judges it."""
    return seen_in(proposal.claims[0], turn.ground.division.sealed) if proposal.endpoint == "recovered" else None


def scope_shown(figures: Figures) -> tuple[str, ...]:
    """Name the runs that lines have to name, because they alone show what the lines claim."""
    return scope_of_line(figures.effect.replicates) if figures.effect else ()


def draft_removal(turn: TurnContext, signal: SignalRaised, capsule: Capsule, proposal: Removal) -> CandidateDraft:
    """Measure what the inverse of a claim shows, where a claim covers the lines and explore did not refuse it."""
    proposed, claim = proposed_as(turn, signal, capsule, proposal, (proposal.edit,)), proposal.removed.claim
    if proposal.unmeasured or claim is None:
        return unmeasured(proposed, proposal.unmeasured, refused=proposal.refused)
    stamp = turn.ground.stamp(turn.registry.clock.now())
    counted = counted_claims(turn.registry, capsule)
    live = [other for other in live_claims(capsule) if other in counted or other == claim]
    measured = measure_removal(claim, live, turn.ground.division, stamp, seed=turn.seed)
    return CandidateDraft(proposed, measured.figures, measured)


def draft_unmeasured(
    turn: TurnContext, signal: SignalRaised, capsule: Capsule, proposal: UnmeasuredEdits
) -> CandidateDraft:
    """Write down edits that explore refused, and those that only a person can judge."""
    proposed = proposed_as(turn, signal, capsule, proposal, proposal.edits)
    proposed = proposed.model_copy(update={"born": proposal.born})
    return unmeasured(proposed, proposal.why, refused=proposal.refused, actor=proposal.actor)


def _bears(preset: Preset, signal: SignalRaised, capsule: Capsule, copied: Copied) -> bool:
    """Tell whether a copied line becomes a gene of its own: none answers the signal, and none is called so yet.

    What has a keeper is nowhere else, whatever the preset: the gate then says that it allows no new gene.
    """
    known = answering(capsule, signal.fingerprint, signal.action)
    if copied.keeper:
        return known is None
    return preset.bears_genes and known is None and all(gene.title != copied.title for gene in capsule.genes)


def verdict_on(turn: TurnContext, capsule: Capsule, drafted: CandidateDraft, sent: int) -> Verdict:
    """Judge the figures, and refuse what they would promote but no skill should hold."""
    proposed = drafted.proposed
    decision, missing = failed((*_person_rules(turn, capsule, proposed), *_preset_rules(turn, proposed)))
    if missing:
        return Verdict(decision, missing)
    verdict = drafted.runs.verdict if drafted.runs else _by_replay(turn, drafted, sent)
    if drafted.awaits_runs and verdict.decision != "reject":
        return Verdict("hold", (NOT_RUN, *verdict.reasons), verdict.scope)
    return _as_lines(turn, capsule, drafted, verdict) if verdict.decision == "promote" else verdict


def _as_lines(turn: TurnContext, capsule: Capsule, drafted: CandidateDraft, verdict: Verdict) -> Verdict:
    """Hold or refuse what the figures let through: for what its lines say, or for want of a person's word."""
    proposed = drafted.proposed
    if before := relapse(turn.registry, proposed):
        return Verdict("hold", (f"{RELAPSE}, as {before}: a person decides", *verdict.reasons), verdict.scope)
    findings = _findings(turn, capsule, proposed, unclaimed=() if drafted.runs else unclaimed_lines(proposed))
    decision, missing = failed(text_rules(findings))
    if missing:
        return Verdict(decision, (*missing, *verdict.reasons), verdict.scope)
    warnings = tuple(f"beside: {finding.what}" for finding in findings)
    verdict = replace(verdict, reasons=(*verdict.reasons, *warnings))
    waits = FOR_REVIEW if turn.review else unprojected(turn.preset, proposed, by_runs=drafted.runs is not None)
    return Verdict("hold", (waits, *verdict.reasons), verdict.scope) if waits else verdict


def text_verdict(turn: TurnContext, capsule: Capsule, proposed: CandidateProposed) -> Verdict | None:
    """Judge what a candidate says, whatever it would show; None where nothing keeps it out."""
    rules = *_person_rules(turn, capsule, proposed), *_preset_rules(turn, proposed)
    decision, missing = failed((*rules, *text_rules(_findings(turn, capsule, proposed))))
    return Verdict(decision, missing) if missing else None


def tier_of(
    turn: TurnContext, capsule: Capsule, drafted: CandidateDraft, scored: CandidateScored, verdict: Verdict
) -> TierFigures | None:
    """Tell what speaks for the lines of a candidate that is judged; None where nothing does.

    A held one is offered to a person as that; what its text keeps out, or was taken back before, as nothing.
    """
    proposed = drafted.proposed
    if verdict.decision == "promote":
        return tier_at_promotion(proposed, scored)
    if verdict.decision == "reject":
        return None
    kept_out = text_verdict(turn, capsule, proposed) is not None or bool(relapse(turn.registry, proposed))
    seen = None if kept_out else drafted.seen
    return draft_tier(proposed, scored, seen, verdict.reasons, turn.preset)


def _by_replay(turn: TurnContext, drafted: CandidateDraft, sent: int) -> Verdict:
    """Judge what logs say of the claims; where there are none, a person decides."""
    if drafted.refused is not None:
        return drafted.refused
    decision, missing = failed((claim_rule(drafted.proposed),))
    if missing:
        return Verdict(decision, missing)
    policy, figures = turn.preset.policy(), _beside_own(turn, drafted.figures)
    return judge_inert(figures, policy) if drafted.proposed.inert else judge(figures, policy, sent)


def _beside_own(turn: TurnContext, figures: Figures) -> Figures:
    """Hold what others alone show against one's own runs too where they are in logs that do not count here."""
    effect = figures.effect
    if not turn.ground.others_alone or effect is None or effect.replication is None or effect.replication.own:
        return figures
    left = effect.replication.model_copy(update={"new": True})
    return replace(figures, effect=effect.model_copy(update={"replication": left}))


def _person_rules(turn: TurnContext, capsule: Capsule, proposed: CandidateProposed) -> tuple[Rule, Rule]:
    return person_rules(proposed, file_changes(turn.registry.log, capsule, proposed.files))


def _preset_rules(turn: TurnContext, proposed: CandidateProposed) -> tuple[Rule, ...]:
    return weight_rule(proposed, turn.preset), *gene_rules(proposed, turn.preset), *author_rules(proposed)


def _findings(
    turn: TurnContext, capsule: Capsule, proposed: CandidateProposed, *, unclaimed: Sequence[str] = ()
) -> list[LintFinding]:
    limits = Limits(edits=turn.edit_budget, trust_region=turn.preset.trust_region)
    files = file_changes(turn.registry.log, capsule, proposed.files)
    return findings_on(capsule, proposed, limits, unclaimed=unclaimed, files=files)


def unmeasured(
    proposed: CandidateProposed, reason: str, *, refused: Verdict | None = None, actor: str = ""
) -> CandidateDraft:
    """Draft what is not measured: text that no claim covers, or a claim that explore `refused`."""
    nothing = Unmeasured(reason=reason)
    empty = Replayed(nothing, nothing, None, None)
    measured = ReplayEvidence(empty, empty, (), heuristic=False, contradicted=())
    claimed = proposed.claims or proposed.removes
    sends = 0 if claimed else 1
    return CandidateDraft(proposed, Figures(None, None), measured, refused=refused, sends=sends, actor=actor)


def proposed_as(
    turn: TurnContext,
    signal: SignalRaised,
    capsule: Capsule,
    proposal: Proposal,
    edits: tuple[Edit, ...],
    *,
    key: str = "",
) -> CandidateProposed:
    """Write down what is proposed; only what brings claimed lines, or a gene, brings the trigger they answer."""
    trigger = Trigger(
        fingerprint=signal.fingerprint, kind=signal.kind, template=signal.template, action=signal.action
    )
    return CandidateProposed(
        candidate=key or key_of(turn, capsule, proposal),
        capsule=capsule.name,
        base_version=capsule.version,
        strategy=signal.calls_for,
        preset=turn.preset.name,
        proposer=proposal.proposer,
        fingerprint=signal.fingerprint,
        edits=edits,
        claims=proposal.claims,
        triggers=(trigger,) if proposal.answers_signal else (),
        reason=proposal.reason,
        evaluator=turn.ground.evaluator,
        removes=proposal.removes,
        inert=proposal.inert,
    )


def register_evaluator(registry: Registry, drafted: CandidateDraft) -> None:
    """Freeze the evaluator that a claim has for itself where it is judged by `recovered`."""
    score = None if drafted.measured is None else drafted.measured.sealed.before
    if score is None or isinstance(score, Unmeasured) or score.endpoint != "recovered":
        return
    if registry.log.document("evaluator", score.evaluator) is not None:
        return
    audit = drafted.measured.audit.before if drafted.measured else None
    delta = drafted.figures.delta
    event = EvaluatorRegistered(
        evaluator=score.evaluator,
        kind="replay",
        scope="claim",
        method=METHOD,
        policy=policy_text("recovered"),
        episodes=score.n + (audit.n if isinstance(audit, Score) else 0),
        tasks=delta.tasks if delta else 0,
        sealed_tasks=delta.tasks if delta else 0,
    )
    registry.execute(RecordFact((event,)), actor="germline")
