"""The index on the command line: for drafts and for skills of a registry, checked, rehearsed, taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.registries import NAME, SKILL
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

TEXT = SKILL.encode()


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    place = tmp_path / "skills" / NAME
    place.mkdir(parents=True)
    (place / "SKILL.md").write_bytes(TEXT)
    (place / "joins.md").write_text("# Joins\n\nJoin customers on their email.\n")
    return place


def test_a_draft_is_indexed_checked_and_cleared_without_a_registry(tmp_path: Path, skill: Path) -> None:
    germline = Terminal(tmp_path)
    stale = germline("index", f"skills/{NAME}", "--check")
    assert (stale.code, "out of date" in stale.err) == (3, True)
    assert (skill / "SKILL.md").read_bytes() == TEXT
    assert germline.does("index", f"skills/{NAME}", "--dry-run", "--json").json["state"] == "written"
    assert (skill / "SKILL.md").read_bytes() == TEXT
    answer = germline.does("index", f"skills/{NAME}", "--json").json
    assert [row["path"] for row in answer["rows"]] == ["joins.md"]
    assert germline.does("index", f"skills/{NAME}", "--check", "--json").json["state"] == "current"
    assert germline.does("index", f"skills/{NAME}", "--remove", "--json").json["state"] == "removed"
    assert (skill / "SKILL.md").read_bytes() == TEXT


def test_a_rehearsal_of_a_registered_skill_writes_neither_event_nor_file(tmp_path: Path, skill: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    germline.does("import", "skills")
    answer = germline.does("index", NAME, "--dry-run", "--json").json
    assert [event["type"] for event in answer["events"]] == ["GeneMutated", "GeneBorn", "CapsuleVersioned"]
    assert (skill / "SKILL.md").read_bytes() == TEXT
    assert f"{NAME}@1" in germline.does("status").out
    germline.does("index", NAME)
    assert f"{NAME}@2" in germline.does("status").out
    assert "edited" not in germline.does("status").out


def test_a_name_that_nobody_knows_is_refused_with_the_next_command(tmp_path: Path) -> None:
    refused = Terminal(tmp_path)("index", "nothing")
    assert (refused.code, "there is no skill and no folder nothing" in refused.err) == (2, True)
