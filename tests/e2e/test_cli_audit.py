"""`germline audit` with agents that are really run: what they do, what they leave, and what a model answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from strategies.audit.audit_tasks import workspace_texts
from strategies.audit.passage_trials import MOST_TRIALS
from strategies.audit.run_records import record_of, written_record
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.trial import trial
from strategies.sandbox.confined_run import SandboxPolicy
from tests.anthropic_stub import gives
from tests.audit_runs import HARMFUL, SKILL, ScriptedRunner, obedient, tasks
from tests.claude_sessions import session
from tests.confining import require_isolation
from tests.judged_pairs import with_models
from tests.terminal import SPLIT_KEY, Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.audit.evaluators.evaluator_types import RunRecord
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask
    from tests.anthropic_stub import AnthropicStub, Step

PROMPT = "Write the totals of sales.csv to totals.csv with the header `name,sum`.\n"
AGENT = """
import pathlib, sys
skill = pathlib.Path(sys.argv[1]) / "SKILL.md"
head = "name;sum" if skill.exists() and "name;sum" in skill.read_text() else "name,sum"
rows = open("sales.csv").read().split("\\n", 1)[1]
open("totals.csv", "w").write(head + "\\n" + rows)
print("done")
"""
COMMAND = f"{sys.executable} agent.py {{skill_dir}}"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A registry with a skill that harms, two tasks, and an agent that does what the skill says."""
    terminal = Terminal(tmp_path)
    terminal.does("init", "--split-key", SPLIT_KEY)
    terminal.write("skills/sql-analyst/SKILL.md", SKILL)
    terminal.does("import", "skills")
    terminal.write("agent.py", AGENT)
    for number in (1, 2):
        terminal.write(f"tasks/t{number}/task.md", PROMPT)
        terminal.write(f"tasks/t{number}/workspace/sales.csv", f"name,amount\na,{number}\n")
    return terminal


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedRunner:
    """The same agent without a process for each run."""
    runner = ScriptedRunner()

    def made(_: object, job: PlannedRun) -> Trial:
        texts = workspace_texts(job.task)
        return runner(job.__class__(job.arm, job.task.model_copy(update={"files": texts}), job.round, job.watch))

    monkeypatch.setattr("strategies.rollouts.compare.harness.AgentRunner.__call__", made)
    return runner


def audited(terminal: Terminal, *words: str) -> Any:  # noqa: ANN401 - JSON
    return terminal.does(
        "audit", "sql-analyst", "--tasks", "tasks", "--agent", COMMAND, "--pairs", "1", "--json", *words
    ).json


