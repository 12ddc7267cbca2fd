"""`germline find`: which skill fits a task, as a person asks it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.terminal import Terminal
from tui.session.own_registries import words_file

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "---\nname: {name}\ndescription: {what}\n---\n\n# Rules\n\n- Look at the schema before you write queries.\n"
MORE = "- Quote every name that holds a space.\n- Say which rows were left out, and why.\n"


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    """A registry with four skills, two of which share their text, and two their tasks."""
    terminal = Terminal(tmp_path)
    terminal.does("init")
    for name, what, more in (
        ("table-export", "Exports tables of a database as CSV files for a spreadsheet.", MORE),
        ("mail-merge", "Writes letters to customers.", MORE),
        ("csv-writer", "Exports tables of a database as CSV files.", "- Use a comma.\n"),
        ("git-helper", "Undoes the last commit.", "- Run `git reflog` first.\n"),
    ):
        terminal.write(f"skills/{name}/SKILL.md", TEXT.format(name=name, what=what) + more)
    terminal.does("import", "skills")
    return terminal


def test_the_skill_that_fits_is_named_with_the_words_that_match(germline: Terminal) -> None:
    answer = germline.does("find", "I have to undo my last commit").out
    assert answer.startswith("git-helper fits best, of 4 skills.\n")
    assert "  description  commit, last, undoes\n" in answer
    skills = germline.does("find", "undo a commit", "--top", "1", "--json").json["skills"]
    assert [skill["name"] for skill in skills] == ["git-helper"]
    assert skills[0]["folder"] == str(germline.folder / "skills/git-helper")


def test_nothing_is_found_in_plain_words(germline: Terminal) -> None:
    assert "none of 4 skills shares a word" in germline.does("find", "quantum chromodynamics").out
    assert (
        germline("find").code
        == germline("find", "tables", "--overlaps").code
        == germline("find", "do it").code
        == 2
    )


def test_a_line_that_a_skill_learns_is_found_at_once(germline: Terminal) -> None:
    assert "none of 4" in germline.does("find", "walrus").out
    file = germline.folder / "skills/mail-merge/SKILL.md"
    germline.write("skills/mail-merge/SKILL.md", file.read_text() + "- Never mention the walrus.\n")
    germline.does("adopt", "mail-merge")
    assert germline.does("find", "walrus").out.startswith("mail-merge fits best")


def test_words_are_kept_where_no_project_can_write_and_found_without_them_too(germline: Terminal) -> None:
    germline.does("find", "letters")
    assert not (germline.folder / ".germline/words.db").exists()
    kept = words_file(germline.folder / ".germline/registry.db")
    kept.write_bytes(b"damaged")
    assert germline.does("find", "letters").out.startswith("mail-merge fits best")
    kept.unlink()
    with closing(sqlite3.connect(kept)) as other:
        other.executescript("CREATE TABLE filled (format, source, upto); CREATE TABLE words (other)")
        other.execute("INSERT INTO filled VALUES (1, 'another registry', 7)")
        other.commit()
    assert germline.does("find", "letters").out.startswith("mail-merge fits best")


def test_damage_inside_the_kept_words_ends_no_search(germline: Terminal) -> None:
    sound = germline.does("find", "letters").out
    kept = words_file(germline.folder / ".germline/registry.db")
    with closing(sqlite3.connect(kept)) as base:
        base.execute("DELETE FROM words_data WHERE id > 10")
        base.commit()
    assert germline.does("find", "letters").out == sound


def test_copies_and_descriptions_that_compete_are_named(germline: Terminal) -> None:
    pairs = germline.does("find", "--overlaps", "--json").json["overlaps"]
    assert [(pair["first"], pair["second"], pair["kind"]) for pair in pairs] == [
        ("csv-writer", "table-export", "competing"),
        ("mail-merge", "table-export", "copied"),
    ]
    answer = germline.does("find", "--overlaps").out
    assert "mail-merge, table-export: nearly the same text, 100%" in answer
    assert "csv-writer, table-export: descriptions fit the same tasks" in answer
