"""A person's word about a candidate: what it can do, what it cannot, and that nothing is written by halves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import ConflictError, EditError, GermlineError, RefusedError
from events.types.candidate_events import AWAITS_PERSON, CandidatePromoted, CandidateReviewed
from events.types.capsule_events import CapsuleVersioned
from events.types.parts import Edit
from events.types.score import Score, Unmeasured
from registry.actions.publish import publish
from registry.decide.commands import Judge, LookOver, Propose, Protect, Review, SwitchPreset
from registry.query.provenance import why
from strategies.monitor.agreement import agreement_of
from strategies.monitor.review import approve, reject
from strategies.propose.proposal import remembered
from tests.registries import DO, EVALUATOR, NAME, documents, judged, learn, measured, proposal

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from registry.state.candidate import Candidate

pytestmark = pytest.mark.usefixtures("place")


def held(registry: Registry, *texts: str, edits: tuple[Edit, ...] = (), candidate: str = "c1") -> Candidate:
    """A candidate that the gate measured and held."""
    capsule = registry.capsule(NAME)
    own = edits or (Edit(op="append", gene=capsule.genes[0].id, text=texts or ("Look at the tables first.\n",)),)
    proposed = proposal(capsule, *own, candidate=candidate, claims=() if edits else (DO,))
    judged(registry, proposed, "hold")
    return candidate_named(registry, candidate)


def candidate_named(registry: Registry, name: str) -> Candidate:
    candidate = registry.candidate(name)
    assert candidate is not None
    return candidate


def test_an_approval_is_a_review_a_promotion_and_a_version_with_the_measured_scores(registry: Registry) -> None:
    receipt = approve(registry, held(registry), "it reads well")
    types = [envelope.type for envelope in receipt.envelopes]
    assert types == ["CandidateReviewed", "CandidatePromoted", "GeneMutated", "CapsuleVersioned"]
    review, promotion, _, version = (envelope.event for envelope in receipt.envelopes)
    assert isinstance(review, CandidateReviewed)
    assert (review.decision, review.reason) == ("approve", "it reads well")
    assert isinstance(promotion, CandidatePromoted)
    assert promotion.reasons == ("approved by a person: it reads well",)
    assert isinstance(version, CapsuleVersioned)
    assert version.cause == "override"
    candidate, capsule = candidate_named(registry, "c1"), registry.capsule(NAME)
    assert (candidate.verdict, candidate.version, capsule.version) == ("promote", 2, 2)
    assert isinstance(capsule.score, Score)
    assert not capsule.unproven
    assert receipt.envelopes[0].actor == "person:ada"


def test_what_nobody_measured_stays_unproven(registry: Registry) -> None:
    capsule = registry.capsule(NAME)
    edit = Edit(op="append", gene=capsule.genes[0].id, text=("Be brief.\n",))
    registry.execute(Propose(proposal(capsule, edit)))
    approve(registry, candidate_named(registry, "c1"), "house style")
    capsule = registry.capsule(NAME)
    assert capsule.unproven
    assert isinstance(capsule.score, Unmeasured)
    number = next(n for n in range(1, 20) if why(registry, capsule, n).line.text == "Be brief.\n")
    provenance = why(registry, capsule, number)
    assert provenance.candidate is not None
    assert provenance.candidate.reviewed is not None
    assert provenance.candidate.reviewed.reason == "house style"


def test_a_rejection_stays_known_and_reaches_the_proposers(registry: Registry) -> None:
    reject(registry, held(registry), "we left that database")
    candidate = candidate_named(registry, "c1")
    assert candidate.verdict == "reject"
    assert candidate.reasons == ("rejected by a person: we left that database",)
    assert [
        (past_proposal.verdict, past_proposal.claims) for past_proposal in remembered(registry, NAME, EVALUATOR)
    ] == [("reject", (DO,))]
    assert registry.capsule(NAME).version == 1


def over_budget(registry: Registry) -> Candidate:
    gene = registry.capsule(NAME).genes[1]
    places = [line.id for line in gene.lines if line.text.strip()]
    edits = tuple(
        Edit(op="insert_after", gene=gene.id, target=(places[0],), text=(f"- Rule number {n} of the house.\n",))
        for n in range(5)
    )
    return held(registry, edits=edits)


def over_the_region(registry: Registry) -> Candidate:
    return held(registry, *(f"Line {n} of very many, each of them rather long indeed.\n" for n in range(40)))


def with_hidden_text(registry: Registry) -> Candidate:
    return held(registry, "Look at the tables\u200b first.\n")


def on_a_stale_base(registry: Registry) -> Candidate:
    candidate = held(registry)
    learn(registry, "Something else.\n", candidate="other", claims=())
    return candidate


def of_a_protected_line(registry: Registry) -> Candidate:
    gene = registry.capsule(NAME).genes[1]
    registry.execute(Protect(NAME, gene.id, (gene.lines[2].id,), "agreed with the team"))
    return held(registry, edits=(Edit(op="delete", gene=gene.id, target=(gene.lines[2].id,)),))


def of_a_line_that_is_not_there(registry: Registry) -> Candidate:
    gene = registry.capsule(NAME).genes[1]
    return held(registry, edits=(Edit(op="delete", gene=gene.id, target=(99,)),))


def decided(registry: Registry) -> Candidate:
    reject(registry, held(registry), "no")
    return candidate_named(registry, "c1")


@pytest.mark.parametrize(
    ("made", "error", "says"),
    [
        (over_budget, RefusedError, "5 edits, the preset allows 4"),
        (over_the_region, RefusedError, "the trust region allows"),
        (with_hidden_text, RefusedError, "hidden characters"),
        (on_a_stale_base, ConflictError, "stale base: .* which is at version 2 now"),
        (of_a_protected_line, EditError, "is protected"),
        (of_a_line_that_is_not_there, EditError, "no line 99"),
        (decided, ConflictError, "has its verdict already: reject"),
    ],
)
def test_what_no_person_may_pass_over_is_refused_by_type_and_nothing_is_written(
    registry: Registry, made: object, error: type[GermlineError], says: str
) -> None:
    candidate = made(registry)  # type: ignore[operator]
    head, before = registry.log.head(), documents(registry)
    with pytest.raises(error, match=says) as caught:
        approve(registry, candidate, "I want it")
    assert caught.value.hint or isinstance(caught.value, EditError)
    assert (registry.log.head(), documents(registry)) == (head, before)


def test_the_preset_in_force_says_how_much_may_change(registry: Registry) -> None:
    candidate = over_budget(registry)
    registry.execute(SwitchPreset("innovate", "to try"))
    approve(registry, candidate, "five rules at once")
    assert registry.capsule(NAME).version == 2


def test_files_that_a_person_edited_are_never_overwritten(registry: Registry, place: Path) -> None:
    candidate = held(registry)
    (place / "SKILL.md").write_text((place / "SKILL.md").read_text() + "Mine.\n")
    head = registry.log.head()
    with pytest.raises(RefusedError, match="edited by hand"):
        approve(registry, candidate, "I want it")
    assert registry.log.head() == head


def test_a_promoted_candidate_is_not_judged_or_reviewed_again(registry: Registry) -> None:
    candidate = held(registry)
    approve(registry, candidate, "yes")
    publish(registry, NAME)
    with pytest.raises(ConflictError, match="promote"):
        reject(registry, candidate, "on second thoughts")
    scored = measured(candidate.proposed)
    with pytest.raises(ConflictError):
        registry.execute(Judge(scored, candidate.scored_id, "promote", ()))
    with pytest.raises(GermlineError, match="no candidate"):
        registry.execute(Review("never", NAME, "reject", "x"))


def test_people_agree_with_what_the_gate_let_through_and_decide_what_it_left_open(registry: Registry) -> None:
    learn(registry, candidate="promoted")
    registry.execute(LookOver("promoted", NAME, "disagree", "it costs a turn each time"))
    for name, reason, decide in (
        ("passed", f"{AWAITS_PERSON}nobody was there", approve),
        ("open", "too few tasks", approve),
        ("refused", "too few tasks", reject),
    ):
        line = Edit(op="append", gene=registry.capsule(NAME).genes[0].id, text=(f"Say {name}.\n",))
        proposed = proposal(registry.capsule(NAME), line, candidate=name)
        registry.execute(Propose(proposed))
        registry.execute(Judge(measured(proposed), registry.clock.new_id(), "hold", (reason,)))
        decide(registry, candidate_named(registry, name), "I read it")
        publish(registry, NAME)
    registry.execute(LookOver("passed", NAME, "disagree", "a person's own decision is not the gate's"))
    agreement = agreement_of(registry, NAME)
    assert (agreement.agreed, agreement.answers, agreement.accepted, agreement.rejected) == (1, 2, 1, 1)
    assert agreement.low < 0.5 < agreement.high
    assert [(month.agreed, month.answers) for month in agreement.months] == [(1, 2)]
    assert agreement_of(registry, "another").answers == 0
