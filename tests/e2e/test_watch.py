"""The watcher as a person starts it: a process that reads logs as they grow, and leaves when it is told to."""

from __future__ import annotations

import gzip
import json
import os
import signal
from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from tests.forked import ForkedCommand
from tests.kinds_of_work import BREAD, GARDEN, GIT, SQL, Work, log_of, write_skills
from tests.plugged import plugged
from tests.terminal import SPLIT_KEY, Terminal, recordings, some_recordings
from tests.watched import watched
from tui.demo import demo_folder

if TYPE_CHECKING:
    from pathlib import Path


def watching(germline: Terminal, *words: str) -> ForkedCommand:
    """Start `germline watch …` in a process of its own, beside the packages in the folder `site`."""
    packages = {"PYTHONPATH": str(germline.folder / "site")}
    environment = {**os.environ, "HOME": str(germline.folder), "GERMLINE_REGISTRY": "", **packages}
    return ForkedCommand(["watch", *words], cwd=germline.folder, env=environment)


def next_line(process: ForkedCommand) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(process.stdout.readline())
    assert line["schema"] == "germline/watch/1"
    return line


def stopped(process: ForkedCommand, by: int) -> int:
    process.send_signal(by)
    return process.wait(timeout=30)


def failing(name: str) -> str:
    step = {"type": "step", "episode": name, "tool": "sql", "text": "SELECT 1", "error": True}
    return json.dumps({**step, "error_text": "no such table: visits", "started_at": "2026-01-01T00:00:00Z"}) + "\n"


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path).with_skill()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_what_is_written_while_it_watches_is_read_and_it_leaves_well(germline: Terminal, by: int) -> None:
    log = germline.write("logs/a.jsonl", failing("one"))
    with watching(germline, "logs", "--json") as process:
        first = next_line(process)
        assert (first["new_episodes"], first["raised"]) == (1, [])  # an episode that goes on is not abandoned
        with log.open("a") as file:
            file.write(failing("two") + failing("three"))
        second = next_line(process)
        assert second["bytes"] == len(failing("two") + failing("three"))
        assert "error_template" in {raised["kind"] for raised in second["raised"]}
        assert stopped(process, by) == 0
    again = germline.does("scan", "logs", "--json").json
    assert (again["files"], again["unchanged"], again["new_episodes"]) == (0, 1, 0)


def test_a_second_watcher_is_told_who_watches(germline: Terminal) -> None:
    germline.write("logs/a.jsonl", failing("one"))
    with watching(germline, "logs", "--json") as first:
        next_line(first)
        answer = germline("watch", "logs")
        assert (answer.code, f"process {first.pid}" in answer.err) == (1, True)
        assert answer.hint
        assert stopped(first, signal.SIGTERM) == 0


def recordings_with_a_skill(folder: Path) -> None:
    """Write some of the demo's recordings as logs of agents that had the skill."""
    folder.mkdir(parents=True)
    for source in sorted(recordings().glob("[cm]*.jsonl.gz")):
        text = gzip.decompress(source.read_bytes()).decode()
        about = '{"type":"episode","skills":[["sql-analyst","1"]],'
        (folder / source.stem).write_text(text.replace('{"type":"episode",', about), encoding="utf-8")


