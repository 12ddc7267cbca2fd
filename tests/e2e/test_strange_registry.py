"""A registry of a stranger (F2): it writes nothing before it is trusted.

Outside the project it writes where this machine confirmed the place, and nowhere else.
"""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING, Final

import pytest

from events.errors import UntrustedError
from registry.actions.undo import changes_of
from strategies.monitor.pick_version import FOLDER as PICKED
from tests.command_lines import STEPS
from tests.registries import SKILL
from tests.schemas import breaches
from tests.terminal import SPLIT_KEY, Clone, typed
from tui.session.changes import ChangePreview, carry_out, rehearse, switching, taking_back
from tui.session.open_registry import open_library, open_registry

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from registry.registry import Registry
    from tests.terminal import Answer

NEXT: Final = "germline trust    germline --trust-project …"
READS: Final = (
    *(
        "status",
        "status --json",
        "log",
        "log --json",
        "show sql-analyst",
        "why sql-analyst:8",
        "diff sql-analyst 1 2",
    ),
    *(
        "signals",
        "candidates",
        "search table",
        "verify",
        "report -o report.html",
        "checkpoint",
        "config",
    ),
    *("export skill sql-analyst -o copy", "alias list", "backup kept.db", "trust --dry-run"),
)
WRITES: Final = (
    *("scan steps.jsonl", "scan steps.jsonl --dry-run", "evolve --logs steps.jsonl", "watch steps.jsonl"),
    *("project", "project --discard", "project --dry-run", "adopt", "import skills", "pick sql-analyst"),
    *("revert sql-analyst --to 1 --reason x", "alias set sql-analyst mine 1 --reason x", "advise"),
    *("protect sql-analyst:8 --reason x", "outcome run-1 --value 1 --source ci", "preset use innovate --reason x"),
    *("score sql-analyst", "candidate approve abc --reason x", "candidate reject abc --reason x"),
)


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Give every file below a folder, but for the person's own lists."""
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mode)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and ".local" not in file.parts
    }


def learned(stranger: Clone, folder: Path) -> None:
    """Let a stranger's registry hold a second version of a skill, with a program, and put the first back."""
    script, skill = folder / "run.sh", folder / "SKILL.md"
    before = skill.read_bytes()
    stranger.does("import", folder)
    skill.write_text(skill.read_text().replace("Round nothing.", "Round nothing.\n- Run run.sh first."))
    script.write_text("#!/bin/sh\ntouch ran\n")
    script.chmod(0o755)
    stranger.does("adopt")
    skill.write_bytes(before)
    script.unlink()


def skill_in(folder: Path, name: str = "sql-analyst") -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.replace("name: sql-analyst", f"name: {name}"))
    return folder


@pytest.fixture
def stranger(tmp_path: Path) -> Clone:
    """Give whoever made the clone: the skill's place is one in the home folder of the person who got it."""
    (tmp_path / "clone").mkdir()
    made = Clone(tmp_path / "clone", HOME=str(tmp_path / "stranger"))
    made.does("init", "--split-key", SPLIT_KEY)
    (made.folder / "germline.toml").unlink()
    made.write("steps.jsonl", STEPS)
    made.write("skills/other/SKILL.md", SKILL.replace("name: sql-analyst", "name: other"))
    learned(made, skill_in(tmp_path / "home/.claude/skills/sql-analyst"))
    return made


@pytest.fixture
def person(stranger: Clone, tmp_path: Path) -> Clone:
    """Give the person who got the clone."""
    return Clone(stranger.folder, HOME=str(tmp_path / "home"), COLUMNS="400")


def is_refused(answer: Answer, where: Path) -> None:
    assert (answer.code, answer.out) == (2, ""), answer
    assert answer.err.splitlines()[0] == (
        f"error  {where}/.germline/registry.db was not created by you on this machine: it is read-only until you"
        " trust it"
    )
    assert answer.hint == NEXT


