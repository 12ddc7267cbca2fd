"""Trials from the command line: a real program under a coin, and the folder of a skill that is switched."""

from __future__ import annotations

import json
import subprocess
import sys
from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from events.clock import SystemClock
from examples.rollouts.run import BELOW, HELPFUL, HERE, SKILL, SPLIT_KEY
from examples.rollouts.tasks import write_tasks
from tests.terminal import Beginning, Terminal, some_recordings
from tui.demo import demo_folder

if TYPE_CHECKING:
    from pathlib import Path

ALIKE = "requests-"
"""The tasks of the example that ask the same of different logs: a third of them is guessed right."""
OTHER = "sql-analyst"
BY_SESSION = ("--block", "session", "--budget", "48", "--gain", "0.5", "--seed", "7")


@pytest.fixture(scope="module")
def beginning(own_folder: Path) -> Beginning:
    """Begin with the skill of the example, a helpful change of it that nobody judged, and some sessions."""
    germline = Terminal(own_folder / "begun", COLUMNS="160")
    germline.folder.mkdir()
    germline.does("init", "--split-key", SPLIT_KEY)
    text = (HERE / "skill/SKILL.md").read_text(encoding="utf-8")
    germline.write(f"skills/{SKILL}/SKILL.md", text)
    germline.does("import", "skills")
    germline.write("helpful.md", text.replace(BELOW, BELOW + HELPFUL.splitlines(keepends=True)[0]))
    germline.does("candidate", "propose", SKILL, "--from", "helpful.md", "--reason", "planted")
    log = [worked(germline, f"before-{at}", at, f"skills/{SKILL}") for at in range(20)]
    germline.write("before.jsonl", "".join(log))
    germline.does("scan", "before.jsonl")
    return Beginning(germline)


@pytest.fixture
def germline(beginning: Beginning) -> Terminal:
    return beginning.again()


def tasks(germline: Terminal) -> list[dict[str, Any]]:
    """Give the tasks of one kind, written once."""
    path = germline.folder / "tasks.jsonl"
    if not path.exists():
        write_tasks(germline.folder)
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if str(row.get("id", "")).startswith(ALIKE)]


