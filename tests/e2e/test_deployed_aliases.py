"""A name that is deployed: a folder holds what it points at, and follows it there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from registry.actions import deploy_alias
from tests.registries import SKILL
from tests.terminal import Clone

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = "deployed"
PLACE: Final = f"{FOLDER}/sql-analyst/SKILL.md"
SET: Final = ("alias", "set", "sql-analyst", "production")
WHY: Final = ("--yes", "--reason", "a quiet week")


@pytest.fixture
def person(tmp_path: Path) -> Clone:
    """A project with a skill at version 2, whose second version brought a line and a file."""
    (tmp_path / "project").mkdir()
    who = Clone(tmp_path / "project", HOME=str(tmp_path / "home"), COLUMNS="240")
    who.write("skills/sql-analyst/SKILL.md", SKILL)
    who.does("init")
    who.does("import", "skills")
    who.write("skills/sql-analyst/SKILL.md", SKILL + "\nSecond.\n")
    who.write("skills/sql-analyst/scripts/look.sh", "ls\n")
    who.does("adopt", "sql-analyst")
    return who


def there(who: Clone) -> str:
    return (who.folder / PLACE).read_text()


def test_a_folder_follows_the_name_there_and_back(person: Clone) -> None:
    deployed = person.does(*SET, "2", "--to", FOLDER, *WHY).out
    assert "deployed/sql-analyst holds @2" in deployed
    assert "Second." in there(person)
    person.does(*SET, "1", *WHY)
    assert there(person) == SKILL
    assert not (person.folder / FOLDER / "sql-analyst/scripts").exists()
    person.does(*SET, "2", *WHY)
    assert "Second." in there(person)
    assert "Second." in (person.folder / "skills/sql-analyst/SKILL.md").read_text()
    history = person.does("alias", "log", "sql-analyst").out
    assert "deployed to deployed/sql-analyst" in history
    assert history.count("a quiet week") == 4
    person.does("verify")


def test_status_pick_and_the_list_of_names_see_it(person: Clone) -> None:
    person.does(*SET, "1", "--to", FOLDER, *WHY)
    place = f"{person.folder}/deployed/sql-analyst"
    assert f"production → @1 in {place}\n" in person.does("status").out
    assert f"in {place}" in person.does("alias", "list").out
    picked = {person.does("pick", "sql-analyst", "--seed", str(seed)).out.splitlines()[0] for seed in range(12)}
    assert f"sql-analyst@1  {place}" in picked
    assert len(picked) == 2
    (row,) = person.does("alias", "list", "--json").json["aliases"]
    assert (row["folder"], row["standing"]) == (place, "projected")


def test_an_edit_by_hand_is_never_overwritten(person: Clone) -> None:
    person.does(*SET, "1", "--to", FOLDER, *WHY)
    person.write(PLACE, there(person) + "\nMine.\n")
    refused = person(*SET, "2", *WHY)
    assert refused.code == 2
    assert "was edited by hand, and is not written over: SKILL.md" in refused.err
    assert "Mine." in there(person)
    assert "@1" in person.does("alias", "list").out
    assert "edited by hand" in person.does("status").out


def test_a_dry_run_writes_nothing(person: Clone) -> None:
    assert "2 events" in person.does(*SET, "2", "--to", FOLDER, *WHY, "--dry-run").out
    assert not (person.folder / FOLDER).exists()
    assert "no version has a name" in person.does("alias", "list").err


def test_a_crash_before_the_files_is_repaired_by_the_next_command(
    person: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    person.does(*SET, "1", "--to", FOLDER, *WHY)

    def cut_off(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(deploy_alias, "write_version", cut_off)
        assert person(*SET, "2", *WHY).code == 130
    assert there(person) == SKILL
    assert "repaired   sql-analyst@production" in person.does("alias", "set", "sql-analyst", "canary", "1").err
    assert "Second." in there(person)


def test_a_folder_that_something_else_writes_is_refused(person: Clone) -> None:
    refused = person(*SET, "1", "--to", "skills", *WHY)
    assert refused.code == 2
    assert "where the live version of sql-analyst is written" in refused.err
    person.does(*SET, "1", "--to", FOLDER, *WHY)
    assert (
        "follows sql-analyst@production already"
        in person("alias", "set", "sql-analyst", "canary", "2", "--to", FOLDER).err
    )


def test_a_name_that_is_removed_or_no_longer_deployed_leaves_its_folder(person: Clone) -> None:
    person.does(*SET, "1", "--to", FOLDER, *WHY)
    assert "no longer follows production" in person.does(*SET, "2", "--to", "none", *WHY).out
    assert there(person) == SKILL
    person.does(*SET, "2", "--to", FOLDER, *WHY)
    person.does(*SET, "none", *WHY)
    person.does(*SET, "1", *WHY)
    assert "Second." in there(person)
