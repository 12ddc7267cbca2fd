"""Navigation indexes: byte-stable, taken out without a trace, and a version where a registry knows the skill."""

from __future__ import annotations

from dataclasses import replace
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
import skills_ref  # type: ignore[import-untyped]  # ships no types

from events.errors import RefusedError, SkillFormatError
from registry.actions.index_skill import plan_in_folder, plan_in_registry, plan_in_skill, record_index, write_index
from registry.actions.publish import publish, standing, take_in, take_in_edits
from registry.decide.commands import RevertVersion
from registry.skill_md.folder import read_skill
from registry.skill_md.navigation_index import INDEX_TITLE, index_lines, index_of, with_index, without_index
from registry.skill_md.render import skill_text
from registry.skill_md.text import split_lines
from strategies.audit.drafts import passages_of, rewrite_to
from tests.registries import NAME, imported, learn
from tui.reads.usage import read_usage

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

GUIDE = b"# Guide\n\n## Joins\n\nJoin customers on their email.\n\n## Money\n\nAmounts are cents.\n"
RUN = b'"""Counts rejected orders."""\n'
FILES = {"guide.md": GUIDE, "run.py": RUN, "LICENSE": b"MIT", "logo.bin": b"\0\xff"}
TEXTS = ["a\n", "a", "", "a\n\n", "a\r\nb\r\n", "- a\n", "a\n\n## Index of files\n\nmine\n"]


def indexed_skill(registry: Registry, tmp_path: Path) -> Path:
    """Import a skill with two files, and index it."""
    place = imported(registry, tmp_path, files={name: body.decode() for name, body in FILES.items() if body[0]})
    _, skill = plan_in_registry(registry, NAME, remove=False)
    record_index(registry, skill)
    return place


def recorded_skills(recorded_data: Path) -> list[Path]:
    """List the SKILL.md files of the recorded skills, of which all have other files."""
    return sorted((recorded_data / "skills").glob("*/SKILL.md"))


def test_each_passage_has_the_words_that_others_have_not_and_its_lines() -> None:
    index = index_of(FILES, "Answers questions on orders, customers and shipping.")
    assert [row.place for row in index.rows] == [
        "guide.md:1-2 Guide",
        "guide.md:3-6 Joins",
        "guide.md:7-9 Money",
        "run.py:1-1 Counts rejected orders.",
    ]
    assert "email" in index.rows[1].keywords
    assert "cents" in index.rows[2].keywords
    assert dict(index.uncovered) == {"LICENSE": "licence", "logo.bin": "no text"}
    assert index.unnamed == ("answers", "questions", "shipping")


@pytest.mark.parametrize("text", TEXTS)
def test_an_index_put_in_twice_is_there_once_and_taken_out_leaves_every_byte(text: str) -> None:
    index = index_of(FILES)
    once = with_index(text, index)
    assert with_index(once, index) == once
    assert without_index(once) == text
    lines = split_lines(once)
    taken = index_lines(lines)
    assert "".join(line for at, line in enumerate(lines) if at not in taken).rstrip() == text.rstrip()


def test_what_a_person_wrote_below_an_index_stays_where_it_is() -> None:
    moved = with_index("a\n", index_of(FILES)) + "\n## Last\n\nb\n"
    fewer = with_index(moved, index_of({"guide.md": GUIDE}))
    assert "run.py" not in fewer
    assert fewer.endswith("\n\n## Last\n\nb\n")
    assert without_index(fewer) == "a\n\n## Last\n\nb\n"


def test_an_index_inside_an_open_code_fence_is_refused() -> None:
    with pytest.raises(SkillFormatError, match="part of"):
        with_index("# A\n\n```\nx\n", index_of(FILES))


def test_a_heading_with_markup_or_hidden_characters_breaks_no_table() -> None:
    index = index_of({"a.md": "## A | <b>`x`\u200b\n\ntext about joins\n\n## B\n\ntext about money\n".encode()})
    assert index.rows[0].title == "A b x"
    odd = index_of({"a|b.md": GUIDE, "c -->.md": GUIDE, "[slug].md": GUIDE})
    assert [path for path, _ in odd.uncovered] == ["a|b.md", "c -->.md"]
    assert "Not in this index: a b.md (a name that no table can hold)" in "\n".join(odd.lines)


def test_more_passages_than_are_read_at_once_are_listed_by_file() -> None:
    long = "".join(f"## Part{at}\n\nThis is about topic{at}.\n\n" for at in range(61)).encode()
    index = index_of({"long.md": long, "guide.md": GUIDE})
    assert [row.path for row in index.rows] == ["guide.md", "long.md"]
    assert index.rows[1].last == 244


def test_real_skills_are_valid_with_their_index_and_the_same_bytes_without(
    recorded_data: Path, tmp_path: Path
) -> None:
    rows = {}
    for folder in (file.parent for file in recorded_skills(recorded_data)):
        place = tmp_path / folder.name
        copytree(folder, place)
        assert skills_ref.validate(place) == []
        planned = plan_in_skill(read_skill(place), place, remove=False)
        rows[folder.name] = len(planned.index.rows)
        write_index(planned)
        assert skills_ref.validate(place) == []
        assert not plan_in_skill(read_skill(place), place, remove=False).changes
        write_index(plan_in_skill(read_skill(place), place, remove=True))
        assert (place / "SKILL.md").read_bytes() == (folder / "SKILL.md").read_bytes()
    assert rows.pop("brand-guidelines") == 0
    assert all(rows.values())


