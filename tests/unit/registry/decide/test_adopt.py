"""Hand edits of projected files, taken in as events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import EditError, GermlineError, RefusedError, SkillFormatError
from events.types.capsule_events import CapsuleDescribed, CapsuleVersioned, FileChanged, HandEditAdopted
from events.types.claims import AfterError
from events.types.gene_events import GeneBorn, GeneMoved, GeneMutated, GeneRetired
from events.types.score import Unmeasured
from registry.actions.publish import publish, standing, take_in, take_in_edits
from registry.decide.commands import Protect
from registry.skill_md.render import projected_lines, skill_text
from tests.registries import AVOID, DO, LOOK, NAME, NO_GUESS, SKILL, imported, learn, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from events.types.claims import Claim
    from registry.registry import Registry

COLUMN = AfterError(template="Unknown column <*>", do="sql:DESC")


def adopted(registry: Registry, *, keep_claims: bool = False) -> list[type]:
    """Adopt what is on disk, see that it is what is projected then, and return the types of the events."""
    receipt = take_in_edits(registry, NAME, keep_claims=keep_claims)
    assert standing(registry, NAME) == "projected"
    return [type(envelope.event) for envelope in receipt.envelopes]


def refused(registry: Registry, error: type[GermlineError]) -> str:
    """Try to adopt what is on disk, see that nothing changed, and return what was said."""
    before = registry.log.head()
    with pytest.raises(error) as caught:
        take_in_edits(registry, NAME)
    assert registry.log.head() == before
    return f"{caught.value.message} | {caught.value.hint}"


def identities(registry: Registry) -> dict[str, tuple[str, int, int]]:
    """Say of each line, by its text, who it is and which event wrote it; blank lines left out."""
    lines = projected_lines(registry.capsule(NAME))
    return {line.text: (line.gene, line.id, line.origin) for line in lines if line.text.strip()}


def live(registry: Registry) -> list[Claim]:
    return [live_claim.claim for gene in registry.capsule(NAME).genes for live_claim in gene.claims]


# -- lines ---------------------------------------------------------------------------------------------


def test_a_changed_line_keeps_its_identity_and_takes_the_new_origin(registry: Registry, place: Path) -> None:
    before = identities(registry)
    rewrite(place, "- Round nothing.", "- Round to two digits.")
    assert adopted(registry) == [HandEditAdopted, GeneMutated, CapsuleVersioned]
    after = identities(registry)
    gene, line, origin = after["- Round to two digits.\n"]
    assert (gene, line) == before["- Round nothing.\n"][:2]
    assert registry.log.at([origin])[0].type == "GeneMutated"


def test_lines_that_nobody_edited_keep_identity_and_origin(registry: Registry, place: Path) -> None:
    before = identities(registry)
    rewrite(place, "- Round nothing.", "- Ask first.\n- Round to two digits.\n- Say so.")
    adopted(registry)
    after = identities(registry)
    untouched = before.keys() - {"- Round nothing.\n"}
    assert {text: after[text] for text in untouched} == {text: before[text] for text in untouched}


def test_an_adopted_version_is_a_persons_override_and_unproven(registry: Registry, place: Path) -> None:
    learn(registry)
    rewrite(place, "Round nothing", "Round")
    adopted(registry)
    capsule = registry.capsule(NAME)
    assert capsule.unproven
    assert isinstance(capsule.score, Unmeasured)
    row = registry.version(NAME, 3)
    assert (row.cause, row.candidate, row.actor) == ("adoption", "", "person:ada")


def test_what_is_adopted_is_what_stood_on_disk_but_for_the_stamp(registry: Registry, place: Path) -> None:
    learn(registry)
    rewrite(place, "Answer with the result alone.\n", "Answer with the result.\n\n# More\n\nAnd say why.")
    text = (place / "SKILL.md").read_text()
    adopted(registry)
    assert (place / "SKILL.md").read_text() == text.replace("@2", "@3")


# -- claims --------------------------------------------------------------------------------------------


def test_a_changed_line_drops_its_claim_and_leaves_that_of_its_neighbour(registry: Registry, place: Path) -> None:
    learn(registry, LOOK, NO_GUESS, claims=(DO, AVOID))
    rewrite(place, "list the tables", "show the tables")
    receipt = take_in_edits(registry, NAME)
    assert live(registry) == [AVOID]
    noted = receipt.envelopes[0].event
    assert isinstance(noted, HandEditAdopted)
    assert noted.dropped_claims == 1


def test_a_removed_line_drops_its_claim_even_when_claims_are_kept(registry: Registry, place: Path) -> None:
    learn(registry, LOOK, NO_GUESS, claims=(DO, AVOID))
    rewrite(place, NO_GUESS, "")
    adopted(registry, keep_claims=True)
    assert live(registry) == [DO]


def test_a_line_that_was_emptied_drops_its_claim_as_a_removed_one_does(registry: Registry, place: Path) -> None:
    learn(registry, LOOK, NO_GUESS, claims=(DO, AVOID))
    rewrite(place, NO_GUESS, "\n")
    adopted(registry, keep_claims=True)
    assert live(registry) == [DO]


def test_a_kept_claim_stays_with_its_line_and_is_dropped_by_the_next_edit(registry: Registry, place: Path) -> None:
    learn(registry, LOOK, NO_GUESS, claims=(DO, AVOID))
    rewrite(place, "list the tables", "show the tables")
    adopted(registry, keep_claims=True)
    assert sorted(claim.model_dump_json() for claim in live(registry)) == sorted(
        claim.model_dump_json() for claim in (DO, AVOID)
    )
    rewrite(place, "show the tables", "look at the tables")
    adopted(registry)
    assert live(registry) == [AVOID]


def test_an_edit_beside_a_claimed_line_leaves_the_claim(registry: Registry, place: Path) -> None:
    learn(registry)
    rewrite(place, "Answer with one SQL query.", "Answer with a single SQL query.")
    adopted(registry)
    assert live(registry) == [DO]


def test_lines_that_share_one_claim_all_carry_it(registry: Registry, place: Path) -> None:
    learn(registry, LOOK, NO_GUESS, claims=(COLUMN,))
    rewrite(place, NO_GUESS, "Do not guess.\n")
    adopted(registry)
    assert live(registry) == []


# -- protected lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- Round nothing.", "- Round."),
        ("- Round nothing.\n", ""),
        ("## Before you answer\n\n- Read the question twice.\n- Round nothing.\n\n", ""),
        ("- Round nothing.\n", "\n# Elsewhere\n\n- Round nothing.\n"),
    ],
    ids=["changed", "removed", "removed with its section", "moved to a section of its own"],
)
@pytest.mark.parametrize("whole", ["", "whole"])
def test_protected_lines_are_never_edited(registry: Registry, place: Path, old: str, new: str, whole: str) -> None:
    gene = registry.capsule(NAME).genes[1]
    line = next(line.id for line in gene.lines if "Round" in line.text)
    registry.execute(Protect(NAME, gene.id, () if whole else (line,), "the auditors ask for it"))
    rewrite(place, old, new)
    assert "protected" in refused(registry, EditError)


def test_lines_beside_a_protected_one_can_be_edited(registry: Registry, place: Path) -> None:
    gene = registry.capsule(NAME).genes[1]
    line = next(line.id for line in gene.lines if "Round" in line.text)
    registry.execute(Protect(NAME, gene.id, (line,), "the auditors ask for it"))
    rewrite(place, "- Read the question twice.", "- Read it.")
    adopted(registry)
    assert registry.capsule(NAME).genes[1].protected == {line}


# -- sections ------------------------------------------------------------------------------------------


def test_a_new_section_is_a_new_gene_where_it_stands(registry: Registry, place: Path) -> None:
    rewrite(place, "## Format", "## Checks\n\nCount the rows.\n\n## Format")
    assert adopted(registry) == [HandEditAdopted, GeneBorn, CapsuleVersioned]
    titles = [(gene.id, gene.title) for gene in registry.capsule(NAME).genes]
    assert titles == [
        (f"{NAME}.1", ""),
        (f"{NAME}.2", "Before you answer"),
        (f"{NAME}.4", "Checks"),
        (f"{NAME}.3", "Format"),
    ]


def test_a_new_section_can_come_first(registry: Registry, tmp_path: Path) -> None:
    place = imported(registry, tmp_path, SKILL.replace("\nAnswer with one SQL query.\n\n", ""))
    rewrite(place, "## Before", "# Start\n\nLook.\n\n## Before")
    assert adopted(registry) == [HandEditAdopted, GeneBorn, GeneMoved, CapsuleVersioned]
    assert [gene.title for gene in registry.capsule(NAME).genes] == ["Start", "Before you answer", "Format"]


def test_a_renamed_section_stays_the_gene_it_was(registry: Registry, place: Path) -> None:
    rewrite(place, "## Before you answer", "## First of all")
    assert adopted(registry) == [HandEditAdopted, GeneMutated, CapsuleVersioned]
    assert [gene.title for gene in registry.capsule(NAME).genes] == ["", "First of all", "Format"]


def test_a_moved_section_keeps_its_lines_and_claims(registry: Registry, place: Path) -> None:
    learn(registry, "\n", LOOK, "\n", gene=1)
    before = identities(registry)
    last = "## Format\n\nAnswer with the result alone.\n"
    rewrite(place, last, "")
    rewrite(place, "## Before", f"{last}\n## Before")
    assert GeneMoved in adopted(registry)
    after = identities(registry)
    kept = before.keys() - {'  germline: "sql-analyst@2"\n', "metadata:\n"}
    assert {text: after[text] for text in kept} == {text: before[text] for text in kept}
    assert [gene.title for gene in registry.capsule(NAME).genes] == ["", "Format", "Before you answer"]
    assert live(registry) == [DO]


def test_a_removed_section_retires_its_gene_and_its_id_is_not_given_again(registry: Registry, place: Path) -> None:
    rewrite(place, "## Format\n\nAnswer with the result alone.\n", "")
    assert GeneRetired in adopted(registry)
    (place / "SKILL.md").write_text(
        (place / "SKILL.md").read_text() + "\n## Format\n\nAnswer with the result alone.\n"
    )
    adopted(registry)
    assert [gene.id for gene in registry.capsule(NAME).genes] == [f"{NAME}.1", f"{NAME}.2", f"{NAME}.4"]


# -- front matter and the stamp ------------------------------------------------------------------------


def test_front_matter_is_adopted_without_the_stamp(registry: Registry, place: Path) -> None:
    learn(registry)
    rewrite(place, "description: Answers", "license: MIT\ndescription: Answers")
    assert adopted(registry) == [HandEditAdopted, CapsuleDescribed, CapsuleVersioned]
    assert [line.text for line in registry.capsule(NAME).front] == [
        "---\n",
        "name: sql-analyst\n",
        "license: MIT\n",
        "description: Answers questions with SQL.\n",
        "---\n",
    ]


def test_metadata_that_moves_in_beside_the_stamp_stays_metadata(registry: Registry, place: Path) -> None:
    learn(registry)
    rewrite(place, '  germline: "sql-analyst@2"\n', '  germline: "sql-analyst@2"\n  author: "Ada"\n')
    adopted(registry)
    text = (place / "SKILL.md").read_text()
    assert 'metadata:\n  author: "Ada"\n  germline: "sql-analyst@3"\n---\n' in text
    rewrite(place, '  author: "Ada"\n', "")
    adopted(registry)
    assert 'metadata:\n  germline: "sql-analyst@4"\n---\n' in (place / "SKILL.md").read_text()


def test_a_stamp_that_an_import_brought_along_comes_back_with_its_text(registry: Registry, tmp_path: Path) -> None:
    old = SKILL.replace("---\n\n", 'metadata:\n  germline: "sql-analyst@7"\n---\n\n')
    place = imported(registry, tmp_path, old)
    learn(registry)
    rewrite(place, "Round nothing", "Round")
    adopted(registry)
    assert [line.text for line in registry.capsule(NAME).front][-2] == '  germline: "sql-analyst@7"\n'
    assert (place / "SKILL.md").read_text().count("germline") == 1


def test_without_the_stamp_nothing_is_adopted_for_there_is_no_telling_what_was_edited(
    registry: Registry, place: Path
) -> None:
    learn(registry)
    rewrite(place, 'metadata:\n  germline: "sql-analyst@2"\n', "")
    assert 'write `germline: "sql-analyst@2"` below `metadata:`' in refused(registry, RefusedError)


def test_an_edit_of_an_earlier_version_is_refused_for_it_would_undo_the_later_one(
    registry: Registry, place: Path
) -> None:
    learn(registry)
    text = (place / "SKILL.md").read_text()
    learn(registry, NO_GUESS, claims=(AVOID,), candidate="c2")
    (place / "SKILL.md").write_text(text + "And say why.\n")
    assert "version 2 of sql-analyst was edited, but version 3 is live" in refused(registry, RefusedError)


def test_another_name_is_another_skill(registry: Registry, place: Path) -> None:
    rewrite(place, "name: sql-analyst", "name: sql-expert")
    assert "sql-expert" in refused(registry, RefusedError)


# -- what cannot be adopted ----------------------------------------------------------------------------


def test_where_nothing_was_edited_there_is_nothing_to_adopt(registry: Registry, place: Path) -> None:
    assert "nothing to adopt" in refused(registry, RefusedError)
    learn(registry)
    assert "nothing to adopt" in refused(registry, RefusedError)
    assert place.is_dir()


def test_the_permissions_of_the_skill_file_are_not_adopted_and_the_refusal_says_so(
    registry: Registry, place: Path
) -> None:
    (place / "SKILL.md").chmod(0o600)
    assert "permissions" in refused(registry, RefusedError)
    publish(registry, NAME, discard=True)
    assert standing(registry, NAME) == "projected"


def test_an_edit_that_breaks_a_rule_is_refused_with_the_way_to_mend_it(registry: Registry, place: Path) -> None:
    rewrite(place, "description: Answers questions with SQL.", "description: Answers <b>questions</b>.")
    assert "description holds < or >" in refused(registry, SkillFormatError)


def test_saving_a_skill_as_utf_8_is_an_edit_and_makes_it_valid(registry: Registry, tmp_path: Path) -> None:
    place = tmp_path / NAME
    place.mkdir()
    text = SKILL.replace("nothing", "n\u00e9ant")
    (place / "SKILL.md").write_bytes(text.encode("latin-1"))
    take_in(registry, place)
    (place / "SKILL.md").write_text(text, encoding="utf-8")
    assert adopted(registry) == [HandEditAdopted, CapsuleVersioned]
    assert "n\u00e9ant" in (place / "SKILL.md").read_text(encoding="utf-8")
    learn(registry)
    assert LOOK in skill_text(registry.capsule(NAME))


# -- files ---------------------------------------------------------------------------------------------


def test_files_beside_the_skill_are_adopted_with_their_modes(registry: Registry, tmp_path: Path) -> None:
    place = imported(registry, tmp_path, files={"scripts/run.sh": "echo 1\n", "old.txt": "old\n"})
    (place / "scripts" / "run.sh").write_text("echo 2\n")
    (place / "scripts" / "run.sh").chmod(0o755)
    (place / "new.txt").write_text("new\n")
    (place / "old.txt").unlink()
    assert adopted(registry) == [HandEditAdopted, FileChanged, FileChanged, FileChanged, CapsuleVersioned]
    files = {file.entry.path: file for file in registry.capsule(NAME).files}
    assert files.keys() == {"new.txt", "scripts/run.sh"}
    assert files["scripts/run.sh"].entry.mode == 0o755
    assert registry.log.get_blob(files["new.txt"].entry.blob) == b"new\n"
    assert registry.version(NAME, 2).summary == "hand edit of new.txt, old.txt, scripts/run.sh"
