"""Scoring on the command line: what is measured, recorded once, and never compared across evaluators."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from events.types.capsule_events import VersionScored
from events.types.score import Score
from tests.terminal import SPLIT_KEY, Beginning, Terminal, recordings
from tui.demo import demo_folder
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.xdist_group("score")  # one beginning for all of them


@pytest.fixture(scope="module")
def scanned(own_folder: Path) -> Beginning:
    germline = Terminal(own_folder / "scanned")
    germline.folder.mkdir()
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", germline.folder / "skills")
    germline.does("import", "skills")
    germline.does("scan", recordings() / "careful.jsonl.gz", recordings() / "mixed.jsonl.gz")
    return Beginning(germline)


@pytest.fixture
def germline(scanned: Beginning) -> Terminal:
    return scanned.again()


@pytest.fixture(scope="module")
def learnt(scanned: Beginning, own_folder: Path) -> Beginning:
    germline = Terminal(copytree(scanned.again().folder, own_folder / "learnt"))
    germline.does("evolve", "sql-analyst", "--seed", "7")
    return Beginning(germline)


@pytest.fixture
def evolved(learnt: Beginning) -> Terminal:
    return learnt.again()


def test_a_version_is_measured_recorded_and_measured_only_once(germline: Terminal) -> None:
    first = germline.does("score", "sql-analyst", "--json").json
    assert (first["schema"], first["version"], first["recorded"]) == ("germline/score/1", 1, True)
    assert first["score"]["evaluator"] == first["evaluator"]["id"] == first["audit"]["evaluator"]
    assert (first["score"]["split"], first["audit"]["split"]) == ("sealed", "audit")
    assert [event["type"] for event in first["events"]] == ["EvaluatorRegistered", "VersionScored"]
    events = germline.events()
    again = germline.does("score", "sql-analyst@1", "--json").json
    assert (again["recorded"], again["score"]["value"]) == (False, first["score"]["value"])
    assert germline.events() == events
    assert germline.does("show", "sql-analyst", "--json").json["score"] == first["score"]
    assert "version 1 measured" in germline.does("log", "sql-analyst").out


def test_a_measured_version_that_claims_nothing_stays_unproven(germline: Terminal) -> None:
    germline.does("score", "sql-analyst")
    assert germline.does("show", "sql-analyst", "--json").json["unproven"]


def test_a_new_evaluator_measures_the_live_version_first_and_best_stays_within_one(evolved: Terminal) -> None:
    assert evolved.does("status", "--json").json["skills"][1]["version"] > 1
    before = evolved.does("score", "sql-analyst", "--json").json
    assert before["best"] == max(before["versions"], key=lambda row: (row["value"], row["version"]))["version"]
    evolved.does("scan", recordings() / "hasty.jsonl.gz")
    scored = evolved.does("score", "sql-analyst@1", "--refresh", "--json").json
    assert scored["evaluator"]["new"]
    assert scored["evaluator"]["id"] != before["evaluator"]["id"]
    kinds = [(event["type"], event["payload"].get("cause")) for event in scored["events"]]
    assert kinds == [("EvaluatorRegistered", None), ("VersionScored", "evaluator"), ("VersionScored", "asked")]
    live = scored["events"][1]["payload"]
    assert live["version"] == evolved.does("show", "sql-analyst", "--json").json["version"]
    assert {row["version"] for row in scored["versions"]} == {1, live["version"]}
    best = evolved.does("show", "sql-analyst@best", "--json").json
    assert best["version"] == scored["best"]
    assert best["score"]["evaluator"] == scored["evaluator"]["id"]
    assert not evolved.does("score", "sql-analyst", "--refresh", "--json").json["evaluator"]["new"]


def test_what_a_skill_is_scored_on_shows_its_seam_once_its_own_logs_have_grown(evolved: Terminal) -> None:
    old = evolved.does("show", "sql-analyst", "--json").json["score"]["evaluator"]
    git = demo_folder() / "recordings" / "git"  # other tasks
    evolved.does("scan", git)
    before = evolved.events()
    assert not evolved.does("score", "sql-analyst", "--json").json["recorded"]  # none of its own
    assert evolved.events() <= before + 2
    evolved.write("germline.toml", f"[skills.sql-analyst]\nlogs = ['{git.parent}']\n")
    before = evolved.events()
    evolved.does("evolve", "sql-analyst", "--seed", "7", "--cycles", "1")
    with open_library(evolved.folder / ".germline/registry.db") as library:
        first = next(iter(library.log.read(after=before))).event
    assert isinstance(first, VersionScored)
    assert isinstance(first.score, Score)
    assert (first.cause, first.score.evaluator == old) == ("evaluator", False)
    events = evolved.events()
    evolved.does("score", "sql-analyst")
    assert evolved.events() == events


def test_logs_that_are_named_measure_alone(germline: Terminal) -> None:
    scored = germline.does("score", "sql-analyst", "--logs", recordings() / "hasty.jsonl.gz", "--json").json
    assert scored["recorded"]
    assert not scored["evaluator"]["new"]
    registered = next(event["payload"] for event in scored["events"] if event["type"] == "EvaluatorRegistered")
    assert (registered["scope"], registered["episodes"]) == ("named", 320)


def test_a_dry_score_prints_and_records_nothing(germline: Terminal) -> None:
    events = germline.events()
    output = germline.does("score", "sql-analyst", "--dry-run").out
    assert "would append 2 events" in output
    assert germline.events() == events


def test_logs_that_tell_no_outcome_cannot_measure_and_the_hint_says_what_could(tmp_path: Path) -> None:
    germline = Terminal(tmp_path).with_skill()
    germline.write(
        "log.jsonl",
        "".join(
            f'{{"type":"episode","episode":"e{n}","task":"t{n}","run":"r"}}\n'
            f'{{"type":"step","episode":"e{n}","turn":0,"tool":"sql","text":"SELECT {n}"}}\n'
            for n in range(20)
        ),
    )
    events = germline.events()
    refused = germline("score", "sql-analyst", "--logs", "log.jsonl")
    assert refused.code == 2
    assert "no episode of the sealed split has an outcome" in refused.err
    assert refused.hint.startswith("germline outcome")
    assert germline.events() == events
    unknown = germline("score", "sql-analist")
    assert (unknown.code, unknown.hint) == (2, "did you mean sql-analyst?")


def test_a_score_that_a_new_evaluator_recorded_first_is_not_said_to_be_old(germline: Terminal) -> None:
    germline.does("score", "sql-analyst", "--logs", recordings() / "careful.jsonl.gz")
    rehearsed = germline.does("score", "sql-analyst", "--dry-run").out
    assert "new: it measured the live versions first" in rehearsed
    assert "recorded  by the events below, once it is no dry run" in rehearsed
    output = germline.does("score", "sql-analyst").out
    at = germline.does("log", "sql-analyst", "--type", "VersionScored", "--limit", "1", "--json").json["position"]
    assert f"recorded  event {at}" in output
    assert "nothing to add" in germline.does("score", "sql-analyst").out
