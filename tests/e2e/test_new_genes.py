"""New genes: what another skill learned is born here under a new id, through the gate, and stays accountable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import EditError, RefusedError
from events.types.claims import StartWith, Trigger
from events.types.gene_events import GeneBorn
from events.types.parts import Edit, NewGene
from registry.actions.publish import publish, standing, take_in_edits
from registry.decide.birth import next_gene, with_born
from registry.decide.commands import RecordFact, RevertVersion, SwitchPreset
from registry.projection.projector import rebuild
from registry.query.provenance import blame, why
from registry.skill_md.render import projected_lines, skill_text
from registry.skill_md.text import cut
from strategies.evolve.loop import Plan, evolve
from strategies.gate.explain import explain
from strategies.monitor.review import approve
from strategies.policy.presets import PRESETS
from strategies.pool.intake import take_in as take_in_episodes
from tests.registries import documents, imported, judged, proposal, raised_signal
from tests.terminal import Terminal
from tests.worlds import world_with_a_habit

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.evolve.results import CycleResult
    from strategies.policy.presets import Preset

NAME = "learner"
SKILL = f"---\nname: {NAME}\ndescription: Learns.\n---\n\nDo the work.\n\n## Format\n\nAnswer with the result.\n"
TEACHER = "---\nname: teacher\ndescription: Knows.\n---\n\nTeach.\n\n## How to begin\n\nBegin well.\n"
LESSON = "Begin each task with this: call ls.\n"
CLAIM = StartWith(do="ls")
SIGNAL = raised_signal(
    "missing_capability", fingerprint="lacking", calls_for="innovate", action="make", count=9, episodes=9
)
INNOVATE = PRESETS["innovate"]
NO_GENES = INNOVATE.model_copy(update={"name": "no-genes", "new_genes": False})


@pytest.fixture
def registry(registry: Registry, tmp_path: Path) -> Registry:
    """A skill that lacks something, another whose section answers the same signal, and logs that show it helps."""
    take_in_episodes(registry, world_with_a_habit(4, "start_with", tasks=160))
    registry.execute(RecordFact((SIGNAL,)))
    imported(registry, tmp_path, SKILL, name=NAME)
    imported(registry, tmp_path, TEACHER, name="teacher")
    teacher = registry.capsule("teacher")
    edit = Edit(op="append", gene=teacher.genes[1].id, text=(LESSON,))
    trigger = Trigger(fingerprint=SIGNAL.fingerprint, kind=SIGNAL.kind, action=SIGNAL.action)
    taught = proposal(teacher, edit, candidate="taught", claims=(CLAIM,)).model_copy(
        update={"triggers": (trigger,)}
    )
    judged(registry, taught)
    publish(registry, "teacher")
    return registry


def innovated(registry: Registry, preset: Preset = INNOVATE, *, review: bool = False) -> CycleResult:
    plan = Plan(preset=preset, seed=7, skill=NAME, cycles=1, review=review)
    (cycle,) = [turn for turn in evolve(registry, plan).cycles if turn.signal.fingerprint == SIGNAL.fingerprint]
    return cycle


def on_disk(registry: Registry, name: str = NAME) -> str:
    return (Path(registry.capsule(name).source) / "SKILL.md").read_text()


def number_of(registry: Registry, text: str) -> int:
    return next(line.number for line in projected_lines(registry.capsule(NAME)) if line.text == text)


def test_a_gene_of_another_skill_is_born_under_a_new_id_where_none_answers(registry: Registry) -> None:
    cycle = innovated(registry)
    assert (cycle.verdict, cycle.version) == ("promote", 2), cycle.reasons
    born = [envelope.event for envelope in registry.log.read(types=("GeneBorn",)) if envelope.event.strategy]  # type: ignore[attr-defined]
    (gene,) = [event for event in born if isinstance(event, GeneBorn)]
    assert (gene.gene, gene.derived_from) == (f"{NAME}.3", "teacher.2")
    assert (gene.claims, [trigger.fingerprint for trigger in gene.triggers]) == ((CLAIM,), [SIGNAL.fingerprint])
    assert gene.before != gene.after
    assert gene.scored
    assert f"Do the work.\n\n## How to begin\n\n{LESSON}\n## Format\n" in on_disk(registry)
    assert cycle.candidate
    (shown,) = cycle.candidate.edits
    assert on_disk(registry).splitlines()[shown.line - 1] == "## How to begin" == shown.text.splitlines()[0]


def test_each_line_of_a_new_gene_says_why_it_is_there(registry: Registry) -> None:
    innovated(registry)
    lines = {line.text: origin for line, origin in blame(registry, registry.capsule(NAME))}
    assert lines["## How to begin\n"] == lines[LESSON]
    assert lines[LESSON].type == "GeneBorn"
    explanation = why(registry, registry.capsule(NAME), number_of(registry, LESSON))
    assert explanation.claim == CLAIM
    assert explanation.candidate is not None
    assert explanation.candidate.proposed.proposer == "transfer"
    assert explanation.signal is not None
    assert explanation.signal.event == SIGNAL
    assert explanation.row.version == 2
    heading = why(registry, registry.capsule(NAME), number_of(registry, "## How to begin\n"))
    assert (heading.claim, heading.candidate) == (None, explanation.candidate)


def test_the_command_line_names_the_gene_that_a_line_comes_from(registry: Registry, tmp_path: Path) -> None:
    innovated(registry)
    germline = Terminal(tmp_path, GERMLINE_REGISTRY=registry.log.location, COLUMNS="120")
    place = f"{NAME}:{number_of(registry, LESSON)}"
    explanation = germline.does("why", place, "--json").json
    assert explanation["origin"]["derived_from"] == "teacher.2"
    assert explanation["origin"]["strategy"] == "innovate"
    assert explanation["claim"] == CLAIM.model_dump(mode="json")
    assert (
        "from      gene teacher.2, which answers the same signal in another skill"
        in germline.does("why", place).out
    )
    shown = germline.does("show", NAME, "--json").json["lines"]
    assert [row["kind"] for row in shown if row["text"] == LESSON.rstrip()] == ["innovate"]
    (candidate,) = germline.does("candidates", NAME, "--json").json["candidates"]
    assert candidate["born"]["derived_from"] == "teacher.2"
    assert "gene learner.3 How to begin, 4 lines, from teacher.2" in germline.does("log", "--limit", "9").out


def test_a_new_gene_comes_and_goes_with_reverts_and_keeps_its_origin(registry: Registry) -> None:
    innovated(registry)
    grown, born = on_disk(registry), registry.capsule(NAME).gene(f"{NAME}.3")
    registry.execute(RevertVersion(NAME, 1, "it reads badly"))
    publish(registry, NAME)
    assert "How to begin" not in on_disk(registry)
    assert registry.capsule(NAME).gene(f"{NAME}.3") is None
    registry.execute(RevertVersion(NAME, 2, "it reads well"))
    publish(registry, NAME)
    assert on_disk(registry) == grown.replace(f"{NAME}@2", f"{NAME}@4")
    back = registry.capsule(NAME).gene(f"{NAME}.3")
    assert back is not None
    assert born is not None
    assert (back.lines, back.claims, back.triggers) == (born.lines, born.claims, born.triggers)


def test_a_registry_with_new_genes_rebuilds_byte_for_byte(registry: Registry) -> None:
    innovated(registry)
    registry.execute(RevertVersion(NAME, 1, "it reads badly"))
    registry.execute(RevertVersion(NAME, 2, "it reads well"))
    before = documents(registry)
    registry.log.drop_documents()
    rebuild(registry.log)
    assert documents(registry) == before


def test_hand_edits_of_a_new_gene_are_taken_in_like_any_other(registry: Registry) -> None:
    innovated(registry)
    place = Path(registry.capsule(NAME).source) / "SKILL.md"
    place.write_text(place.read_text().replace("## How to begin", "## How to start"))
    take_in_edits(registry, NAME)
    gene = registry.capsule(NAME).gene(f"{NAME}.3")
    assert gene is not None
    assert (gene.title, [live.claim for live in gene.claims]) == ("How to start", [CLAIM])
    assert standing(registry, NAME) == "projected"


def test_where_the_preset_allows_no_new_gene_the_line_goes_to_one_that_is_there(registry: Registry) -> None:
    cycle = innovated(registry, NO_GENES)
    assert cycle.verdict == "promote"
    assert [gene.id for gene in registry.capsule(NAME).genes] == [f"{NAME}.1", f"{NAME}.2"]
    assert LESSON in on_disk(registry)


def test_the_gate_refuses_a_new_gene_that_was_held_under_another_preset(registry: Registry) -> None:
    held = innovated(registry, review=True)
    assert held.candidate
    again = innovated(registry, NO_GENES)
    assert (again.verdict, again.version, again.remembered) == ("hold", None, True)
    candidate = registry.candidate(held.candidate.id)
    assert candidate is not None
    base = registry.capsule(NAME)
    refused = explain(candidate.proposed, candidate.scored, base, (), NO_GENES)
    assert [(step.name, step.missing) for step in refused.steps if not step.holds] == [
        ("new gene", "the preset no-genes allows no new gene")
    ]
    assert refused.decision == "hold"
    assert explain(candidate.proposed, candidate.scored, base, (), INNOVATE).decision == "promote"
    assert base.version == 1
    promoted = innovated(registry)
    assert (promoted.verdict, promoted.version) == ("promote", 2)


def test_a_person_approves_no_new_gene_where_the_preset_in_force_allows_none(registry: Registry) -> None:
    held = innovated(registry, review=True)
    assert held.candidate
    candidate = registry.candidate(held.candidate.id)
    assert candidate is not None
    registry.execute(SwitchPreset("repair-only", "a quiet week"))
    head = registry.log.head()
    with pytest.raises(RefusedError, match="allows no new gene"):
        approve(registry, candidate, "it helps")
    assert registry.log.head() == head


def test_a_skill_without_a_last_newline_and_without_headings_gets_its_first_section(
    registry: Registry, tmp_path: Path
) -> None:
    imported(registry, tmp_path, "---\nname: bare\ndescription: Bare.\n---\n\nDo the work.", name="bare")
    evolve(registry, Plan(preset=INNOVATE, seed=7, skill="bare", cycles=1))
    text = on_disk(registry, "bare")
    assert text.endswith(f"Do the work.\n\n## How to begin\n\n{LESSON}")
    assert [section.lines for section in cut(text).sections] == [
        tuple(line.text for line in gene.lines) for gene in registry.capsule("bare").genes
    ]


def test_a_line_from_a_skill_without_headings_is_born_under_a_title_that_names_the_skill(
    registry: Registry,
) -> None:
    teacher = registry.capsule("teacher")
    move = Edit(op="append", gene=teacher.genes[0].id, text=(LESSON.replace("ls", "ls first"),))
    drop = Edit(op="delete", gene=teacher.genes[1].id, target=(teacher.genes[1].lines[-1].id,))
    trigger = Trigger(fingerprint=SIGNAL.fingerprint, kind=SIGNAL.kind, action=SIGNAL.action)
    again = proposal(teacher, drop, move, candidate="again", claims=(CLAIM,))
    judged(registry, again.model_copy(update={"triggers": (trigger,)}))
    assert innovated(registry).verdict == "promote"
    assert registry.capsule(NAME).genes[1].title == "Learned from teacher"


def born(**fields: object) -> NewGene:
    lines = ("## Begin\n", "\n", "Look first.\n")
    gene_fields = {"gene": f"{NAME}.3", "title": "Begin", "lines": lines, "after_gene": f"{NAME}.1", **fields}
    return NewGene.model_validate(gene_fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"gene": f"{NAME}.2"},
        {"gene": f"{NAME}.4"},
        {"after_gene": "teacher.1"},
        {"title": "Start"},
        {"title": "", "lines": ("Look first.\n",)},
        {"lines": ("## Begin\n", "\n", "# Another\n")},
        {"lines": ("## Begin\n", "```\n", "Look first.\n")},
        {"lines": ("## Begin", "\n")},
        {"lines": ()},
    ],
)
def test_a_gene_that_would_not_stand_as_a_section_of_its_own_is_refused(
    registry: Registry, fields: dict[str, object]
) -> None:
    capsule = registry.capsule(NAME)
    assert skill_text(with_born(capsule, born())).count("## Begin") == 1
    with pytest.raises(EditError) as caught:
        with_born(capsule, born(**fields))
    assert caught.value.rule == "new gene"


def test_no_name_of_a_gene_is_given_twice(registry: Registry) -> None:
    innovated(registry)
    registry.execute(RevertVersion(NAME, 1, "it reads badly"))
    assert next_gene(registry.capsule(NAME)) == f"{NAME}.4"
