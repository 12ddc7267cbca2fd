"""Real runs of a real program on real tasks, at a small scale: what is planted is found, and nothing else."""

from __future__ import annotations

import io
import re
import runpy
import sys
from contextlib import redirect_stdout
from contextvars import copy_context
from pathlib import Path

import pytest

from examples.rollouts.tasks import EACH, KINDS, write_tasks
from strategies.rollouts.run.sanity import check_task
from strategies.rollouts.tasks.load import load_tasks
from strategies.sandbox.confined_run import SandboxPolicy
from tests.confining import require_isolation

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "rollouts"


def told_by_example(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Run the example's script in this process, which has loaded what it loads, and give what it prints."""
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE / "run.py"), str(folder), *words])
    monkeypatch.setenv("HOME", str(folder))
    with redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit) as ended:
        copy_context().run(runpy.run_path, sys.argv[0], run_name="__main__")  # what it answers for, it alone does
    assert ended.value.code == 0, out.getvalue()
    return out.getvalue()


def test_a_planted_helpful_change_is_promoted_and_a_harmful_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_isolation()
    # What says nothing, or knows visible tasks by heart, is looked at for many rounds: tests/unit/registry/
    # test_rollout_judging.py judges such runs, bench/gate.py makes them.
    changes = ("harmful", "helpful")
    output = told_by_example(tmp_path, monkeypatch, "--each", "7", "--changes", *changes)
    rows = {line.split()[0]: line for line in output.splitlines()}
    verdicts = {name: rows[name].split()[1] for name in changes}
    assert [name for name, verdict in verdicts.items() if verdict == "promote"] == ["helpful"]
    assert verdicts["harmful"] == "reject"
    gain = re.search(r"→ \d\.\d\d  ([+-]\d\.\d\d) \[", rows["helpful"])
    assert gain
    assert float(gain[1]) >= 0.25
    assert "against no skill +" in rows["helpful"]


def test_the_full_set_has_sixty_tasks_and_its_graders_tell_good_work_from_none(tmp_path: Path) -> None:
    require_isolation()
    assert EACH * len(KINDS) >= 60
    few = load_tasks(write_tasks(tmp_path, each=1))
    assert [violation for task in few.tasks for violation in check_task(task, SandboxPolicy())] == []
    full = load_tasks(write_tasks(tmp_path))
    assert len(full.tasks) == EACH * len(KINDS)
    assert {tag for task in full.tasks for tag in task.tags} == {"shell", "sql", "files"}
