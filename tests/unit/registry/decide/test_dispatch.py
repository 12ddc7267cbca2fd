"""What a registry refuses, and what it lets happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import (
    ConflictError,
    EditError,
    GermlineError,
    NotFoundError,
    RefusedError,
    SkillFormatError,
    UsageError,
)
from events.types.capsule_events import AliasMoved
from events.types.parts import Edit
from registry.actions.publish import take_in, take_in_edits
from registry.decide.commands import (
    CreateRegistry,
    ImportSkill,
    Judge,
    MoveAlias,
    Propose,
    Protect,
    Release,
    RevertVersion,
    SwitchPreset,
)
from registry.decide.dispatch import REGISTRY_STREAM, DecisionState, decide
from registry.skill_md.folder import read_skill
from registry.skill_md.render import skill_text
from tests.registries import LOOK, NAME, SKILL, imported, judged, learn, measured, proposal

if TYPE_CHECKING:
    from pathlib import Path

    from registry.decide.commands import Command
    from registry.registry import Registry


def refused(registry: Registry, command: Command, error: type[GermlineError]) -> str:
    """Execute a command that is refused, see that nothing changed, and return what was said."""
    before = registry.log.head()
    with pytest.raises(error) as caught:
        registry.execute(command)
    assert registry.log.head() == before
    return f"{caught.value.message} | {caught.value.hint}"


def line_named(registry: Registry, text: str) -> tuple[str, int]:
    """Find a line of the skill by its text: gene and id."""
    genes = registry.capsule(NAME).genes
    return next((gene.id, line.id) for gene in genes for line in gene.lines if line.text == text)


def test_a_registry_is_created_once(registry: Registry) -> None:
    refused(registry, CreateRegistry("other", "bold"), RefusedError)


def test_switching_to_the_preset_that_is_on_records_nothing(registry: Registry) -> None:
    assert registry.execute(SwitchPreset("balanced", "again")).envelopes == ()
    registry.execute(SwitchPreset("bold", "a quiet week"))
    assert registry.about().preset == "bold"


def test_a_preset_switch_goes_to_the_stream_of_the_registry() -> None:
    (decided,) = decide(SwitchPreset("bold", "a quiet week"), DecisionState(preset="balanced"))
    assert decided.stream == REGISTRY_STREAM


def test_a_skill_of_a_known_name_is_not_imported_again(registry: Registry, place: Path) -> None:
    message = refused(registry, ImportSkill(read_skill(place)), RefusedError)
    assert str(place) in message
    assert "germline adopt sql-analyst" in message


def test_an_import_puts_every_gene_on_a_stream_of_its_own(registry: Registry, place: Path) -> None:
    streams = [envelope.stream for envelope in registry.log.read(after=1)]
    genes = [f"gene:{NAME}.{number}" for number in (1, 2, 3)]
    assert streams == [f"capsule:{NAME}", *genes, f"capsule:{NAME}"]
    assert place.is_dir()


@pytest.mark.usefixtures("place")
def test_a_candidate_is_proposed_once(registry: Registry) -> None:
    command = Propose(proposal(registry.capsule(NAME)))
    registry.execute(command)
    refused(registry, command, ConflictError)


@pytest.mark.usefixtures("place")
def test_a_candidate_for_an_unknown_skill_is_not_found(registry: Registry) -> None:
    stranger = proposal(registry.capsule(NAME)).model_copy(update={"capsule": "sql-analist"})
    refused(registry, Propose(stranger), NotFoundError)


@pytest.mark.usefixtures("place")
def test_what_was_never_proposed_is_not_judged(registry: Registry) -> None:
    scored = measured(proposal(registry.capsule(NAME)))
    refused(registry, Judge(scored, registry.clock.new_id(), "reject", ("no",)), NotFoundError)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("verdict", ["reject", "hold"])
def test_a_rejected_or_held_candidate_leaves_the_skill_untouched(registry: Registry, verdict: str) -> None:
    before = registry.capsule(NAME)
    edit = Edit(op="append", gene=before.genes[0].id, text=(LOOK,))
    judged(registry, proposal(before, edit), verdict)  # type: ignore[arg-type]
    assert registry.capsule(NAME) == before
    known = registry.candidate("c1")
    assert known is not None
    assert (known.verdict, known.times_scored, known.reasons) == (verdict, 1, (f"{verdict}, says the test",))


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("verdict", ["promote", "reject"])
def test_a_verdict_is_final_unless_it_is_hold(registry: Registry, verdict: str) -> None:
    before = registry.capsule(NAME)
    proposed = proposal(before, Edit(op="append", gene=before.genes[0].id, text=(LOOK,)))
    judged(registry, proposed, verdict)  # type: ignore[arg-type]
    again = measured(proposed).model_copy(update={"base_version": registry.capsule(NAME).version})
    message = refused(registry, Judge(again, registry.clock.new_id(), "promote", ("again",)), ConflictError)
    assert verdict in message


@pytest.mark.usefixtures("place")
def test_a_held_candidate_is_promoted_on_its_stored_measurement_without_recording_it_twice(
    registry: Registry,
) -> None:
    before = registry.capsule(NAME)
    proposed = proposal(before, Edit(op="append", gene=before.genes[0].id, text=(LOOK,)))
    judged(registry, proposed, "hold")
    known = registry.candidate("c1")
    assert known is not None
    assert known.scored is not None
    receipt = registry.execute(Judge(known.scored, known.scored_id, "promote", ("another preset",)))
    assert "CandidateScored" not in [envelope.type for envelope in receipt.envelopes]
    again = registry.candidate("c1")
    assert again is not None
    assert (again.verdict, again.times_scored, again.version) == ("promote", 1, 2)


@pytest.mark.usefixtures("place")
def test_a_promotion_on_a_stale_base_is_a_conflict_that_names_both_versions(registry: Registry) -> None:
    before = registry.capsule(NAME)
    edit = Edit(op="append", gene=before.genes[0].id, text=("Late.\n",))
    late = proposal(before, edit, candidate="late")
    registry.execute(Propose(late))
    learn(registry)
    command = Judge(measured(late), registry.clock.new_id(), "promote", ("clear",))
    with pytest.raises(ConflictError) as caught:
        registry.execute(command)
    assert (caught.value.expected, caught.value.actual) == (1, 2)
    assert "Late." not in skill_text(registry.capsule(NAME))


@pytest.mark.usefixtures("place")
def test_each_mutation_of_a_promotion_carries_the_measurement_it_rests_on(registry: Registry) -> None:
    learn(registry)
    scored, promoted, mutated, versioned = [e.event for e in registry.log.read(after=7)]
    known = registry.candidate("c1")
    assert known is not None
    for event in (mutated, versioned):
        assert (event.before, event.after) == (scored.before, scored.after)  # type: ignore[attr-defined]
        assert event.scored == known.scored_id  # type: ignore[attr-defined]
    assert promoted.version == versioned.version == 2  # type: ignore[attr-defined]


@pytest.mark.usefixtures("place")
def test_an_edit_of_a_line_that_is_not_there_is_refused(registry: Registry) -> None:
    capsule = registry.capsule(NAME)
    edit = Edit(op="delete", gene=capsule.genes[0].id, target=(99,))
    registry.execute(Propose(proposal(capsule, edit)))
    scored = measured(proposal(capsule, edit))
    refused(registry, Judge(scored, registry.clock.new_id(), "promote", ("clear",)), EditError)


@pytest.mark.usefixtures("place")
def test_an_edit_of_a_gene_that_is_not_there_is_refused(registry: Registry) -> None:
    capsule = registry.capsule(NAME)
    edit = Edit(op="append", gene="sql-analyst.9", text=(LOOK,))
    registry.execute(Propose(proposal(capsule, edit)))
    scored = measured(proposal(capsule, edit))
    refused(registry, Judge(scored, registry.clock.new_id(), "promote", ("clear",)), NotFoundError)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("whole", [False, True])
def test_a_promotion_never_edits_a_protected_line_until_it_is_released(registry: Registry, whole: bool) -> None:  # noqa: FBT001 - a parameter of the test
    gene, line = line_named(registry, "- Round nothing.\n")
    registry.execute(Protect(NAME, gene, () if whole else (line,), "the auditors ask for it"))
    capsule = registry.capsule(NAME)
    proposed = proposal(capsule, Edit(op="replace", gene=gene, target=(line,), text=("- Round.\n",)))
    registry.execute(Propose(proposed))
    promote = Judge(measured(proposed), registry.clock.new_id(), "promote", ("clear",))
    assert "protected" in refused(registry, promote, EditError)
    registry.execute(Release(NAME, gene, "they changed their mind"))
    registry.execute(promote)
    assert "- Round.\n" in skill_text(registry.capsule(NAME))


@pytest.mark.usefixtures("place")
def test_only_lines_that_are_there_can_be_protected(registry: Registry) -> None:
    gene, _ = line_named(registry, "- Round nothing.\n")
    assert "no line 99" in refused(registry, Protect(NAME, gene, (1, 99), "all of it"), NotFoundError)
    refused(registry, Protect(NAME, "sql-analyst.9", (), "all of it"), NotFoundError)


def test_a_skill_that_breaks_a_rule_is_imported_but_not_changed_before_it_is_mended(
    registry: Registry, tmp_path: Path
) -> None:
    imported(registry, tmp_path, SKILL.replace("---\n\n", "author: Ada\n---\n\n"))
    capsule = registry.capsule(NAME)
    proposed = proposal(capsule, Edit(op="append", gene=capsule.genes[0].id, text=(LOOK,)))
    registry.execute(Propose(proposed))
    promote = Judge(measured(proposed), registry.clock.new_id(), "promote", ("clear",))
    assert "key author" in refused(registry, promote, SkillFormatError)


def test_a_skill_in_another_encoding_is_not_changed_before_it_is_saved_as_utf_8(
    registry: Registry, tmp_path: Path
) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(SKILL.replace("nothing", "n\u00e9ant").encode("latin-1"))
    take_in(registry, folder)
    capsule = registry.capsule(NAME)
    proposed = proposal(capsule, Edit(op="append", gene=capsule.genes[0].id, text=(LOOK,)))
    registry.execute(Propose(proposed))
    promote = Judge(measured(proposed), registry.clock.new_id(), "promote", ("clear",))
    assert "save it as UTF-8" in refused(registry, promote, SkillFormatError)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("to_version", [-1, 0, 2, 3])
def test_only_an_earlier_version_can_be_gone_back_to(registry: Registry, to_version: int) -> None:
    learn(registry)
    message = refused(registry, RevertVersion(NAME, to_version, "worse"), RefusedError)
    assert f"{NAME}@2 is the live version; it can go back to an earlier one only, not to {to_version}" in message


def test_a_revert_to_what_is_no_valid_skill_is_refused(registry: Registry, tmp_path: Path) -> None:
    folder = imported(registry, tmp_path, SKILL.replace("---\n\n", "metadata: {}\n---\n\n"))
    skill = folder / "SKILL.md"
    skill.write_text(skill.read_text().replace("metadata: {}\n", ""))
    take_in_edits(registry, NAME)
    assert "metadata" in refused(registry, RevertVersion(NAME, 1, "worse"), SkillFormatError)


@pytest.mark.usefixtures("place")
def test_an_alias_names_only_versions_that_there_are(registry: Registry) -> None:
    assert "no version 2" in refused(registry, MoveAlias(NAME, "production", 2), NotFoundError)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("alias", ["best", "12", "2026-11-01", "Production", "a b", "", "x@1", "-x", "a" * 65])
def test_an_alias_cannot_be_taken_for_another_way_to_say_a_version(registry: Registry, alias: str) -> None:
    refused(registry, MoveAlias(NAME, alias, 1), UsageError)


@pytest.mark.usefixtures("place")
def test_an_alias_keeps_its_history(registry: Registry) -> None:
    learn(registry)
    moves = (("production", 1), ("production", 2), ("production", 2), ("production", 0))
    for alias, version in moves:
        registry.execute(MoveAlias(NAME, alias, version, "by plan"))
    moved = [e.event for e in registry.history(NAME, types=("AliasMoved",))][::-1]
    assert all(isinstance(event, AliasMoved) for event in moved)
    assert [(event.previous, event.version) for event in moved] == [(0, 1), (1, 2), (2, 0)]  # type: ignore[attr-defined]
    assert registry.capsule(NAME).aliases == ()


@pytest.mark.usefixtures("place")
def test_a_rehearsal_happens_for_real_and_leaves_nothing(registry: Registry) -> None:
    before = registry.log.head()
    capsule = registry.capsule(NAME)
    with registry.rehearsal():
        judged(registry, proposal(capsule, Edit(op="append", gene=capsule.genes[0].id, text=(LOOK,))))
        assert registry.capsule(NAME).version == 2
    assert registry.log.head() == before
    assert registry.capsule(NAME).version == 1
