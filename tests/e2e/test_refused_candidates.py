"""Candidates that no skill may take: refused with the rule they break, by the registry and by the gate alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import ConflictError, EditError
from events.types.claims import StartWith
from events.types.parts import Edit
from events.types.registry_events import SignalAssigned
from registry.actions.publish import publish
from registry.decide.commands import Judge, Propose, Protect, RecordFact
from strategies.evolve import loop
from strategies.evolve.loop import Plan, evolve
from strategies.gate.lint import Limits, lint
from strategies.policy.presets import PRESETS, EditBudget
from strategies.pool.intake import take_in as take_in_episodes
from strategies.propose.proposal import Copied, LearnedLine, Mined, NewLines, OwnSection, Removal, Removed
from tests.registries import NAME, imported, judged, measured, proposal, raised_signal
from tests.worlds import world_with_a_habit

if TYPE_CHECKING:
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.policy.presets import Preset
    from strategies.propose.proposal import Proposal, ProposalRequest

HELPS, HURTS = StartWith(do="ls"), StartWith(do="grep")
HURTFUL = "Begin each task with this: call grep.\n"
KIND = "missing_capability"


@pytest.fixture
def registry(registry: Registry, tmp_path: Path) -> Registry:
    """A skill with a learned line that hurts, and logs that show so."""
    take_in_episodes(registry, world_with_a_habit(5, "start_with"))
    registry.execute(
        RecordFact(
            (
                raised_signal(
                    KIND,
                    fingerprint="lacking",
                    calls_for="innovate",
                    action="make",
                    count=9,
                    episodes=9,
                    severity=0.9,
                ),
            )
        )
    )
    imported(registry, tmp_path)
    base = registry.capsule(NAME)
    judged(registry, proposal(base, Edit(op="append", gene=base.genes[0].id, text=(HURTFUL,)), claims=(HURTS,)))
    publish(registry, NAME)
    return registry


def standing(registry: Registry, skill: str = NAME) -> tuple[int, int, bytes]:
    """Give all that a refusal must leave as it is: the version, the mutations, and the file."""
    capsule = registry.capsule(skill)
    mutations = sum(1 for _ in registry.log.read(types=("GeneMutated", "GeneBorn", "CapsuleVersioned")))
    return capsule.version, mutations, (Path(capsule.source) / "SKILL.md").read_bytes()


def hurtful_line(capsule: Capsule) -> tuple[str, int]:
    return next((gene.id, line.id) for gene in capsule.genes for line in gene.lines if line.text == HURTFUL)


# -- by the registry: whoever asks, and whatever was measured ------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (Edit(op="delete", gene=f"{NAME}.1", target=(99,)), "no match"),
        (Edit(op="replace", gene=f"{NAME}.2", target=(3, 2), text=("x\n",)), "not adjacent"),
        (Edit(op="delete", gene=f"{NAME}.2", target=(3, 3)), "not adjacent"),
        (Edit(op="replace", gene=f"{NAME}.2", target=(3,), text=("- Guess.\n",)), "protected"),
        (Edit(op="delete", gene=f"{NAME}.3", target=(1,)), "protected"),
        (Edit(op="append", gene=f"{NAME}.2", text=("## Another heading\n",)), "sections"),
        (Edit(op="append", gene=f"{NAME}.2", text=("runs into the next one",)), "sections"),
    ],
)
def test_the_registry_promotes_no_edit_that_does_not_fit(registry: Registry, edit: Edit, rule: str) -> None:
    registry.execute(Protect(NAME, f"{NAME}.2", (3,), "settled"))
    registry.execute(Protect(NAME, f"{NAME}.3", (), "settled"))
    proposed = proposal(registry.capsule(NAME), edit, candidate="bad")
    registry.execute(Propose(proposed))
    head, before = registry.log.head(), standing(registry)
    with pytest.raises(EditError) as caught:
        registry.execute(Judge(measured(proposed), registry.clock.new_id(), "promote", ("it helps",)))
    assert caught.value.rule == rule
    assert registry.log.head() == head
    assert standing(registry) == before


def test_the_registry_promotes_nothing_on_a_stale_base(registry: Registry) -> None:
    base = registry.capsule(NAME)
    add = [Edit(op="append", gene=base.genes[0].id, text=(f"{text}.\n",)) for text in ("One", "Two")]
    first, late = (proposal(base, edit, candidate=name * 64) for edit, name in zip(add, "ab", strict=True))
    registry.execute(Propose(late))
    judged(registry, first)
    head, before = registry.log.head(), standing(registry)
    with pytest.raises(ConflictError) as caught:
        registry.execute(Judge(measured(late), registry.clock.new_id(), "promote", ("it helps",)))
    assert (caught.value.expected, caught.value.actual) == (2, 3)
    assert registry.log.head() == head
    assert standing(registry) == before


# -- by the gate: the figures are good, and the candidate is refused all the same --------------------------

INNOVATE = PRESETS["innovate"]
ONE_EDIT = INNOVATE.model_copy(update={"name": "one", "edit_budget": EditBudget(start=1, floor=1)})
BARE = "---\nname: bare\ndescription: Bare.\n---\n\nDo the work."


def refusal_of(
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    wanted: Proposal,
    *,
    preset: Preset = INNOVATE,
    skill: str = NAME,
) -> str:
    """Let a proposer want this, see that nothing came of it, and return the first reason."""

    def proposes(ask: ProposalRequest) -> Mined:
        del ask
        return Mined(wanted, 1, None)

    registry.execute(RecordFact((SignalAssigned(fingerprint="lacking", capsule=skill),)))
    monkeypatch.setattr(loop, "PROPOSERS", {KIND: (proposes,)})
    before = standing(registry, skill)
    (turn,) = evolve(registry, Plan(preset=preset, seed=7, skill=skill, cycles=1)).cycles
    assert standing(registry, skill) == before
    assert (turn.verdict, turn.version) == ("reject", None)
    assert any(reason.startswith("p ") for reason in turn.reasons)  # the figures themselves would have promoted
    return turn.reasons[0]


def test_the_gate_refuses_a_change_beyond_the_trust_region(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    imported(registry, tmp_path, BARE, name="bare")
    wanted = NewLines(
        proposer="test",
        reason="it helps",
        lines=(LearnedLine("Begin each task with this: call ls. " * 30, HELPS),),
    )
    refusal = refusal_of(registry, monkeypatch, wanted, skill="bare")
    assert refusal == "lint: 1081 characters change, the trust region allows 800"


def test_the_gate_refuses_more_edits_than_the_budget(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where a file ends without a newline, a new gene takes two edits: one ends its last line."""
    imported(registry, tmp_path, BARE, name="bare")
    line = LearnedLine("Begin each task with this: call ls.", HELPS)
    wanted = OwnSection(
        proposer="test", reason="it helps", lines=(line,), copied=Copied("teacher.2", "How to begin")
    )
    refusal = refusal_of(registry, monkeypatch, wanted, preset=ONE_EDIT, skill="bare")
    assert refusal == "lint: 2 edits, the preset allows 1"


