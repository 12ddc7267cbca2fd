"""Reverts: the old text is back, with its old identity, and nothing is erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import EditError
from events.types.parts import Edit
from registry.actions.publish import publish, take_in_edits
from registry.decide.commands import Protect, RevertVersion
from registry.skill_md.render import projected_lines, skill_text
from registry.state.version_outline import Outline
from tests.registries import AVOID, DO, LOOK, NAME, NO_GUESS, SKILL, imported, judged, learn, proposal, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry


def test_the_old_text_is_back_but_for_the_stamp_which_names_the_new_version(
    registry: Registry, place: Path
) -> None:
    learn(registry)
    registry.execute(RevertVersion(NAME, 1, "worse in production"))
    publish(registry, NAME)
    stamped = SKILL.replace("---\n\n", 'metadata:\n  germline: "sql-analyst@3"\n---\n\n')
    assert (place / "SKILL.md").read_text() == stamped


@pytest.mark.usefixtures("place")
def test_lines_come_back_with_the_identity_and_the_origin_they_had(registry: Registry) -> None:
    gene = registry.capsule(NAME).genes[0]
    line = gene.lines[1]
    rewritten = Edit(op="replace", gene=gene.id, target=(line.id,), text=("Answer in SQL.\n",))
    judged(registry, proposal(registry.capsule(NAME), rewritten))
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert registry.capsule(NAME).genes[0].lines == gene.lines
    assert registry.capsule(NAME).genes[0].version == 3


@pytest.mark.usefixtures("place")
def test_a_revert_erases_nothing(registry: Registry) -> None:
    learn(registry)
    before = list(registry.log.read())
    text = skill_text(registry.capsule(NAME))
    registry.execute(RevertVersion(NAME, 1, "worse"))
    after = list(registry.log.read())
    assert after[: len(before)] == before
    assert [envelope.type for envelope in after[len(before) :]] == ["CapsuleReverted", "CapsuleVersioned"]
    assert skill_text(registry.capsule(NAME, "2")) == text


@pytest.mark.usefixtures("place")
def test_claims_come_and_go_with_their_version(registry: Registry) -> None:
    learn(registry)
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert [gene.claims for gene in registry.capsule(NAME).genes] == [(), (), ()]
    registry.execute(RevertVersion(NAME, 2, "better after all"))
    assert [live_claim.claim for live_claim in registry.capsule(NAME).genes[0].claims] == [DO]


@pytest.mark.usefixtures("place")
def test_ids_of_lines_that_went_are_not_given_again(registry: Registry) -> None:
    learned = learn(registry).genes[0].lines[-1]
    registry.execute(RevertVersion(NAME, 1, "worse"))
    other = learn(registry, NO_GUESS, claims=(AVOID,), candidate="c2").genes[0].lines[-1]
    assert other.id == learned.id + 1


def test_sections_and_files_that_came_later_go_and_come_back(registry: Registry, place: Path) -> None:
    rewrite(place, "## Format", "## Checks\n\nCount the rows.\n\n## Format")
    (place / "notes.txt").write_text("count\n")
    take_in_edits(registry, NAME)
    registry.execute(RevertVersion(NAME, 1, "too long"))
    publish(registry, NAME)
    assert not (place / "notes.txt").exists()
    assert "Checks" not in (place / "SKILL.md").read_text()
    registry.execute(RevertVersion(NAME, 2, "not too long"))
    publish(registry, NAME)
    assert (place / "notes.txt").read_text() == "count\n"
    assert [gene.id for gene in registry.capsule(NAME).genes] == [f"{NAME}.{n}" for n in (1, 2, 4, 3)]


@pytest.mark.usefixtures("place")
def test_a_line_that_is_protected_now_is_not_taken_back(registry: Registry) -> None:
    gene = learn(registry).genes[0]
    registry.execute(Protect(NAME, gene.id, (gene.lines[-1].id,), "it must stay"))
    with pytest.raises(EditError, match="protected"):
        registry.execute(RevertVersion(NAME, 1, "worse"))
    assert LOOK in skill_text(registry.capsule(NAME))


@pytest.mark.usefixtures("place")
def test_a_gene_that_is_protected_as_a_whole_loses_no_line_to_a_revert(registry: Registry) -> None:
    gene = learn(registry).genes[0]
    registry.execute(Protect(NAME, gene.id, (), "it must stay"))
    with pytest.raises(EditError, match="protected"):
        registry.execute(RevertVersion(NAME, 1, "worse"))


@pytest.mark.usefixtures("place")
def test_protection_of_what_the_earlier_version_said_as_well_does_not_stand_in_the_way(registry: Registry) -> None:
    gene = registry.capsule(NAME).genes[1]
    registry.execute(Protect(NAME, gene.id, (), "it must stay"))
    learn(registry)
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert registry.capsule(NAME).genes[1].protected_whole
    assert LOOK not in skill_text(registry.capsule(NAME))


def test_a_protected_line_that_only_loses_its_ending_does_not_stand_in_the_way(
    registry: Registry, tmp_path: Path
) -> None:
    imported(registry, tmp_path, SKILL.removesuffix("\n"))
    gene = learn(registry, gene=2).genes[2]
    assert gene.lines[2].text.endswith("\n")
    registry.execute(Protect(NAME, gene.id, (3,), "settled"))
    registry.execute(RevertVersion(NAME, 1, "worse"))
    assert registry.capsule(NAME).genes[2].lines[-1].text == "Answer with the result alone."


@pytest.mark.usefixtures("place")
def test_a_promotion_that_was_taken_back_is_marked_so_and_no_other_is(registry: Registry) -> None:
    learn(registry)
    learn(registry, NO_GUESS, claims=(AVOID,), candidate="c2")
    registry.execute(RevertVersion(NAME, 2, "worse"))
    assert {candidate.id: candidate.reverted for candidate in registry.candidates(NAME)} == {
        "c1": False,
        "c2": True,
    }


@pytest.mark.usefixtures("place")
def test_a_promotion_that_came_back_counts_again(registry: Registry) -> None:
    learn(registry)
    registry.execute(RevertVersion(NAME, 1, "worse"))
    registry.execute(RevertVersion(NAME, 2, "better after all"))
    known = registry.candidate("c1")
    assert known is not None
    assert (known.verdict, known.reverted) == ("promote", False)
    assert LOOK in [line.text for line in projected_lines(registry.capsule(NAME))]


@pytest.mark.parametrize(
    ("latest", "reverts", "live"),
    [
        (3, (), {1, 2, 3}),
        (4, ((4, 2),), {1, 2, 4}),
        (5, ((4, 2),), {1, 2, 4, 5}),
        (6, ((4, 2), (6, 3)), {1, 2, 3, 6}),
        (6, ((4, 2), (6, 5)), {1, 2, 4, 5, 6}),
        (7, ((3, 1), (5, 3), (7, 4)), {1, 3, 4, 7}),
    ],
)
def test_what_a_version_brought_is_live_unless_a_later_one_went_back_to_before_it(
    latest: int, reverts: tuple[tuple[int, int], ...], live: set[int]
) -> None:
    outline = Outline(version=latest, reverts=reverts)
    assert {version for version in range(1, latest + 2) if outline.is_live(version)} == live


@pytest.mark.parametrize(
    ("latest", "reverts", "lineage", "taken_back"),
    [
        (3, (), ((1,), (2,), (3,)), {}),
        (3, ((3, 1),), ((1, 3),), {2: 3}),
        (5, ((4, 2),), ((1,), (2, 4), (5,)), {3: 4}),
        (6, ((4, 2), (6, 3)), ((1,), (2,), (3, 6)), {4: 6, 5: 6}),
        (7, ((3, 1), (5, 3), (7, 4)), ((1, 3), (4, 7)), {2: 3, 5: 7, 6: 7}),
    ],
)
def test_the_lineage_is_what_the_latest_version_comes_from_with_equal_versions_together(
    latest: int,
    reverts: tuple[tuple[int, int], ...],
    lineage: tuple[tuple[int, ...], ...],
    taken_back: dict[int, int],
) -> None:
    outline = Outline(version=latest, reverts=reverts)
    assert outline.lineage() == lineage
    assert {v: by for v in range(1, latest + 1) if (by := outline.taken_back_by(v))} == taken_back
    assert {v for same in lineage for v in same} == {v for v in range(1, latest + 1) if outline.is_live(v)}
