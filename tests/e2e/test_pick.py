"""Picking a version for the next agent: by what came of the earlier ones, in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.claude_sessions import sessions
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "sql-analyst"


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    """Begin with a skill of two versions, the first of which has a name."""
    germline = Terminal(tmp_path, COLUMNS="200").with_skill()
    file = germline.folder / f"skills/{SKILL}/SKILL.md"
    file.write_text(file.read_text(encoding="utf-8") + "Check it twice.\n", encoding="utf-8")
    germline.does("adopt", SKILL)
    germline.does("alias", "set", SKILL, "stable", "1")
    return germline


def ran(germline: Terminal, version: int, won: list[bool], *, first: int) -> None:
    """Let sessions run under a version, and tell how they ended."""
    text = germline.does("show", f"{SKILL}@{version}").out
    sessions(germline.folder / "sessions", SKILL, text, won, first=first)
    germline.does("scan", "sessions")
    for branch, value in (("merged", "1"), ("dropped", "0")):
        germline("outcome", f"branch={branch}", "--value", value, "--source", "merge")


def test_the_folder_holds_the_version_and_is_called_like_the_skill(germline: Terminal) -> None:
    drawn = {}
    for seed in range(12):
        pick = germline.does("pick", SKILL, "--seed", str(seed), "--json").json
        drawn[pick["version"]] = pick["folder"]
        assert (pick["schema"], pick["label"]) == ("germline/pick/1", f"{SKILL}@{pick['version']}")
    assert set(drawn) == {1, 2}
    for version, folder in drawn.items():
        assert folder == str(germline.folder / f".germline/versions/{SKILL}@{version}/{SKILL}")
        text = (germline.folder / folder / "SKILL.md").read_text(encoding="utf-8")
        assert text == germline.does("show", f"{SKILL}@{version}").out


def test_a_seed_draws_the_same_again_and_without_one_it_is_drawn_again(germline: Terminal) -> None:
    first = germline.does("pick", SKILL, "--seed", "5", "--json").json
    assert germline.does("pick", SKILL, "--seed", "5", "--json").json == first
    seeds = {germline.does("pick", SKILL, "--json").json["seed"] for _ in range(3)}
    assert len(seeds) == 3


def test_picking_appends_nothing_while_nothing_is_sure(germline: Terminal) -> None:
    events = germline.events()
    germline.does("pick", SKILL)
    assert germline.events() == events


def test_versions_that_nothing_is_known_of_have_equal_chances(germline: Terminal) -> None:
    offers = germline.does("pick", SKILL, "--json").json["offers"]
    assert [(offer["version"], offer["aliases"], offer["newest"]) for offer in offers] == [
        (1, ["stable"], False),
        (2, [], True),
    ]
    assert [offer["chance"] for offer in offers] == pytest.approx([0.5, 0.5])


def test_what_wins_more_is_likelier_and_what_is_surely_worse_is_retired(germline: Terminal) -> None:
    ran(germline, 1, [False, False, False, True] * 3, first=0)
    ran(germline, 2, [True, True, True, False] * 3, first=20)
    pick = germline.does("pick", SKILL, "--json").json
    chances = {offer["version"]: offer["chance"] for offer in pick["offers"]}
    assert chances[2] > 0.95
    assert pick["retired"] == []
    ran(germline, 1, [False, False, False, True] * 3, first=40)
    dry = germline.does("pick", SKILL, "--dry-run", "--json").json
    assert [event["type"] for event in dry["events"]] == ["VersionRetired"]
    (gone,) = germline.does("pick", SKILL, "--json").json["retired"]
    assert gone["version"] == 1
    assert "after 24 episodes" in gone["reason"]
    assert "version 1 retired: its chance of being the best is" in germline.does("log", SKILL).out
    assert germline.does("pick", SKILL, "--json").json["version"] == 2
    germline.does("alias", "set", SKILL, "again", "1")
    offers = germline.does("pick", SKILL, "--dry-run", "--json").json
    assert offers["retired"][0]["version"] == 1


def test_a_dry_run_writes_nothing(germline: Terminal) -> None:
    pick = germline.does("pick", SKILL, "--dry-run", "--json").json
    assert pick["dry_run"]
    assert not (germline.folder / ".germline/versions").exists()


def test_where_the_newest_goes_it_says_that_it_still_stands(germline: Terminal) -> None:
    ran(germline, 1, [True] * 30, first=0)
    ran(germline, 2, [False] * 30, first=30)
    output = germline.does("pick", SKILL).out
    assert output.startswith(f"{SKILL}@1  ")
    assert f"germline revert {SKILL} --to 1 --reason TEXT" in output


def test_what_was_changed_in_the_folder_is_written_again(germline: Terminal) -> None:
    folder = germline.does("pick", SKILL, "--seed", "1", "--json").json["folder"]
    file = germline.folder / folder / "SKILL.md"
    right = file.read_bytes()
    file.write_bytes(b"tampered")
    germline.does("pick", SKILL, "--seed", "1")
    assert file.read_bytes() == right


def test_a_session_that_had_a_picked_folder_counts_under_its_version(germline: Terminal) -> None:
    pick = germline.does("pick", SKILL, "--seed", "1", "--json").json
    other = {1: 2, 2: 1}[pick["version"]]
    place = pick["folder"].rpartition("/")[0]
    sessions(germline.folder / "sessions", SKILL, "---\nx\n---\ncut …", [True], first=0, folder_of_skill=place)
    germline.does("scan", "sessions")
    germline.does("outcome", "branch=merged", "--value", "1", "--source", "merge")
    offers = germline.does("pick", SKILL, "--json").json["offers"]
    assert {offer["version"]: offer["episodes"] for offer in offers} == {pick["version"]: 1, other: 0}


def test_an_unknown_skill_is_told(germline: Terminal) -> None:
    answer = germline("pick", "sql-analist")
    assert (answer.code, answer.hint) == (2, f"did you mean {SKILL}?")
