"""From what was mined to a candidate: its edits, its measurement, and what the gate says of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from events.candidate_events import CandidateProposed, CandidateScored
from events.claims import Trigger
from events.parts import Edit
from events.score import Unmeasured
from registry.claimed import claims_of
from strategies.gate.decide import Verdict, judge, judge_inert
from strategies.gate.evaluator import candidate_id
from strategies.gate.explain import author_rules, claim_rule, gene_rules, text_rules, weight_rule
from strategies.gate.lint import Limits, findings_on, unclaimed_lines
from strategies.gate.measure import Evidence, Figures, Replayed, measure, measure_removal
from strategies.gate.rules import failed
from strategies.gate.untrusted import quarantine_rule
from strategies.memory import relapse
from strategies.proposers.placement import answering, appended, newborn, placed_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.claims import Claim
    from events.parts import Strategy
    from events.registry_events import SignalRaised
    from events.runs import Attribution
    from registry.capsule import Capsule
    from registry.gene import Gene
    from registry.registry import Registry
    from strategies.gate.lint import Finding
    from strategies.gate.rules import Rule
    from strategies.ground import Ground
    from strategies.presets import Preset
    from strategies.proposers.proposal import Copied, Proposal, Removed
    from strategies.rollouts.settling import Settled
    from strategies.rollouts.trials import Trials

RELAPSE: Final = "outcomes fell when this was promoted before"
"""How the reason begins where a regression took the same claims back."""
NOT_RUN: Final = "runs of an agent decide here, and none were made: germline evolve makes them"
"""How the reason begins where nobody was there to pay for the runs of a candidate."""
FOR_REVIEW: Final = "for review: the gate lets it through, and nobody was there to promote it"
"""The reason that a later run, which a person starts, promotes from the stored figures."""


@dataclass(frozen=True, slots=True)
class Turn:
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
class Draft:
    """A candidate with its figures, not yet judged.

    `measured` is None where stored figures are judged again. Of a claim that is to go, `figures` are those of its
    inverse. `runs` say what an agent did with it, and then decide; where it still `awaits_runs`, nothing promotes
    it. `sends` counts the claims that the sealed logs are asked about, none where explore `refused` it;
    `attributions` say what each edit brought. `actor` is who proposes, "" for the proposer itself.
    """

    proposed: CandidateProposed
    figures: Figures
    measured: Evidence | None = None
    runs: Settled | None = None
    awaits_runs: bool = False
    refused: Verdict | None = None
    sends: int = 1
    attributions: tuple[Attribution, ...] = ()
    actor: str = ""

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
            attributions=self.attributions,
        )
        return replayed if self.runs is None else self.runs.beside(replayed)


def live_claims(capsule: Capsule) -> tuple[Claim, ...]:
    """List the live claims of a capsule, in the order of the genes and of the lines that carry them."""
    return tuple(claim for gene in capsule.genes for claim in _claims_in(gene))


def _claims_in(gene: Gene) -> tuple[Claim, ...]:
    """List the claims of a gene as its lines come; those that no line carries any more come last."""
    carried = (claim for line in gene.lines for claim in claims_of(gene, line))
    return tuple(dict.fromkeys((*carried, *(live.claim for live in gene.claims))))


def key_of(turn: Turn, capsule: Capsule, proposal: Proposal) -> str:
    """Name the candidate that a proposal makes, before it is measured."""
    removes, text = _removed_claims(proposal), ""
    if proposal.removed is not None and not removes:
        gene = capsule.gene(proposal.removed.gene)
        text = "".join(one.text for one in gene.lines if one.id in proposal.removed.lines) if gene else ""
    if proposal.apart or proposal.refused or (proposal.edits and not proposal.claims):
        born = proposal.born.lines if proposal.born else ()
        text = "".join((*born, *(line for edit in proposal.edits for line in edit.text)))
    return candidate_id(capsule.name, proposal.claims, turn.ground.evaluator, removes=removes, text=text)


def draft(turn: Turn, signal: SignalRaised, capsule: Capsule, home: Gene, proposal: Proposal) -> Draft:
    """Measure what was mined; what it proposes keeps only the lines whose claims stay."""
    stamp = turn.ground.stamp(turn.registry.clock.now())
    live, division = live_claims(capsule), turn.ground.division
    if proposal.removed is not None and proposal.refused is not None:
        proposed = proposed_as(turn, signal, capsule, proposal, (_removal(proposal.removed),))
        return unmeasured(proposed, proposal.refused.reasons[0], refused=proposal.refused)
    if proposal.removed is not None and proposal.removed.claim is None:
        proposed = proposed_as(turn, signal, capsule, proposal, (_removal(proposal.removed),))
        return unmeasured(proposed, "no claim covers the line")
    if proposal.removed is not None and proposal.removed.claim is not None:
        measured = measure_removal(proposal.removed.claim, live, division, stamp, seed=turn.seed)
        proposed = proposed_as(turn, signal, capsule, proposal, (_removal(proposal.removed),))
        return Draft(proposed, measured.figures, measured)
    write = placed_first if proposal.general else appended
    earlier = capsule.genes[: capsule.genes.index(home)]
    leads = write(home, ()).op == "insert_after"
    place = sum(len(_claims_in(gene)) for gene in (earlier if leads else (*earlier, home)))
    measured = measure(
        proposal.claims, live, division, stamp, seed=turn.seed, place=place, endpoint=proposal.endpoint
    )
    kept = proposal.keeping(measured.kept)
    lines = [line.text for line in kept.lines]
    proposed = proposed_as(turn, signal, capsule, kept, (write(home, lines),), key=key_of(turn, capsule, proposal))
    if proposal.copied is not None and _bears(turn.preset, signal, capsule, proposal.copied):
        born, edits = newborn(capsule, home, proposal.copied, lines)
        proposed = proposed.model_copy(update={"born": born, "edits": edits})
    return Draft(proposed, measured.figures, measured)


def _bears(preset: Preset, signal: SignalRaised, capsule: Capsule, copied: Copied) -> bool:
    """Tell whether a copied line becomes a gene of its own: none answers the signal, and none is called so yet.

    What has a keeper stands nowhere else, whatever the preset: the gate then says that it allows no new gene.
    """
    known = answering(capsule, signal.fingerprint, signal.action)
    if copied.keeper:
        return known is None
    return preset.bears_genes and known is None and all(gene.title != copied.title for gene in capsule.genes)


def verdict_on(turn: Turn, capsule: Capsule, drafted: Draft, sent: int) -> Verdict:
    """Judge the figures, and refuse what they would promote but no skill should hold."""
    proposed = drafted.proposed
    decision, missing = failed((quarantine_rule(proposed), *_preset_rules(turn, proposed)))
    if missing:
        return Verdict(decision, missing)
    verdict = drafted.runs.verdict if drafted.runs else _by_replay(turn, drafted, sent)
    if drafted.awaits_runs and verdict.decision != "reject":
        return Verdict("hold", (NOT_RUN, *verdict.reasons), verdict.scope)
    if verdict.decision != "promote":
        return verdict
    if before := relapse(turn.registry, proposed):
        return Verdict("hold", (f"{RELAPSE}, as {before}: a person decides", *verdict.reasons), verdict.scope)
    findings = _findings(turn, capsule, proposed, unclaimed=() if drafted.runs else unclaimed_lines(proposed))
    decision, missing = failed(text_rules(findings))
    if missing:
        return Verdict(decision, (*missing, *verdict.reasons), verdict.scope)
    warnings = tuple(f"beside: {one.what}" for one in findings)
    verdict = replace(verdict, reasons=(*verdict.reasons, *warnings))
    return Verdict("hold", (FOR_REVIEW, *verdict.reasons), verdict.scope) if turn.review else verdict


def text_verdict(turn: Turn, capsule: Capsule, proposed: CandidateProposed) -> Verdict | None:
    """Judge what a candidate says, whatever it would show; None where nothing stands in its way."""
    rules = quarantine_rule(proposed), *_preset_rules(turn, proposed)
    decision, missing = failed((*rules, *text_rules(_findings(turn, capsule, proposed))))
    return Verdict(decision, missing) if missing else None


def _by_replay(turn: Turn, drafted: Draft, sent: int) -> Verdict:
    """Judge what logs say of the claims; where there are none, a person decides."""
    if drafted.refused is not None:
        return drafted.refused
    decision, missing = failed((claim_rule(drafted.proposed),))
    if missing:
        return Verdict(decision, missing)
    policy = turn.preset.policy()
    return judge_inert(drafted.figures, policy) if drafted.proposed.inert else judge(drafted.figures, policy, sent)


def _preset_rules(turn: Turn, proposed: CandidateProposed) -> tuple[Rule, ...]:
    return weight_rule(proposed, turn.preset), *gene_rules(proposed, turn.preset), *author_rules(proposed)


def _findings(
    turn: Turn, capsule: Capsule, proposed: CandidateProposed, *, unclaimed: Sequence[str] = ()
) -> list[Finding]:
    limits = Limits(edits=turn.edit_budget, trust_region=turn.preset.trust_region)
    return findings_on(capsule, proposed, limits, unclaimed=unclaimed)


def _removed_claims(proposal: Proposal) -> tuple[Claim, ...]:
    return (proposal.removed.claim,) if proposal.removed and proposal.removed.claim else ()


def unmeasured(
    proposed: CandidateProposed, reason: str, *, refused: Verdict | None = None, actor: str = ""
) -> Draft:
    """Draft what is not measured: text that no claim covers, or a claim that explore `refused`."""
    nothing = Unmeasured(reason=reason)
    empty = Replayed(nothing, nothing, None, None)
    measured = Evidence(empty, empty, (), heuristic=False, contradicted=())
    claimed = proposed.claims or proposed.removes
    sends = 0 if claimed else 1
    return Draft(proposed, Figures(None, None), measured, refused=refused, sends=sends, actor=actor)


def _removal(removed: Removed) -> Edit:
    return Edit(op="delete", gene=removed.gene, target=removed.lines)


def proposed_as(
    turn: Turn,
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
        triggers=(trigger,) if proposal.lines or proposal.born else (),
        reason=proposal.reason,
        evaluator=turn.ground.evaluator,
        removes=_removed_claims(proposal),
        inert=proposal.removed is not None and proposal.removed.inert,
    )
