"""A line is live with what it claims only where logs were asked about it, by whatever way it came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.types.parts import Edit, NewGene, NewSection, NewSkill
from events.types.score import Unmeasured
from events.types.tiers import SeenFigures
from events.types.trial_events import TrialEnded, TrialFactor, TrialStarted
from registry.actions.publish import publish, standing
from registry.actions.untested_claims import drop_untested
from registry.decide.birth import next_gene
from registry.decide.commands import ChangeTier, Judge, PromoteProven, Propose, Review, RunTrial
from registry.projection.projector import rebuild
from registry.query.provenance import blame, uncounted_claims
from registry.state.line_claims import claims_of
from registry.state.tiers import supported_by
from tests.registries import DO, LOOK, NAME, SHOWN, documents, learn, measured, proposal, rollouts, score

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateProposed, CandidateScored
    from events.types.claims import Claim
    from events.types.score import Effect
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")

NOTHING = Unmeasured(reason="no claim covers the line")


def by_runs(proposed: CandidateProposed, effect: Effect | None) -> CandidateScored:
    ran = {kind: score(value).model_copy(update={"kind": "rollout"}) for kind, value in
           (("before", 0.4), ("after", 0.6))}  # fmt: skip
    return measured(proposed).model_copy(update={**ran, "effect": effect, "rollouts": rollouts()})


def unscored(proposed: CandidateProposed) -> CandidateScored:
    return measured(proposed).model_copy(update={"before": NOTHING, "after": NOTHING, "delta": None})


def live(registry: Registry, skill: str = NAME) -> list[Claim]:
    capsule = registry.capsule(skill)
    carried = [claim for gene in capsule.genes for line in gene.lines for claim in claims_of(gene, line)]
    assert set(carried) == {claim.claim for gene in capsule.genes for claim in gene.claims}
    return carried


def proposed_line(registry: Registry, *, born: bool = False) -> CandidateProposed:
    capsule = registry.capsule(NAME)
    line = proposal(capsule, Edit(op="append", gene=capsule.genes[0].id, text=(LOOK,)), claims=(DO,))
    if born:
        gene = NewGene(
            gene=next_gene(capsule), title="Tables", lines=("## Tables\n", "\n", LOOK),
            after_gene=capsule.genes[-1].id, claimed=(3,),
        )  # fmt: skip
        line = line.model_copy(update={"edits": (), "born": gene})
    registry.execute(Propose(line))
    return line


def judge(registry: Registry, scored: CandidateScored, verdict: str = "promote") -> None:
    registry.execute(Judge(scored, registry.clock.new_id(), verdict, ("a test",)))  # type: ignore[arg-type] # a word


@pytest.mark.parametrize("born", [False, True])
@pytest.mark.parametrize(
    ("effect", "kept"), [(SHOWN, [DO]), (None, [])], ids=["logs were asked too", "runs alone"]
)
def test_what_runs_promote_keeps_its_claim_only_where_logs_were_asked(
    registry: Registry,
    effect: Effect | None,
    kept: list[Claim],
    born: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    line = proposed_line(registry, born=born)
    judge(registry, by_runs(line, effect))
    assert live(registry) == kept
    assert registry.candidates()[0].proposed.claims == (DO,)


def test_what_replay_promotes_keeps_its_claim(registry: Registry) -> None:
    judge(registry, measured(proposed_line(registry)))
    assert live(registry) == [DO]


@pytest.mark.parametrize(("effect", "kept"), [(SHOWN, [DO]), (None, [])])
def test_what_a_person_approves_keeps_its_claim_only_where_logs_were_asked(
    registry: Registry, effect: Effect | None, kept: list[Claim]
) -> None:
    line = proposed_line(registry)
    judge(registry, unscored(line).model_copy(update={"effect": effect}), "hold")
    registry.execute(Review(line.candidate, line.capsule, "approve", "it reads well"))
    assert live(registry) == kept


def test_what_was_never_scored_is_approved_without_its_claim(registry: Registry) -> None:
    line = proposed_line(registry)
    registry.execute(Review(line.candidate, line.capsule, "approve", "it reads well"))
    assert live(registry) == []


def test_what_is_accepted_as_seen_keeps_the_claim_whose_successes_were_counted(registry: Registry) -> None:
    line = proposed_line(registry)
    judge(registry, unscored(line), "hold")
    registry.execute(ChangeTier(line.candidate, NAME, SeenFigures(worked=9, tried=10, low=0.6), "counted"))
    registry.execute(Review(line.candidate, line.capsule, "approve", "it reads well"))
    assert live(registry) == [DO]


def test_what_a_person_takes_as_seen_keeps_its_claim_without_a_measurement_and_whatever_tier_comes_later(
    registry: Registry,
) -> None:
    """So does `germline start`: what worked was counted, and no candidate was scored."""
    line = proposed_line(registry)
    registry.execute(ChangeTier(line.candidate, NAME, SeenFigures(worked=9, tried=10, low=0.6), "counted"))
    registry.execute(Review(line.candidate, line.capsule, "approve", "it reads well"))
    for tier in (None, supported_by(SHOWN), None):
        publish(registry, NAME)
        assert drop_untested(registry, [NAME]) == []
        assert live(registry) == [DO]
        registry.execute(ChangeTier(line.candidate, NAME, tier, "logs came since"))
    registry.execute(ChangeTier(line.candidate, NAME, supported_by(SHOWN), "outcomes support it now"))
    assert uncounted_claims(registry, registry.capsule(NAME)) == frozenset()


def test_what_a_trial_proves_keeps_its_claim_only_where_logs_were_asked(registry: Registry) -> None:
    line = proposed_line(registry)
    registry.execute(PromoteProven(line.candidate, NAME, "a coin shows it"))
    assert live(registry) == []


def test_a_skill_that_a_person_approves_unmeasured_is_born_without_claims(registry: Registry) -> None:
    section = NewSection(title="Tables", lines=("## Tables\n", LOOK), claims=(DO,), claimed=(2,))
    front = ("---\n", "name: tables\n", "description: Tables.\n", "---\n")
    skill = NewSkill(source="skills/tables", front=front, sections=(section,))
    line = proposal(registry.capsule(NAME), claims=(DO,)).model_copy(
        update={"capsule": "tables", "base_version": 0, "skill": skill}
    )
    registry.execute(Propose(line))
    registry.execute(Review(line.candidate, line.capsule, "approve", "it reads well"))
    assert live(registry, "tables") == []


def test_the_claim_of_a_line_that_goes_is_dropped_whatever_was_measured(registry: Registry) -> None:
    capsule = learn(registry)
    (gone,) = [line.id for line in capsule.genes[0].lines if line.text == LOOK]
    edit = Edit(op="delete", gene=capsule.genes[0].id, target=(gone,))
    line = proposal(capsule, edit, candidate="c2")
    registry.execute(Propose(line))
    judge(registry, by_runs(line, None))
    assert live(registry) == []


def with_an_untested_claim(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Promote by runs as an earlier germline did: the claim lives untested."""
    line = proposed_line(registry)
    with monkeypatch.context() as before:
        before.setattr("registry.decide.dispatch.claims_tested", lambda *_, **__: True)
        judge(registry, by_runs(line, None))
    publish(registry, NAME)
    assert live(registry) == [DO]


