"""Guidance: the slow update at the end of a run of cycles, through the gate like anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.types.registry_events import SignalRaised
from registry.actions.publish import publish
from strategies.claims.applicability import live_claims
from strategies.evolve.run_selftest import every_claim
from strategies.evolve.turn import run_cycle
from strategies.propose.proposal import ProposalRequest, remembered
from strategies.propose.run_guidance import changes_between, slow, strategy_of

if TYPE_CHECKING:
    from events.types.parts import Strategy
    from strategies.evolve.draft import TurnContext
    from strategies.evolve.results import CycleResult
    from strategies.propose.run_guidance import TaskChanges

SLOW_GUIDANCE: Final = "slow_guidance"
"""The kind of what a slow update answers: no signal that was raised, but the run itself."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """What a run did to the same explore tasks, and what became of the proposal that led to, if it led to one."""

    skill: str
    first: int
    last: int
    changes: TaskChanges
    result: CycleResult | None


def guide(turn: TurnContext, skill: str, first: int, *, write: bool) -> Guidance | None:
    """Compare a skill's version at the start of a run with the one now, and propose what is still missing.

    None where nothing was promoted meanwhile, or no explore episode has an outcome.
    """
    capsule, explore = turn.registry.capsule(skill), turn.ground.division.explore
    live = live_claims(capsule)
    if capsule.version == first:
        return None
    before = live_claims(turn.registry.capsule(skill, str(first)))
    changes = changes_between(explore, before, live, seed=turn.seed)
    if changes is None:
        return None
    tried = remembered(turn.registry, skill, turn.ground.evaluator)
    ground, asked = turn.ground, _asked(skill, "harden", changes)
    ask = ProposalRequest(asked, ground.explore, capsule, tried=tried, other_work=ground.other_work)
    wanted = [
        claim
        for claim in every_claim(explore)
        if turn.preset.weights.of(strategy_of(claim)) and ask.other_work.allows(claim)
    ]
    mined = slow(ask, wanted, live, changes)
    if mined.proposal is None:
        return Guidance(skill, first, capsule.version, changes, None)
    signal = _asked(skill, strategy_of(mined.proposal.claims[0]), changes)
    result = run_cycle(turn, signal, capsule, mined)
    if write and turn.registry.capsule(skill).version != capsule.version:
        publish(turn.registry, skill)
    return Guidance(skill, first, capsule.version, changes, result)


def _asked(skill: str, strategy: Strategy, changes: TaskChanges) -> SignalRaised:
    """Describe what a slow update answers in the terms of a signal; it is never recorded as one."""
    return SignalRaised(
        fingerprint=f"{SLOW_GUIDANCE}:{skill}",
        kind=SLOW_GUIDANCE,
        calls_for=strategy,
        count=len(changes.open),
        episodes=0,
        runs=(),
        severity=0.0,
    )
