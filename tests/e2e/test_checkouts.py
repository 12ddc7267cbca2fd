"""Copies of a project: a copy, a clone and a worktree each write into themselves alone, and say what they are."""

from __future__ import annotations

import subprocess
from shutil import copytree, rmtree
from typing import TYPE_CHECKING, Final

import pytest

from tests.registries import SKILL
from tests.terminal import Clone, typed

if TYPE_CHECKING:
    from pathlib import Path

PLACE: Final = ".claude/skills/sql-analyst"
ADVICE: Final = "\n- Look at the schema first.\n"


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(("git", *who, *words), cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Clone:
    """A project under git, whose registry keeps one skill of it."""
    (tmp_path / "project").mkdir()
    person = Clone(tmp_path / "project", HOME=str(tmp_path / "home"))
    person.write(f"{PLACE}/SKILL.md", SKILL)
    git(person.folder, "init", "-q")
    person.does("init")
    person.does("import", PLACE)
    git(person.folder, "add", "-A")
    git(person.folder, "commit", "-qm", "a skill")
    return person


def at(project: Clone, folder: Path) -> Clone:
    return Clone(folder, HOME=str(project.folder.parent / "home"))


def skill(person: Clone) -> str:
    return (person.folder / PLACE / "SKILL.md").read_text()


def learn(person: Clone) -> str:
    """Let a person add a line, adopt it and go back, which writes the file twice; give what was said."""
    person.write(f"{PLACE}/SKILL.md", skill(person) + ADVICE)
    adopted = person.does("adopt", "sql-analyst")
    assert "germline" in skill(person)  # the stamp: germline wrote the file
    person.does("revert", "sql-analyst", "--to", "1", "--reason", "not now")
    assert ADVICE not in skill(person)
    return adopted.err


def test_a_copy_writes_its_own_files_and_says_whose_copy_it_is(project: Clone, tmp_path: Path) -> None:
    copy = at(project, copytree(project.folder, tmp_path / "copy", symlinks=True))
    origin = f"is a copy of {project.folder}/.germline/registry.db: it learns by itself, and writes to the files"
    assert origin in learn(copy)
    assert skill(project) == SKILL
    assert "sql-analyst@1" in project.does("status").out
    assert "sql-analyst@3" in copy.does("status").out
    assert learn(project).find("copy of") == -1
    assert "sql-analyst@3" in project.does("status").out


def test_a_project_that_is_moved_goes_on_where_it_is(project: Clone, tmp_path: Path) -> None:
    moved = at(project, project.folder.rename(tmp_path / "moved"))
    assert f"was {project.folder}/.germline/registry.db before it was moved" in learn(moved)


def test_a_clone_begins_without_a_registry_and_one_of_its_own_writes_there(project: Clone, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(project.folder), "cloned")
    clone = at(project, tmp_path / "cloned")
    assert clone("status").code == 2
    clone.does("init")
    clone.does("import", PLACE)
    learn(clone)
    assert skill(project) == SKILL


@pytest.mark.parametrize("place", ["beside", "project/.claude/worktrees/beside"])
def test_a_worktree_has_no_part_in_the_registry_of_its_checkout(
    project: Clone, tmp_path: Path, place: str
) -> None:
    git(project.folder, "worktree", "add", "-q", str(tmp_path / place))
    worktree = at(project, tmp_path / place)
    refused = worktree("adopt", "sql-analyst")
    assert refused.code == 2
    assert refused.hint.startswith("germline init")
    worktree.does("init")
    worktree.does("import", PLACE)
    learn(worktree)
    assert skill(project) == SKILL


def test_a_registry_that_a_clone_brought_writes_below_the_clone_once_it_is_trusted(
    project: Clone, tmp_path: Path
) -> None:
    (project.folder / ".germline/.gitignore").unlink()
    git(project.folder, "add", "-A")
    git(project.folder, "commit", "-qm", "the registry too")
    git(tmp_path, "clone", "-q", str(project.folder), "cloned")
    clone = at(project, tmp_path / "cloned")
    assert f"is a copy of {project.folder}" in clone("adopt").err
    assert typed(clone, "y\n")[0] == 0
    learn(clone)
    assert skill(project) == SKILL


def test_a_second_owner_of_a_skill_is_refused_with_both_named(project: Clone, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = at(project, tmp_path / "other")
    other.does("init")
    folder = project.folder / PLACE
    refused = other("import", folder)
    assert refused.code == 2
    assert (
        f"{folder} is written by another registry of yours, {project.folder}/.germline/registry.db" in refused.err
    )
    assert "sql-analyst" not in other.does("status").out
    other.does("import", folder, "--yes")
    assert "sql-analyst@1" in other.does("status").out


def test_a_registry_put_in_the_place_of_a_trusted_one_owns_no_skill(project: Clone, tmp_path: Path) -> None:
    for name in ("stranger", "other"):
        (tmp_path / name).mkdir()
    stranger = Clone(tmp_path / "stranger", HOME=str(tmp_path / "elsewhere"))
    stranger.write(f"{PLACE}/SKILL.md", SKILL)
    stranger.does("init")
    stranger.does("import", PLACE)
    rmtree(project.folder / ".germline")
    copytree(stranger.folder / ".germline", project.folder / ".germline")
    other = at(project, tmp_path / "other")
    other.does("init")
    other.does("import", project.folder / PLACE)


def test_a_skill_of_another_registry_whose_link_leads_to_itself_is_passed_over(
    project: Clone, tmp_path: Path
) -> None:
    project.write(".claude/skills/second/SKILL.md", SKILL)
    rmtree(project.folder / PLACE)
    (project.folder / PLACE).symlink_to(project.folder / PLACE)
    (tmp_path / "other").mkdir()
    other = at(project, tmp_path / "other")
    other.does("init")
    other.does("import", project.folder / ".claude/skills/second")
