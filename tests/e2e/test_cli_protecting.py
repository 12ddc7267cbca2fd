"""Protection, as a person gives and takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path).with_skill()


def test_a_protected_line_is_not_adopted_over_until_it_is_released(germline: Terminal) -> None:
    skill = germline.folder / "skills" / "sql-analyst" / "SKILL.md"
    last = len(skill.read_text().splitlines())
    germline.does("protect", f"sql-analyst:{last}", "--reason", "agreed")
    skill.write_text(skill.read_text().rstrip("\n") + " Twice.\n")
    refused = germline("adopt")
    assert refused.code == 2
    assert "is protected" in refused.err
    assert "germline release" in refused.err
    germline.does("release", f"sql-analyst:{last}", "--reason", "not agreed any more")
    assert "adopted" in germline.does("adopt").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("protect", "sql-analyst:2", "--reason", "x"), "front matter"),
        (("protect", "sql-analyst:6-999", "--reason", "x"), "lines 1 to"),
        (("protect", "sql-analyst", "--reason", "x"), "names no lines"),
        (("protect", "sql-analyst:6"), "for a reason"),
    ],
)
def test_a_slip_is_told_and_changes_nothing(germline: Terminal, words: tuple[str, ...], message: str) -> None:
    before = germline.events()
    refused = germline(*words)
    assert refused.code == 2
    assert message in refused.err
    assert "hint" in refused.err
    assert germline.events() == before


def test_a_dry_run_shows_the_event_and_writes_nothing(germline: Terminal) -> None:
    before = germline.events()
    shown = germline.does("protect", "sql-analyst:6", "--reason", "agreed", "--dry-run", "--json")
    assert "GeneProtected" in shown.out
    assert germline.events() == before
