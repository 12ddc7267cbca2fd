from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.rollouts.run.graders import grade
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.run_checks import examine
from strategies.rollouts.tasks.check_types import CommandExits, FileExists
from strategies.rollouts.tasks.task import ChecksGrader, CommandGrader, RolloutTask
from tests.confining import POLICY, require_isolation

if TYPE_CHECKING:
    from pathlib import Path

TASK = RolloutTask(id="one", prompt="x", graders=(ChecksGrader(name="out", checks=(FileExists(path="out.txt"),)),))


@pytest.fixture(autouse=True)
def isolation() -> None:
    require_isolation()


def work(folder: Path, answer: str = "", **files: str) -> AgentWork:
    for name, content in files.items():
        (folder / name).write_text(content)
    return AgentWork(TASK, folder, answer, POLICY)


def test_a_command_check_compares_the_exit_code(tmp_path: Path) -> None:
    left = work(tmp_path, "42", data="x")
    sees = "import sys, pathlib; sys.exit(4 if pathlib.Path('data').read_text() == 'x' else 0)"
    assert examine(CommandExits(argv=("python", "-c", sees), exit_code=4), left).holds
    assert not examine(CommandExits(argv=("python", "-c", sees)), left).holds
    reads = "import sys; sys.exit(open(sys.argv[1]).read() != '42')"
    assert examine(CommandExits(argv=("python", "-c", reads, "{answer_file}")), left).holds


def test_a_command_check_that_tampers_does_not_hold(tmp_path: Path) -> None:
    tries = "import os\ntry: os.mkdir('/made-by-a-check')\nexcept OSError: pass"
    check_result = examine(CommandExits(argv=("python", "-c", tries)), work(tmp_path))
    assert (check_result.holds, check_result.tampering) == (False, ("tried to write /made-by-a-check",))


def test_a_command_works_on_a_copy_of_its_own(tmp_path: Path) -> None:
    left = work(tmp_path, data="as it was")
    spoils = CommandGrader(name="spoil", argv=("python", "-c", "open('data', 'w').write('spoilt')"))
    assert grade(spoils, left).value == 1
    assert (tmp_path / "data").read_text() == "as it was"


@pytest.mark.parametrize(
    ("code", "scores", "value"),
    [
        ("print(0.25)", "printed", 0.25),
        ("print('working'); print(1)", "printed", 1),
        ("print('all good')", "printed", 0),
        ("print(1.5)", "printed", 0),
        ("print('nan')", "printed", 0),
        ("pass", "printed", 0),
        ("print(1); raise SystemExit(2)", "printed", 0),
        ("print(0)", "exit_code", 1),
        ("raise SystemExit(1)", "exit_code", 0),
    ],
)
def test_a_command_scores_by_its_exit_code_or_by_its_last_line(
    tmp_path: Path, code: str, scores: str, value: float
) -> None:
    grader = CommandGrader.model_validate({"name": "x", "argv": ("python", "-c", code), "scores": scores})
    graded = grade(grader, work(tmp_path))
    assert graded.value == value
    assert bool(graded.note) == (value == 0)
