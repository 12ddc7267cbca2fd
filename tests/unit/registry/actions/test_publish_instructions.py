"""Instructions on disk: an event leads to no other file than one that agents read as such, inside the project."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.errors import CorruptLogError, RefusedError, SkillFormatError, UntrustedError
from events.types.parts import FileEntry
from registry.actions.publish import publish, standing, take_in_edits, write_out
from registry.decide.commands import ImportSkill, MoveSkill
from registry.skill_md.folder import SkillFile
from registry.skill_md.instructions import instructions_name, read_instructions
from registry.skill_md.render import skill_bytes
from registry.skill_md.write_places import WritePlaces
from tests.clocks import TickingClock
from tests.registries import new_registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.registry import Registry

NAME = "CLAUDE.md"
TEXT = b"# Ours\n\n- One.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / NAME).write_bytes(TEXT)
    return folder


@pytest.fixture
def registry(tmp_path: Path, project: Path) -> Iterator[Registry]:
    registry = new_registry(tmp_path, TickingClock())
    registry.places = WritePlaces(project)
    with closing(registry.log):
        yield registry


def imported(registry: Registry, project: Path, name: str = NAME, **fields: object) -> None:
    read = read_instructions(project / name.rpartition("/")[2], name)
    registry.execute(ImportSkill(replace(read, **fields)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("../CLAUDE.md", "."),
        (".git/hooks/pre-commit", "."),
        ("package.json", "."),
        ("claude.md/../.envrc", "."),
        (".claude/rules/a.md", "docs"),
        (".cursor/rules/a.mdc", ".vscode"),
    ],
)
def test_an_event_that_would_write_what_no_agent_reads_as_instructions_is_refused(
    registry: Registry, project: Path, name: str, source: str
) -> None:
    head = registry.log.head()
    read = read_instructions(project / NAME, NAME)
    with pytest.raises(CorruptLogError, match=r"no name of a skill|puts the instructions"):
        registry.execute(ImportSkill(replace(read, name=name, source=str(project / source))))
    assert registry.log.head() == head


def test_an_event_that_moves_rules_to_another_folder_is_refused(registry: Registry, project: Path) -> None:
    (project / ".claude/rules").mkdir(parents=True)
    (project / ".claude/rules/a.md").write_bytes(TEXT)
    registry.execute(ImportSkill(read_instructions(project / ".claude/rules/a.md", ".claude/rules/a.md")))
    with pytest.raises(CorruptLogError, match="puts the instructions"):
        registry.execute(MoveSkill(".claude/rules/a.md", str(project / ".github/workflows")))


def test_no_file_comes_beside_instructions(registry: Registry, project: Path) -> None:
    entry = FileEntry(path="Makefile", blob="0" * 64, mode=0o755, size_bytes=1)
    with pytest.raises(CorruptLogError, match="beside the instructions"):
        imported(registry, project, files=(SkillFile(entry, b"x"),))


def test_instructions_outside_the_project_are_written_only_where_that_very_file_was_confirmed(
    registry: Registry, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "home"
    outside.mkdir()
    (outside / NAME).write_bytes(TEXT)
    name = instructions_name(outside / NAME, project)
    assert name == str(outside / NAME)
    imported(registry, outside, name)
    (outside / NAME).write_bytes(TEXT + b"by hand\n")
    for confirmed in ((), (str(outside),), (str(outside / "AGENTS.md"),)):
        registry.places = WritePlaces(project, frozenset(confirmed))
        for attempt in (take_in_edits, publish):
            with pytest.raises(UntrustedError, match="outside the project"):
                attempt(registry, name)
        with pytest.raises(UntrustedError, match="outside the project"):
            write_out(registry, registry.capsule(name))
    assert (outside / NAME).read_bytes() == TEXT + b"by hand\n"
    registry.places = WritePlaces(project, frozenset({str(outside / NAME)}))
    take_in_edits(registry, name)
    assert skill_bytes(registry.capsule(name)) == TEXT + b"by hand\n"


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_leads_instructions_nowhere_else(
    registry: Registry, project: Path, tmp_path: Path, linked: str
) -> None:
    (tmp_path / "away").mkdir()
    target = tmp_path / "away" / NAME
    target.write_bytes(b"theirs\n")
    place = project / "sub"
    place.mkdir()
    (place / NAME).write_bytes(TEXT)
    name = instructions_name(place / NAME, project)
    assert name == "sub/CLAUDE.md"
    imported(registry, place, name)
    (place / NAME).unlink()
    if linked == "file":
        (place / NAME).symlink_to(target)
    else:
        place.rmdir()
        place.symlink_to(tmp_path / "away")
    for discard in (False, True):
        with pytest.raises((UntrustedError, RefusedError)):
            publish(registry, name, discard=discard)
    assert target.read_bytes() == b"theirs\n"


def test_other_files_beside_instructions_are_nobodys_drift(registry: Registry, project: Path) -> None:
    imported(registry, project)
    (project / "main.py").write_text("x")
    assert standing(registry, NAME) == "projected"
    (project / NAME).unlink()
    assert standing(registry, NAME) == "missing"
    publish(registry, NAME)
    assert (project / NAME).read_bytes() == TEXT
    assert (project / "main.py").read_text() == "x"


@pytest.mark.parametrize("had", [True, False], ids=["taken away", "added"])
def test_a_byte_order_mark_that_came_or_went_by_hand_is_refused_and_not_written_over(
    registry: Registry, project: Path, *, had: bool
) -> None:
    mark = b"\xef\xbb\xbf"
    (project / NAME).write_bytes(mark * had + TEXT)
    imported(registry, project)
    (project / NAME).write_bytes(mark * (not had) + TEXT)
    with pytest.raises(SkillFormatError, match="byte order mark"):
        take_in_edits(registry, NAME)
    assert (project / NAME).read_bytes() == mark * (not had) + TEXT
