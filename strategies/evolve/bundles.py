"""Bundles: candidates whose edits have their places already, freed of those that only ride along."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from registry.decide.promote import edited
from registry.state.line_claims import claims_by_edit, claims_of, lost_claims
from strategies.claims.applicability import counted_claims, live_claims
from strategies.claims.catalogue import questions, sentence
from strategies.claims.claim_sentences import seen_with
from strategies.evolve.draft import CandidateDraft, key_of, proposed_as, scope_shown, seen_of
from strategies.gate.ablation import ClaimPosition, ablate
from strategies.gate.replay.contrast import judged
from strategies.gate.replay.evaluation_set import sent_so_far
from strategies.gate.replay.measure import Figures, effect_on, helps, measure, measure_change
from strategies.gate.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.claims import Claim
    from events.types.parts import Edit
    from events.types.registry_events import SignalRaised
    from events.types.runs import Attribution
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from strategies.evolve.draft import TurnContext
    from strategies.gate.replay.measure import ReplayEvidence
    from strategies.propose.proposal import PlacedEdits

_IDLE: Final = "; dropped, for it does not help by itself: "
_PASSENGERS: Final = "; passengers were dropped: "


def draft_edits(
    turn: TurnContext, signal: SignalRaised, capsule: Capsule, proposal: PlacedEdits
) -> CandidateDraft:
    """Measure edits with their claims.

    What to do and what to avoid after one error count as one question, judged by what to do; what to avoid stays
    where it helps by itself on the sealed logs. Of several questions each must carry its part
    of the gain: those that only ride along are dropped, and what is left is measured as a candidate of its own.
    Raises: EditError or NotFoundError where the edits do not fit the capsule.
    """
    key = key_of(turn, capsule, proposal)
    proposal = _without_idle(turn, _paired(proposal))
    proposed = proposed_as(turn, signal, capsule, proposal, proposal.edits, key=key)
    measured = _measured(turn, capsule, proposed, proposal)
    proposed = _scoped(proposed, scope_shown(measured.figures))
    parts = questions(proposal.claims)
    drafted = CandidateDraft(
        proposed,
        measured.figures,
        measured,
        sends=len(parts),
        actor=proposal.actor,
        seen=seen_of(turn, proposal),
    )
    return drafted if len(parts) == 1 else _freed(turn, signal, capsule, proposal, drafted)


def _scoped(proposed: CandidateProposed, runs: Sequence[str]) -> CandidateProposed:
    """Let every line that says something name the runs that alone show it."""

    def scoped(edit: Edit) -> Edit:
        text = tuple(seen_with(line, runs) if line.strip() else line for line in edit.text)
        return edit.model_copy(update={"text": text})

    return proposed.model_copy(update={"edits": tuple(map(scoped, proposed.edits))}) if runs else proposed


def reason_given(reason: str) -> str:
    """Give the reason that a candidate was proposed for, without what sealed logs then showed of its parts."""
    return reason.partition(_IDLE)[0].partition(_PASSENGERS)[0]


def _paired(proposal: PlacedEdits) -> PlacedEdits:
    """Put what to avoid behind what to do: the question that was judged first stays first."""
    parts = sorted(questions(proposal.claims), key=min)
    return _keeping(proposal, [at for part in parts for at in part])


def _without_idle(turn: TurnContext, proposal: PlacedEdits) -> PlacedEdits:
    """Drop what to avoid after an error where it does not help by itself on the sealed logs."""
    sealed = judged(turn.ground.division.sealed).records
    behind = [at for part in questions(proposal.claims) for at in part[1:]]
    idle = [at for at in behind if not helps(proposal.claims[at], sealed)]
    if not idle:
        return proposal
    text = "; ".join(sentence(proposal.claims[at]) for at in idle)
    kept = _keeping(proposal, [at for at in range(len(proposal.edits)) if at not in idle])
    return replace(kept, reason=f"{proposal.reason}{_IDLE}{text}")


def _keeping(proposal: PlacedEdits, ats: Sequence[int]) -> PlacedEdits:
    edits, lines = proposal.edits, proposal.lines
    return replace(proposal, edits=tuple(edits[at] for at in ats), lines=tuple(lines[at] for at in ats))


def _measured(
    turn: TurnContext, capsule: Capsule, proposed: CandidateProposed, proposal: PlacedEdits
) -> ReplayEvidence:
    stamp = turn.ground.stamp(turn.registry.clock.now())
    before, division = counted_claims(turn.registry, capsule), turn.ground.division
    if proposal.endpoint == "recovered":
        return measure(proposal.claims, before, division, stamp, seed=turn.seed, endpoint="recovered")
    uncounted = set(live_claims(capsule)).difference(before, proposal.claims)
    versions = before, tuple(claim for claim in claims_after(capsule, proposed) if claim not in uncounted)
    return measure_change(proposal.claims, versions, division, stamp, seed=turn.seed)


def claims_after(capsule: Capsule, proposed: CandidateProposed) -> tuple[Claim, ...]:
    """List the claims that would be live with these edits, in the order of the genes and of their lines."""
    after = edited(capsule, proposed.edits, proposed.born, by=proposed.proposer)
    own = () if proposed.born else proposed.claims
    claim_of_line = {
        (edit.gene, text): claim
        for edit, mine in zip(proposed.edits, claims_by_edit(proposed.edits, own), strict=True)
        for text, claim in zip((text for text in edit.text if text.strip()), mine, strict=False)
    }
    claims: list[Claim] = []
    for gene in after.genes:
        base = capsule.gene(gene.id)
        if base is None:
            claims += proposed.claims
            continue
        gone = _gone(base, [edit for edit in proposed.edits if edit.gene == gene.id])
        for line in gene.lines:
            new = claim_of_line.get((gene.id, line.text)) if line.origin == 0 else None
            claims += [new] if new else [claim for claim in claims_of(base, line) if claim not in gone]
        claims += [live.claim for live in base.claims if live.claim not in gone]
    return tuple(dict.fromkeys(claims))


def _gone(gene: Gene, edits: Sequence[Edit]) -> frozenset[Claim]:
    return frozenset(claim for lost in lost_claims(gene, edits) for claim in lost)


def _freed(
    turn: TurnContext, signal: SignalRaised, capsule: Capsule, proposal: PlacedEdits, whole: CandidateDraft
) -> CandidateDraft:
    """Attribute the gain of a bundle to its questions, by ablation on the sealed logs, and drop the passengers.

    Each is held to the rule of the gate by itself, with what the whole loses without it for its delta.
    """
    parts = questions(proposal.claims)
    sent = sent_so_far(turn.registry) + len(parts)
    attributions = _attributions(turn, capsule, whole.proposed, parts, sent)
    carriers = [at for at, attribution in enumerate(attributions) if not attribution.passenger] or [0]
    if len(carriers) == len(attributions):
        ordered = zip(parts, attributions, strict=True)
        return replace(
            whole,
            attributions=tuple(
                attribution.model_copy(update={"edit": at}) for part, attribution in ordered for at in part
            ),
        )
    kept_ats = [at for carrier in carriers for at in parts[carrier]]
    dropped = "; ".join(sentence(claim) for at, claim in enumerate(proposal.claims) if at not in kept_ats)
    kept = _keeping(proposal, kept_ats)
    kept = replace(kept, reason=f"{proposal.reason}{_PASSENGERS}{dropped}")
    return replace(draft_edits(turn, signal, capsule, kept), sends=len(parts))


def _attributions(
    turn: TurnContext, capsule: Capsule, proposed: CandidateProposed, parts: Sequence[Sequence[int]], sent: int
) -> tuple[Attribution, ...]:
    """Attribute a gain to questions, each an edit or a pair of them; `edit` counts the questions."""
    after = claims_after(capsule, proposed)
    at = min(after.index(claim) for claim in proposed.claims)
    live = tuple(claim for claim in after if claim not in proposed.claims)
    sealed, heuristic = judged(turn.ground.division.sealed)
    by_part = [[proposed.claims[at] for at in part] for part in parts]
    ablated = ablate(by_part, ClaimPosition(live, at), sealed, seed=turn.seed, sharing=turn.ground.sharing)
    policy = turn.preset.policy()
    freed = []
    for attribution, mine in zip(ablated, by_part, strict=True):
        effect = effect_on(mine[0], sealed)
        alone = judge(Figures(effect, attribution.delta, heuristic=heuristic), policy, sent)
        freed.append(
            attribution.model_copy(update={"passenger": attribution.passenger or alone.decision != "promote"})
        )
    return tuple(freed)
