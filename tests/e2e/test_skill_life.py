"""The life of skills through the commands: tested by runs, retired, restored, offered together, counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from registry.query.versions import event_of
from strategies.rollouts.compare.harness import AgentRunner
from strategies.rollouts.run.trial import Trial
from tests.claude_sessions import sessions
from tests.fake_runs import draw, task_lines
from tests.terminal import SPLIT_KEY, Terminal
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.rollouts.run.store import PlannedRun


def skill_text(name: str, line: str, description: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description or f'What {name} does.'}\n---\n\n## Rules\n\n- {line}\n"


def planted(text: str) -> float:
    """How often a task passes with what a skill says: half of the time without any that counts."""
    return 0.45 + 0.45 * ("HELPS" in text) - 0.35 * ("HARMS" in text)


def chosen(job: PlannedRun) -> str:
    """Give the skill that the agent follows, as agents choose: by the words of its description."""
    texts = [file.body.decode() for file in job.arm.files.values()] if job.arm.files else [""]
    asked = set(job.task.prompt.lower().split())
    return max(texts, key=lambda text: (len(asked & set(described(text).split())), text))


def described(text: str) -> str:
    return next((line.lower() for line in text.splitlines() if line.startswith("description: ")), "")


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    def drawn(_: AgentRunner, job: PlannedRun) -> Trial:
        text = chosen(job)
        passed = draw(job.arm.key, job.task.id, job.round) < planted(text)
        return Trial(task=job.task.id, status="done", value=float(passed), seconds=1.0)

    monkeypatch.setattr(AgentRunner, "__call__", drawn)
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write("tasks.jsonl", task_lines(60))
    germline.write("germline.toml", '[rollouts]\ntasks = "tasks.jsonl"\nagent = "python3 agent.py {skill_dir}"\n')
    germline.write("skills/notes/SKILL.md", skill_text("notes", "Keep notes."))
    germline.write("skills/rounding/SKILL.md", skill_text("rounding", "HARMS: round everything."))
    germline.does("import", "skills")
    return germline


def drafted(terminal: Terminal, name: str, line: str) -> str:
    terminal.write(f"drafts/{name}.md", skill_text(name, line))
    words = ("candidate", "propose", name, "--from", f"drafts/{name}.md", "--reason", "a gap")
    candidate: str = terminal.does(*words, "--json").json["candidate"]
    return candidate


def test_drafts_are_judged_by_runs_and_a_harmful_skill_is_proposed_for_retirement_and_restored(
    terminal: Terminal,
) -> None:
    useless = drafted(terminal, "greeting", "Say hello first.")
    answer = terminal("skill", "test", "greeting")
    assert answer.code == 3
    assert f"✗ {useless[:12]}  reject" in answer.out
    assert not (terminal.folder / "skills/greeting").exists()

    useful = drafted(terminal, "joins", "HELPS: join on keys.")
    assert not (terminal.folder / "skills/joins").exists()
    assert f"✓ {useful[:12]}  promote → joins@1" in terminal.does("skill", "test", "joins").out
    assert "HELPS" in (terminal.folder / "skills/joins/SKILL.md").read_text()

    harmful = terminal("skill", "test", "rounding")
    assert harmful.code == 3
    assert "rounding harms: runs with it do worse than with no skill." in harmful.out
    assert "retire it? runs with it did worse" in " ".join(harmful.out.split())
    assert "retire it?" in terminal.does("skill", "ledger", "rounding").out
    assert "rounding" in terminal.does("status").out
    place = terminal.folder / "skills/rounding/SKILL.md"
    before = place.read_bytes()
    terminal.does("skill", "retire", "rounding", "--reason", "it harms", "--dry-run")
    assert place.exists()
    terminal.does("skill", "retire", "rounding", "--reason", "it harms")
    assert not place.parent.exists()
    assert "CapsuleRetired" in terminal.does("log", "--type", "CapsuleRetired").out
    assert "Kee" not in terminal.does("find", "round everything").out
    assert "round everything" in terminal.does("show", "rounding").out
    terminal.does("skill", "restore", "rounding", "--reason", "a mistake")
    assert place.read_bytes() == before
    assert terminal.does("verify").code == 0


def least_evidence(terminal: Terminal, skill: str) -> list[float]:
    """Give the evidence that each test of a skill asked for, as it was frozen before its runs."""
    with open_library(terminal.folder / ".germline/registry.db") as library:
        tested = library.log.read(stream=f"capsule:{skill}", types=("SkillTested",))
        frozen = [
            library.log.get_blob(event_of("SkillTested", envelope).rollouts.comparison) for envelope in tested
        ]
    return [json.loads(text)["thresholds"]["least_e"] for text in frozen if text]


def test_lines_of_one_skill_are_tested_each_against_the_skill_without_it(terminal: Terminal) -> None:
    text = skill_text("mixed", "HELPS: join on keys.\n- Keep notes.\n- HARMS: round everything.")
    terminal.write("more/mixed/SKILL.md", text)
    terminal.does("import", "more")
    plan = terminal.does("skill", "test", "mixed", "--lines", "all", "--dry-run", "--json").json
    assert plan["least_runs"] == 4 * plan["sealed_tasks"]
    answer = terminal("skill", "test", "mixed", "--lines", "all", "--json")
    assert (answer.code, answer.json["proposed"]) == (3, [])
    verdicts = {tested["line"]["text"]: tested["verdict"] for tested in answer.json["skills"]}
    assert verdicts == {
        "- HELPS: join on keys.": "helps",
        "- Keep notes.": "unclear",
        "- HARMS: round everything.": "harms",
    }
    again = terminal("skill", "test", "mixed", "--lines", "10")
    assert '"- HARMS: round everything." in mixed harms: runs with it do worse than without that' in again.out
    assert (
        least_evidence(terminal, "mixed") == [30.0] * 4
    )  # ten times three lines, also when asked about one again
    assert "retire it?" not in terminal.does("status").out
    assert "without the line" in terminal.does("log", "mixed", "--type", "SkillTested").out
    assert terminal("skill", "test", "mixed", "--lines", "1").hint == "the lines: 8, 9, 10"
    assert [terminal("skill", "test", "mixed", "--lines", wrong).code for wrong in ("x", ",", "")] == [2, 2, 2]
    assert "no skill named nope" in terminal("skill", "test", "nope", "--lines", "8").err
    assert terminal("skill", "test", "mixed", "notes", "--lines", "all").code == 2
    assert terminal.does("verify").code == 0


def test_a_live_skill_that_changes_nothing_is_unclear_and_nothing_is_proposed(terminal: Terminal) -> None:
    answer = terminal.does("skill", "test", "notes", "--json").json
    (tested,) = answer["skills"]
    assert (tested["verdict"], tested["beside"], answer["proposed"]) == ("unclear", [], [])
    again = terminal.does("skill", "test", "notes", "--json").json["skills"][0]["rollouts"]
    assert again["runs"] == 0


def test_a_hand_edit_is_never_lost_to_retirement(terminal: Terminal) -> None:
    place = terminal.write("skills/notes/SKILL.md", skill_text("notes", "Keep better notes."))
    refused = terminal("skill", "retire", "notes", "--reason", "unused")
    assert refused.code == 2
    assert "edited by hand" in refused.err
    assert "better" in place.read_text()
    terminal.does("adopt", "notes")
    terminal.write("skills/notes/mine.txt", "beside it")
    terminal.does("skill", "retire", "notes", "--reason", "unused")
    assert [file.name for file in place.parent.iterdir()] == ["mine.txt"]
    terminal.write("skills/notes/SKILL.md", "my own now\n")
    output = terminal.does("skill", "restore", "notes", "--reason", "again").out
    assert "other files lie in" in " ".join(output.split())
    assert place.read_text() == "my own now\n"


def test_a_retired_skill_takes_no_other_version(terminal: Terminal) -> None:
    candidate = terminal.does(
        *("candidate", "propose", "notes", "--reason", "more", "--json", "--from"),
        terminal.write("new.md", skill_text("notes", "Keep notes.\n- And dates.")),
    ).json["candidate"]
    terminal.does("skill", "retire", "notes", "--reason", "unused")
    for words in (
        ("candidate", "approve", candidate, "--reason", "yes"),
        ("candidate", "test", candidate),
        ("project", "notes"),
        ("pick", "notes"),
        ("skill", "test", "notes"),
        ("skill", "retire", "notes", "--reason", "again"),
    ):
        answer = terminal(*words)
        assert answer.code == 2
        assert answer.hint.startswith("germline skill restore notes"), words
    terminal.does("candidate", "reject", candidate, "--reason", "gone")
    assert "notes" not in terminal.does("status", "--json").json["unloaded"]


def test_a_distractor_among_three_skills_is_measured_and_a_narrower_description_brings_the_loss_back(
    terminal: Terminal,
) -> None:
    terminal.write("skills/doing/SKILL.md", skill_text("doing", "HELPS: do it twice.", "How to do the thing."))
    wide = "Do the thing of any task, and every other thing."
    terminal.write("skills/charts/SKILL.md", skill_text("charts", "Draw a chart.", wide))
    terminal.does("import", "skills/doing")
    terminal.does("import", "skills/charts")
    offered = ("skill", "test", "doing", "charts", "notes")

    answer = terminal(*offered, "--json")
    verdicts = {row["capsule"]: row["verdict"] for row in answer.json["skills"]}
    assert (answer.code, verdicts) == (3, {"doing": "unclear", "charts": "harms", "notes": "unclear"})
    lost = {row["capsule"]: row["rollouts"]["difference"] for row in answer.json["skills"]}["charts"]
    assert lost < -0.2
    assert answer.json["proposed"] == []
    assert "germline find --overlaps" in terminal(*offered).out

    terminal.write(
        "skills/charts/SKILL.md", skill_text("charts", "Draw a chart.", "Charts from tables of numbers.")
    )
    terminal.does("adopt", "charts")
    mended = {row["capsule"]: row for row in terminal.does(*offered, "--json").json["skills"]}
    assert {name: row["verdict"] for name, row in mended.items()} == {
        "doing": "helps",
        "charts": "unclear",
        "notes": "unclear",
    }
    assert mended["doing"]["beside"] == ["charts@2", "notes@1"]
    assert mended["doing"]["after"]["value"] > 0.8


def test_the_ledger_counts_what_logs_show_and_what_surely_fails_is_proposed_once(terminal: Terminal) -> None:
    text = skill_text("notes", "Keep notes.")
    won = [number % 8 == 0 for number in range(24)]
    place = str(terminal.folder / "skills")
    sessions(terminal.folder / "logs", "notes", text, won, first=1, folder_of_skill=place)
    for good in ("merged", "dropped"):
        terminal.does("scan", "logs")
        terminal.does("outcome", f"branch={good}", "--value", str(int(good == "merged")), "--source", "ci")

    run = terminal.does("evolve", "--json").json
    (proposal,) = run["retirements"]
    assert (proposal["capsule"], proposal["uses"], proposal["bound"]) == ("notes", 24, 0.4)
    assert terminal.does("evolve", "--json").json["retirements"] == []
    ledger = terminal.does("skill", "ledger", "--json").json
    rows = {row["skill"]: row for row in ledger["skills"]}
    assert (rows["notes"]["loads"], rows["notes"]["success"], rows["rounding"]["loads"]) == (24, 0.125, 0)
    assert rows["notes"]["proposal"]["tokens"] == rows["notes"]["tokens"]
    assert terminal.does("status", "--json").json["unloaded"] == ["rounding"]
    shown = " ".join(terminal.does("status").out.split())
    assert "unloaded rounding: in none of 24 sessions" in shown
    assert "retire notes: retire it? .125 [.043, .310] of 24 uses succeeded, surely below .400" in shown


def test_files_that_sessions_opened_are_counted_for_one_skill(terminal: Terminal) -> None:
    terminal.write("skills/looking/SKILL.md", skill_text("looking", "Run scripts/look.py."))
    for name in ("look.py", "never.py"):
        terminal.write(f"skills/looking/scripts/{name}", "print(1)\n")
    terminal.does("import", "skills/looking")
    rows = [
        {"type": "episode", "episode": "e1", "task": "t", "skills": [["looking", "1"]]},
        {
            "type": "step",
            "episode": "e1",
            "turn": 0,
            "tool": "Bash",
            "text": "python skills/looking/scripts/look.py",
        },
    ]
    terminal.write("log.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    terminal.does("scan", "log.jsonl")
    (row,) = terminal.does("skill", "ledger", "looking", "--json").json["skills"]
    assert [(file["path"], file["sessions"]) for file in row["files"]] == [
        ("scripts/look.py", 1),
        ("scripts/never.py", 0),
    ]
    assert "scripts/never.py: never opened" in terminal.does("skill", "ledger", "looking").out


def test_a_ledger_without_a_session_says_so_and_names_what_reads_some(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    (tmp_path / "skills/shop").mkdir(parents=True)
    (tmp_path / "skills/shop/SKILL.md").write_text("---\nname: shop\ndescription: Sums orders.\n---\n\n- Sum.\n")
    germline.does("init")
    germline.does("import", "skills")
    output = germline.does("skill", "ledger").out
    assert output.startswith("No session was read yet")
    assert output.endswith("next       germline scan PATH\n")
