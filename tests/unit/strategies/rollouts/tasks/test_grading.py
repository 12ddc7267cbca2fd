from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import RefusedError
from strategies.rollouts.run.graders import alike, grade
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.run_checks import examine
from strategies.rollouts.run.sanity import check_task
from strategies.rollouts.tasks.check_types import FileExists, FirstLine, JsonShape, Matches, OneOf
from strategies.rollouts.tasks.task import ChecksGrader, CommandGrader, RolloutTask, SimilarityGrader, Solution
from strategies.sandbox.confined_run import SandboxPolicy
from tests.confining import POLICY

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.rollouts.tasks.check_types import Check
    from strategies.rollouts.tasks.task import OwnGrader

WROTE_OUT = ChecksGrader(name="out", checks=(FileExists(path="out.txt"),))
TASK = RolloutTask(id="one", prompt="x", graders=(WROTE_OUT,))


def work(folder: Path, answer: str = "", **files: str) -> AgentWork:
    for name, content in files.items():
        (folder / name).write_text(content)
    return AgentWork(TASK, folder, answer, POLICY)


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        (FileExists(path="table"), True),
        (FileExists(path="none"), False),
        (Matches(path="table", pattern=r"^name,\w+"), True),
        (Matches(path="table", pattern="absent"), False),
        (Matches(path="none", pattern="."), False),
        (Matches(pattern="forty.two"), True),
        (FirstLine(path="table", line="name,age"), True),
        (FirstLine(path="table", line="name"), False),
        (OneOf(values=("forty-two", "42")), True),
        (OneOf(values=("forty",)), False),
        (OneOf(path="json", key="state", values=("open", "closed")), True),
        (OneOf(path="json", key="items.0", values=("1",)), True),
        (OneOf(path="json", key="items.7", values=("1",)), False),
        (OneOf(path="table", key="state", values=("open",)), False),
        (JsonShape(path="json", required={"state": "string", "items": "array", "deep.flag": "boolean"}), True),
        (JsonShape(path="json", required={"items.0": "integer", "deep": "object"}), True),
        (JsonShape(path="json", required={"deep.flag": "integer"}), False),
        (JsonShape(path="json", required={"state": "number"}), False),
        (JsonShape(path="json", required={"gone": "null"}), False),
        (JsonShape(path="table"), False),
        (JsonShape(path="nested"), False),
    ],
)
def test_a_declarative_check_looks_at_files_and_the_answer(tmp_path: Path, check: Check, holds: bool) -> None:  # noqa: FBT001 - the expected answer
    left = work(
        tmp_path,
        " forty-two\n",
        table="name,age\r\nAda,36\n",
        json='{"state": "open", "items": [1], "deep": {"flag": true}}',
        nested="[" * 100_000,
    )
    assert examine(check, left).holds is holds


def test_a_command_off_the_allow_list_is_refused(tmp_path: Path) -> None:
    grader = CommandGrader(name="x", argv=("bash", "-c", "true"))
    with pytest.raises(RefusedError, match="'bash'"):
        grade(grader, work(tmp_path))


def test_likeness_is_that_of_characters_or_of_words() -> None:
    assert alike("  same\n", "same") == 1
    assert alike("", "same") == 0
    assert 0.5 < alike("Hello Ada", "Hello Eve") < 1
    long = " ".join(f"word{number}" for number in range(500))
    assert alike(long, long) == 1
    assert 0.98 < alike(long.replace("word250 ", ""), long) < 1


@pytest.mark.parametrize(
    ("grader", "value"),
    [
        (SimilarityGrader(name="s", path="text", reference="alpha"), 1),
        (SimilarityGrader(name="s", path="none", reference="alpha"), 0),
        (ChecksGrader(name="c", checks=(FileExists(path="text"), FileExists(path="none"))), 0.5),
    ],
)
def test_layers_without_commands_give_their_share(tmp_path: Path, grader: OwnGrader, value: float) -> None:
    assert grade(grader, work(tmp_path, text="alpha")).value == value


def test_an_anchor_that_holds_on_nothing_is_a_violation() -> None:
    task = TASK.model_copy(
        update={"files": {"in.txt": "x"}, "anchors": (FileExists(path="in.txt"), FileExists(path="out.txt"))}
    )
    [violation] = check_task(task, POLICY)
    assert (violation.task, violation.problem) == (
        "one",
        "anchor exists in.txt holds before anything is done: it can veto nothing",
    )


def test_a_good_solution_that_fails_is_a_violation() -> None:
    task = TASK.model_copy(
        update={"anchors": (FileExists(path="out.txt"),), "solution": Solution(files={"output.txt": "x"})}
    )
    problems = [violation.problem for violation in check_task(task, POLICY)]
    assert problems == [
        "anchor exists out.txt does not hold on the known good solution",
        "grader out gives the known good solution 0.00: exists out.txt: out.txt is not there",
    ]
    good = task.model_copy(update={"solution": Solution(files={"out.txt": "x"})})
    assert check_task(good, POLICY) == ()


def test_graders_that_pass_work_never_begun_are_a_violation() -> None:
    anything = SimilarityGrader(name="any", reference="x", threshold=0.000_001)
    task = TASK.model_copy(
        update={
            "files": {"in.txt": "x"},
            "graders": (anything.model_copy(update={"path": "in.txt"}),),
            "solution": Solution(answer="x"),
        }
    )
    [violation] = check_task(task, SandboxPolicy())
    assert violation.problem == "the graders pass work that was never begun"
