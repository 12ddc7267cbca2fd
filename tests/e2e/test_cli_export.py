"""`export skill` and `export events`: what leaves the registry can be read, and comes back the same."""

from __future__ import annotations

import json
import zipfile
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.schemas import breaches
from tests.terminal import SPLIT_KEY, Terminal

if TYPE_CHECKING:
    from pathlib import Path

SKILL = b"---\r\nname: notes\r\ndescription: Notes.\r\n---\r\n\r\nWrite them down.\r\n"


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.does("init", "--split-key", SPLIT_KEY)
    terminal.write("skills/notes/SKILL.md", SKILL)
    terminal.write("skills/notes/scripts/count.sh", "#!/bin/sh\nwc -l\n").chmod(0o755)
    terminal.does("import", "skills")
    return terminal


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777) for path in paths}


def test_without_a_finished_run_the_command_that_makes_some_is_named(germline: Terminal) -> None:
    assert "next       germline candidate test" in germline.does("export", "review").out


def test_an_exported_folder_imported_elsewhere_gives_the_same_bytes(germline: Terminal, tmp_path: Path) -> None:
    germline.does("export", "skill", "notes", "-o", "out")
    assert files(tmp_path / "out/notes") == files(tmp_path / "skills/notes")
    (tmp_path / "elsewhere").mkdir()
    other = Terminal(tmp_path / "elsewhere")
    other.does("init")
    other.does("import", tmp_path / "out")
    other.does("project", "--to", "again")
    assert files(tmp_path / "elsewhere/again/notes") == files(tmp_path / "skills/notes")


def test_an_earlier_version_is_exported_as_it_was(germline: Terminal, tmp_path: Path) -> None:
    germline.write("skills/notes/SKILL.md", SKILL.replace(b"\r", b"") + b"Twice.\n")
    germline.does("adopt")
    germline.does("export", "skill", "notes@1", "-o", "out")
    assert (tmp_path / "out/notes/SKILL.md").read_bytes() == SKILL


def test_a_zip_holds_the_same_and_is_the_same_each_time(germline: Terminal, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        germline.does("export", "skill", "notes", "-o", name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        held = {
            member.filename.removeprefix("notes/"): (archive.read(member), member.external_attr >> 16 & 0o777)
            for member in archive.infolist()
        }
    assert held == files(tmp_path / "skills/notes")


def test_what_is_there_is_never_overwritten(germline: Terminal, tmp_path: Path) -> None:
    germline.write("out/notes/SKILL.md", "mine")
    germline.write("events.jsonl", "mine")
    germline.write("out.zip", "mine")
    for words in (
        ["skill", "notes", "-o", "out"],
        ["skill", "notes", "-o", "out.zip"],
        ["events", "-o", "events.jsonl"],
    ):
        answer = germline("export", *words)
        assert answer.code == 2
        assert "is not overwritten" in answer.err
    assert {(tmp_path / name).read_text() for name in ("out/notes/SKILL.md", "events.jsonl", "out.zip")} == {
        "mine"
    }


def test_the_log_is_exported_whole_one_event_a_line(germline: Terminal, tmp_path: Path) -> None:
    germline.does("export", "events", "-o", "events.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["position"] for row in rows] == list(range(1, germline.events() + 1))
    assert all(row["hash"] == after["previous_hash"] for row, after in pairwise(rows))
    assert not [breach for row in rows for breach in breaches(row)]
    assert germline.does("export", "events").out == (tmp_path / "events.jsonl").read_text(encoding="utf-8")
    ours = [json.loads(line) for line in germline.does("export", "events", "--skill", "notes").out.splitlines()]
    assert ours == [row for row in rows if row["payload"].get("capsule") == "notes"]


def test_json_without_a_file_is_a_slip_since_lines_are_the_answer(germline: Terminal) -> None:
    assert germline("export", "events", "--json").code == 2


def test_an_export_imported_elsewhere_takes_a_proposal_and_still_knows_a_stale_one(
    germline: Terminal, tmp_path: Path
) -> None:
    plain = SKILL.replace(b"\r", b"")
    germline.write("skills/notes/SKILL.md", plain + b"Twice.\n")
    germline.does("adopt")
    germline.does("export", "skill", "notes", "-o", "out")
    exported = (tmp_path / "out/notes/SKILL.md").read_bytes()
    assert b"notes@2" in exported
    other = Terminal(tmp_path / "elsewhere")
    other.folder.mkdir()
    other.does("init")
    other.does("import", tmp_path / "out")
    copy = other.write("new.md", exported + b"More.\n")
    words = ("candidate", "propose", "notes", "--from", copy, "--reason", "more", "--json")
    other.does("candidate", "approve", other.does(*words).json["candidate"], "--reason", "yes")
    projected = (tmp_path / "out/notes/SKILL.md").read_bytes()
    assert projected.endswith(b"Twice.\nMore.\n")
    other.write("new.md", projected + b"Again.\n")
    other.does("candidate", "approve", other.does(*words).json["candidate"], "--reason", "yes")
    other.write("new.md", projected + b"Stale.\n")
    assert "stale base: version 2" in other(*words).err