def test_a_strangers_registry_is_read_and_writes_nothing(person: Clone, tmp_path: Path) -> None:
    before = files(tmp_path / "home")
    for words in READS:
        answer = person.does(*words.split())
        quiet = {"verify", "config", "trust"}
        assert answer.err.count("read-only  ") == (words.split()[0] not in quiet), words
        assert "read-only  " not in answer.out
    for words in WRITES:
        is_refused(person(*words.split()), person.folder)
        assert files(tmp_path / "home") == before, words
    assert "already" in person("init").err
    assert files(tmp_path / "home") == before
    assert "read-only" not in person("--quiet", "log").err
    checked = person("doctor")
    assert "was not created by you on this machine" in checked.out
    assert checked.err.count("read-only  ") == 1
    row = person.does("status", "--json").json["registry_trust"]
    assert (row["state"], row["places"][0]["confirmed"]) == ("untrusted", False)


def test_once_trusted_it_writes_where_it_was_shown_to_and_says_so(person: Clone, tmp_path: Path) -> None:
    home = tmp_path / "home"
    before, place = files(home), home / ".claude/skills/sql-analyst"
    answer = person("trust")
    assert (answer.code, answer.hint) == (2, "if you have read it: germline trust --trust-project")
    assert f"{place}: sql-analyst would be written there" in answer.out
    shown = person.does("trust", "--trust-project", "--json").json
    assert (shown["registry"]["state"], breaches(shown)) == ("trusted", [])
    assert shown["registry"]["places"] == [{"skill": "sql-analyst", "folder": str(place), "confirmed": True}]
    (own,) = (home / ".local/share/germline/registries").iterdir()
    assert own.stat().st_mode & 0o777 == 0o600
    assert files(home) == before
    answer = person.does("scan", "steps.jsonl", "--json")
    assert answer.json["episodes"] == 3
    assert "repaired   sql-analyst, left at an earlier version: run.sh, SKILL.md, in " in answer.err
    assert (place / "run.sh").stat().st_mode & 0o100
    assert "repaired" not in person.does("scan", "steps.jsonl").err
    assert person.does("trust", "--json").json["registry"]["state"] == "trusted"


def test_a_person_at_a_terminal_is_shown_the_registry_and_asked(person: Clone, tmp_path: Path) -> None:
    code, output = typed(person, "n\n")
    assert (code, "trust      all of this, until it changes? [y/N] " in output) == (3, True)
    assert f"{tmp_path}/home/.claude/skills/sql-analyst: sql-analyst would be written there" in output
    is_refused(person("scan", "steps.jsonl"), person.folder)
    assert typed(person, "y\n")[0] == 0
    person.does("scan", "steps.jsonl")


def test_answering_for_it_counts_for_one_command(person: Clone) -> None:
    assert "repaired" in person("--trust-project", "scan", "steps.jsonl").err
    is_refused(person("scan", "steps.jsonl"), person.folder)


def test_a_place_that_came_after_the_consent_is_asked_about(
    stranger: Clone, person: Clone, tmp_path: Path
) -> None:
    person.does("trust", "--trust-project")
    person.does("scan", "steps.jsonl")
    place = skill_in(tmp_path / "home/.claude/skills/more", "more")
    learned(stranger, place)
    before = files(tmp_path / "home")
    answer = person.does("scan", "steps.jsonl")
    assert f"more would be written to {place}, outside the project, and you have not confirmed that" in answer.err
    (place / "SKILL.md").write_text(SKILL)
    for words in (
        *(
            "project more",
            "project more --discard",
            "project more --dry-run",
            "adopt more",
            "adopt more --dry-run",
        ),
        *(
            "revert more --to 1 --reason x",
            "project",
            "evolve more --logs steps.jsonl",
            "evolve --logs steps.jsonl",
        ),
    ):
        answer = person(*words.split())
        assert (answer.code, answer.hint) == (2, NEXT), words
        assert "you have not confirmed that" in answer.err
    (place / "SKILL.md").write_bytes(before[".claude/skills/more/SKILL.md"][0])
    assert files(tmp_path / "home") == before
    for words in ("status", "doctor"):
        assert f"before you confirm it, more in {place}" in person(words).out
    person.does("trust", "--trust-project")
    assert "repaired   more" in person.does("scan", "steps.jsonl").err