def worked(germline: Terminal, session: str, number: int, folder: str) -> str:
    """Run the agent of the example on a task with the skill in a folder, and write the log of the session."""
    of_kind = tasks(germline)
    task = of_kind[number % len(of_kind)]
    place = germline.folder / "work" / session
    place.mkdir(parents=True)
    for name, content in task["files"].items():
        (place / name).write_text(content, encoding="utf-8")
    prompt = germline.write(f"work/{session}.txt", task["prompt"])
    skill = germline.folder / folder
    words = [sys.executable, "-I", "-S", str(HERE / "agent.py"), str(skill), str(prompt), str(number)]
    subprocess.run(words, cwd=place, check=True, capture_output=True)
    answer = (place / "answer.txt").read_text(encoding="utf-8").strip()
    right = task["graders"][0]["checks"][0]["values"]
    stamp = (skill / "SKILL.md").read_text(encoding="utf-8").partition('germline: "')[2].partition('"')[0]
    at = SystemClock().now()
    lines = (
        {"type": "episode", "episode": session, "task": task["id"], "run": "r", "started_at": at},
        {"type": "step", "episode": session, "tool": "sh", "text": "grep", "result": answer, "started_at": at},
        {
            "type": "outcome",
            "episode": session,
            "value": float(answer in right),
            "skills": [[SKILL, stamp or "1"]],
        },
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def candidate(germline: Terminal) -> str:
    (row,) = germline.does("candidates", "--json").json["candidates"]
    return str(row["id"])


def test_a_coin_proves_the_helpful_line_of_the_example_on_real_runs(germline: Terminal) -> None:
    started = germline.does("trial", "start", SKILL, "--candidate", candidate(germline)[:10], *BY_SESSION)
    assert "with 48 sessions a gain of 50 points would be proven in 10 of 10 trials" in started.out
    assert "20 sessions so far" in started.out
    logs = []
    for at in range(48):
        session = f"session-{at}"
        picked = germline.does("pick", SKILL, "--session", session, "--json").json
        assert (picked["session"], picked["seed"], picked["offers"]) == (session, 0, [])
        logs.append(worked(germline, session, at, picked["folder"]))
    assert germline.does("pick", SKILL, "--session", "session-3", "--json").json["folder"].endswith(SKILL)
    germline.write("logs/trial.jsonl", "".join(logs))
    scanned = germline.does("scan", "logs")
    assert "proven" in scanned.err
    (row,) = germline.does("trial", "status", SKILL, "--json").json["trials"]
    (line,) = row["lines"]
    assert (line["decision"], row["sessions"], row["loaded"], row["as_meant"]) == ("proven", 48, 48, 48)
    assert line["result"]["low"] > 0
    assert line["shows"].startswith("sessions that were given this line by a coin succeeded ")
    output = germline.does("trial", "status").out
    assert output.startswith("proven ")
    assert "48 of 48 that show it loaded what was meant" in output
    live = germline.does("show", SKILL).out
    assert "status of 500 or more" in live
    number = 1 + next(at for at, text in enumerate(live.splitlines()) if "status of 500 or more" in text)
    assert "proven: sessions that were given this line" in germline.does("why", f"{SKILL}:{number}").out
    assert germline.does("why", f"{SKILL}:{number}", "--json").json["trials"][0]["decision"] == "proven"
    assert "proven: sessions that" in germline.does("candidate", "show", candidate(germline)).out
    log = germline.does("log", SKILL).out
    assert "trial ended:" in log
    assert "trial of - A request has failed" in log
    assert germline.does("status", "--json").json["trials"] == []
    assert germline.does("verify", "--json").json["ok"]


def test_by_blocks_the_folder_is_switched_by_hand_by_scan_and_by_pick_and_a_dry_run_switches_nothing(
    germline: Terminal,
) -> None:
    start = ("trial", "start", SKILL, "--candidate", candidate(germline), "--block", "2h")
    file = germline.folder / f"skills/{SKILL}/SKILL.md"
    events, text = germline.events(), file.read_bytes()
    dry = germline.does(*start, "--dry-run", "--json").json
    assert {row["type"] for row in dry["events"]} == {"TrialStarted", "TrialAssigned"}
    assert (germline.events(), file.read_bytes()) == (events, text)
    assert dry["power"]["proven"] < 0.05
    refused = germline(*start)
    assert refused.code == 2
    assert "with 400 sessions a gain of 10 points would be proven in 0 of 10 trials" in refused.err
    assert germline.events() == events
    germline.does(*start, "--yes")
    (running,) = germline.does("status", "--json").json["trials"]
    assert (running["assigned"], running["unit"], running["sessions"]) == (1, "block", 0)
    assert "trials" in germline.does("status").out
    switched = file.read_bytes()
    file.write_bytes(switched + b"\nBe brief.\n")
    assert germline.does("trial", "step", SKILL, "--json").json["trials"][0]["problem"] == "edited by hand"
    assert file.read_bytes().endswith(b"Be brief.\n")
    germline.does("adopt", SKILL)
    germline.does("scan", "before.jsonl")
    assert germline.does("status", "--json").json["skills"][0]["standing"] == "projected"
    assert germline.does("trial", "status", "--json").json["trials"][0]["problem"] is None
    picked = germline.does("pick", SKILL, "--json").json
    assert picked["folder"] == str(file.parent)
    assert germline("trial", "start", SKILL, "--candidate", candidate(germline)).code == 2
    refused = germline("trial", "stop", SKILL)
    assert (refused.code, "for a reason" in refused.err) == (2, True)
    assert "dry_run" in germline.does("trial", "stop", SKILL, "--reason", "enough", "--dry-run", "--json").json
    output = germline.does("trial", "stop", SKILL, "--reason", "enough").out
    assert "stopped: enough" in output
    body = file.read_text(encoding="utf-8")
    assert "status of 500" not in body
    assert body.endswith("Be brief.\n")
    assert germline("trial", "stop", SKILL, "--reason", "again").code == 2


def test_what_a_trial_cannot_be_is_said_with_what_to_type(tmp_path: Path) -> None:
    germline = Terminal(tmp_path, COLUMNS="160").with_skill()
    assert "name one version or two" in germline("trial", "start", OTHER, "--arms", "1,2,3").err
    assert "shorter than any session" in germline("trial", "start", OTHER, "--arms", "1", "--block", "5s").err
    assert "one to 4 candidates" in germline("trial", "start", OTHER).err
    assert germline("trial", "start", "absent", "--arms", "1").code == 2
    none = germline.does("trial", "status")
    assert (none.out, "no trial was ever started" in none.err) == ("", True)
    assert "none runs" in germline.does("trial", "step").out


def test_a_preset_that_projects_what_is_proven_alone_puts_on_trial_what_logs_support_and_once(
    tmp_path: Path,
) -> None:
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", tmp_path / "skills")
    germline.does("import", "skills")
    shipped = (HERE.parent / "presets/release-week.toml").read_text(encoding="utf-8")
    germline.write(
        "trying.toml",
        shipped.replace('name = "release-week"', 'name = "trying"', 1).replace(
            "explore = ", 'trials = true\nprojected = ["proven"]\nexplore = '
        ),
    )
    germline.does("preset", "define", "trying.toml")
    words = ("evolve", OTHER, *some_recordings(), "--seed", "7", "--cycles", "1", "--preset", "trying")
    assert "began, by the preset" in germline.does(*words).err
    (row,) = germline.does("trial", "status", "--json").json["trials"]
    assert (row["skill"], row["block_s"], row["ended_at"]) == (OTHER, 4 * 3600, None)
    assert germline.does("show", OTHER, "--json").json["version"] == 1
    germline.does("trial", "stop", OTHER, "--reason", "enough")
    assert "trial" not in germline.does(*words).err