def test_an_audit_from_the_command_line_to_why(terminal: Terminal) -> None:
    require_isolation()
    answer = audited(terminal)
    (audit,) = answer["audits"]
    assert answer["result"] in {"helped", "inert"}
    assert audit["drafts"][0]["result"] == "hurt"
    assert [move["quote"] for move in audit["drafts"][1]["moves"]] == [HARMFUL.strip()]
    table = terminal.does("audit", "sql-analyst", "--status").out
    assert "as given     draft 1" in table
    assert "format-compliance" in table
    shown = terminal.does("candidate", "show", audit["candidate"][:12]).out
    assert "asked by" in " ".join(shown.split())
    assert "step 1: totals.csv: name;sum" in " ".join(shown.split())
    assert "by an audit, audit-4" in " ".join(shown.split())
    moves = terminal.does("candidate", "show", audit["candidate"][:12], "--json").json["moves"]
    assert [move["task"] for move in moves] == ["t1"]
    terminal.does("candidate", "approve", audit["candidate"][:12], "--reason", "it reads well")
    assert HARMFUL not in (terminal.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    assert terminal.does("verify").out


def test_why_of_a_line_that_an_audit_changed_names_the_evaluator_and_shows_where_the_two_runs_part(
    terminal: Terminal, scripted: ScriptedRunner
) -> None:
    def writes_elsewhere(text: str, task: RolloutTask) -> RunRecord:
        return obedient("", task) if "/srv/" not in text else obedient("", task).model_copy(update={"files": {}})

    scripted.behaves = writes_elsewhere
    fixed = "- Write the table to `/srv/out/totals.csv`.\n"
    terminal.write("skills/tables/SKILL.md", SKILL.replace("sql-analyst", "tables").replace(HARMFUL, fixed))
    terminal.does("import", "skills/tables")
    words = ("audit", "tables", "--tasks", "tasks", "--agent", COMMAND, "--pairs", "1")
    (audit,) = terminal.does(*words, "--json").json["audits"]
    terminal.does("candidate", "approve", audit["candidate"][:12], "--reason", "it reads well")
    text = (terminal.folder / "skills/tables/SKILL.md").read_text(encoding="utf-8")
    number = text.splitlines().index("- Write the table to the path that the task gives.") + 1
    shown = " ".join(terminal.does("why", f"tables:{number}").out.split())
    assert f"follow the task: {fixed.strip()} → - Write the table to the path that the task gives." in shown
    assert "asked by task-alignment on t1: /srv/out/totals.csv is fixed: the task has that file elsewhere" in shown
    assert "with it step 1: done without step 1: totals.csv: name,sum" in shown


def test_a_dry_run_shows_the_anchors_and_writes_nothing(terminal: Terminal) -> None:
    before = terminal.does("log", "--json").out
    answer = audited(terminal, "--dry-run")
    names = [anchor["name"] for anchor in answer["tasks"][0]["anchors"]]
    assert names == ["totals.csv is there", "totals.csv has the header name,sum"]
    assert answer["most_runs"] == 2 * (12 + 2 * (2 * MOST_TRIALS + 5))
    assert terminal.does("log", "--json").out == before


@pytest.mark.usefixtures("scripted")
def test_a_draft_that_no_registry_holds_is_audited_into_a_folder(terminal: Terminal) -> None:
    terminal.write("drafts/tables/SKILL.md", SKILL.replace("sql-analyst", "tables"))
    words = ("audit", "drafts/tables", "--tasks", "tasks", "--agent", COMMAND)
    shown = terminal.does(*words, "--out", "audited").out
    assert shown.index("totals.csv has the header name,sum") < shown.index("as given")
    assert HARMFUL not in (terminal.folder / "audited/SKILL.md").read_text(encoding="utf-8")
    assert terminal("audit", "drafts/tables", "--tasks", "tasks", "--agent", COMMAND, "--promote").code == 2
    assert "tables" not in terminal.does("status").out
    assert "tables, a draft, on 2 tasks" in terminal.does("audit", "drafts/tables", "--status").out


def test_promote_makes_live_what_helps_and_says_that_nothing_was_proven(
    terminal: Terminal, scripted: ScriptedRunner
) -> None:
    def needs_the_skill(text: str, task: RolloutTask) -> RunRecord:
        is_right = "name;sum" not in text if task.id == "t1" else "Sort the rows" in text
        return obedient("" if is_right else "name;sum", task)

    scripted.behaves = needs_the_skill
    for number in range(3, 15):
        terminal.write(f"tasks/t{number}/task.md", PROMPT)
        terminal.write(f"tasks/t{number}/workspace/sales.csv", f"name,amount\na,{number}\n")
    answer = audited(terminal, "--promote")
    assert (answer["result"], answer["version"]) == ("helped", 2)
    assert HARMFUL not in (terminal.folder / "skills/sql-analyst/SKILL.md").read_text(encoding="utf-8")
    assert "decided by audit-4" in terminal.does("show", "sql-analyst", "--json").out
    assert "promoted" in terminal.does("candidate", "show", answer["audits"][0]["candidate"][:12]).out


def test_a_skill_that_was_edited_by_hand_is_adopted_first(terminal: Terminal) -> None:
    terminal.write("skills/sql-analyst/SKILL.md", SKILL.replace(HARMFUL, ""))
    answer = terminal("audit", "sql-analyst", "--tasks", "tasks", "--agent", COMMAND)
    assert answer.code == 2
    assert "germline adopt" in answer.hint


@pytest.mark.usefixtures("scripted")
def test_promote_leaves_what_helps_too_little_to_a_person(terminal: Terminal) -> None:
    answer = audited(terminal, "--promote")
    assert answer["result"] == "inert"  # two tasks cannot show that it helps
    assert "version" not in answer
    assert terminal.does("show", "sql-analyst", "--json").json["version"] == 1


def test_an_audit_without_tasks_is_a_mistake_of_who_types(terminal: Terminal) -> None:
    answer = terminal("audit", "sql-analyst", "--agent", COMMAND)
    assert answer.code == 2
    assert "--tasks FOLDER" in answer.hint


def opinion(result: str, quote: str = "") -> dict[str, Any]:
    signal = {"action": "noise", "quote": quote, "reason": "it does nothing", "replacement": "", "section": ""}
    return {"reason": "so it seems", "result": result, "signals": [signal] if quote else [], "protected": []}


def answers(body: dict[str, Any]) -> Step:
    """Answer as the judge that an audit asks: nothing new in a task, a quote that is not there in a pair."""
    if "checks" in json.dumps(body["output_config"]):
        return gives({"requirements": ["Keep every name."], "workflow": [], "checks": []})
    return gives(opinion("inert", "a quote that no skill holds"))


@pytest.mark.usefixtures("scripted")
def test_a_model_is_asked_over_http_once_and_its_invented_quotes_are_void(
    terminal: Terminal, stub: AnthropicStub
) -> None:
    stub.script("judge", answers)
    terminal = with_models(terminal.folder, stub, "judge")
    (first,) = audited(terminal, "--iterations", "1")["audits"]
    asked = len(stub.asked("judge"))
    assert first["model"] == "stub-judge"
    assert asked > 2
    assert first["drafts"][0]["void"] > 0
    assert first["drafts"][1]["drift"] == 0.0
    table = terminal.does("audit", "sql-analyst", "--status").out
    assert "0% of results were others when the first questions were asked again" in " ".join(table.split())
    assert "results that could be held against what was made contradict it" in " ".join(table.split())
    assert 'untrusted name="task"' in stub.texts("judge").replace('\\"', '"')
    audited(terminal, "--iterations", "1")
    assert len(stub.asked("judge")) == asked


@pytest.mark.usefixtures("scripted")
def test_without_a_key_nothing_is_run(terminal: Terminal, scripted: ScriptedRunner) -> None:
    terminal.write("germline.toml", '[models]\njudge = "claude-opus-4-8"\n')
    answer = Terminal(terminal.folder, ANTHROPIC_API_KEY="")(
        "audit", "sql-analyst", "--tasks", "tasks", "--agent", COMMAND
    )
    assert answer.code == 4
    assert scripted.made == 0


def recorded(code: str, *, limit_s: float = 20.0) -> RunRecord:
    """Run an agent of a few lines, and give what evaluators see of it."""
    require_isolation()
    task = tasks(1).tasks[0].model_copy(update={"limit_s": limit_s})
    agent = Agent(name="python", argv=(sys.executable, "-c", code))
    made = trial(task, None, agent, SandboxPolicy(), watch=written_record)
    return record_of(_NoLog(), task, made)  # type: ignore[arg-type] # what was just run is at hand


class _NoLog:
    """A log that holds nothing."""

    def get_blob(self, name: str) -> bytes | None:
        raise AssertionError(name)


def test_what_a_plain_command_prints_is_its_answer() -> None:
    run = recorded("import os\nopen('totals.csv', 'w').write('x\\n')\nos.remove('sales.csv')\nprint('there')")
    assert run.answer == "there\n"
    assert run.files == {"totals.csv": "x\n"}
    assert run.removed == ("sales.csv",)
    assert not run.actions


def test_what_is_printed_as_a_log_gives_the_steps() -> None:
    lines = session("s", "sql-analyst", SKILL, loads="reads", branch="b", minute=1)
    end = json.dumps({"type": "result", "result": "42 rows", "usage": {"output_tokens": 7}})
    run = recorded(f"print({lines!r})\nprint({end!r})")
    assert run.answer == "42 rows"
    assert run.tokens == 7
    assert run.actions


def test_what_no_encoding_can_write_ends_no_audit() -> None:
    step = {"type": "result", "result": "half of a pair: \ud800"}
    code = f"import os\nopen(b'\\xff.txt', 'w').write('x')\nprint({json.dumps(step)!r})"
    run = recorded(code)
    assert list(run.files.values()) == ["x"]
    assert run.answer == "half of a pair: ?"


def test_an_agent_that_hangs_is_stopped_and_keeps_no_anchor() -> None:
    run = recorded("open('totals.csv', 'w').write('name,sum\\n')\nimport time\ntime.sleep(60)", limit_s=0.25)
    assert run.ended == "stopped"
    assert "limit" in run.note
    assert set(run.anchors.values()) <= {False}


def test_an_agent_that_writes_outside_is_named_and_leaves_nothing_there(tmp_path: Path) -> None:
    outside = tmp_path / "stolen"
    code = f"try:\n    open({str(outside)!r}, 'w')\nexcept OSError:\n    pass\nopen('totals.csv', 'w').write('x')"
    run = recorded(code)
    assert not outside.exists()
    assert any("stolen" in attempt for attempt in run.attempts)


def test_an_agent_cannot_leave_a_gigabyte_and_what_it_says_of_that_is_kept() -> None:
    run = recorded("open('big.csv', 'wb').truncate(1024**3)")
    assert (run.files, run.ended) == ({"big.csv": ""}, "done")
    assert "File too large" in run.note