def test_a_claim_that_an_earlier_germline_let_live_untested_is_counted_by_no_score(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_an_untested_claim(registry, monkeypatch)
    assert uncounted_claims(registry, registry.capsule(NAME)) == {DO}


def test_a_registry_that_has_untested_claims_is_repaired_by_events_and_its_lines_stay(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_an_untested_claim(registry, monkeypatch)
    before, events = registry.capsule(NAME), registry.log.head().position
    assert drop_untested(registry, [NAME]) == [NAME]
    after = registry.capsule(NAME)
    assert (live(registry), after.version, after.score) == ([], before.version + 1, before.score)
    assert [gene.lines for gene in after.genes] == [gene.lines for gene in before.genes]
    assert [envelope.type for envelope in registry.log.read(after=events)] == ["GeneMutated", "CapsuleVersioned"]
    assert standing(registry, NAME) == "projected"
    stored = documents(registry)
    rebuild(registry.log)
    assert documents(registry) == stored
    assert drop_untested(registry, [NAME]) == []
    blamed = {line.text: origin.event for line, origin in blame(registry, after)}
    assert getattr(blamed[LOOK], "candidate", "") == registry.candidates()[0].id


def test_a_skill_on_trial_keeps_its_untested_claims_until_that_is_over(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_an_untested_claim(registry, monkeypatch)
    started = TrialStarted(
        trial="t1", capsule=NAME, base_version=2, factors=(TrialFactor(name="v2", given=2, denied=1),),
        unit="session", block_s=0, starts_at=registry.clock.now(), budget=40, outcome="outcome", gain=0.1,
        base_rate=0.5, spread=0.2, loaded=False, adaptive=False, seed="0" * 64,
    )  # fmt: skip
    registry.execute(RunTrial(started))
    assert drop_untested(registry, [NAME]) == []
    registry.execute(RunTrial(TrialEnded(trial="t1", capsule=NAME, results=(), reason="enough")))
    assert drop_untested(registry, [NAME]) == [NAME]


def test_tested_claims_are_no_matter_of_repair(registry: Registry) -> None:
    learn(registry)
    assert drop_untested(registry, [NAME]) == []
    assert live(registry) == [DO]
