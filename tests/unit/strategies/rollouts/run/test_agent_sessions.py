"""What an agent did is told by its session logs, its output and its files; only where it is watched."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from strategies.rollouts.run.agent_sessions import work_done, work_shown
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.arms import NO_SKILL
from strategies.rollouts.run.store import Bank, PlannedRun
from strategies.rollouts.run.trial import Trial, trial
from strategies.sandbox.confined_run import SandboxPolicy
from tests.claude_sessions import session
from tests.confining import require_isolation
from tests.fake_runs import task

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

SECRET = "AKIA" + "Q3EXAMPLEKEY7ZTW"


def watched(tmp_path: Path, code: str, *, watched: bool = True) -> Trial:
    """Run an agent that is a script on a task that wants nothing of it."""
    require_isolation()
    script = tmp_path / "agent.py"
    script.write_text(code)
    agent = Agent(name="script", argv=(sys.executable, "-I", "-S", str(script)))
    return trial(task(1), None, agent, SandboxPolicy(), watch=work_done if watched else None)


def test_a_session_that_an_agent_leaves_in_its_home_is_read_step_by_step(tmp_path: Path) -> None:
    log = session("s1", "desk", "Be brief.", loads="reads", branch="main", minute=7)
    code = (
        "import os\nfolder = os.environ['HOME'] + '/.claude/projects/w'\nos.makedirs(folder)\n"
        f"open(folder + '/s1.jsonl', 'w').write({log!r})\nprint('done')"
    )
    work = watched(tmp_path, code).work

    assert "Count the visits of s1" in work
    assert "calls Read" in work
    assert "There are 7 visits." in work


def test_what_it_prints_and_the_files_that_it_changes_are_shown_without_secrets(tmp_path: Path) -> None:
    code = f"open('out.txt', 'w').write('forty-two')\nprint('the key is {SECRET}')"
    work = watched(tmp_path, code).work

    assert "the key is" in work
    assert SECRET not in work
    assert "file out.txt\n  forty-two" in work


def test_a_link_in_its_home_leads_to_no_file_outside(tmp_path: Path) -> None:
    outside = tmp_path / "mine.jsonl"
    outside.write_text(session("mine", "desk", "Be brief.", loads="reads", branch="main", minute=7))
    code = (
        "import os\nfolder = os.environ['HOME'] + '/.claude/projects'\nos.makedirs(folder)\n"
        f"os.symlink({str(outside)!r}, folder + '/s1.jsonl')\nos.symlink({str(tmp_path)!r}, folder + '/w')"
        "\nprint('done')"
    )
    assert "Count the visits" not in watched(tmp_path, code).work


def test_an_agent_that_is_not_watched_leaves_no_word(tmp_path: Path) -> None:
    assert not watched(tmp_path, "print('done')", watched=False).work


def test_what_was_watched_is_found_again_in_the_bank(registry: Registry) -> None:
    job = PlannedRun(NO_SKILL, task(1), 0, watch=work_done)
    Bank(registry.log, "harness", "one").keep(job, Trial(task="task-001", status="done", work="it slept"))
    known = Bank(registry.log, "harness", "two").find(job)

    assert known is not None
    assert not known.work
    assert work_shown(registry.log, known) == "it slept"


def test_the_messages_of_a_model_as_agent_are_shown_as_steps(registry: Registry) -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Greet Ada."}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "names.txt"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Ada"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello Ada"}]},
    ]
    with registry.log.transaction():
        name = registry.log.put_blob(json.dumps({"messages": messages}).encode(), kind="transcript")
    shown = work_shown(registry.log, Trial(task="greet", status="done", transcript=name))

    assert "Greet Ada." in shown
    assert "calls read_file" in shown
    assert "Hello Ada" in shown
