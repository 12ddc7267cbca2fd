"""The review queue on the command line: looked at, approved, rejected."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from tests.schemas import breaches
from tests.story import tell
from tests.terminal import SPLIT_KEY, Beginning, Terminal, some_recordings
from tui.demo import demo_folder

if TYPE_CHECKING:
    from pathlib import Path

EVOLVE = ("evolve", "sql-analyst", *some_recordings(), "--seed", "7", "--cycles", "3", "--review")


@pytest.fixture(scope="module")
def reviewed(own_folder: Path) -> Beginning:
    """A registry in which two candidates wait for a person."""
    germline = Terminal(own_folder / "reviewed")
    copytree(demo_folder() / "skills", germline.folder / "skills")
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.does("import", "skills")
    germline.does(*EVOLVE)
    return Beginning(germline)


@pytest.fixture
def germline(reviewed: Beginning) -> Terminal:
    return reviewed.again()


def waiting(germline: Terminal) -> list[dict[str, Any]]:
    return [row for row in germline.does("candidates", "--json").json["candidates"] if row["waits"]]


def ids(germline: Terminal) -> list[str]:
    return [row["id"] for row in waiting(germline)]


def test_the_queue_comes_first_and_leads_to_the_page_of_a_candidate(germline: Terminal) -> None:
    queue = germline.does("candidates").out
    assert queue.startswith("review ")
    following = queue.rstrip().splitlines()[-1].split("germline ")[1].split()
    page = germline.does(*following).out
    for part in ("claim ", "effect ", "score ", "evidence ", "SKILL.md", "✓ chance", "verdict "):
        assert part in page
    assert [line.split()[:3] for line in page.rstrip().splitlines()[-2:]] == [
        ["germline", "candidate", "approve"],
        ["germline", "candidate", "reject"],
    ]
    whole = germline.does(*following, "--all").out
    assert whole.count("still there") > page.count("still there")


def test_a_page_as_json_holds_diff_evidence_scores_and_the_gate(germline: Terminal) -> None:
    page = germline.does("candidate", "show", ids(germline)[0][:8], "--json").json
    assert page["schema"] == "germline/candidate-show/1"
    assert any(line["op"] == "add" for file in page["files"] for line in file["lines"])
    assert page["evidence"][0]["still_there"]
    assert page["before"]["evaluator"] == page["after"]["evaluator"] == page["audit"]["after"]["evaluator"]
    assert (page["verdict"], page["stale"]) == ("hold", False)
    assert {step["rule"] for step in page["gate"]["steps"]} >= {"chance", "size", "replay", "arms", "control"}


def test_an_approved_candidate_is_a_version_on_disk_and_a_stale_one_is_measured_again(germline: Terminal) -> None:
    first, second = [row["id"] for row in waiting(germline) if row["strategy"] == "repair"]
    answer = germline.does("candidate", "approve", first[:8], "--reason", "agreed", "--json").json
    assert (answer["schema"], answer["version"], answer["unproven"]) == ("germline/candidate-approve/1", 2, False)
    assert 'germline: "sql-analyst@2"' in (germline.folder / "skills/sql-analyst/SKILL.md").read_text()
    events = germline.events()
    refused = germline("candidate", "approve", second, "--reason", "this one too")
    assert refused.code == 1
    assert "stale base" in refused.err
    assert refused.hint.startswith("germline evolve sql-analyst --review")
    assert "stale " in germline.does("candidate", "show", second).out
    assert germline.events() == events
    germline.does(*EVOLVE)
    assert germline.does("candidate", "approve", second, "--reason", "this one too").out.startswith("approved ")
    assert germline.does("verify", "--json").json["ok"]
    line = germline.learned_line()
    explanation = germline.does("why", f"sql-analyst:{line}").out
    assert "approved by a person" in explanation
    assert "; mined from logs by recovery, no model; approved by " in " ".join(explanation.split())


def test_a_rejected_candidate_leaves_the_queue_and_the_skill_alone(germline: Terminal) -> None:
    before = germline.does("show", "sql-analyst").out
    first, *_ = ids(germline)
    assert germline.does("candidate", "reject", first, "--reason", "no").out.startswith(
        f"rejected   {first[:12]}: no"
    )
    assert first not in ids(germline)
    assert germline.does("show", "sql-analyst").out == before
    assert "rejected: by a person: no" in germline.does("log", "sql-analyst", "--type", "CandidateRejected").out
    page = germline.does("candidate", "show", first).out
    assert "rejected by a person: no" in page


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_a_dry_decision_prints_its_events_and_changes_nothing(germline: Terminal, word: str) -> None:
    events, first = germline.events(), ids(germline)[0]
    decision = germline.does("candidate", word, first, "--reason", "perhaps", "--dry-run", "--json").json
    assert decision["events"][0]["type"] == "CandidateReviewed"
    assert germline.events() == events
    assert ids(germline)[0] == first


def test_a_decision_needs_a_reason_and_a_candidate_that_is_known(germline: Terminal) -> None:
    bare = germline("candidate", "approve", ids(germline)[0])
    assert (bare.code, bare.hint.endswith("--reason TEXT")) == (2, True)
    unknown = germline("candidate", "show", "zzz")
    assert (unknown.code, unknown.hint) == (2, "germline candidates")


@pytest.mark.parametrize("word", ["agree", "disagree"])
def test_a_second_look_is_written_down_once_and_takes_nothing_back(tmp_path: Path, word: str) -> None:
    germline = Terminal(tmp_path, GERMLINE_REGISTRY=str(tell(tmp_path)))
    (tmp_path / "germline.toml").write_text("[review]\ndraw_every = 1\n")
    before = germline.does("show", "sql-analyst").out
    waiting = germline.does("candidates", "--json").json
    looks = [row["id"][:6] for row in waiting["candidates"] if row["second_look"]]
    assert looks == ["c3c3c3", "c1c1c1"]
    assert "2 promotions drawn for a second look: germline candidates" in germline.does("status").out
    bare = germline("candidate", word, "c1c1c1")
    assert (bare.code, bare.hint) == (2, f"germline candidate {word} c1c1c1 --reason TEXT")
    rehearsed = germline.does("candidate", word, "c1c1c1", "--reason", "I read it", "--dry-run", "--json").json
    assert [event["type"] for event in rehearsed["events"]] == ["PromotionReviewed"]
    look = germline.does("candidate", word, "c1c1c1", "--reason", "I read it", "--json").json
    assert not breaches(look)
    assert (look["schema"], look["skill"], look["version"]) == (f"germline/candidate-{word}/1", "sql-analyst", 2)
    again = germline("candidate", word, "c1c1c1", "--reason", "once more")
    assert again.code == 1
    assert f"somebody looked at candidate c1c1c1c1c1c1 before: {word}s" in again.err
    output = germline.does("candidate", word, "c3", "--reason", "this one too").out
    assert output.startswith(f"{word}d")
    status = germline.does("status", "--json").json
    agreed = 2 if word == "agree" else 0
    assert (status["second_looks"], status["agreement"]["agreed"], status["agreement"]["answers"]) == (
        [],
        agreed,
        2,
    )
    listed = germline.does("candidates").out
    assert "look over" not in listed
    assert f"people agree on {agreed} of 2 candidates that the gate let through" in listed
    germline.does("report", "-o", "report.html")
    assert f"Second looks: people agree on {agreed} of 2" in (tmp_path / "report.html").read_text()
    assert ("germline revert sql-analyst --to 2" in output) is (word == "disagree")
    assert germline("candidate", word, "c2", "--reason", "it was rejected").code == 2
    assert germline.does("show", "sql-analyst").out == before
