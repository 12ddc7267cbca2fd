"""What commands say is so: of dry runs, of hand edits, of the command to type next."""

from __future__ import annotations

from shlex import split
from typing import TYPE_CHECKING

import pytest

from tests.schemas import breaches
from tests.terminal import SPLIT_KEY, Terminal
from tui.cli.output.exit import begins_there

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "---\nname: {name}\ndescription: D.\n---\n\n{text}\n"
SECTIONS = "\n".join(f"## Part {n}\n\n- Rule {n}.\n" for n in range(40))
STEPS = (
    '{{"type":"episode","episode":"{n}","task":"t{n}","run":"r"}}\n'
    '{{"type":"step","episode":"{n}","tool":"sql","text":"SELECT","error":true,"error_text":"no such table: x"}}\n'
    '{{"type":"outcome","episode":"{n}","value":0,"source":"tests"}}\n'
)


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.mark.parametrize(
    ("names", "typed"), [(("b",), "evolve"), (("b", "a"), "signals assign FINGERPRINT SKILL")]
)
def test_status_says_what_to_type_for_signals_with_and_without_a_skill(
    germline: Terminal, names: tuple[str, ...], typed: str
) -> None:
    germline.does("init", "--split-key", SPLIT_KEY)
    for name in names:
        germline.write(f"skills/{name}/SKILL.md", SKILL.format(name=name, text="Do it."))
    germline.does("import", "skills")
    germline.write("steps.jsonl", "".join(STEPS.format(n=n) for n in range(40)))
    germline.does("scan", "steps.jsonl")
    assert germline.does("status").out.splitlines()[-1] == f"next       germline {typed}"


@pytest.mark.parametrize("place", ["absent.db", "a folder", "a folder/absent.db"])
def test_where_a_named_registry_is_missing_the_hint_begins_that_one(germline: Terminal, place: str) -> None:
    (germline.folder / "a folder").mkdir()
    for words in (["--registry", place, "status"], [f"--registry={place}", "log"]):
        hint = germline(*words).hint
        assert hint.startswith("germline --registry ")
    assert hint in germline("--registry", place, "doctor").out
    germline.does(*split(hint)[1:])
    germline.does("--registry", place, "status")
    assert not (germline.folder / ".germline").exists()


def test_the_hint_for_a_named_address_repeats_no_password() -> None:
    hint = begins_there("postgresql://me:secret@h/d?registry=agents")
    assert hint == "germline --registry 'postgresql://me@h/d?registry=agents' init"


def test_where_no_registry_was_named_the_hint_is_plain(germline: Terminal) -> None:
    assert germline("status").hint == "germline init"


def test_a_dry_run_that_appends_nothing_counts_no_events(germline: Terminal) -> None:
    output = germline.with_skill().does("pick", "sql-analyst", "--dry-run").out
    assert "dry run: no event to append; nothing was changed" in output
    assert "0 events" not in output


def test_a_dry_import_of_a_long_skill_is_summed_up_and_json_has_every_event(germline: Terminal) -> None:
    germline.does("init")
    germline.write("skills/long/SKILL.md", SKILL.format(name="long", text=SECTIONS))
    lines = germline.does("import", "skills", "--dry-run").out.splitlines()
    events = germline.does("import", "skills", "--dry-run", "--json").json["events"]
    assert lines[0] == f"dry run: would append {len(events)} events; nothing was changed"
    assert len(lines) < 10
    assert len(events) > 40
    born = sum(event["type"] == "GeneBorn" for event in events)
    assert f"{born - 3} more: --json" in "\n".join(lines)


def test_a_dry_adoption_shows_the_hand_edit_line_by_line_and_keeps_nothing(germline: Terminal) -> None:
    germline.with_skill()
    file = germline.folder / "skills/sql-analyst/SKILL.md"
    file.write_text(file.read_text().replace("one query", "two queries"))
    germline.write("skills/sql-analyst/notes.md", "Look first.\n")
    assert "next       germline adopt --dry-run    germline adopt\n" in germline.does("status").out
    before = germline.events()
    output = germline.does("adopt", "--dry-run").out
    for line in (
        "sql-analyst/SKILL.md",
        "− Answer with one query.",
        "+ Answer with two queries.",
        "+ Look first.",
    ):
        assert line in output
    assert output.splitlines()[-1] == (
        "next       germline adopt sql-analyst    germline project sql-analyst --discard"
    )
    adoption = germline.does("adopt", "--dry-run", "--json").json
    assert breaches(adoption) == []
    (skill,) = adoption["skills"]
    assert [changed["path"] for changed in skill["files"]] == ["SKILL.md", "notes.md"]
    assert germline.events() == before
    assert germline.does("verify", "--json").json["ok"]
    germline.does("adopt")
    assert germline.does("diff", "sql-analyst", "--json").json["files"] == skill["files"]
