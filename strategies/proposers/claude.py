"""Claude's suggestions as proposals: merged, ranked, clipped, and each claim held against explore first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.claims.pairs import questions
from strategies.gate.explored import refusal
from strategies.gate.exposure import Inverse
from strategies.gate.policy import WRITTEN_RULE
from strategies.proposers.ideas import (
    CLAUDE,
    agreeing,
    clipped,
    ideas_in,
    merged,
    vocabulary_of,
    was_refused,
)
from strategies.proposers.mining import explained, fitted
from strategies.proposers.proposal import LearnedLine, Mined, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.claims import Claim
    from events.score import Endpoint
    from registry.capsule import Capsule
    from strategies.gate.contrast import Contrast
    from strategies.models.reflection import Reflected
    from strategies.proposers.ideas import Idea
    from strategies.proposers.mining import Fitted
    from strategies.proposers.proposal import Ask, Removed


MOST_ASIDE: Final = 8
"""Ideas of one turn that explore refuses, or that a person must see first, which are kept (a guess)."""


class Tally(NamedTuple):
    """What became of suggestions before the gate saw them; `refused` ones were rejected in an earlier run."""

    suggested: int = 0
    misfit: int = 0
    repeated: int = 0
    refused: int = 0
    contradicting: int = 0
    clipped: int = 0

    def plus(self, other: Tally) -> Tally:
        """Add another one."""
        return Tally(*(mine + its for mine, its in zip(self, other, strict=True)))


class Sifted(NamedTuple):
    """What goes to the gate, in this order, and what does not."""

    mined: tuple[Mined, ...]
    tally: Tally


def sifted(ask: Ask, capsule: Capsule, reflections: Sequence[Reflected], edit_budget: int) -> Sifted:
    """Turn reflections, the most important first, into proposals for one skill.

    The same idea of two reflections counts as one that both support. Of two that contradict each other the first
    stays that explore does not refuse. What explore refuses, and what a person must see first, comes last: it
    takes nobody's place in the edit budget.
    """
    vocabulary = vocabulary_of(ask.explore.records)
    suggested = [(one, reflected.actor) for reflected in reflections for one in reflected.suggestions]
    found = [list(ideas_in(capsule, vocabulary, one, actor)) for one, actor in suggested]
    ideas = [idea for one in found for idea in one]
    live = {one.claim for gene in capsule.genes for one in gene.claims}
    fresh = [one for one in merged(ideas) if not (one.claims and live.issuperset(one.claims))]
    allowed = [one for one in fresh if not was_refused(ask, one)]
    explored = _explored(ask, [claim for idea in allowed if not idea.apart for claim in idea.claims])
    open_ones = [one for one in allowed if explored.leaves_open(one)]
    agreed = agreeing(sorted(open_ones, key=lambda one: -one.support))
    kept = clipped(agreed, edit_budget)
    rest = [one for one in allowed if not explored.leaves_open(one)]
    tally = Tally(
        suggested=len(suggested),
        misfit=sum(not one for one in found),
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
    found: Fitted

    @property
    def helping(self) -> frozenset[Claim]:
        """The claims that survive, and go with better outcomes."""
        return frozenset(claim for claim, figures in self.found.surviving.items() if figures.z > 0)

    def leaves_open(self, idea: Idea) -> bool:
        """Tell whether an idea may still change the skill by this turn."""
        return not idea.apart and (not idea.claims or not self.helping.isdisjoint(idea.claims))


def _mined(ask: Ask, ideas: Sequence[Idea], explored: _Explored) -> Iterator[Mined]:
    """Make proposals of ideas, with what explore showed of their claims."""
    tried = explored.found.tried
    for idea in ideas:
        for proposal in _proposals(ask, idea, explored):
            first = proposal.claims[0] if proposal.claims else None
            yield Mined(proposal, tried, explored.compared.get(first) if first else None)
            tried = 0  # counted once, with the first of them


def _explored(ask: Ask, claims: Iterable[Claim]) -> _Explored:
    """Hold every claim of a turn against explore, all of them together."""
    shown = ask.explore.shows_all(claims)
    endpoints = {claim: one.endpoint for claim, one in shown.items()}
    compared = {claim: one.figures for claim, one in shown.items()}
    return _Explored(endpoints, compared, fitted(compared, tried_before=ask.tried_before))


def _proposals(ask: Ask, idea: Idea, explored: _Explored) -> Iterator[Proposal]:
    """Propose what is left of an idea after explore, and each edit that explore refused for itself."""
    if idea.removed is not None:
        yield _removal(ask, idea, idea.removed)
        return
    if idea.apart or not idea.claims:
        said = "what it says is for a person to see first" if idea.apart else "suggested without a claim that fits"
        yield _written(idea, range(len(idea.edits)), said, apart=idea.apart)
        return
    helps = explored.helping
    good = [at for at, claim in enumerate(idea.claims) if claim in helps]
    together = all(explored.endpoints[idea.claims[at]] == "outcome" for at in good)
    alone = [[good[at] for at in part] for part in questions([idea.claims[at] for at in good])]
    for ats in [good] if together and good else alone:
        judging = max(ats, key=lambda at: explored.found.surviving[idea.claims[at]].z)
        claim = idea.claims[judging]
        reason = explained(
            explored.found.surviving[claim],
            explored.found.tried,
            len(explored.found.surviving),
            explored.endpoints[claim],
        )
        ordered = [judging, *(at for at in ats if at != judging)]
        yield replace(_written(idea, ordered, reason), endpoint=explored.endpoints[claim])
    for at, claim in enumerate(idea.claims):
        if claim not in helps:
            verdict = refusal(explored.compared[claim], explored.found.tried)
            yield replace(_written(idea, [at], verdict.reasons[0]), refused=verdict)


def _written(idea: Idea, ats: Iterable[int], reason: str, *, apart: bool = False) -> Proposal:
    """Propose some edits of an idea, that of the claim that is judged first."""
    ats = list(ats)
    lines = tuple(LearnedLine(idea.texts[at], idea.claims[at]) for at in ats) if idea.claims else ()
    return Proposal(
        CLAUDE, lines, reason, edits=tuple(idea.edits[at] for at in ats), apart=apart, actor=idea.actor
    )


def _removal(ask: Ask, idea: Idea, removed: Removed) -> Proposal:
    """Propose that lines go: because their claim hurts, or does nothing, or else because somebody says so."""
    if removed.claim is None:
        reason = "suggested to be taken away; no claim of its own covers it"
        return Proposal(CLAUDE, (), reason, removed=removed, actor=idea.actor)
    turned, itself = ask.explore.by_outcome(Inverse(removed.claim)), ask.explore.by_outcome(removed.claim)
    found = fitted({removed.claim: turned}, tried_before=ask.tried_before)
    if found.surviving and turned is not None and turned.z > 0:
        reason = f"hurtful, its inverse: {explained(turned, found.tried, len(found.surviving))}"
        return Proposal(CLAUDE, (), reason, removed=removed, actor=idea.actor)
    if itself is not None and _inert(itself):
        reason = f"inert: {explained(itself, found.tried, len(found.surviving))}"
        return Proposal(CLAUDE, (), reason, removed=replace(removed, inert=True), actor=idea.actor)
    verdict = refusal(turned, max(found.tried, 1))
    return Proposal(CLAUDE, (), verdict.reasons[0], removed=removed, refused=verdict, actor=idea.actor)


def _inert(figures: Contrast) -> bool:
    enough = min(figures.obeyed, figures.disobeyed) >= WRITTEN_RULE.least_arm
    return enough and figures.difference.high < WRITTEN_RULE.least_difference
