from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from events.errors import CheckFailedError, IsolationError
from strategies.rollouts.run.agent_templates import Agent, agent_of
from strategies.rollouts.run.trial import trial
from strategies.rollouts.tasks.check_types import FileExists, Matches
from strategies.rollouts.tasks.load import load_tasks
from strategies.rollouts.tasks.task import ChecksGrader, CommandGrader, RolloutTask, SimilarityGrader
from strategies.sandbox.confined_run import Ran, SandboxPolicy
from tests.confining import POLICY, require_isolation, without_anything

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.sandbox.confined_run import Ended

TASK = RolloutTask(
    id="greet",
    prompt="Write a greeting to out.txt.",
    files={"names.txt": "Ada\n"},
    graders=(
        ChecksGrader(
            name="there", checks=(FileExists(path="out.txt"), Matches(path="out.txt", pattern="(?i)hello"))
        ),
        SimilarityGrader(name="alike", path="out.txt", reference="Hello Ada", threshold=0.9),
    ),
    anchors=(FileExists(path="out.txt"), Matches(name="no shouting", path="out.txt", pattern="[a-z]")),
    tags=("files", "easy"),
)


@pytest.fixture(autouse=True)
def isolation() -> None:
    require_isolation()


def python_agent(code: str, *words: str, name: str = "worker") -> Agent:
    return Agent(name=name, argv=(sys.executable, "-I", "-S", "-c", code, *words))


def test_good_work_is_graded_by_every_layer() -> None:
    result = trial(TASK, None, python_agent("open('out.txt', 'w').write('Hello Ada')"), POLICY)
    assert (result.status, result.value, result.lenient) == ("done", 1.0, True)
    assert [(layer.name, layer.passed) for layer in result.layers] == [("there", True), ("alike", True)]
    assert (result.failed_anchors, result.tampering, result.tags) == ((), (), ("files", "easy"))


def test_poor_work_gives_the_average_and_names_the_anchors_that_fail() -> None:
    result = trial(TASK, None, python_agent("open('out.txt', 'w').write('HELLO ADA')"), POLICY)
    assert result.status == "done"
    assert 0.5 < result.value < 1
    assert not result.lenient
    assert result.failed_anchors == ("no shouting",)


def test_three_of_four_layers_are_a_lenient_pass() -> None:
    layers = tuple(
        ChecksGrader(name=name, checks=(FileExists(path=name),)) for name in ("one", "two", "three", "four")
    )
    task = TASK.model_copy(update={"graders": layers, "anchors": ()})
    code = "import sys; [open(name, 'w') for name in sys.argv[1:]]"
    three = trial(task, None, python_agent(code, "one", "two", "three"), POLICY)
    two = trial(task, None, python_agent(code, "one", "two"), POLICY)
    assert (three.value, three.lenient) == (0.75, True)
    assert (two.value, two.lenient) == (0.5, False)


def test_the_agent_gets_skill_prompt_and_workspace(tmp_path: Path) -> None:
    skill = tmp_path / "greeter"
    skill.mkdir()
    (skill / "SKILL.md").write_text("Say Hello.")
    code = (
        "import sys, pathlib\nskill, prompt, workspace = map(pathlib.Path, sys.argv[1:])\n"
        "assert sys.stdin.read() == prompt.read_text() == 'Write a greeting to out.txt.'\n"
        "assert skill.name == 'greeter' and workspace.samefile('.')\n"
        "word = (skill / 'SKILL.md').read_text().split()[1].strip('.')\n"
        "(workspace / 'out.txt').write_text(word + ' ' + (workspace / 'names.txt').read_text())"
    )
    agent = python_agent(code, "{skill_dir}", "{prompt_file}", "{workspace}")
    result = trial(TASK, skill, agent, POLICY)
    assert (result.note, result.value) == ("", 1.0)


def test_without_a_skill_its_folder_is_empty() -> None:
    agent = python_agent("import os, sys; open('out.txt', 'w').write(str(os.listdir(sys.argv[1])))", "{skill_dir}")
    task = TASK.model_copy(
        update={"graders": (SimilarityGrader(name="empty", path="out.txt", reference="[]"),), "anchors": ()}
    )
    assert trial(task, None, agent, POLICY).value == 1.0


def test_a_skill_is_installed_where_the_agent_looks_and_gone_before_the_grading(tmp_path: Path) -> None:
    skill = tmp_path / "greeter"
    skill.mkdir()
    (skill / "SKILL.md").write_text("Say Hello.")
    agent = python_agent("import shutil; shutil.copy('.tool/skills/greeter/SKILL.md', 'copy.md')").model_copy(
        update={"skill_at": ".tool/skills/{skill}"}
    )
    checks = (FileExists(path="copy.md"), FileExists(path=".tool/skills/greeter/SKILL.md"))
    task = TASK.model_copy(update={"graders": (ChecksGrader(name="both", checks=checks),), "anchors": ()})
    assert trial(task, skill, agent, POLICY).value == 0.5