def test_a_folder_of_skills_has_an_index_beside_them_which_says_what_is_no_skill(
    registry: Registry, tmp_path: Path
) -> None:
    place = imported(registry, tmp_path)
    (place.parent / "notes").mkdir()
    write_index(plan_in_folder(place.parent, remove=False))
    text = (place.parent / "INDEX.md").read_text()
    assert f"{NAME}/SKILL.md" in text
    assert "notes/ (no SKILL.md)" in text
    assert not plan_in_folder(place.parent, remove=False).changes
    write_index(plan_in_folder(place.parent, remove=True))
    assert not (place.parent / "INDEX.md").exists()


def test_the_bytes_beside_the_index_of_a_folder_stay_and_an_odd_folder_has_no_row(
    registry: Registry, tmp_path: Path
) -> None:
    place = imported(registry, tmp_path)
    copytree(place, place.parent / "a\n# b")
    file = place.parent / "INDEX.md"
    file.write_bytes(b"\xef\xbb\xbfMine.\n")
    write_index(plan_in_folder(place.parent, remove=False))
    assert file.read_bytes().startswith(b"\xef\xbb\xbfMine.\n")
    assert "\n# b" not in file.read_text()
    file.write_bytes(b"caf\xe9\n")
    with pytest.raises(SkillFormatError, match="not UTF-8"):
        plan_in_folder(place.parent, remove=False)


# -- in a registry -------------------------------------------------------------------------------------


def test_an_index_is_a_version_and_no_hand_edit(registry: Registry, tmp_path: Path) -> None:
    place = indexed_skill(registry, tmp_path)
    assert standing(registry, NAME) == "projected"
    assert INDEX_TITLE in (place / "SKILL.md").read_text()
    types = [envelope.type for envelope in registry.log.read(stream=f"capsule:{NAME}")]
    assert "HandEditAdopted" not in types
    assert types[-1] == "CapsuleVersioned"
    assert registry.capsule(NAME).version == 2
    assert skills_ref.validate(place) == []
    planned, _ = plan_in_registry(registry, NAME, remove=False)
    assert not planned.changes


def test_a_learned_line_leaves_the_index_as_it_is(registry: Registry, tmp_path: Path) -> None:
    indexed_skill(registry, tmp_path)
    learn(registry)
    assert not plan_in_registry(registry, NAME, remove=False)[0].changes


def test_an_adopted_edit_of_another_file_brings_its_index_with_it(registry: Registry, tmp_path: Path) -> None:
    place = indexed_skill(registry, tmp_path)
    (place / "guide.md").write_text("# Dates\n\nThe day comes first.\n")
    take_in_edits(registry, NAME)
    assert "guide.md:1-3 Dates" in skill_text(registry.capsule(NAME))
    assert registry.capsule(NAME).version == 3
    assert standing(registry, NAME) == "projected"
    assert not plan_in_registry(registry, NAME, remove=False)[0].changes


def test_an_index_goes_by_a_version_and_comes_back_with_a_revert(registry: Registry, tmp_path: Path) -> None:
    place = indexed_skill(registry, tmp_path)
    indexed = skill_text(registry.capsule(NAME))
    _, skill = plan_in_registry(registry, NAME, remove=True)
    record_index(registry, skill)
    assert INDEX_TITLE not in (place / "SKILL.md").read_text()
    registry.execute(RevertVersion(NAME, 2, "it was of use"))
    publish(registry, NAME)
    assert skill_text(registry.capsule(NAME)).replace("@4", "@2") == indexed


def test_no_index_is_written_over_a_hand_edit(registry: Registry, tmp_path: Path) -> None:
    place = indexed_skill(registry, tmp_path)
    (place / "guide.md").write_text("mine\n")
    with pytest.raises(RefusedError, match="edited by hand"):
        plan_in_registry(registry, NAME, remove=True)


def test_an_audit_looks_past_an_index_and_makes_it_again_with_the_files_that_it_changes(
    registry: Registry, tmp_path: Path
) -> None:
    indexed_skill(registry, tmp_path)
    capsule = registry.capsule(NAME)
    assert not any("| look for | in |" in passage.text for passage in passages_of(registry.log, capsule))
    without_guide = replace(capsule, files=tuple(file for file in capsule.files if file.entry.path != "guide.md"))
    edits, files, _ = rewrite_to(registry.log, capsule, without_guide)
    assert [file.path for file in files] == ["guide.md"]
    assert {edit.op for edit in edits} == {"delete"}


def test_each_recorded_skill_gets_an_index_as_a_version_and_a_report_of_what_can_correct_its_lines(
    registry: Registry, tmp_path: Path, recorded_data: Path
) -> None:
    places = [copytree(file.parent, tmp_path / file.parent.name) for file in recorded_skills(recorded_data)]
    for place in places:
        take_in(registry, place)
    names = [place.name for place in places]
    before = {file.capsule.name: file for file in read_usage(registry, names, "2026-01-01T00:00:00Z", seed=0)}
    for place in places:
        assert skills_ref.validate(place) == []
        planned, skill = plan_in_registry(registry, place.name, remove=False)
        if planned.changes:  # beside one of them lies a licence alone
            record_index(registry, skill)
        assert (INDEX_TITLE in (place / "SKILL.md").read_text(encoding="utf-8")) == bool(planned.index.rows)
        assert skills_ref.validate(place) == []
    for report in read_usage(registry, names, "2026-01-01T00:00:00Z", seed=0):
        assert len(report.lines) == len(before[report.capsule.name].lines)  # an index states nothing
        assert report.evolvability == 0.0  # no line was learned, and nothing was audited yet
        assert all(line.witness.what for line in report.lines)