def test_the_screens_change_nothing_before_it_is_trusted_and_undo_nothing_outside(
    stranger: Clone, person: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in person._env.items():
        monkeypatch.setenv(name, value)
    path = person.folder / ".germline/registry.db"

    def opened(*, dry_run: bool) -> AbstractContextManager[Registry]:
        return open_registry(path, dry_run=dry_run)

    with pytest.raises(UntrustedError, match="was not created by you on this machine"):
        rehearse(opened, switching("innovate"), "x")
    person.does("trust", "--trust-project")
    place = skill_in(tmp_path / "home/.claude/skills/more", "more")
    learned(stranger, place)
    stranger.does("revert", "more", "--to", "1", "--reason", "x")
    before = files(place)
    with open_library(path) as library:
        last = changes_of(library, "more").undo
    assert last is not None
    with pytest.raises(UntrustedError, match="you have not confirmed that"):
        rehearse(opened, taking_back(last, "more", "undo"), "x")
    with pytest.raises(UntrustedError, match="you have not confirmed that"):
        carry_out(opened, taking_back(last, "more", "undo"), "x", ChangePreview(()))
    assert files(place) == before


def test_a_link_does_not_lead_a_skill_of_the_project_out_of_it(
    tmp_path: Path, stranger: Clone, person: Clone
) -> None:
    person.does("trust", "--trust-project")
    inside, outside = stranger.folder / "skills/more", tmp_path / "home/notes/more"
    learned(stranger, skill_in(inside, "more"))
    outside.parent.mkdir()
    inside.rename(outside)
    inside.symlink_to(outside)
    before = files(outside)
    assert "outside the project, and you have not confirmed that" in person.does("scan", "steps.jsonl").err
    assert person("project", "more", "--discard").code == 2
    assert files(outside) == before
    inside.unlink()
    outside.rename(inside)
    assert "repaired   more" in person.does("scan", "steps.jsonl").err


def test_hooks_of_git_are_no_place_of_a_skill(person: Clone, stranger: Clone) -> None:
    person.does("trust", "--trust-project")
    learned(stranger, skill_in(stranger.folder / ".git/more", "more"))
    assert "you have not confirmed that" in person("scan", "steps.jsonl").err
    assert not (person.folder / ".git/more/run.sh").exists()


def test_versions_that_are_picked_stay_beside_the_registry(person: Clone, tmp_path: Path) -> None:
    person.does("trust", "--trust-project")
    aside = tmp_path / "home/aside"
    aside.mkdir()
    (person.folder / ".germline" / PICKED).mkdir()
    (person.folder / ".germline" / PICKED / "sql-analyst@2").symlink_to(aside)
    assert "does not lie inside" in person("pick", "sql-analyst").err
    assert list(aside.iterdir()) == []


def test_the_command_that_confirms_names_the_registry_that_was_named(person: Clone, tmp_path: Path) -> None:
    file = person.folder / ".germline/registry.db"
    person.does("trust", "--trust-project")
    answer = person.does("--registry", file, "copy", file, tmp_path / "other.db")
    answer = person("--registry", tmp_path / "other.db", "project")
    assert answer.hint == f"germline --registry {tmp_path}/other.db trust    germline --trust-project …"
    person.does("--registry", tmp_path / "other.db", "trust", "--trust-project")
    person.does("--registry", tmp_path / "other.db", "project")


def test_no_file_beside_the_registry_is_written_through_a_link(person: Clone, tmp_path: Path) -> None:
    person.does("trust", "--trust-project")
    private = tmp_path / "home/authorized_keys"
    private.write_text("a key")
    for name in ("registry.db.checkpoints", "registry.db.watch", "registry.db-wal"):
        link = person.folder / ".germline" / name
        link.unlink(missing_ok=True)
        link.symlink_to(private)
        assert f"leads out of its folder, to {private}" in person("scan", "steps.jsonl").err
        assert private.read_text() == "a key"
        link.unlink()
    person.does("scan", "steps.jsonl")


def test_what_a_person_imports_is_written_without_a_question(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    person = Clone(tmp_path / "project", HOME=str(tmp_path / "home"))
    person.does("init")
    place = skill_in(tmp_path / "home/.claude/skills/sql-analyst")
    learned(person, place)
    answer = person.does("status")
    assert (answer.err, "places" in answer.out) == ("", False)
    assert "repaired" in person.does("project").err
    assert (place / "run.sh").exists()
    place.rename(place.with_name("moved"))
    person.does("import", place.with_name("moved"))
    person.does("project")


def test_a_registry_of_an_earlier_version_is_taken_up_where_no_clone_can_have_brought_it(person: Clone) -> None:
    for brought in (
        None,
        b"DIRC\0\0\0\2.germline/registry.db\0",
        b"DIRC\0\0\0\4",
        b"DIRC\0\0\0\2.Germline/Registry.db",
    ):
        if brought is not None:
            (person.folder / ".git/objects").mkdir(parents=True, exist_ok=True)
            (person.folder / ".git/index").write_bytes(brought)
        is_refused(person("scan", "steps.jsonl"), person.folder)
    (person.folder / ".git/index").write_bytes(b"DIRC\0\0\0\2README.md\0")
    assert "read-only" not in person.does("log").err
    answer = person.does("scan", "steps.jsonl")
    assert "counts as yours: git does not track it, so no clone brought it" in answer.err
    assert "you have not confirmed that" in answer.err
    assert "counts as yours" not in person.does("scan", "steps.jsonl").err


def test_another_registry_in_the_place_of_ones_own_is_asked_about(person: Clone, tmp_path: Path) -> None:
    person.does("trust", "--trust-project")
    other = tmp_path / "other"
    other.mkdir()
    Clone(other, HOME=str(tmp_path / "stranger")).does("init")
    (person.folder / ".germline").rename(tmp_path / "own")
    copytree(other / ".germline", person.folder / ".germline")
    answer = person("scan", "steps.jsonl")
    assert (answer.code, answer.hint) == (2, NEXT)
    assert "is another registry than the one you trusted there" in answer.err
    assert person.does("trust", "--dry-run", "--json").json["registry"]["state"] == "changed"


def is_asked_about(copy: Clone) -> None:
    answer = copy("scan", "steps.jsonl")
    assert (answer.code, answer.hint) == (2, NEXT)
    assert f"is a copy of {copy.folder.parent}/copied.db: it is read-only until you trust it" in answer.err


def test_a_project_that_moved_is_asked_about_and_copies_and_restores_are_ones_own(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    person = Clone(tmp_path / "project", HOME=str(tmp_path / "home"))
    person.with_skill()
    person.does("backup", "kept.db")
    person.does("copy", ".germline/registry.db", tmp_path / "copied.db")
    moved = Clone(person.folder.rename(tmp_path / "moved"), HOME=str(tmp_path / "home"))
    moved.write("steps.jsonl", STEPS)
    is_asked_about(moved)
    moved.does("--registry", tmp_path / "copied.db", "scan", "steps.jsonl")
    moved.does("restore", "kept.db", "--yes")
    moved.does("scan", "steps.jsonl")
    moved.does("project")
    places = [own["place"] for own in moved.does("trust", "--list", "--json").json["registries"]]
    assert places == [
        str(tmp_path / name)
        for name in sorted(("copied.db", "moved/.germline/registry.db", "project/.germline/registry.db"))
    ]
    assert moved.does("trust", "--revoke", "--json").json["revoked"]
    is_asked_about(moved)


def test_a_named_file_is_no_more_trusted_than_one_in_the_project(person: Clone, tmp_path: Path) -> None:
    file = person.folder / ".germline/registry.db"
    for words in (("--registry", file, "scan", "clone/steps.jsonl"), ("--registry", file, "project")):
        answer = Clone(tmp_path, HOME=str(tmp_path / "home"))(*words)
        assert (answer.code, answer.hint) == (2, f"germline --registry {file} trust    germline --trust-project …")
