"""After a promotion: which version sessions ran under, and what becomes of one that made things worse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strategies.episodes.skill_version import under_versions
from strategies.pool.known_episodes import all_episodes
from tests.claude_sessions import sessions
from tests.terminal import Beginning, Terminal
from tests.watched import watched
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("after promotion")  # one beginning for all of them

SKILL = "sql-analyst"
GOOD, BAD = [True, True, True, False] * 10, [False, False, True] * 10


@pytest.fixture(scope="module")
def begun(own_folder: Path) -> Beginning:
    """Let a skill learn a line, then let sessions run under the version before it and under the one with it."""
    germline = Terminal(own_folder, COLUMNS="200").evolved()
    folder = own_folder / "sessions"
    sessions(folder, SKILL, germline.does("show", f"{SKILL}@1").out, GOOD, first=0)
    sessions(folder, SKILL, germline.does("show", f"{SKILL}@2").out, BAD, first=len(GOOD))
    germline.does("scan", "sessions")
    return Beginning(germline)


@pytest.fixture
def germline(begun: Beginning) -> Terminal:
    return begun.again()


def judged(germline: Terminal) -> None:
    """Tell how the sessions ended, as a job that follows merges does."""
    germline.does("outcome", "branch=merged", "--value", "1", "--source", "merge")
    germline.does("outcome", "branch=dropped", "--value", "0", "--source", "merge")


def row(germline: Terminal) -> dict[str, Any]:
    skills = germline.does("status", "--json").json["skills"]
    return next(skill for skill in skills if skill["skill"] == SKILL)


def on_disk(germline: Terminal) -> str:
    return (germline.folder / f"skills/{SKILL}/SKILL.md").read_text(encoding="utf-8")


def test_sessions_count_under_the_version_whose_body_they_show(germline: Terminal) -> None:
    with open_library(germline.folder / ".germline/registry.db") as library:
        stored = all_episodes(library)
        episodes = under_versions(library, stored)
    assert [episode.id for episode in episodes] == [episode.id for episode in stored]
    under = sorted(episode.skills for episode in episodes if episode.skills)
    assert under == [((SKILL, "1"),)] * len(GOOD) + [((SKILL, "2"),)] * len(BAD)
    assert row(germline)["record"] == {"episodes": 30, "ended": 0, "mean": None, "exposed": 0, "obeyed": 0}


def test_a_version_that_made_things_worse_is_taken_back_with_its_figures(germline: Terminal) -> None:
    judged(germline)
    learned = germline.learned_line()
    (revert,) = germline.does("evolve", SKILL, "--cycles", "1", "--json").json["taken_back"]
    assert (revert["version"], revert["to"], revert["made"], revert["held"]) == (2, 1, 3, None)
    assert (revert["won"], revert["outcomes"], revert["won_before"], revert["outcomes_before"]) == (10, 30, 30, 40)
    assert revert["p"] < 0.005
    first = germline.does("show", f"{SKILL}@1").out.partition("\n---\n")[2]
    assert on_disk(germline).partition("\n---\n")[2] == first
    assert row(germline)["standing"] == "projected"
    log = germline.does("log", SKILL).out
    assert "back to version 1: regression: 10 of 30 won under @2, 30 of 40 under @1" in log
    (raised,) = [
        signal for signal in germline.does("signals", "--json").json["signals"] if signal["kind"] == "regression"
    ]
    assert (raised["action"], raised["episodes"], raised["open"]) == (f"{SKILL}@2", 20, False)
    assert len(raised["evidence"]) == 20
    why = germline.does("why", f"{SKILL}@2:{learned}", "--json").json["taken_back"]
    assert (why["version"], why["actor"]) == (3, "germline")
    assert "10 of 30 won under @2" in germline.does("why", f"{SKILL}@2:{learned}").out
    assert germline.does("verify", "--json").json["ok"]


def test_what_was_taken_back_is_not_promoted_again_unasked(germline: Terminal) -> None:
    judged(germline)
    words = ("evolve", SKILL, "--cycles", "1", "--json")
    (held,) = germline.does(*words).json["cycles"]
    assert (held["verdict"], held["delta"]["low"] > 0) == ("hold", True)
    assert held["reasons"][0] == f"outcomes fell when this was promoted before, as {SKILL}@2: a person decides"
    events = germline.events()
    again = germline.does(*words).json
    assert (again["taken_back"], [cycle["remembered"] for cycle in again["cycles"]]) == ([], [True])
    assert (germline.events(), row(germline)["version"]) == (events, 3)


def test_a_dry_run_tells_what_would_be_taken_back_and_changes_nothing(germline: Terminal) -> None:
    judged(germline)
    events, text = germline.events(), on_disk(germline)
    answer = germline.does("evolve", SKILL, "--cycles", "1", "--dry-run", "--json").json
    assert answer["taken_back"][0]["made"] == 3
    assert {"SignalRaised", "CapsuleReverted"} <= {event["type"] for event in answer["events"]}
    assert (germline.events(), on_disk(germline)) == (events, text)


def test_with_review_it_is_told_and_the_command_it_names_takes_it_back(germline: Terminal) -> None:
    judged(germline)
    (revert,) = germline.does("evolve", SKILL, "--review", "--cycles", "1", "--json").json["taken_back"]
    assert (revert["made"], revert["held"][:10]) == (None, "for review")
    output = germline.does("evolve", SKILL, "--review", "--cycles", "1").out
    assert revert["command"] in output
    assert row(germline)["version"] == 2
    reason = revert["command"].partition("--reason ")[2].strip("'")
    germline.does("revert", SKILL, "--to", str(revert["to"]), "--reason", reason)
    assert row(germline)["version"] == 3
    (held,) = germline.does("evolve", SKILL, "--cycles", "1", "--json").json["cycles"]
    assert held["reasons"][0].startswith("outcomes fell when this was promoted before")


def test_a_preset_may_forbid_it(germline: Terminal) -> None:
    judged(germline)
    text = germline.does("preset", "show", "balanced", "--toml").out
    own = text.replace('"balanced"', '"gentle"').replace("auto_revert = true", "auto_revert = false")
    germline.write("gentle.toml", own)
    germline.does("preset", "define", "gentle.toml")
    (revert,) = germline.does("evolve", SKILL, "--preset", "gentle", "--cycles", "1", "--json").json["taken_back"]
    assert (revert["made"], revert["held"]) == (None, "the preset gentle takes nothing back by itself")


def test_what_a_person_brought_is_theirs_to_take_back(germline: Terminal) -> None:
    file = germline.folder / f"skills/{SKILL}/SKILL.md"
    file.write_text(on_disk(germline) + "\nNever look anything up.\n", encoding="utf-8")
    germline.does("adopt", SKILL)
    sessions(germline.folder / "sessions", SKILL, on_disk(germline), BAD, first=100)
    germline.does("scan", "sessions")
    judged(germline)
    (revert,) = germline.does("evolve", SKILL, "--cycles", "1", "--json").json["taken_back"]
    assert (revert["version"], revert["to"], revert["made"]) == (3, 1, None)
    assert revert["held"] == "a person brought this version, so a person takes it back"


def test_as_many_wins_as_before_are_no_regression(germline: Terminal) -> None:
    sessions(
        germline.folder / "sessions", SKILL, germline.does("show", f"{SKILL}@2").out, [True] * 60, first=len(GOOD)
    )
    germline.does("scan", "sessions")
    judged(germline)
    assert germline.does("evolve", SKILL, "--cycles", "1", "--json").json["taken_back"] == []


@pytest.mark.parametrize(("settings", "made"), [("", None), ("[watch]\npromote = true\n", 3)])
def test_a_watch_takes_back_only_where_it_may_promote(germline: Terminal, settings: str, made: int | None) -> None:
    judged(germline)
    germline.write("germline.toml", settings)
    sessions(germline.folder / "more", SKILL, germline.does("show", f"{SKILL}@2").out, [False], first=200)
    read, evolved = map(json.loads, watched(germline, "more", "--evolve", looks=1).out.splitlines())
    assert "regression" in {signal["kind"] for signal in read["raised"]}
    (revert,) = evolved["evolve"]["taken_back"]
    assert revert["made"] == made
    assert bool(revert["command"]) == (made is None)
    version = row(germline)["version"]
    assert version >= made if made else version == 2  # what it learns next comes on top


def test_a_watch_measures_the_versions_in_use_anew_and_tells_what_falls_under_the_floor(
    germline: Terminal,
) -> None:
    judged(germline)
    germline.write("empty/log.jsonl", "")
    lines = watched(germline, "empty", "--recheck", "1s", "--floor", "0.99", looks=1).out.splitlines()
    (rechecks,) = [line["recheck"] for line in map(json.loads, lines) if "recheck" in line]
    recheck = next(skill for skill in rechecks if skill["skill"] == SKILL)
    assert (recheck["version"], recheck["floor"], recheck["under_floor"]) == (2, 0.99, True)
    scored = germline.does("log", SKILL, "--type", "VersionScored", "--json").out.splitlines()
    assert scored
    assert row(germline)["score"]["value"] == recheck["score"]["value"]


def test_status_says_what_a_measurement_does_not_cover(germline: Terminal) -> None:
    stale = row(germline)["stale"]
    assert (stale["runs"], stale["agents"], stale["age_s"]) == (["claude-sonnet-4-5"], ["2.0.14"], 0.0)
    text = germline.does("status").out
    assert "measured not under claude-sonnet-4-5, not with agent 2.0.14: germline score" in " ".join(text.split())
    assert f"germline score {SKILL} --refresh" in text
    assert f" claude-sonnet-4-5 {SKILL}" in " ".join(text.split()).partition("germline models compare ")[2]


def test_a_floor_alone_is_refused(germline: Terminal) -> None:
    answer = germline("watch", "sessions", "--floor", "0.7")
    assert (answer.code, answer.hint) == (2, "--recheck 24h --floor 0.7")
