"""Issue 4, "Must show" 7: whatever a grader tries beside grading is stopped, reported, and worth nothing."""

from __future__ import annotations

import hashlib
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from strategies.gate.rollout_rule import look
from strategies.gate.vetoes import RunFacts, rollout_verdict
from strategies.policy.written_rules import ROLLOUT_RULE
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.trial import trial
from strategies.rollouts.tasks.check_types import Fixture
from strategies.rollouts.tasks.task import PythonGrader, RolloutTask
from strategies.sandbox.confined_run import SandboxPolicy
from tests.confining import WAYS, confine_by, without_anything

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.rollouts.run.trial import Trial

AGENT = Agent(name="worker", argv=(sys.executable, "-I", "-S", "-c", "open('done.txt', 'w').write('42')"))
PASSES = "\nprint(1.0)\n"


@pytest.fixture(params=WAYS)
def task_folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the folder of a task set, under each of the ways to confine its graders."""
    confine_by(request.param, monkeypatch)
    folder = tmp_path / "set"
    folder.mkdir()
    return folder


def graded_by(folder: Path, code: str, *, limit_s: float = 20) -> Trial:
    """Run a trial whose agent does its work, and whose grader is this code and then says that all is well."""
    script = folder / "grade.py"
    script.write_text(code + PASSES)
    fixture = Fixture(path="grade.py", sha256=hashlib.sha256(script.read_bytes()).hexdigest())
    grader = PythonGrader(name="hostile", script=fixture, scores="printed", limit_s=limit_s)
    task = RolloutTask(id="one", prompt="Write done.txt.", graders=(grader,), folder=folder)
    result = trial(task, None, AGENT, SandboxPolicy(processes=30))
    assert hashlib.sha256(script.read_bytes()).hexdigest() == fixture.sha256
    return result


def is_worth_nothing(result: Trial) -> bool:
    return result.tampered and result.value == 0 and not result.lenient


def test_a_grader_that_only_grades_is_believed(task_folder: Path) -> None:
    result = graded_by(task_folder, "assert open('done.txt').read() == '42'; open('scratch', 'w').write('x')")
    assert (result.status, result.value, result.lenient, result.tampering) == ("done", 1.0, True, ())


def test_a_grader_that_writes_outside_its_copy_is_stopped_and_reported(task_folder: Path) -> None:
    outside = task_folder.parent / "outside.txt"
    result = graded_by(task_folder, f"try: open({str(outside)!r}, 'w').write('x')\nexcept OSError: pass")
    assert not outside.exists()
    assert result.tampering == (f"grader hostile: tried to write {outside}",)
    assert is_worth_nothing(result)


def test_a_grader_that_opens_a_socket_is_stopped_and_reported(task_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003 - the signature is Python's
        port = server.getsockname()[1]
        code = f"import socket\ntry: socket.create_connection(('127.0.0.1', {port}))\nexcept OSError: pass"
        result = graded_by(task_folder, code)
        with pytest.raises(BlockingIOError):
            server.accept()
    [report] = result.tampering
    tried = report.removeprefix("grader hostile: tried to ")
    assert tried in {f"reach 127.0.0.1:{port}", "open a network socket"}
    assert is_worth_nothing(result)


def test_a_grader_that_forks_without_end_is_stopped_and_reported(task_folder: Path) -> None:
    # At most 200 children: enough to pass the limit of 30, and harmless should nothing stop them.
    code = (
        "import os, time\n"
        "for _ in range(200):\n    if os.fork() == 0:\n        os.setsid(); time.sleep(60); os._exit(0)\n"
        "time.sleep(60)"
    )
    result = graded_by(task_folder, code)
    assert result.tampering == ("grader hostile: started more than 30 processes",)
    assert is_worth_nothing(result)


def test_a_grader_that_runs_past_its_limit_is_stopped_and_reported(task_folder: Path) -> None:
    result = graded_by(task_folder, "import time; time.sleep(60)", limit_s=0.25)
    assert result.tampering == ("grader hostile: ran past its limit of 0.25 s",)
    assert is_worth_nothing(result)


@pytest.mark.parametrize("target", ["__file__", "{original!r}"], ids=["its copy", "the original"])
def test_a_grader_that_rewrites_its_own_script_is_stopped_and_reported(task_folder: Path, target: str) -> None:
    target = target.format(original=str(task_folder / "grade.py"))
    result = graded_by(task_folder, f"try: open({target}, 'w').write('print(1.0)')\nexcept OSError: pass")
    [report] = result.tampering
    assert report.startswith("grader hostile: tried to write ")
    assert report.endswith("grade.py")
    assert is_worth_nothing(result)


def test_a_candidate_with_one_such_run_is_not_promoted_however_well_it_does(task_folder: Path) -> None:
    result = graded_by(task_folder, "import os\ntry: os.mkdir('/of-a-grader')\nexcept OSError: pass")
    looked = look([[1.0]] * 40, rounds=1)
    assert rollout_verdict(looked, RunFacts(), ROLLOUT_RULE).decision == "promote"
    assert rollout_verdict(looked, RunFacts(tampered=result.tampering), ROLLOUT_RULE).decision == "reject"


@pytest.mark.parametrize("culprit", ["grader", "other grader", "agent"])
def test_a_script_that_was_rewritten_all_the_same_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, culprit: str
) -> None:
    without_anything(monkeypatch)
    script, other = tmp_path / "grade.py", tmp_path / "other.py"
    rewrites = f"open({str(script)!r}, 'a').write('# better')\n"
    script.write_text(rewrites if culprit == "grader" else "")
    other.write_text(rewrites if culprit == "other grader" else "")
    code = AGENT.argv[-1] + ("; " + rewrites if culprit == "agent" else "")
    graders = tuple(
        PythonGrader(
            name=place.stem,
            script=Fixture(path=place.name, sha256=hashlib.sha256(place.read_bytes()).hexdigest()),
        )
        for place in (other, script)
    )
    task = RolloutTask(id="one", prompt="x", graders=graders, folder=tmp_path)
    agent = AGENT.model_copy(update={"argv": (*AGENT.argv[:-1], code)})
    result = trial(task, None, agent, SandboxPolicy(allow_unisolated=True))
    assert result.tampering == ("grade.py of the task set changed",)
    assert is_worth_nothing(result)