def test_the_gate_refuses_an_edit_of_a_protected_line(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    gene, line = hurtful_line(registry.capsule(NAME))
    registry.execute(Protect(NAME, gene, (line,), "settled"))
    wanted = Removal(proposer="test", reason="it hurts", removed=Removed(gene, (line,), HURTS))
    assert "is protected" in refusal_of(registry, monkeypatch, wanted)


def test_the_gate_refuses_an_edit_of_a_line_that_is_not_there(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    gene, _ = hurtful_line(registry.capsule(NAME))
    wanted = Removal(proposer="test", reason="it hurts", removed=Removed(gene, (99,), HURTS))
    assert "there is no line 99" in refusal_of(registry, monkeypatch, wanted)


def test_the_hurtful_line_goes_where_nobody_protects_it(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other side of the two tests above: what they refuse, the gate lets through otherwise."""
    gene, line = hurtful_line(registry.capsule(NAME))
    wanted = Removal(proposer="test", reason="it hurts", removed=Removed(gene, (line,), HURTS))
    monkeypatch.setattr(loop, "PROPOSERS", {KIND: (lambda _: Mined(wanted, 1, None),)})
    (turn,) = evolve(registry, Plan(preset=INNOVATE, seed=7, skill=NAME, cycles=1)).cycles
    assert (turn.verdict, turn.version) == ("promote", 3)


@pytest.mark.parametrize(
    ("edits", "about"),
    [
        ([Edit(op="append", gene=f"{NAME}.1", text=(f"{n}\n",)) for n in range(3)], "edit budget"),
        ([Edit(op="append", gene=f"{NAME}.1", text=("x " * 600 + "\n",))], "trust region"),
        ([Edit(op="delete", gene=f"{NAME}.2", target=(3,))], "protected"),
        ([Edit(op="delete", gene=f"{NAME}.2", target=(99,))], "no match"),
        ([Edit(op="append", gene="other.1", text=("x\n",))], "no match"),
        ([Edit(op="append", gene=f"{NAME}.1", text=("look\u200bfirst\n",))], "hidden"),
        ([Edit(op="append", gene=f"{NAME}.1", text=("- Read the question twice.\n",))], "duplicate"),
    ],
)
def test_each_refusal_names_its_rule(registry: Registry, edits: list[Edit], about: str) -> None:
    registry.execute(Protect(NAME, f"{NAME}.2", (3,), "settled"))
    (finding,) = lint(registry.capsule(NAME), edits, Limits(edits=2, trust_region=0.3))
    assert (finding.severity, finding.about) == ("refuse", about)