def test_no_link_that_an_agent_lays_leads_the_removal_of_its_skill_to_that_of_the_person(tmp_path: Path) -> None:
    person = tmp_path / "home" / "skills" / "greeter"
    person.mkdir(parents=True)
    (person / "SKILL.md").write_text("Say Hello.")
    code = f"import os; os.rename('.tool', 'away'); os.symlink({str(tmp_path / 'home')!r}, '.tool')"
    agent = python_agent(code).model_copy(update={"skill_at": ".tool/skills/{skill}"})
    assert trial(TASK, person, agent, POLICY).status == "done"
    assert (person / "SKILL.md").read_text() == "Say Hello."


@pytest.mark.parametrize(
    "code",
    [
        "os.symlink('out.txt', 'out.txt'); os.symlink('germline-cost.json', 'germline-cost.json')",
        "os.mkdir('shut'); open('shut/file', 'w'); os.chmod('shut', 0o400); os.chmod('.', 0)",
    ],
    ids=["links in a circle", "folders that nobody may search"],
)
def test_a_workspace_that_cannot_be_read_is_worth_nothing_and_no_error(code: str) -> None:
    result = trial(TASK, None, python_agent(f"import os; open('made', 'w'); {code}"), POLICY)
    assert (result.status, result.value, result.failed_anchors) == ("done", 0.0, ("exists out.txt", "no shouting"))


def test_an_agent_cannot_change_the_skill_it_was_given(tmp_path: Path) -> None:
    skill = tmp_path / "greeter"
    skill.mkdir()
    (skill / "SKILL.md").write_text("Say Hello.")
    agent = python_agent("import sys; open(sys.argv[1] + '/SKILL.md', 'w')", "{skill_dir}")
    result = trial(TASK, skill, agent, POLICY)
    assert (skill / "SKILL.md").read_text() == "Say Hello."
    assert result.attempts == ("tried to write skill/greeter/SKILL.md",)


def test_what_an_agent_tries_is_told_and_is_no_tampering(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    code = f"open('out.txt', 'w').write('Hello Ada')\ntry: open({str(outside)!r}, 'w')\nexcept OSError: pass"
    result = trial(TASK, None, python_agent(code), POLICY)
    assert (result.value, result.tampered) == (1.0, False)
    assert result.attempts == (f"tried to write {outside}",)
    assert not outside.exists()


@pytest.mark.parametrize("code", ["raise SystemExit('no key')", "import os; os.abort()"])
def test_an_agent_that_ends_before_it_does_anything_is_infrastructure(code: str) -> None:
    result = trial(TASK, None, python_agent(code), POLICY)
    assert (result.status, result.value, result.layers) == ("infrastructure", 0.0, ())
    assert "before it did anything" in result.note


def test_an_agent_that_fails_after_it_has_worked_is_graded() -> None:
    code = "open('out.txt', 'w').write('Hello Ada'); raise SystemExit(1)"
    assert trial(TASK, None, python_agent(code), POLICY).value == 1.0


def test_a_missing_agent_is_infrastructure_and_named() -> None:
    result = trial(TASK, None, agent_of("no-such-agent --now"), POLICY)
    assert result.status == "infrastructure"
    assert "no-such-agent is not installed" in result.note


def test_an_agent_past_the_limit_counts_as_nothing() -> None:
    task = TASK.model_copy(update={"limit_s": 0.4})
    code = "import time; open('out.txt', 'w').write('Hello Ada'); time.sleep(60)"
    result = trial(task, None, python_agent(code), POLICY)
    assert (result.status, result.value, result.tampered) == ("stopped", 0.0, False)
    assert "0.4 s" in result.note


def test_a_workspace_that_overflows_is_stopped() -> None:
    code = "[open(f'{number}.txt', 'w') for number in range(50)]"
    result = trial(TASK, None, python_agent(code), SandboxPolicy(workspace_files=20))
    assert (result.status, result.note) == ("stopped", "the workspace holds more than 20 files")


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        *(("unstarted", "infrastructure"), ("void", "infrastructure")),
        *(("lost", "stopped"), ("disk", "stopped"), ("memory", "stopped"), ("processes", "stopped")),
    ],
)
def test_a_run_is_void_only_by_what_its_agent_cannot_bring_about(
    monkeypatch: pytest.MonkeyPatch, ended: Ended, status: str
) -> None:
    ran = Ran(ended=ended, code=0, stdout="", stderr="", seconds=1.0, attempts=(), missing=(), error="so it was")
    monkeypatch.setattr("strategies.rollouts.run.trial.run", lambda *_: ran)
    result = trial(TASK, None, python_agent(""), POLICY)
    assert (result.status, result.value, result.layers) == (status, 0.0, ())
    assert "so it was" in result.note