def test_a_watch_that_evolves_holds_for_review_and_evolve_promotes_what_it_held(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", tmp_path / "skills")
    germline.does("import", "skills")
    file = tmp_path / "skills/sql-analyst/SKILL.md"
    before = file.read_bytes()
    recordings_with_a_skill(tmp_path / "logs")
    read, evolved = map(json.loads, watched(germline, "logs", "--evolve", looks=1).out.splitlines())
    assert read["raised"]
    cycles = evolved["evolve"]["cycles"]
    held = [cycle for cycle in cycles if cycle["reasons"][0].startswith("for review")]
    assert held
    assert {cycle["verdict"] for cycle in cycles} <= {"hold", "reject"}
    assert file.read_bytes() == before
    assert germline.does("status", "--json").json["held"]
    later_cycles = germline.does("evolve", "--json").json["cycles"]
    promoted = [cycle for cycle in later_cycles if cycle["verdict"] == "promote"]
    assert [cycle["remembered"] for cycle in promoted][:1] == [True]
    assert promoted[0]["candidate"]["id"] in {cycle["candidate"]["id"] for cycle in held}
    assert file.read_bytes() != before


def test_evolve_with_review_promotes_nothing(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", tmp_path / "skills")
    germline.does("import", "skills")
    words = ("evolve", "sql-analyst", *some_recordings(), "--seed", "7", "--cycles", "1")
    cycle = germline.does(*words, "--review", "--json").json["cycles"][0]
    assert (cycle["verdict"], cycle["version"], cycle["reasons"][0][:10]) == ("hold", None, "for review")
    again = germline.does(*words, "--review", "--json").json["cycles"][0]
    assert (again["verdict"], again["remembered"]) == ("hold", True)
    cycle = germline.does(*words, "--json").json["cycles"][0]
    assert (cycle["verdict"], cycle["version"], cycle["remembered"]) == ("promote", 2, True)


def test_plug_ins_that_do_not_work_are_told_once_however_often_it_looks(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {"a-missing": "no_such_module:Reader", "e-nosy": "plugged_readers:Nosy"}
    log = germline.write("logs/text.log", "ERROR: it broke\n")
    with plugged(germline.folder, monkeypatch, entries), watching(germline, "logs", "--json") as process:
        next_line(process)
        with log.open("a") as file:
            file.write("ERROR: it broke again\n")
        next_line(process)
        assert stopped(process, signal.SIGTERM) == 0
        warnings = [line for line in process.stderr.read().splitlines() if "the log reader" in line]
    assert [line.split(" does not work: ")[0] for line in warnings] == [
        "warning    the log reader a-missing of plugged",
        "warning    the log reader e-nosy of plugged",
    ]


def test_a_watch_says_what_is_not_there_yet_and_why_a_signal_led_to_no_turn(germline: Terminal) -> None:
    write_skills(germline.folder / "more", BREAD, GARDEN)
    germline.does("import", "more/skills")
    germline.write("germline.toml", "[skills.sql-analyst]\nlogs = ['elsewhere']\n")
    germline.write("logs/a.jsonl", failing("one"))
    with watching(germline, "logs", "absent", "--evolve") as process:
        assert "watching" in process.stderr.readline()
        assert "absent is not there yet" in process.stderr.readline()
        germline.write("logs/b.jsonl", failing("two") + failing("three"))
        line = process.stderr.readline()
        assert "evolve  nothing new: " in line
        assert "1 signal is of no skill: germline signals assign FINGERPRINT SKILL" in line
        assert stopped(process, signal.SIGINT) == 0


@pytest.mark.parametrize("works", [(SQL, GIT), (SQL,)])
def test_a_watch_promotes_for_each_skill_what_a_run_of_evolution_would(
    tmp_path: Path, works: tuple[Work, ...]
) -> None:
    ran, followed = (having_skills(tmp_path / name, works) for name in ("ran", "followed"))
    ran.does("scan", "later")
    ran.does("evolve")
    followed.write("logs/first.jsonl", failing("first"))
    assert '"evolve"' not in watched(followed, "logs", "--evolve", looks=1).out
    (followed.folder / "later").rename(followed.folder / "logs/later")
    assert '"evolve"' in watched(followed, "logs", "--evolve", looks=1).out
    texts = [[skill_text(germline, work) for work in works] for germline in (ran, followed)]
    assert texts[0] == texts[1]
    assert "PRAGMA" in texts[0][0]
    assert all("PRAGMA" not in text and "git branch" in text for text in texts[0][1:])


def having_skills(folder: Path, works: tuple[Work, ...]) -> Terminal:
    """Begin with the skills about some kinds of work, and put a log of each aside."""
    folder.mkdir()
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    write_skills(folder, *works)
    germline.does("import", "skills")
    germline.write("germline.toml", "[watch]\npromote = true\nlook_every_s = 0.1\n")
    for work in works:
        germline.write(f"later/{work.skill}.jsonl", log_of(work))
    return germline


def skill_text(germline: Terminal, work: Work) -> str:
    return (germline.folder / "skills" / work.skill / "SKILL.md").read_text()
