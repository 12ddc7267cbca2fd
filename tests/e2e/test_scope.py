"""Two skills and mixed logs keep apart, by the real command; and a person has the last word on what goes where."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.kinds_of_work import BREAD, GIT, SQL, Work, log_of, write_skills
from tests.terminal import SPLIT_KEY, Beginning, Terminal
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from pathlib import Path


INSTRUCTIONS = "# Shop\n\n## Git\n\n- Commit small pieces.\n"


def begun(folder: Path, *works: Work) -> Terminal:
    """Begin a registry with the skills about these kinds of work."""
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    write_skills(folder, *works)
    germline.does("import", "skills")
    return germline


def having_read(folder: Path) -> Terminal:
    """Begin with two skills, and read a log of either kind of work."""
    folder.mkdir()
    germline = begun(folder, SQL, GIT)
    germline.write("logs/a.jsonl", log_of(SQL))
    germline.write("logs/b.jsonl", log_of(GIT))
    germline.does("scan", "logs")
    return germline


@pytest.fixture(scope="module")
def mixed(own_folder: Path) -> Beginning:
    """A registry with two skills that read a log of either kind of work."""
    return Beginning(having_read(own_folder / "read"))


@pytest.fixture
def germline(mixed: Beginning) -> Terminal:
    return mixed.again()


@pytest.fixture(scope="module")
def all_turns(own_folder: Path) -> Beginning:
    """The same after `evolve` took all turns for both."""
    germline = having_read(own_folder / "evolved")
    assert germline.does("evolve", "--cycles", "20", "--json").json["unrouted"] == []
    return Beginning(germline)


@pytest.fixture
def evolved(all_turns: Beginning) -> Terminal:
    return all_turns.again()


def learned(germline: Terminal, work: Work) -> str:
    """Give what a skill says beyond what its person wrote."""
    text = (germline.folder / "skills" / work.skill / "SKILL.md").read_text()
    return "".join(line for line in text.splitlines(keepends=True) if line not in work.text)


def routes(germline: Terminal) -> dict[str, dict[str, Any]]:
    """Tell where each signal goes, by its template and action."""
    listed = germline.does("signals", "--json").json["signals"]
    return {f"{signal['kind']} {signal['template']}{signal['action']}": signal["route"] for signal in listed}


def fingerprint(germline: Terminal, template: str) -> str:
    listed = germline.does("signals", "--json").json["signals"]
    return next(str(signal["fingerprint"]) for signal in listed if template in signal["template"])


def events(germline: Terminal, kind: str) -> list[dict[str, Any]]:
    with open_library(germline.folder / ".germline/registry.db") as library:
        return [json.loads(envelope.payload) for envelope in library.log.read(types=(kind,))]


def test_each_skill_learns_from_its_own_logs_alone(evolved: Terminal) -> None:
    assert "PRAGMA" in learned(evolved, SQL)
    assert "git branch" in learned(evolved, GIT)
    assert not {"git", "Bash"} & set(learned(evolved, SQL).split())
    assert not {"sql", "PRAGMA", "table"} & set(learned(evolved, GIT).split())


def test_a_score_and_the_evaluator_behind_it_count_the_episodes_of_the_skill_alone(evolved: Terminal) -> None:
    pool, *parts = events(evolved, "EvaluatorRegistered")
    assert (pool["scope"], pool["episodes"], pool["within"]) == ("pool", 600, "")
    shown = [(part["scope"], part["episodes"], part["within"]) for part in parts]
    assert shown == [("skill", 300, pool["evaluator"])] * 2
    scores = [evolved.does("score", work.skill, "--json").json["score"] for work in (SQL, GIT)]
    assert {score["evaluator"] for score in scores} == {part["evaluator"] for part in parts}


def test_parts_of_an_evaluator_share_its_error_rate(evolved: Terminal) -> None:
    sent = [event["sent"] for event in events(evolved, "CandidateScored") if event["sent"]]
    assert sent == sorted(sent)
    assert len({*sent}) == len(sent) > 1


def test_a_run_for_one_skill_leaves_the_signals_of_the_other_alone(germline: Terminal) -> None:
    run = germline.does("evolve", SQL.skill, "--cycles", "20", "--json").json
    assert {cycle["skill"] for cycle in run["cycles"]} == {SQL.skill}
    assert learned(germline, GIT) == ""


def test_in_one_file_of_both_kinds_no_skill_learns_a_rule_about_the_other_work(tmp_path: Path) -> None:
    germline = begun(tmp_path, SQL, GIT)
    germline.write("all.jsonl", log_of(SQL) + log_of(GIT))
    germline.does("scan", "all.jsonl")
    germline.does("evolve", "--cycles", "20")
    assert "PRAGMA" in learned(germline, SQL)
    assert "git branch" in learned(germline, GIT)
    assert not {"git", "Bash"} & set(learned(germline, SQL).split())
    assert not {"sql", "PRAGMA"} & set(learned(germline, GIT).split())


def test_with_one_skill_every_signal_goes_there(tmp_path: Path) -> None:
    germline = begun(tmp_path, SQL)
    germline.write("a.jsonl", log_of(BREAD, tasks=20))
    germline.does("scan", "a.jsonl")
    assert {(route["skill"], route["by"]) for route in routes(germline).values()} == {(SQL.skill, "only")}
    assert germline.does("evolve", "--json").json["unrouted"] == []


def test_without_a_skill_the_next_command_is_the_one_that_brings_one(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write("a.jsonl", log_of(BREAD, tasks=20))
    germline.does("scan", "a.jsonl")
    for command in ("signals", "evolve", "status"):
        output = germline.does(command).out
        assert output.splitlines()[-1].endswith("germline import PATH")
        assert "signals assign" not in output
    message = germline("candidates").err
    assert message.splitlines()[-1] == "next       germline evolve"


def with_instructions(germline: Terminal) -> Terminal:
    """Import instructions of the project beside its skills."""
    germline.write("CLAUDE.md", INSTRUCTIONS)
    germline.does("import", "CLAUDE.md")
    return germline


def test_with_one_skill_and_instructions_the_skill_gets_what_shares_its_words(tmp_path: Path) -> None:
    germline = with_instructions(begun(tmp_path, SQL))
    germline.write("logs/a.jsonl", log_of(SQL))
    germline.write("logs/b.jsonl", log_of(GIT))
    germline.does("scan", "logs")
    known = routes(germline)
    assert {route["skill"] for name, route in known.items() if "table" in name} == {SQL.skill}
    assert {route["skill"] for name, route in known.items() if "pathspec" in name} == {"CLAUDE.md"}
    assert {route["margin"] for route in known.values() if route["by"] == "instructions"} == {None}
    germline.does("evolve", "--cycles", "20")
    assert "git branch" in (germline.folder / "CLAUDE.md").read_text()
    assert "table" not in (germline.folder / "CLAUDE.md").read_text()
    assert "pathspec" not in learned(germline, SQL)


def test_a_run_for_what_no_signal_goes_to_says_so(germline: Terminal) -> None:
    run = with_instructions(germline).does("evolve", "CLAUDE.md", "--json").json
    assert (run["cycles"], run["stopped"]) == ([], "settled: no signal goes to CLAUDE.md")


def test_instructions_learn_what_is_assigned_to_them_whatever_skills_it_is_near(germline: Terminal) -> None:
    with_instructions(germline).does("signals", "assign", fingerprint(germline, "pathspec"), "CLAUDE.md")
    germline.does("evolve", "CLAUDE.md")
    assert "git branch" in (germline.folder / "CLAUDE.md").read_text()


def test_logs_may_be_listed_for_instructions(germline: Terminal) -> None:
    with_instructions(germline).write("germline.toml", "[skills.'CLAUDE.md']\nlogs = ['logs/b.jsonl']\n")
    known = routes(germline)
    listed = {name for name, route in known.items() if (route["skill"], route["by"]) == ("CLAUDE.md", "setting")}
    assert {name for name in known if "pathspec" in name} <= listed
    assert not [name for name in listed if "table" in name]
    score = germline.does("score", "CLAUDE.md", "--json").json["score"]
    *_, part = events(germline, "EvaluatorRegistered")
    assert (part["evaluator"], part["scope"], part["episodes"]) == (score["evaluator"], "skill", 300)


def test_content_is_told_with_its_margin_and_what_is_of_no_skill_with_what_to_type(germline: Terminal) -> None:
    germline.write("bread.jsonl", log_of(BREAD, tasks=20))
    germline.does("scan", "bread.jsonl")
    known = routes(germline)
    assert {route["by"] for name, route in known.items() if "table" in name} == {"content"}
    assert all(route["margin"] >= 0.1 for route in known.values() if route["by"] == "content")
    lost = [name for name, route in known.items() if route["skill"] is None]
    assert "error_template dough collapsed" in lost
    assert not [name for name in lost if "git" in name or "sql" in name]
    output = germline.does("signals").out
    assert "no skill" in output
    name = output.splitlines()[-1].partition(" assign ")[2].split()[0]
    shown = germline.does("signals", name).out
    assert "no skill · it shares no word with a skill" in shown
    assert f"next       germline signals assign {name} SKILL" in shown
    run = germline.does("evolve", "--cycles", "30", "--json").json
    assert not run["settled"]
    assert f"{len(run['unrouted'])} signal" in run["stopped"]
    assert run["stopped"].endswith("germline signals assign FINGERPRINT SKILL")
    assert "germline signals assign FINGERPRINT SKILL" in germline.does("status").out


def test_a_person_assigns_a_signal_and_takes_it_back_and_both_are_in_the_log(germline: Terminal) -> None:
    name, before = fingerprint(germline, "no such table"), germline.events()
    dry = germline.does("signals", "assign", name[:10], GIT.skill, "--dry-run", "--json").json
    assert [event["type"] for event in dry["events"]] == ["SignalAssigned"]
    assert germline.events() == before
    assignment = germline.does("signals", "assign", name[:10], GIT.skill, "--json").json
    assert (assignment["fingerprint"], assignment["previous"]) == (name, None)
    assert (assignment["route"]["skill"], assignment["route"]["by"]) == (GIT.skill, "person")
    assert germline.events() == before + 1
    assert "it was so already" in germline.does("signals", "assign", name, GIT.skill).err
    assert germline.events() == before + 1
    assert f"signal {name[:8]} assigned to {GIT.skill}" in germline.does("log", GIT.skill).out
    back = germline.does("signals", "unassign", name, "--json").json
    assert (back["previous"], back["route"]["by"], back["route"]["skill"]) == (GIT.skill, "content", SQL.skill)
    assert germline.does("verify", "--json").json["ok"]


def test_an_assigned_signal_is_learned_by_its_skill_and_why_says_who_assigned_it(germline: Terminal) -> None:
    name = fingerprint(germline, "pathspec")
    germline.does("signals", "assign", name, SQL.skill)
    germline.does("evolve", SQL.skill, "--cycles", "20")
    assert events(germline, "SignalAssigned") == [
        {"type": "SignalAssigned", "fingerprint": name, "capsule": SQL.skill, "withdrawn": False}
    ]
    assert name in {cycle["fingerprint"] for cycle in events(germline, "CycleFinished")}
    assert "git branch" in learned(germline, SQL)


def test_why_names_who_assigned_the_signal_behind_a_line(evolved: Terminal) -> None:
    evolved.does("signals", "assign", fingerprint(evolved, "no such table"), SQL.skill)
    lines = (evolved.folder / "skills" / SQL.skill / "SKILL.md").read_text().splitlines()
    at = next(number for number, line in enumerate(lines, 1) if "PRAGMA" in line)
    explanation = evolved.does("why", f"{SQL.skill}:{at}", "--json").json
    assert explanation["assigned"]["skill"] == SQL.skill
    rows = evolved.does("why", f"{SQL.skill}:{at}").out.splitlines()
    assert f" to {SQL.skill} " in next(line for line in rows if "assigned" in line)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ffffffffffffffff", SQL.skill), "no signal ffffffffffffffff was raised"),
        (("", SQL.skill), "argument 2 of germline signals is empty"),
        (("{name}", "sql-analist"), "no skill named sql-analist"),
    ],
)
def test_what_cannot_be_assigned_is_refused(germline: Terminal, words: tuple[str, str], message: str) -> None:
    name = fingerprint(germline, "no such table")
    before = germline.events()
    answer = germline("signals", "assign", *(word.format(name=name) for word in words))
    assert answer.code
    assert message in answer.err
    assert germline.events() == before


def test_only_the_logs_listed_for_a_skill_teach_it_and_they_teach_no_other(germline: Terminal) -> None:
    germline.write("germline.toml", f"[skills.{GIT.skill}]\nlogs = ['logs/*.jsonl']\n")
    assert {(route["skill"], route["by"]) for route in routes(germline).values()} == {(GIT.skill, "setting")}
    germline.does("evolve", "--cycles", "5")
    assert learned(germline, SQL) == ""
    germline.write("germline.toml", f"[skills.{SQL.skill}]\nlogs = ['logs/b.jsonl']\n")
    assert {route["skill"] for name, route in routes(germline).items() if "table" in name} <= {GIT.skill, None}
    answer = germline("score", SQL.skill, "--json").json
    assert answer["score"]["evaluator"] in {
        evaluator["evaluator"]
        for evaluator in events(germline, "EvaluatorRegistered")
        if evaluator["episodes"] == 300
    }


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[skills.sql-analist]\nlogs = []", "sets skills.sql-analist, and there is no such skill", "sql-analyst"),
        ("[skills.sql-analyst]\nlogs = 'a'", "sets skills.sql-analyst.logs to 'a'", "is a list of paths or globs"),
        ("[skills.sql-analyst]\nlog = ['a']", "sets skills.sql-analyst.log,", "write logs = […]"),
        ("[skills]\nsql-analyst = 3", "sets skills.sql-analyst to 3", "write [skills.sql-analyst]"),
    ],
)
@pytest.mark.parametrize("command", ["signals", "status", "evolve"])
def test_settings_of_skills_that_cannot_be_are_told(
    germline: Terminal, text: str, message: str, hint: str, command: str
) -> None:
    germline.write("germline.toml", text)
    answer = germline(command)
    assert answer.code
    assert message in answer.err
    assert hint in answer.err


def test_a_persons_own_file_may_name_skills_that_are_not_here(germline: Terminal, tmp_path: Path) -> None:
    own = Terminal(germline.folder, XDG_CONFIG_HOME=str(tmp_path))
    (tmp_path / "germline").mkdir()
    (tmp_path / "germline/germline.toml").write_text("[skills.elsewhere]\nlogs = ['x']\n")
    assert not own("signals").code


def test_logs_of_another_skill_make_no_measurement_look_old(evolved: Terminal) -> None:
    evolved.write("logs/c.jsonl", log_of(GIT, seed=2, tasks=40).replace('"large"', '"a-new-model"'))
    evolved.does("scan", "logs")
    rows = {row["skill"]: row["stale"] for row in evolved.does("status", "--json").json["skills"]}
    assert rows[SQL.skill] is None
    assert rows[GIT.skill]["runs"] == ["a-new-model"]


def test_a_frozen_evaluator_stays_as_it_is_when_a_skill_comes_with_its_own_work(tmp_path: Path) -> None:
    germline = begun(tmp_path, SQL)
    germline.write("a.jsonl", log_of(SQL) + log_of(GIT))
    germline.does("scan", "a.jsonl")
    germline.does("evolve", "--cycles", "2")
    before = _frozen(germline)
    write_skills(tmp_path / "more", GIT)
    germline.does("import", "more/skills")
    germline.does("evolve", "--cycles", "5")
    after = _frozen(germline)
    assert before.items() <= after.items()


def _frozen(germline: Terminal) -> dict[str, bytes]:
    with open_library(germline.folder / ".germline/registry.db") as library:
        return {name: body for name, body in library.log.maps().items() if name.startswith("evaluator:")}
