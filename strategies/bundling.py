"""Bundles: candidates whose edits have their places already, freed of those that only ride along."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from registry.claimed import claims_by_edit, claims_of, lost_claims
from registry.promote import edited
from strategies.claims.kinds import sentence
from strategies.drafts import Draft, key_of, live_claims, proposed_as, unmeasured
from strategies.gate.attribution import Place, ablate
from strategies.gate.contrast import cases_of, contrast, effect_of
from strategies.gate.decide import judge
from strategies.gate.measure import Figures, Stamp, measure, measure_change
from strategies.gate.outcomes import judged
from strategies.ground import sent_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.candidate_events import CandidateProposed
    from events.claims import Claim
    from events.parts import Edit
    from events.registry_events import SignalRaised
    from events.runs import Attribution
    from registry.capsule import Capsule
    from registry.gene import Gene
    from strategies.drafts import Turn
    from strategies.gate.measure import Evidence
    from strategies.proposers.proposal import Proposal


def draft_edits(turn: Turn, signal: SignalRaised, capsule: Capsule, proposal: Proposal) -> Draft:
    """Measure edits with their claims; what explore refused, and what only a person can judge, is not measured.

    Of several edits each must carry its part of the gain: those that only ride along are dropped, and what is left
    is measured as a candidate of its own.
    Raises: EditError or NotFoundError where the edits do not fit the capsule.
    """
    key = key_of(turn, capsule, proposal)
    proposed = proposed_as(turn, signal, capsule, proposal, proposal.edits, key=key)
    if proposal.born is not None:
        proposed = proposed.model_copy(update={"born": proposal.born})
    if not proposal.claims or proposal.apart or proposal.refused is not None:
        drafted = unmeasured(proposed, _why_unmeasured(proposal), refused=proposal.refused)
        return replace(drafted, actor=proposal.actor)
    measured = _measured(turn, capsule, proposed, proposal)
    drafted = Draft(proposed, measured.figures, measured, sends=len(proposal.edits), actor=proposal.actor)
    if len(proposal.edits) == 1 or proposal.born is not None:
        return replace(drafted, sends=1)
    return _freed(turn, signal, capsule, proposal, drafted)


def _why_unmeasured(proposal: Proposal) -> str:
    if proposal.refused is not None:
        return proposal.refused.reasons[0]
    return "a person decides on what it says" if proposal.apart else "no claim covers the line"


def _measured(turn: Turn, capsule: Capsule, proposed: CandidateProposed, proposal: Proposal) -> Evidence:
    stamp = Stamp(turn.ground.evaluator, turn.registry.clock.now())
    before, division = live_claims(capsule), turn.ground.division
    if proposal.endpoint == "recovered":
        return measure(proposal.claims, before, division, stamp, seed=turn.seed, endpoint="recovered")
    versions = before, claims_after(capsule, proposed)
    return measure_change(proposal.claims, versions, division, stamp, seed=turn.seed)


def claims_after(capsule: Capsule, proposed: CandidateProposed) -> tuple[Claim, ...]:
    """List the claims that would be live with these edits, in the order of the genes and of their lines."""
    after = edited(capsule, proposed.edits, proposed.born, by=proposed.proposer)
    own = () if proposed.born else proposed.claims
    said = {
        (edit.gene, text): claim
        for edit, mine in zip(proposed.edits, claims_by_edit(proposed.edits, own), strict=True)
        for text, claim in zip((text for text in edit.text if text.strip()), mine, strict=False)
    }
    found: list[Claim] = []
    for gene in after.genes:
        base = capsule.gene(gene.id)
        if base is None:
            found += proposed.claims
            continue
        gone = _gone(base, [edit for edit in proposed.edits if edit.gene == gene.id])
        for line in gene.lines:
            new = said.get((gene.id, line.text)) if line.origin == 0 else None
            found += [new] if new else [claim for claim in claims_of(base, line) if claim not in gone]
        found += [live.claim for live in base.claims if live.claim not in gone]
    return tuple(dict.fromkeys(found))


def _gone(gene: Gene, edits: Sequence[Edit]) -> frozenset[Claim]:
    return frozenset(claim for lost in lost_claims(gene, edits) for claim in lost)


def _freed(turn: Turn, signal: SignalRaised, capsule: Capsule, proposal: Proposal, whole: Draft) -> Draft:
    """Attribute the gain of a bundle to its edits, by ablation on the sealed logs, and drop the passengers.

    Each edit is held to the rule of the gate by itself, with what the whole loses without it for its delta.
    """
    sent = sent_to(turn.registry, turn.ground.evaluator) + len(proposal.edits)
    found = _attributions(turn, capsule, whole.proposed, sent)
    carriers = [at for at, one in enumerate(found) if not one.passenger] or [0]
    if len(carriers) == len(found):
        return replace(whole, attributions=found)
    dropped = "; ".join(sentence(claim) for at, claim in enumerate(proposal.claims) if at not in carriers)
    kept = replace(
        proposal,
        edits=tuple(proposal.edits[at] for at in carriers),
        lines=tuple(proposal.lines[at] for at in carriers),
        reason=f"{proposal.reason}; passengers were dropped: {dropped}",
    )
    return replace(draft_edits(turn, signal, capsule, kept), sends=len(proposal.edits))


def _attributions(turn: Turn, capsule: Capsule, proposed: CandidateProposed, sent: int) -> tuple[Attribution, ...]:
    after = claims_after(capsule, proposed)
    at = min(after.index(claim) for claim in proposed.claims)
    live = tuple(claim for claim in after if claim not in proposed.claims)
    sealed, heuristic = judged(turn.ground.division.sealed)
    by_edit = claims_by_edit(proposed.edits, proposed.claims)
    found = ablate(by_edit, Place(live, at), sealed, seed=turn.seed)
    policy = turn.preset.policy()
    freed = []
    for one, mine in zip(found, by_edit, strict=True):
        figures = contrast(cases_of(mine[0], sealed))
        effect = None if figures is None else effect_of(figures)
        alone = judge(Figures(effect, one.delta, heuristic=heuristic), policy, sent)
        freed.append(one.model_copy(update={"passenger": one.passenger or alone.decision != "promote"}))
    return tuple(freed)
