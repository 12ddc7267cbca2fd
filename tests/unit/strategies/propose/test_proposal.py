"""Memory: what was rejected is not proposed again; what proposers hear of it holds nothing that was sealed."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest

from events.types.claims import AfterError, StartWith
from events.types.parts import Edit
from registry.decide.commands import Judge, Propose
from strategies.propose.guard import guard
from strategies.propose.habit import habit
from strategies.propose.proposal import PastProposal, ProposalRequest, Removal, remembered
from strategies.propose.recovery import recovery
from strategies.propose.subtract import subtract
from tests.registries import DO, NAME, judged, learn, measured, proposal
from tests.worlds import (
    NO_TABLE,
    asking,
    division_of,
    skill_with,
    world_with_a_habit,
    world_with_a_rule,
)

if TYPE_CHECKING:
    from pathlib import Path

    from events.types.claims import Claim
    from registry.registry import Registry
    from strategies.propose.proposal import Proposer

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
NO_GUESS = AfterError(template=NO_TABLE, avoid="sql:SELECT")


def rejected(*claims: Claim, removes: tuple[Claim, ...] = (), edits: tuple[Edit, ...] = ()) -> PastProposal:
    return PastProposal(claims, "reject", removes, edits)


def claims_of(ask: ProposalRequest, proposer: Proposer) -> tuple[Claim, ...]:
    proposal = proposer(ask).proposal
    return proposal.claims if proposal else ()


def test_after_a_rejection_recovery_goes_on_to_what_is_left() -> None:
    ask = asking(division_of(world_with_a_rule(1), "1").explore, template=NO_TABLE)
    assert claims_of(ask, recovery) == (LOOK, NO_GUESS)
    assert claims_of(replace(ask, tried=(rejected(LOOK),)), recovery) == (NO_GUESS,)
    assert claims_of(replace(ask, tried=(rejected(NO_GUESS),)), recovery) == (LOOK,)


def test_a_pair_that_was_rejected_is_no_longer_proposed_in_part() -> None:
    ask = asking(division_of(world_with_a_rule(1), "1").explore, template=NO_TABLE)
    mined = recovery(replace(ask, tried=(rejected(LOOK, NO_GUESS),)))
    assert (mined.proposal, mined.refused) == (None, 2)


def test_what_is_only_held_is_proposed_again() -> None:
    ask = asking(division_of(world_with_a_rule(1), "1").explore, template=NO_TABLE)
    held = replace(ask, tried=(PastProposal((LOOK, NO_GUESS), "hold"),))
    assert claims_of(held, recovery) == (LOOK, NO_GUESS)


@pytest.mark.parametrize(("proposer", "kind"), [(guard, "guard"), (habit, "start_with")])
def test_every_miner_skips_what_was_rejected_and_takes_the_next_best(proposer: Proposer, kind: str) -> None:
    records = world_with_a_habit(2, kind)  # type: ignore[arg-type]
    ask = asking(division_of(records, "2").explore, action="make" if kind == "guard" else "")
    seen: list[tuple[Claim, ...]] = []
    while claims := claims_of(replace(ask, tried=tuple(rejected(*past_claims) for past_claims in seen)), proposer):
        assert claims not in seen
        seen.append(claims)
    assert len(seen) > 1
    left = proposer(replace(ask, tried=tuple(rejected(*past_claims) for past_claims in seen)))
    assert left.refused == len(seen)


def test_a_line_that_was_to_go_and_stayed_is_left_alone() -> None:
    division = division_of(world_with_a_habit(5, "start_with"), "5")
    hurts = StartWith(do="grep")
    ask = replace(asking(division.explore), capsule=skill_with([hurts]))
    proposal = subtract(ask).proposal
    assert isinstance(proposal, Removal)
    assert subtract(replace(ask, tried=(rejected(removes=(hurts,)),))).proposal is None


def test_the_reason_for_a_removal_counts_what_others_tried_before_it() -> None:
    explore = division_of(world_with_a_habit(5, "start_with"), "5").explore
    ask = replace(asking(explore), capsule=skill_with([StartWith(do="grep")]), tried_before=4)
    proposal = subtract(ask).proposal
    assert proposal is not None
    assert "1 of 5 claims tried" in proposal.reason


def test_a_doubted_line_that_a_person_kept_is_doubted_no_more(registry: Registry, place: Path) -> None:
    del place
    learn(registry, "Answer the question with one SQL query only, please.\n", claims=(), candidate="first")
    capsule = learn(
        registry, "Answer the question with one SQL query only, please!\n", claims=(), candidate="again"
    )
    ask = replace(asking(division_of(world_with_a_rule(1, lift=0.0), "1").explore), capsule=capsule)
    proposal = subtract(ask).proposal
    assert isinstance(proposal, Removal)
    edit = Edit(op="delete", gene=proposal.removed.gene, target=proposal.removed.lines)
    assert subtract(replace(ask, tried=(rejected(edits=(edit,)),))).proposal is None


@pytest.mark.usefixtures("place")
def test_memory_is_of_one_skill_and_one_evaluator(registry: Registry) -> None:
    capsule = registry.capsule(NAME)
    edit = Edit(op="append", gene=capsule.genes[0].id, text=("Look.\n",))
    for verdict in ("reject", "hold", "promote"):
        proposed = proposal(capsule, edit, candidate=verdict, claims=(DO,))
        registry.execute(Propose(proposed))
        registry.execute(Judge(measured(proposed), registry.clock.new_id(), verdict, ("so it is",)))
    evaluator = registry.candidates()[0].proposed.evaluator
    assert [
        (past_proposal.verdict, past_proposal.claims) for past_proposal in remembered(registry, NAME, evaluator)
    ] == [
        ("reject", (DO,)),
        ("hold", (DO,)),
    ]
    assert remembered(registry, NAME, "another") == ()
    assert remembered(registry, "other-skill", evaluator) == ()


@pytest.mark.usefixtures("place")
def test_what_a_person_decided_without_figures_holds_under_every_evaluator(registry: Registry) -> None:
    capsule = registry.capsule(NAME)
    edit = Edit(op="delete", gene=capsule.genes[1].id, target=(3,))
    judged(registry, proposal(capsule, edit), "reject")
    (kept,) = remembered(registry, NAME, "another")
    assert (kept.verdict, kept.edits) == ("reject", (edit,))


def test_proposers_hear_one_word_and_no_figure() -> None:
    assert {field.name for field in fields(PastProposal)} == {"claims", "verdict", "removes", "edits"}
