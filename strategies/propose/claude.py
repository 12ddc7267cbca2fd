"""Claude's suggestions as proposals: merged, ranked, clipped, and each claim held against explore first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict

from strategies.claims.catalogue import questions
from strategies.gate.replay.exposure import Inverse
from strategies.gate.verdict import refusal
from strategies.propose.mine_claims import explained, fitted
from strategies.propose.proposal import (
    FOR_A_PERSON,
    NO_CLAIM,
    LearnedLine,
    Mined,
    PlacedEdits,
    Removal,
    UnmeasuredEdits,
)
from strategies.propose.subtract import is_inert
from strategies.propose.suggestion_checks import (
    CLAUDE,
    agreeing,
    clipped,
    ideas_in,
    merged,
    vocabulary_of,
    was_refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.claims import Claim
    from events.types.parts import Edit
    from events.types.score import Endpoint
    from registry.state.capsule import Capsule
    from strategies.gate.replay.contrast import Contrast
    from strategies.models.tasks.ask_reflection import Reflected
    from strategies.propose.mine_claims import MinedClaims
    from strategies.propose.proposal import Proposal, ProposalRequest, Removed
    from strategies.propose.suggestion_checks import Idea


MOST_ASIDE: Final = 8
"""Ideas of one turn that explore refuses, or that a person must see first, which are kept (a guess)."""


class SuggestionTally(NamedTuple):
    """What became of suggestions before the gate saw them; `refused` ones were rejected in an earlier run."""

    suggested: int = 0
    misfit: int = 0
    repeated: int = 0
    refused: int = 0
    contradicting: int = 0
    clipped: int = 0

    def plus(self, other: SuggestionTally) -> SuggestionTally:
        """Add another one."""
        return SuggestionTally(*(mine + its for mine, its in zip(self, other, strict=True)))


class Sifted(NamedTuple):
    """What goes to the gate, in this order, and what does not."""

    mined: tuple[Mined, ...]
    tally: SuggestionTally


def sifted(ask: ProposalRequest, capsule: Capsule, reflections: Sequence[Reflected], edit_budget: int) -> Sifted:
    """Turn reflections, the most important first, into proposals for one skill.

    The same idea of two reflections counts as one that both support. Of two that contradict each other the first
    stays that explore does not refuse. What explore refuses, and what a person must see first, comes last: it
    takes nobody's place in the edit budget.
    """
    vocabulary = vocabulary_of(ask.explore.records)
    suggested = [
        (suggestion, reflected.actor) for reflected in reflections for suggestion in reflected.suggestions
    ]
    groups = [list(ideas_in(capsule, vocabulary, suggestion, actor)) for suggestion, actor in suggested]
    ideas = [idea for group in groups for idea in group]
    live = {live_claim.claim for gene in capsule.genes for live_claim in gene.claims}
    fresh = [idea for idea in merged(ideas) if not (idea.claims and live.issuperset(idea.claims))]
    own = [idea for idea in fresh if all(map(ask.other_work.allows, idea.claims))]
    allowed = [idea for idea in own if not was_refused(ask, idea)]
    explored = _explored(ask, [claim for idea in allowed if not idea.apart for claim in idea.claims])
    open_ones = [idea for idea in allowed if explored.leaves_open(idea)]
    agreed = agreeing(sorted(open_ones, key=lambda idea: -idea.support))
    kept = clipped(agreed, edit_budget)
    rest = [idea for idea in allowed if not explored.leaves_open(idea)]
    tally = SuggestionTally(
        suggested=len(suggested),
        misfit=sum(not group for group in groups),
        repeated=len(ideas) - len(fresh),
        refused=len(fresh) - len(allowed),
        contradicting=len(open_ones) - len(agreed),
        clipped=len(agreed) - len(kept) + max(0, len(rest) - MOST_ASIDE),
    )
    return Sifted(tuple(_mined(ask, [*kept, *rest[:MOST_ASIDE]], explored)), tally)


class _Explored(NamedTuple):
    """What explore showed of all claims of a turn."""

    endpoints: dict[Claim, Endpoint]
    compared: dict[Claim, Contrast | None]
    mined: MinedClaims

    @property
    def helping(self) -> frozenset[Claim]:
        """The claims that survive, and go with better outcomes."""
        return frozenset(claim for claim, figures in self.mined.surviving.items() if figures.z > 0)

    def leaves_open(self, idea: Idea) -> bool:
        """Tell whether an idea may still change the skill by this turn."""
        return not idea.apart and (not idea.claims or not self.helping.isdisjoint(idea.claims))


def _mined(ask: ProposalRequest, ideas: Sequence[Idea], explored: _Explored) -> Iterator[Mined]:
    """Make proposals of ideas, with what explore showed of their claims."""
    tried = explored.mined.tried
    for idea in ideas:
        for proposal in _proposals(ask, idea, explored):
            first = proposal.claims[0] if proposal.claims else None
            yield Mined(proposal, tried, explored.compared.get(first) if first else None)
            tried = 0  # counted once, with the first of them


def _explored(ask: ProposalRequest, claims: Iterable[Claim]) -> _Explored:
    """Hold every claim of a turn against explore, all of them together."""
    shown = ask.explore.shows_all(claims)
    endpoints = {claim: shown_claim.endpoint for claim, shown_claim in shown.items()}
    compared = {claim: shown_claim.figures for claim, shown_claim in shown.items()}
    return _Explored(endpoints, compared, fitted(compared, tried_before=ask.tried_before))


def _proposals(ask: ProposalRequest, idea: Idea, explored: _Explored) -> Iterator[Proposal]:
    """Propose what is left of an idea after explore, and each edit that explore refused for itself."""
    if idea.removed is not None:
        yield _removal(ask, idea.removed)
        return
    if idea.apart or not idea.claims:
        reason = (
            "what it says is for a person to see first" if idea.apart else "suggested without a claim that fits"
        )
        why = FOR_A_PERSON if idea.apart else NO_CLAIM
        yield UnmeasuredEdits(**_parts(idea, range(len(idea.edits)), reason), why=why)
        return
    helps = explored.helping
    good = [at for at, claim in enumerate(idea.claims) if claim in helps]
    together = all(explored.endpoints[idea.claims[at]] == "outcome" for at in good)
    alone = [[good[at] for at in part] for part in questions([idea.claims[at] for at in good])]
    for ats in [good] if together and good else alone:
        judging = max(ats, key=lambda at: explored.mined.surviving[idea.claims[at]].z)
        claim = idea.claims[judging]
        reason = explained(
            explored.mined.surviving[claim],
            explored.mined.tried,
            len(explored.mined.surviving),
            explored.endpoints[claim],
        )
        ordered = [judging, *(at for at in ats if at != judging)]
        yield PlacedEdits(**_parts(idea, ordered, reason), endpoint=explored.endpoints[claim])
    for at, claim in enumerate(idea.claims):
        if claim not in helps:
            verdict = refusal(explored.compared[claim], explored.mined.tried)
            why = verdict.reasons[0]
            yield UnmeasuredEdits(**_parts(idea, [at], why), why=why, refused=verdict)


class _Parts(TypedDict):
    """What edits of an idea have in common, however they are judged."""

    proposer: str
    reason: str
    lines: tuple[LearnedLine, ...]
    edits: tuple[Edit, ...]
    actor: str


def _parts(idea: Idea, ats: Sequence[int], reason: str) -> _Parts:
    """Choose some edits of an idea, that of the claim that is judged first."""
    lines = tuple(LearnedLine(idea.texts[at], idea.claims[at]) for at in ats) if idea.claims else ()
    edits = tuple(idea.edits[at] for at in ats)
    return _Parts(proposer=CLAUDE, reason=reason, lines=lines, edits=edits, actor=idea.actor)


def _removal(ask: ProposalRequest, removed: Removed) -> Removal:
    """Propose that lines go: because their claim hurts, or does nothing, or else because somebody says so."""
    if removed.claim is None:
        reason = "suggested to be taken away; no claim of its own covers it"
        return Removal(proposer=CLAUDE, reason=reason, removed=removed)
    turned, itself = ask.explore.by_outcome(Inverse(removed.claim)), ask.explore.by_outcome(removed.claim)
    mined = fitted({removed.claim: turned}, tried_before=ask.tried_before)
    if mined.surviving and turned is not None and turned.z > 0:
        reason = f"hurtful, its inverse: {explained(turned, mined.tried, len(mined.surviving))}"
        return Removal(proposer=CLAUDE, reason=reason, removed=removed)
    if itself is not None and is_inert(itself):
        reason = f"inert: {explained(itself, mined.tried, len(mined.surviving))}"
        return Removal(proposer=CLAUDE, reason=reason, removed=replace(removed, inert=True))
    verdict = refusal(turned, max(mined.tried, 1))
    return Removal(proposer=CLAUDE, reason=verdict.reasons[0], removed=removed, refused=verdict)