def test_work_that_the_machine_lets_nobody_look_at_is_infrastructure(monkeypatch: pytest.MonkeyPatch) -> None:
    grader = CommandGrader(name="look", argv=("python", "-c", ""))
    void = Ran(
        ended="void", code=0, stdout="", stderr="", seconds=1.0, attempts=(), missing=(), error="a full disk"
    )
    monkeypatch.setattr("strategies.rollouts.run.leftovers.run", lambda *_: void)
    result = trial(
        TASK.model_copy(update={"graders": (grader,)}), None, python_agent("open('out.txt', 'w')"), POLICY
    )
    assert (result.status, result.layers) == ("infrastructure", ())
    assert result.note.endswith("a full disk")


def test_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("Hello Ada")
    code = f"import os; os.symlink({str(tmp_path / 'answer')!r}, 'out.txt')"
    result = trial(TASK, None, python_agent(code), POLICY)
    assert result.value == 0.0
    assert set(result.failed_anchors) == {"exists out.txt", "no shouting"}


def test_a_pipe_in_the_place_of_a_file_does_not_hang_the_grading() -> None:
    grader = CommandGrader(name="look", argv=("python", "-c", "import os; assert os.listdir() == ['names.txt']"))
    task = TASK.model_copy(update={"graders": (*TASK.graders, grader)})
    result = trial(task, None, python_agent("import os; os.mkfifo('out.txt')"), POLICY)
    assert [layer.value for layer in result.layers] == [0.0, 0.0, 1.0]


def test_the_cost_is_read_from_the_file_that_says_so() -> None:
    code = "import json; json.dump({'cost_usd': 0.25}, open('germline-cost.json', 'w')); open('out.txt', 'w')"
    result = trial(TASK, None, python_agent(code), POLICY)
    assert result.cost_usd == 0.25
    assert trial(TASK, None, python_agent("open('out.txt', 'w')"), POLICY).cost_usd is None


def test_answer_and_cost_are_read_from_what_claude_prints() -> None:
    claude_output = {"type": "result", "is_error": False, "result": "forty-two", "total_cost_usd": 0.5}
    agent = python_agent(f"print({json.dumps(json.dumps(claude_output))})").model_copy(
        update={"output": "claude-json"}
    )
    graders = (SimilarityGrader(name="answer", reference="forty-two"),)
    result = trial(TASK.model_copy(update={"graders": graders}), None, agent, POLICY)
    assert (result.value, result.cost_usd) == (1.0, 0.5)
    failed = {"type": "result", "is_error": True, "result": "credit balance is too low"}
    agent = agent.model_copy(update={"argv": (*agent.argv[:-1], f"print({json.dumps(json.dumps(failed))})")})
    result = trial(TASK, None, agent, POLICY)
    assert result.status == "infrastructure"
    assert "credit balance" in result.note


def test_an_agent_does_not_see_the_folder_of_the_task_set(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "answers.txt").write_text("42")
    task = {
        "id": "peek",
        "prompt": "What is the answer?",
        "graders": [{"kind": "similarity", "name": "same", "reference": {"from": "answers.txt"}}],
    }
    (folder / "tasks.jsonl").write_text(json.dumps(task))
    [loaded] = load_tasks(folder / "tasks.jsonl").tasks
    code = f"import os; print(os.listdir({str(folder)!r}) or 42)"
    assert trial(loaded, None, python_agent(code), POLICY).value == 1.0


def test_a_file_of_the_set_that_changed_since_it_was_loaded_stops_the_trial(tmp_path: Path) -> None:
    (tmp_path / "start.txt").write_text("one")
    task = TASK.model_dump(mode="json") | {"files": {"names.txt": {"from": "start.txt"}}}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task))
    [loaded] = load_tasks(tmp_path / "tasks.jsonl").tasks
    (tmp_path / "start.txt").write_text("two")
    with pytest.raises(CheckFailedError, match=r"start\.txt"):
        trial(loaded, None, python_agent("open('out.txt', 'w')"), POLICY)


def test_without_isolation_and_consent_no_agent_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    without_anything(monkeypatch)
    with pytest.raises(IsolationError):
        trial(TASK, None, python_agent("open('out.txt', 'w').write('Hello Ada')"), POLICY)
    allowed = SandboxPolicy(allow_unisolated=True)
    assert trial(TASK, None, python_agent("open('out.txt', 'w').write('Hello Ada')"), allowed).value == 1.0
