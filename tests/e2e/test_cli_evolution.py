"""Scanning and evolving by command, and what stays known from one run to the next."""

from __future__ import annotations

import os
from shutil import copytree
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.forked import ForkedCommand
from tests.kinds_of_work import BREAD, GARDEN, write_skills
from tests.terminal import SPLIT_KEY, Beginning, Terminal, recordings, some_recordings
from tui.demo import demo_folder

if TYPE_CHECKING:
    from pathlib import Path


def begun(folder: Path) -> Terminal:
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", folder / "skills")
    germline.does("import", "skills")
    return germline


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return begun(tmp_path)


EVOLVE = ("evolve", "sql-analyst", *some_recordings(), "--seed", "7")
FEW = recordings() / "hasty.jsonl.gz"
"""Enough of them where nothing is measured."""


class Evolved(NamedTuple):
    """A registry on which `EVOLVE` ran once, and what it answered."""

    beginning: Beginning
    answer: Any


@pytest.fixture(scope="module")
def evolved(own_folder: Path) -> Evolved:
    germline = begun(own_folder)
    answer = germline.does(*EVOLVE, "--exit-code", "--json").json  # 0: something is promoted
    return Evolved(Beginning(germline), answer)


def test_evolve_answers_with_all_that_scripts_may_rely_on(evolved: Evolved) -> None:
    germline, answer = evolved.beginning.again(), evolved.answer
    assert set(answer) >= {"schema", "preset", "seed", "cycles", "tried", "needed_tasks"}
    assert (answer["schema"], answer["preset"], answer["seed"]) == ("germline/evolve/1", "balanced", 7)
    first = answer["cycles"][0]
    assert (first["strategy"], first["verdict"], first["version"]) == ("repair", "promote", 2)
    assert set(first["signal"]) >= {"kind", "fingerprint", "template", "episodes"}
    assert all(set(edit) == {"op", "line", "text"} for edit in first["candidate"]["edits"])
    effect = {
        "risk_difference",
        "low",
        "high",
        "obeyed",
        "disobeyed",
        "tasks",
        "p",
        "e_value",
        "replication",
        "confounding",
        "replicates",
        "endpoint",
        "scope",
    }
    assert set(first["effect"]) == effect
    assert first["before"]["evaluator"] == first["after"]["evaluator"]
    assert first["delta"]["low"] > 0
    assert first["audit"]["after"]["split"] == "audit"
    edit = first["candidate"]["edits"][0]
    disk = (germline.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8").splitlines()
    assert disk[edit["line"] - 1] == edit["text"].splitlines()[0]


def test_the_same_command_again_promotes_nothing_as_its_exit_code_says_and_measures_nothing_again(
    evolved: Evolved,
) -> None:
    germline, first = evolved.beginning.again(), evolved.answer
    events, text = germline.events(), germline.does("show", "sql-analyst").out
    answer = germline(*EVOLVE, "--exit-code", "--json")
    again = answer.json
    assert (answer.code, [cycle["verdict"] for cycle in again["cycles"]].count("promote")) == (3, 0)
    promoted = [cycle["candidate"]["id"] for cycle in first["cycles"] if cycle["verdict"] == "promote"]
    assert promoted
    known = {cycle["candidate"]["id"] for cycle in again["cycles"] if cycle["candidate"]}
    assert not known & set(promoted)
    assert all(cycle["remembered"] for cycle in again["cycles"])
    assert (germline.events(), germline.does("show", "sql-analyst").out) == (events, text)


def test_a_run_that_holds_is_a_result_and_says_what_it_would_take(germline: Terminal) -> None:
    germline.write(
        "few/log.jsonl",
        "".join(
            f'{{"type":"episode","episode":"e{n}","task":"t{n}","run":"r"}}\n'
            f'{{"type":"step","episode":"e{n}","turn":0,"tool":"sql","text":"SELECT {n}","error":true,'
            f'"error_text":"no such table: t"}}\n'
            f'{{"type":"step","episode":"e{n}","turn":1,"tool":"sql","text":"{("SELECT", "PRAGMA x")[n % 2]}"}}\n'
            f'{{"type":"outcome","episode":"e{n}","value":{n % 2},"source":"tests"}}\n'
            for n in range(24)
        ),
    )
    answer = germline.does("evolve", "sql-analyst", "--logs", "few", "--json")
    assert [(cycle["candidate"], cycle["verdict"]) for cycle in answer.json["cycles"]][:1] == [(None, "hold")]
    assert answer.json["needed_tasks"] > 24
    plain = germline.does("evolve", "sql-analyst", "--logs", "few")
    counted = f"{answer.json['known_tasks']} of about {answer.json['needed_tasks']} tasks"
    assert plain.out.count(counted) == 2, "the turn and its end say one thing"
    assert plain.out.splitlines()[-1] == "next       germline start    germline signals"  # no candidate to look at


def test_evolve_tells_each_turn_and_the_next_command_works(germline: Terminal) -> None:
    output = germline.does(*EVOLVE, "--cycles", "1").out
    assert "✓ repair: promote → sql-analyst@2" in output
    following = output.rstrip().splitlines()[-1].split("germline ")[1].split()
    assert germline.does(*following).out.startswith("sql-analyst@2, line")


def test_scan_takes_in_a_log_once(germline: Terminal) -> None:
    first = germline.does("scan", FEW, "--json").json
    assert first["episodes"] == first["new_episodes"] > 0
    assert first["signals"] > 0
    events = germline.events()
    again = germline.does("scan", FEW, "--json").json
    assert (again["new_episodes"], again["signals"]) == (0, 0)
    assert germline.events() == events
    assert "0 of them new" in germline.does("scan", FEW).out


def test_a_dry_scan_tells_the_signals_and_keeps_nothing(germline: Terminal) -> None:
    events = germline.events()
    answer = germline.does("scan", FEW, "--dry-run", "--json").json
    assert {event["type"] for event in answer["events"]} == {"SignalRaised"}
    assert germline.events() == events
    assert germline.does("scan", FEW, "--json").json["new_episodes"] > 0


def test_logs_named_in_the_settings_are_read_where_none_are_typed(germline: Terminal) -> None:
    germline.write("germline.toml", f"seed = 11\n[scan]\npaths = ['{FEW}']\n")
    assert germline.does("scan", "--json").json["episodes"] > 0
    assert germline.does("evolve", "sql-analyst", "--cycles", "1", "--json").json["seed"] == 11


def of_other_work(folder: Path) -> Terminal:
    """Begin with two skills that the recordings have nothing to do with, and read some of these."""
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    write_skills(folder, BREAD, GARDEN)
    germline.does("import", "skills")
    germline.does("scan", FEW)
    return germline


def test_a_signal_that_names_no_skill_is_listed_as_unrouted(tmp_path: Path) -> None:
    germline = of_other_work(tmp_path)
    answer = germline.does("evolve", "--json").json
    assert answer["cycles"] == []
    assert "no such table: <*>" in {signal["template"] for signal in answer["unrouted"]}
    assert "unrouted" in germline.does("evolve").out


def test_signals_without_a_skill_are_counted_and_only_the_first_are_shown_in_eighty_columns(
    tmp_path: Path,
) -> None:
    germline = of_other_work(tmp_path)
    lost = len(germline.does("evolve", "--json").json["unrouted"])
    lines = germline.does("evolve").out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("unrouted"))
    assert lines[first] == f"unrouted   {lost} signals of no skill: germline signals assign FINGERPRINT SKILL"
    assert lines[first + 4].split() == [str(lost - 3), "more:", "germline", "signals"]
    assert lines[first + 5].startswith("next")
    assert max(map(len, lines)) <= 80


def test_two_at_once_end_with_one_promotion_and_one_who_reads_the_verdict(germline: Terminal) -> None:
    environment = {**os.environ, "GERMLINE_REGISTRY": str(germline.folder / ".germline/registry.db")}
    words = (*EVOLVE, "--cycles", "1", "--json")
    first, second = (ForkedCommand(words, cwd=germline.folder, env=environment) for _ in range(2))
    with first, second:
        assert [first.wait(), second.wait()] == [0, 0], first.stderr.read() + second.stderr.read()
    promotions = germline.does("log", "sql-analyst", "--type", "CandidatePromoted").out.splitlines()
    assert len(promotions) == 1
    assert germline.does("status", "--json").json["skills"][1]["version"] == 2
    assert germline.does("verify", "--json").json["ok"]
