"""The evals of a skill: what is written is read again as the same tasks, and graders are said in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from events.errors import CheckFailedError, StorageError, TaskFileError, UsageError
from strategies.rollouts.tasks.evals_file import write_evals
from strategies.rollouts.tasks.load import load_tasks

if TYPE_CHECKING:
    from pathlib import Path

TASKS = """
name = "orders"
[[tasks]]
id = "7"
prompt = "Sum data/orders.csv by month."
files = {"data/orders.csv" = {from = "shared/orders.csv"}, "old/orders.csv" = "a,b\\n"}
anchors = [{kind = "exists", path = "data/orders.csv"}]
solution = {answer = "Twelve sums.", files = {"out.json" = "{}"}}
[[tasks.graders]]
kind = "checks"
name = "shape"
checks = [
  {kind = "exists", path = "data/orders.csv"},
  {kind = "json", path = "out.json", required = {total = "number"}},
  {kind = "first_line", path = "out.csv", line = "month,sum"},
  {kind = "matches", pattern = "^Twelve"},
  {kind = "one_of", path = "out.json", key = "total", values = ["12", "12.0"]},
  {kind = "one_of", values = ["yes"]},
  {kind = "command", argv = ["python3", "run.py"]},
]
[[tasks]]
id = "size.2"
prompt = "Größe?"
[[tasks.graders]]
kind = "python"
name = "right"
script = "check.py"
[[tasks.graders]]
kind = "similarity"
name = "close"
reference = "About twelve."
[[tasks.graders]]
kind = "judge"
name = "liked"
family = "orders"
path = "note.md"
reference = {from = "shared/orders.csv"}
"""


@pytest.fixture
def task_file(tmp_path: Path) -> Path:
    (tmp_path / "set" / "shared").mkdir(parents=True)
    (tmp_path / "set" / "shared" / "orders.csv").write_text("month,sum\n")
    (tmp_path / "set" / "check.py").write_text("")
    (tmp_path / "set" / "tasks.toml").write_text(TASKS)
    return tmp_path / "set" / "tasks.toml"


def test_tasks_written_as_evals_are_read_as_the_same_tasks(task_file: Path, tmp_path: Path) -> None:
    tasks = load_tasks(task_file).tasks
    place = write_evals(tmp_path / "skill", "orders", tasks)
    again = load_tasks(place, graded=False)
    assert again.name == "orders"
    assert [(task.id, task.prompt, [*task.files]) for task in again.tasks] == [
        (task.id, task.prompt, [*task.files]) for task in tasks
    ]
    once_more = write_evals(tmp_path / "again", "orders", again.tasks)
    written, whole = (
        {str(file.relative_to(top)): file.read_bytes() for file in top.rglob("*") if file.is_file()}
        for top in (place.parent / "files", once_more.parent / "files")
    )
    assert written == whole == {"7/data/orders.csv": b"month,sum\n", "7/old/orders.csv": b"a,b\n"}


def test_what_graders_and_anchors_ask_for_is_said_once_each_in_words(task_file: Path, tmp_path: Path) -> None:
    place = write_evals(tmp_path / "skill", "orders", load_tasks(task_file).tasks)
    first, second = json.loads(place.read_text())["evals"]
    assert (first["id"], first["expected_output"]) == (7, "Twelve sums.")
    assert first["files"] == ["evals/files/7/data/orders.csv", "evals/files/7/old/orders.csv"]
    assert first["expectations"] == [
        "The file data/orders.csv is there.",
        "The file out.json is JSON with total (number).",
        "The file out.csv begins with the line `month,sum`.",
        "The answer matches the pattern `^Twelve`.",
        "The value of total in the file out.json is one of `12`, `12.0`.",
        "The answer is `yes`.",
        "The command `python3 run.py` ends with exit code 0.",
    ]
    assert "files" not in second
    assert second["expectations"] == [
        "The check `right` (check.py) passes.",
        "The answer is like the reference: About twelve.",
        "The file note.md is at least as good as the reference: the file shared/orders.csv",
    ]
    assert second["expected_output"] == " ".join(second["expectations"])


def test_nothing_is_overwritten_and_nothing_is_left_of_what_failed(task_file: Path, tmp_path: Path) -> None:
    tasks, folder = load_tasks(task_file).tasks, tmp_path / "skill"
    (task_file.parent / "shared" / "orders.csv").write_text("changed\n")
    with pytest.raises(CheckFailedError, match="changed"):
        write_evals(folder, "orders", tasks)
    assert list(folder.iterdir()) == []
    (folder / "evals").mkdir()
    with pytest.raises(UsageError, match="not overwritten"):
        write_evals(folder, "orders", tasks)
    with pytest.raises(StorageError, match="cannot be written"):
        write_evals(task_file / "below", "orders", tasks)


def test_files_of_others_keep_their_names_and_two_of_one_name_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "skill" / "evals" / "evals.json"
    for name in ("files/a.csv", "files/b/a.csv", "files/1/deep/a.csv"):
        file = place.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    listed = ["evals/files/a.csv", "evals/files/1/deep/a.csv"]
    place.write_text(json.dumps({"evals": [{"id": 1, "prompt": "Sum.", "files": listed}]}))
    (task,) = load_tasks(place, graded=False).tasks
    assert [*task.files] == ["a.csv", "deep/a.csv"]
    place.write_text(
        json.dumps({"evals": [{"id": 1, "prompt": "Sum.", "files": [*listed, "evals/files/b/a.csv"]}]})
    )
    with pytest.raises(TaskFileError, match=r"eval 1: two files are called a\.csv"):
        load_tasks(place, graded=False)
