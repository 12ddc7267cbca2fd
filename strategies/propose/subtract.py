"""Harden: lines to take away, because replay shows that obeying them hurts or does nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.types.claims import Before
from events.types.parts import Edit
from registry.state.line_claims import claims_of
from strategies.gate.replay.exposure import Inverse
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.dead_text import doubts
from strategies.propose.mine_claims import explained, fitted
from strategies.propose.proposal import Mined, Removal, Removed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.claims import Claim
    from registry.state.capsule import Capsule
    from strategies.gate.replay.contrast import Contrast
    from strategies.propose.mine_claims import MinedClaims
    from strategies.propose.proposal import ProposalRequest


def subtract(ask: ProposalRequest) -> Mined:
    """Compare, for each live claim that lines carry, those who obeyed with those who did not.

    Proposes the removal of the line that hurts most surely; of an inert one where none hurts; where there is none
    either, of a near-duplicate or of dead text, which goes to review. Protected lines are left alone. So is
    `before`: where success ends an episode, an agent that did something first has lost a chance already, and
    every such line would look hurtful.
    """
    if ask.capsule is None:
        return Mined(None, 0, None)
    removable = dict(_removable(ask.capsule))
    turned = {claim: ask.explore.by_outcome(Inverse(claim)) for claim in removable}
    mined = fitted(turned, tried_before=ask.tried_before)
    open_ones = [claim for claim in removable if claim not in ask.refused_removals]
    itself = {claim: ask.explore.by_outcome(claim) for claim in open_ones}
    tried = mined.tried + ask.tried_before
    claim, why = _most_hurtful(mined, itself, tried)
    removed = removable[claim] if claim else None
    if claim is None:
        claim, why = _most_inert(mined, itself, tried)
        removed = replace(removable[claim], inert=True) if claim else None
    if removed is None:
        return Mined(_for_review(ask, ask.capsule), mined.tried, None)
    proposal = Removal(proposer="subtract", reason=why, removed=removed)
    return Mined(proposal, mined.tried, None)


def _most_hurtful(
    mined: MinedClaims, itself: dict[Claim, Contrast | None], tried: int
) -> tuple[Claim | None, str]:
    """Choose the claim whose inverse survives most surely; `itself` holds the claims that may still go."""
    hurtful = {claim: figures for claim, figures in mined.surviving.items() if figures.z > 0 and claim in itself}
    if not hurtful:
        return None, ""
    worst = max(hurtful, key=lambda claim: hurtful[claim].z)
    return worst, f"hurtful, its inverse: {explained(hurtful[worst], tried, len(mined.surviving))}"


def _most_inert(mined: MinedClaims, itself: dict[Claim, Contrast | None], tried: int) -> tuple[Claim | None, str]:
    """Choose the claim that most surely does nothing."""
    inert = {claim: figures for claim, figures in itself.items() if figures is not None and is_inert(figures)}
    if not inert:
        return None, ""
    least = min(inert, key=lambda claim: inert[claim].difference.high)
    return least, f"inert: {explained(inert[least], tried, len(mined.surviving))}"


def is_inert(figures: Contrast) -> bool:
    """Tell whether a claim surely does nothing: enough cases of both kinds, and no difference worth a line."""
    enough = min(figures.obeyed, figures.disobeyed) >= WRITTEN_RULE.least_arm
    return enough and figures.difference.high < WRITTEN_RULE.least_difference


def _for_review(ask: ProposalRequest, capsule: Capsule) -> Removal | None:
    """Propose the first line that a skill could do without, as far as its words tell, and nobody wanted kept."""
    for doubt in doubts(capsule):
        if Edit(op="delete", gene=doubt.gene, target=(doubt.line,)) not in ask.refused_edits:
            removed = Removed(doubt.gene, (doubt.line,), None)
            return Removal(proposer="subtract", reason=doubt.why, removed=removed)
    return None


def _removable(capsule: Capsule) -> Iterator[tuple[Claim, Removed]]:
    """List the lines that carry one claim of their own, which no other line carries."""
    for gene in capsule.genes:
        carried = [(line.id, claims_of(gene, line)) for line in gene.lines]
        for live in gene.claims:
            lines = [line for line, claims in carried if claims == (live.claim,)]
            if len(lines) == 1 and gene.is_open(*lines) and not isinstance(live.claim, Before):
                yield live.claim, Removed(gene.id, tuple(lines), live.claim)
