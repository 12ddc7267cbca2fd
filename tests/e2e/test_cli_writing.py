"""Writing commands: what they change, that a dry run changes nothing, and who may do what."""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import stat
from typing import TYPE_CHECKING

import pytest

from events.clock import SystemClock
from tests.terminal import MINIMAL, SPLIT_KEY, Terminal, with_absolute_places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path).with_skill()


def edit(germline: Terminal, old: str, new: str) -> None:
    file = germline.folder / "skills/sql-analyst/SKILL.md"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_init_makes_a_private_registry_and_offers_what_it_found(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.write("skills/sql-analyst/SKILL.md", MINIMAL)
    (tmp_path / ".claude/projects").mkdir(parents=True)
    output = germline.does("init").out
    assert "germline import skills" in output
    assert "germline scan\n" in output
    modes = {
        path: stat.S_IMODE((tmp_path / path).stat().st_mode) for path in (".germline", ".germline/registry.db")
    }
    assert modes == {".germline": 0o700, ".germline/registry.db": 0o600}
    assert stat.S_IMODE((tmp_path / "germline.toml").stat().st_mode) == 0o600
    assert germline.events() == 1  # offered, not read


def test_init_takes_a_folder_a_preset_and_a_split_key(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    answer = germline.does("init", "there", "--split-key", SPLIT_KEY, "--preset", "harden", "--json").json
    assert (answer["preset"], answer["split_key"]) == ("harden", SPLIT_KEY)
    assert germline.does("--registry", "there", "status", "--json").json["preset"] == "harden"


def test_init_as_a_dry_run_makes_nothing(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    assert germline.does("init", "--dry-run", "--json").json["events"][0]["type"] == "RegistryCreated"
    assert "1 event" in germline.does("init", "--dry-run").out
    assert list(tmp_path.iterdir()) == []


def test_a_second_init_is_refused(germline: Terminal) -> None:
    answer = germline("init")
    assert answer.code == 2
    assert "already" in answer.err
    assert answer.hint == "germline status"


def test_the_registry_is_found_from_a_folder_below_and_by_the_environment(germline: Terminal) -> None:
    below = Terminal(germline.folder / "skills" / "sql-analyst")
    assert below.does("why", "SKILL.md:2").out.startswith("sql-analyst@1, line 2")
    away = Terminal(germline.folder.parent, GERMLINE_REGISTRY=str(germline.folder / ".germline/registry.db"))
    assert away.does("status", "--json").json["skills"][0]["skill"] == "sql-analyst"


def test_import_of_a_folder_of_skills_is_one_step(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    for name in ("a-skill", "b-skill"):
        germline.write(f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: Does.\n---\n\nText.\n")
    dry = germline.does("import", "skills", "--dry-run", "--json").json
    assert {event["stream"] for event in dry["events"]} >= {"capsule:a-skill", "capsule:b-skill"}
    assert germline.events() == 1
    imported = germline.does("import", "skills", "--json").json
    assert [row["skill"] for row in imported["skills"]] == ["a-skill", "b-skill"]
    # Two of one name, of which one must be refused: none of the folder is imported.
    for folder in ("c-skill", "d-skill"):
        germline.write(f"skills/{folder}/SKILL.md", "---\nname: c-skill\ndescription: Does.\n---\n\nText.\n")
    before = germline.events()
    assert germline("import", "skills").code == 2
    assert germline.events() == before


def test_a_skill_that_is_added_to_a_folder_is_imported_and_those_known_are_left_alone(germline: Terminal) -> None:
    germline.write("skills/b-skill/SKILL.md", MINIMAL.replace("sql-analyst", "b-skill"))
    imported = germline.does("import", "skills", "--json").json
    assert [row["skill"] for row in imported["skills"]] == ["b-skill"]
    assert (imported["known"], imported["moved"]) == (["sql-analyst"], [])
    assert germline("import", "skills").hint == "germline adopt b-skill"


def test_a_skill_moved_with_a_registry_of_before_is_not_written_to_its_old_place_and_import_follows_it(
    tmp_path: Path,
) -> None:
    with with_absolute_places():
        germline = Terminal(tmp_path).with_skill_typed()
    edit(germline, "one query", "one fast query")
    germline.does("adopt")
    (tmp_path / "neue Übung").mkdir()
    for name in (".germline", "germline.toml", "skills"):
        (tmp_path / name).rename(tmp_path / "neue Übung" / name)
    moved = Terminal(tmp_path / "neue Übung")
    before = moved.events()
    for words in (("project",), ("revert", "sql-analyst", "--to", "1", "--reason", "r"), ("evolve",)):
        answer = moved(*words)
        assert answer.code == 2
        assert f"{moved.folder}/skills/sql-analyst has it" in answer.err
        assert moved.events() == before
    assert not (tmp_path / "skills").exists()
    for looked in ("status", "doctor"):
        assert "moved with its registry" in moved(looked).out
    (row,) = moved.does("status", "--json").json["skills"]
    assert answer.hint.endswith(shlex.quote(row["moved_to"]))
    typed = shlex.split(answer.hint)[1:]
    assert [event["type"] for event in moved.does(*typed, "--json").json["events"]] == ["CapsuleMoved"]
    moved.does("revert", "sql-analyst", "--to", "1", "--reason", "r")
    assert "one query" in (moved.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    assert moved.does("why", "skills/sql-analyst/SKILL.md:2").out.startswith("sql-analyst@3, line 2")
    assert not (tmp_path / "skills").exists()


def test_a_copy_of_a_skill_takes_its_place_only_when_told_so(germline: Terminal) -> None:
    germline.write("copy/sql-analyst/SKILL.md", MINIMAL)
    before = germline.events()
    answer = germline("import", "copy")
    assert answer.code == 2
    assert "skills/sql-analyst" in answer.err
    assert germline.events() == before
    typed = shlex.split(answer.hint.removesuffix(" makes that its place"))
    germline.does(*typed[1:])
    assert germline.does("project", "--json").json["skills"][0]["folder"].endswith("copy/sql-analyst")


def test_import_warns_of_a_rule_that_a_skill_breaks(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    germline.write("Wrong/SKILL.md", "---\nname: Wrong\ndescription: Does.\n---\n\nText.\n")
    answer = germline.does("import", "Wrong")
    assert "warning    wrong: name" in answer.err
    assert germline.does("--quiet", "show", "wrong").out.startswith("---\nname: Wrong")


def test_revert_brings_the_text_back_and_erases_nothing(germline: Terminal) -> None:
    edit(germline, "one query", "one careful query")
    germline.does("adopt", "sql-analyst")
    before = germline.events()
    dry = germline.does("revert", "sql-analyst", "--to", "1", "--reason", "r", "--dry-run", "--json").json
    assert [event["type"] for event in dry["events"]] == ["CapsuleReverted", "CapsuleVersioned"]
    assert germline.events() == before
    reverted = germline.does("revert", "sql-analyst", "--to", "1", "--reason", "it read better", "--json").json
    assert (reverted["version"], reverted["written"]) == (3, ["SKILL.md"])
    disk = (germline.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    assert "one query" in disk
    assert 'germline: "sql-analyst@3"' in disk
    assert "one careful query" in germline.does("show", "sql-analyst@2").out
    assert "it read better" in germline.does("log", "sql-analyst", "--type", "CapsuleReverted").out
    last = len(disk.splitlines())
    assert (
        germline.does("why", f"skills/sql-analyst/SKILL.md:{last}", "--json").json["origin"]["type"] == "GeneBorn"
    )


def test_revert_needs_a_reason(germline: Terminal) -> None:
    answer = germline("revert", "sql-analyst", "--to", "1")
    assert answer.code == 2
    assert "--reason TEXT" in answer.hint


def test_a_hand_edit_is_noticed_never_overwritten_and_can_be_adopted(germline: Terminal) -> None:
    edit(germline, "Answer with one query.", "Answer with one careful query.")
    status = germline.does("status", "--json").json["skills"][0]
    assert status["standing"] == "edited"
    assert status["drift"] == [{"path": "SKILL.md", "kind": "changed", "refused": "", "minor": False}]
    refused = germline("project")
    assert refused.code == 2
    assert "germline adopt sql-analyst" in refused.hint
    before = germline.events()
    dry = germline.does("adopt", "--dry-run", "--json").json
    assert [event["type"] for event in dry["events"]] == ["HandEditAdopted", "GeneMutated", "CapsuleVersioned"]
    assert germline.events() == before
    germline.does("adopt")
    why = germline.does("why", "sql-analyst:8", "--json").json
    assert (why["version"], why["origin"]["type"], why["unproven"]) == (2, "GeneMutated", True)
    assert why["previous"][0]["text"] == "Answer with one query."
    assert "by hand" in germline.does("why", "sql-analyst:8").out


def test_a_line_that_nobody_adopted_is_explained_as_such(germline: Terminal) -> None:
    edit(germline, "Answer with", "Written by hand.\nAnswer with")
    new = germline("why", "skills/sql-analyst/SKILL.md:6")
    assert new.code == 2
    assert new.hint == "germline adopt sql-analyst"
    moved = germline.does("why", "skills/sql-analyst/SKILL.md:7", "--json").json
    assert (moved["line"], moved["text"]) == (6, "Answer with one query.")


def test_project_discards_an_edit_only_when_told_to(germline: Terminal) -> None:
    original = (germline.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    edit(germline, "Answer with", "Reply with")
    dry = germline.does("project", "--discard", "--dry-run", "--json").json
    assert dry["skills"][0]["written"] == ["SKILL.md"]
    assert germline.does("project", "--discard", "--json").json["skills"][0]["written"] == ["SKILL.md"]
    assert (germline.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8") == original


def test_project_writes_missing_files_and_copies(germline: Terminal) -> None:
    file = germline.folder / "skills/sql-analyst/SKILL.md"
    original = file.read_bytes()
    file.unlink()
    assert germline.does("status", "--json").json["skills"][0]["standing"] == "missing"
    germline.does("project", "sql-analyst")
    assert file.read_bytes() == original
    germline.does("project", "--to", "copy")
    assert (germline.folder / "copy/sql-analyst/SKILL.md").read_bytes() == original
    refused = germline("project", "--annotated")
    assert refused.code == 2
    assert "--to DIR" in refused.hint


def test_an_annotated_copy_has_the_reason_beside_each_learned_line(learned: Terminal) -> None:
    learned.does("project", "sql-analyst", "--annotated", "--to", "copy")
    copy = (learned.folder / "copy/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    plain = (learned.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    comments = [line for line in copy.splitlines(keepends=True) if line.startswith("<!-- event ")]
    assert comments
    assert "".join(line for line in copy.splitlines(keepends=True) if line not in comments) == plain
    assert "<!--" not in plain


def test_aliases_move_with_a_history_and_name_a_version(germline: Terminal) -> None:
    assert "SKILL NAME VERSION" in germline.does("alias", "list").err
    germline.does("alias", "set", "sql-analyst", "canary", "1")
    assert germline.does("show", "sql-analyst@canary", "--json").json["version"] == 1
    (row,) = germline.does("alias", "list", "--json").json["aliases"]
    assert row == {
        "skill": "sql-analyst", "alias": "canary", "version": 1, "live": True, "folder": None, "standing": None
    }  # fmt: skip
    assert "already" in germline.does("alias", "set", "sql-analyst", "canary", "1").out
    before = germline.events()
    germline.does("alias", "set", "sql-analyst", "canary", "none", "--dry-run")
    assert germline.events() == before
    germline.does("alias", "set", "sql-analyst", "canary", "none", "--reason", "done")
    moves = germline.does("alias", "log", "sql-analyst", "--json").json["moves"]
    assert [(move["previous"], move["version"]) for move in moves] == [(1, None), (None, 1)]
    assert "@1 → nothing" in germline.does("alias", "log", "sql-analyst").out


@pytest.mark.parametrize("extra", [[], ["--yes"], ["--reason", "r"]])
def test_a_protected_name_needs_both_confirmation_and_reason(germline: Terminal, extra: list[str]) -> None:
    answer = germline("alias", "set", "sql-analyst", "production", "1", *extra)
    assert answer.code == 2
    assert "--yes --reason TEXT" in answer.hint
    germline.does("alias", "set", "sql-analyst", "production", "1", "--yes", "--reason", "r")


@pytest.mark.parametrize("name", ["best", "12", "none", "Prod", "a b", "2026-11-01"])
def test_a_name_that_already_means_a_version_is_refused(germline: Terminal, name: str) -> None:
    assert germline("alias", "set", "sql-analyst", name, "1").code == 2


def test_switching_the_preset_is_an_event_with_a_reason(germline: Terminal) -> None:
    assert germline("preset", "use", "harden").code == 2
    before = germline.events()
    germline.does("preset", "use", "harden", "--reason", "r", "--dry-run")
    assert germline.events() == before
    switched = germline.does("preset", "use", "harden", "--reason", "fewer surprises", "--json").json
    assert (switched["previous"], switched["preset"]) == ("balanced", "harden")
    assert "already" in germline.does("preset", "use", "harden", "--reason", "r").out
    assert "fewer surprises" in germline.does("log", "--type", "PresetSwitched").out


def test_a_script_edited_by_hand_keeps_the_origin_of_its_other_lines(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    germline.write("skills/sql-analyst/SKILL.md", MINIMAL)
    script = germline.write("skills/sql-analyst/scripts/x.py", "a = 1\nb = 2\nc = 3\n")
    germline.does("import", "skills")
    script.write_text("a = 1\nb = 20\nc = 3\n", encoding="utf-8")
    germline.does("adopt")
    types = [germline.does("why", f"{script}:{n}", "--json").json["origin"]["type"] for n in (1, 2, 3)]
    assert types == ["CapsuleImported", "FileChanged", "CapsuleImported"]
    germline.does("revert", "sql-analyst", "--to", "1", "--reason", "r")
    assert script.read_text(encoding="utf-8") == "a = 1\nb = 2\nc = 3\n"
    back = germline.does("why", f"{script}:2", "--json").json
    assert (back["origin"]["type"], back["since_version"]) == ("CapsuleImported", 1)
    assert germline("why", f"{script}:4").code == 2


def test_a_projection_that_was_thrown_away_is_folded_again_from_the_log(germline: Terminal) -> None:
    before = [germline.does(*words).out for words in (["show", "sql-analyst", "--json"], ["log"], ["signals"])]
    with sqlite3.connect(germline.folder / ".germline/registry.db") as connection:
        connection.execute("DELETE FROM documents")
    connection.close()
    assert [
        germline.does(*words).out for words in (["show", "sql-analyst", "--json"], ["log"], ["signals"])
    ] == before
    assert germline.does("project", "--json").json["skills"][0]["written"] == []


def test_a_projection_that_one_may_not_fold_again_is_told_with_who_can(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(germline.folder / ".germline/registry.db") as connection:
        connection.execute("DELETE FROM documents")
    connection.close()
    monkeypatch.setattr("tui.session.open_registry.is_fixed", lambda _: True)  # root may write everywhere
    answer = germline("log")
    assert (answer.code, answer.hint) == (1, "once, as who may: germline status")
    assert "must be brought up to date once, and you may not write to it or its folder" in answer.err
    monkeypatch.undo()
    germline.does("log")


def test_files_that_a_crash_left_behind_are_written_at_the_next_start(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(germline, "one query", "one careful query")
    germline.does("adopt")
    file = germline.folder / "skills/sql-analyst/SKILL.md"
    monkeypatch.setattr("tui.cli.commands.skills.revert.publish", lambda *_: ())
    germline.does("revert", "sql-analyst", "--to", "1", "--reason", "r")
    monkeypatch.undo()
    assert germline.does("status", "--json").json["skills"][0]["standing"] == "stale"
    germline.does("preset", "use", "harden", "--reason", "r", "--dry-run")
    assert "careful" in file.read_text(encoding="utf-8")
    germline.does("preset", "use", "harden", "--reason", "r")
    assert "careful" not in file.read_text(encoding="utf-8")


def test_why_tells_the_last_things_that_a_line_said_before_and_all_of_them_when_asked(germline: Terminal) -> None:
    edit(germline, "one query.", "0 queries.")
    for number in range(1, 6):
        germline.does("adopt")
        edit(germline, f"{number - 1} quer", f"{number} quer")
    lines = germline.does("show", "sql-analyst").out.splitlines()
    place = f"sql-analyst:{lines.index('Answer with 4 queries.') + 1}"
    output = germline.does("why", place).out
    assert [f"{number} queries" in output for number in range(4)] == [False, True, True, True]
    assert "older ones: --all" in output
    whole = germline.does("why", place, "--all").out
    assert [f"{number} queries" in whole for number in range(4)] == [True] * 4
    assert "older ones" not in whole
    assert len(germline.does("why", place, "--json").json["previous"]) == 5


def test_a_version_whose_files_cannot_be_written_is_told_as_recorded_and_written_once_the_way_is_free(
    germline: Terminal,
) -> None:
    edit(germline, "one query", "one fast query")
    germline.does("adopt")
    folder = germline.folder / "skills/sql-analyst"
    shutil.rmtree(folder)
    folder.write_text("in the way", encoding="utf-8")
    answer = germline("revert", "sql-analyst", "--to", "1", "--reason", "r")
    assert answer.code == 1
    assert "sql-analyst@3 is recorded, but its files are not written" in answer.err
    assert answer.hint == "move what is there out of the way, then: germline project"
    folder.unlink()
    germline.does("project")
    assert "one query" in (folder / "SKILL.md").read_text(encoding="utf-8")


def test_project_says_of_files_that_are_as_they_should_be_that_they_are_in_order(germline: Terminal) -> None:
    assert germline.does("project").out.startswith("in order   sql-analyst@1 in")
    edit(germline, "one query", "two queries")
    assert germline.does("project", "--discard", "--dry-run").out.startswith("to write   sql-analyst@1 in")
    assert germline.does("project", "--discard").out.endswith(": SKILL.md\n")


def test_a_command_that_is_named_next_can_be_typed_where_a_path_has_spaces(tmp_path: Path) -> None:
    """Every command of a chain is the one that the command before it named."""
    germline = Terminal(tmp_path / "Ada L. Übung")
    germline.folder.mkdir()
    germline.with_skill()
    chains = {
        "backup mine": ("backup", "the backup.db"),
        "export mine": ("export", "skill", "sql-analyst", "-o", "an export"),
        "attest mine": ("export", "--attest", "sql-analyst@1", "-o", "who made it.json"),
        "witness mine": ("checkpoint", "-o", "a witness.json"),
    }
    named = {}
    for name, words in chains.items():
        row = next(line for line in germline.does(*words).out.splitlines() if line.startswith("next"))
        named[name] = shlex.split(row.partition("germline ")[2].partition("    germline ")[0])
    assert named["backup mine"] == ["restore", "the backup.db", "--dry-run"]
    assert named["export mine"] == ["import", "an export/sql-analyst"]
    source = str(germline.folder / "skills/sql-analyst")
    assert named["attest mine"] == ["verify", "--attestation", "who made it.json", "--files", source]
    assert named["witness mine"] == ["verify", "--against", "a witness.json"]
    for name in ("backup mine", "attest mine", "witness mine"):
        germline.does(*named[name])


def test_a_clock_that_went_back_is_marked_and_hides_nothing_since_a_time(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = germline.events() + 1
    for at in ("2030-01-05T00:00:00.000000Z", "2030-01-02T00:00:00.000000Z", "2030-01-02T00:00:30.000000Z"):
        monkeypatch.setattr(SystemClock, "now", lambda _, at=at: at)
        germline.does("alias", "set", "sql-analyst", f"a{at[9:10]}{at[17:18]}", "1")
    lines = germline.does("log", "--since", "2030-01-04").out.splitlines()
    assert [int(line[:6]) for line in lines] == [first + 2, first + 1, first]
    assert ["(clock 3d back) a20 → 1" in line for line in lines] == [False, True, False]
