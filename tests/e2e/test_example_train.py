"""The example of a training, as its README has it: the true lines are learned, the others are not."""

from __future__ import annotations

import io
import re
import runpy
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from shutil import copytree
from threading import Lock
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from strategies.rollouts.compare import harness
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.trial import Trial, graded
from tests.confining import require_isolation
from tests.html_page import Page
from tests.terminal import Terminal

if TYPE_CHECKING:
    from strategies.rollouts.run.agent_sessions import Watch
    from strategies.rollouts.run.agent_templates import Agent
    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import SandboxPolicy

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "train"
WIDTH = 80
ONE_AT_A_TIME = Lock()


def commands() -> list[list[str]]:
    """Give the commands of the README's first block, without `germline`."""
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```\n(germline init.+?)```", text, re.DOTALL)
    assert block
    return [
        shlex.split(line.replace("python3", shlex.quote(sys.executable)))[1:] for line in block[1].splitlines()
    ]


def here(
    task: RolloutTask, skill: Path | None, agent: Agent, policy: SandboxPolicy, *, watch: Watch | None = None
) -> Trial:
    """Run the example's agent in this process: five hundred sandboxes would take a minute."""
    prompt = Path(f"{task.id}.prompt")
    argv = ["agent.py", str(skill or Path("none")), str(prompt)]
    with ONE_AT_A_TIME, redirect_stdout(io.StringIO()) as out, patch.object(sys, "argv", argv):
        prompt.write_text(task.prompt, encoding="utf-8")
        runpy.run_path(agent.argv[1])
    trial = Trial(task=task.id, status="done", tags=task.tags, work=out.getvalue() if watch else "")
    return graded(trial, AgentWork(task, Path(), out.getvalue(), policy))


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    require_isolation()
    there = Terminal(tmp_path / "there")
    copytree(EXAMPLE, there.folder)
    for words in commands()[:2]:
        there.does(*words)
    return there


def test_the_example_learns_two_true_lines_over_two_commands_and_says_why(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "trial", here)
    train = commands()[2]
    assert "--max-runs 258 is reached" in germline.does(*train, "--max-runs", "258").out
    shown = " ".join(germline.does(*train).out.split())

    text = (germline.folder / "skills/shop-desk/SKILL.md").read_text(encoding="utf-8")
    assert "In dates the day comes first." in text
    assert "a status of 500 or more" in text
    for wrong in ("month", "400", "If asked", "Read the question"):
        assert wrong not in text
    assert "4 epochs, 702 runs: 2 changes promoted" in shown
    assert "rest: 2 epochs in a row changed nothing" in shown
    (training,) = germline.does("train", "shop-desk", "--status", "--json").json["trainings"]
    first, second = training["epochs"][:2]
    assert (len(first["rejected"]), first["version"], first["runs"]) == (4, 1, 258)
    assert (len(second["promoted"]), second["version"], second["explored"]) == (2, 3, 0.0)
    assert second["delta"] == pytest.approx(1.0)
    assert second["audit_delta"] == pytest.approx(1.0)
    assert "epoch 2: 2 promoted" in germline.does("log", "shop-desk").out
    line = text.splitlines().index("- In dates the day comes first.") + 1
    assert "epoch 2" in germline.does("why", f"skills/shop-desk/SKILL.md:{line}").out

    germline.does("report", "-o", "report.html")
    page = Page((germline.folder / "report.html").read_text(encoding="utf-8"))
    assert not page.faults
    labels = [drawing.attributes["aria-label"] for drawing in page.all("svg")]
    assert any("gained in 4 epochs: sealed +1.000; audit +1.000" in label for label in labels)


def test_agent_and_proposer_run_confined_and_a_plan_runs_nothing(germline: Terminal) -> None:
    train = commands()[2]
    plan = germline.does(*train, "--dry-run", "--json").json
    assert (plan["explore_tasks"], plan["sealed_tasks"], plan["audit_tasks"]) == (18, 30, 12)
    assert not germline.does("log", "--type", "TrainingStarted").out
    assert max(map(len, germline.does(*train, "--dry-run").out.splitlines())) <= WIDTH
    searching = " ".join(germline.does(*train[:-1], f"pareto:{train[-1]}", "--dry-run").out.split())
    assert (
        f"beside those that the search makes on explore tasks: 18 explore tasks are shown to pareto:{train[-1]}"
        in searching
    )

    assert "epochs    none has ended yet" in germline.does(*train, "--max-runs", "5").out
    shown = germline.does(*train, "--max-runs", "20", "--json").json
    (epoch,) = shown["trainings"][0]["epochs"]
    assert (epoch["runs"], len(epoch["held"]), epoch["explored"]) == (20, 4, 0.0)
    assert "--max-runs" in shown["why"]


def test_what_cannot_work_is_said_before_anything_is_run(germline: Terminal) -> None:
    train = commands()[2][:-2]
    answers = [
        germline(*train),  # no model is named
        germline(*train, "--proposer", "nobody"),
        germline(*train, "--proposer", "python3 propose.py", "--steering", "nowhere.md"),
        germline("train", "shop-desk"),
        *(germline(*commands()[2], cap, "0") for cap in ("--max-runs", "--max-usd", "--hours")),
        germline("train", "nobody", "--status"),
    ]
    assert [answer.code for answer in answers] == [2] * len(answers)
    assert all("hint" in answer.err for answer in answers)
    assert "never trained" in germline.does("train", "shop-desk", "--status").out
