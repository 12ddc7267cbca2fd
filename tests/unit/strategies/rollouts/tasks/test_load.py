from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from events.errors import TaskFileError
from strategies.rollouts.tasks.check_types import Fixture
from strategies.rollouts.tasks.load import load_tasks
from strategies.rollouts.tasks.task import PythonGrader

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.rollouts.tasks.task import TaskSet

TOML = """
name = "small"

[defaults]
limit_s = 20
tags = ["files"]

[[tasks]]
id = "count"
prompt = "Count the lines of notes.txt."
files = { "notes.txt" = "one\\ntwo\\n", "data/big.csv" = { from = "big.csv" } }

[[tasks.anchors]]
kind = "first_line"
path = "count.csv"
line = "name,lines"

[[tasks.graders]]
name = "counted"
kind = "python"
script = "grade.py"
uses = ["expected.csv"]
scores = "printed"
threshold = 0.5

[tasks.solution]
files = { "count.csv" = "name,lines\\nnotes.txt,2\\n" }

[[tasks]]
id = "answer"
prompt = "Say yes."
limit_s = 5

[[tasks.graders]]
name = "yes"
kind = "checks"
checks = [{ kind = "one_of", values = ["yes", "Yes."] }]
"""
TASK = {
    "id": "answer",
    "prompt": "Say yes.",
    "graders": [{"name": "yes", "kind": "checks", "checks": [{"kind": "matches", "pattern": "yes"}]}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "big.csv").write_text("a,b\n")
    (tmp_path / "expected.csv").write_text("name,lines\n")
    (tmp_path / "grade.py").write_text("print(1)\n")
    return tmp_path


def toml(folder: Path, text: str = TOML) -> TaskSet:
    (folder / "tasks.toml").write_text(text)
    return load_tasks(folder / "tasks.toml")


def jsonl(folder: Path, *tasks: object) -> TaskSet:
    (folder / "tasks.jsonl").write_text(
        "\n".join(task if isinstance(task, str) else json.dumps(task) for task in tasks)
    )
    return load_tasks(folder / "tasks.jsonl")


def refusal(folder: Path, changes: dict[str, Any]) -> TaskFileError:
    with pytest.raises(TaskFileError) as caught:
        jsonl(folder, TASK | changes)
    return caught.value


def test_toml_tells_tasks_with_their_files_graders_and_anchors(folder: Path) -> None:
    tasks = toml(folder)
    count, answer = tasks.tasks
    assert (tasks.name, count.id, answer.id) == ("small", "count", "answer")
    assert (count.limit_s, answer.limit_s, count.tags, answer.tags) == (20, 5, ("files",), ("files",))
    assert isinstance(count.files["data/big.csv"], Fixture)
    grader = count.graders[0]
    assert isinstance(grader, PythonGrader)
    assert (grader.script.path, grader.uses[0].path, grader.threshold) == ("grade.py", "expected.csv", 0.5)
    assert {fixture.path for fixture in count.fixtures} == {"big.csv", "grade.py", "expected.csv"}


def test_jsonl_tells_the_same_tasks(folder: Path) -> None:
    tasks = toml(folder)
    count = {
        "id": "count",
        "prompt": "Count the lines of notes.txt.",
        "files": {"notes.txt": "one\ntwo\n", "data/big.csv": {"from": "big.csv"}},
        "anchors": [{"kind": "first_line", "path": "count.csv", "line": "name,lines"}],
        "graders": [
            {
                "name": "counted",
                "kind": "python",
                "script": "grade.py",
                "uses": ["expected.csv"],
                "scores": "printed",
                "threshold": 0.5,
            }
        ],
        "solution": {"files": {"count.csv": "name,lines\nnotes.txt,2\n"}},
        "limit_s": 20,
        "tags": ["files"],
    }
    assert jsonl(folder, count).tasks[0] == tasks.tasks[0]


@pytest.mark.parametrize("changed", ["big.csv", "grade.py", "expected.csv"])
def test_the_digest_covers_every_file_that_decides_a_result(folder: Path, changed: str) -> None:
    before = toml(folder).digest
    assert toml(folder).digest == before
    (folder / changed).write_text("something else")
    assert toml(folder).digest != before


@pytest.mark.parametrize(
    ("old", "new"), [("Count the", "count the"), ("limit_s = 20", "limit_s = 21"), ("name,lines", "name,count")]
)
def test_the_digest_covers_prompts_limits_and_anchors(folder: Path, old: str, new: str) -> None:
    assert toml(folder, TOML.replace(old, new)).digest != toml(folder).digest


def test_the_digest_does_not_depend_on_where_the_set_lies(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("big.csv", "grade.py", "expected.csv"):
        (other / name).write_bytes((folder / name).read_bytes())
    assert toml(folder).digest == toml(other).digest


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "sub/../../secret", "link/secret"])
def test_a_fixture_outside_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (tmp_path / "secret").touch()
    (folder / "link").symlink_to(tmp_path)
    refused = refusal(folder, {"files": {"a.txt": {"from": path}}})
    assert "leads out" in str(refused)
    assert "tasks.jsonl:1: task answer" in str(refused)


@pytest.mark.parametrize("path", ["../out", "/abs", "a/../../b", "a//b", ".", ""])
def test_a_workspace_path_outside_the_workspace_is_refused(folder: Path, path: str) -> None:
    assert "files" in str(refusal(folder, {"files": {path: "x"}}))


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"promt": "x"}, "promt is not known", "did you mean prompt?"),
        ({"prompt": ""}, "prompt is ''", "docs/rollouts.md"),
        ({"graders": []}, "graders is []", "docs/rollouts.md"),
        ({"limit_s": -1}, "limit_s is -1", "docs/rollouts.md"),
        ({"limit_s": "fast"}, "limit_s is 'fast'", "docs/rollouts.md"),
        ({"tags": ["a b"]}, "tags[0] is 'a b'", "docs/rollouts.md"),
        ({"folder": "/"}, "folder is not known", "below the folder"),
        ({"graders": [{"name": "x"}]}, "graders[0] has no kind", "python"),
        ({"graders": [{"name": "x", "kind": "jugde"}]}, "kind 'jugde' is not known", "similarity"),
        ({"graders": [{"name": "x", "kind": "command"}]}, "graders[0].argv is missing", "add it"),
        (
            {"graders": [{"name": "x", "kind": "command", "argv": ["a"], "limits": 3}]},
            "graders[0].limits is not known",
            "did you mean limit_s?",
        ),
        ({"anchors": [{"kind": "matches", "pattern": "("}]}, "anchors[0].pattern is '('", "docs/rollouts.md"),
        ({"anchors": [{"kind": "matches", "pattern": "(?=x)"}]}, "no look-around", "docs/rollouts.md"),
        (
            {"anchors": [{"kind": "exists", "path": "a"}] * 2},
            "two anchors are called 'exists a'",
            "docs/rollouts.md",
        ),
        (
            {"graders": [{"name": "x", "kind": "python", "script": "gone.py"}]},
            "cannot read gone.py",
            "looked for in",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_to_write(
    folder: Path, changes: dict[str, Any], message: str, hint: str
) -> None:
    refused = refusal(folder, changes)
    assert message in str(refused)
    assert str(refused).startswith(f"{folder / 'tasks.jsonl'}:1: task answer: ")
    assert hint in refused.hint


@pytest.mark.parametrize(
    ("line", "message"),
    [("{", "tasks.jsonl:2 is no JSON"), ("[]", "tasks.jsonl:2 is no JSON object"), ("{}", "without id")],
)
def test_a_broken_line_is_named(folder: Path, line: str, message: str) -> None:
    with pytest.raises(TaskFileError, match=message):
        jsonl(folder, TASK, line)


def test_a_mistake_in_toml_is_named_with_its_line(folder: Path) -> None:
    with pytest.raises(TaskFileError, match=r"tasks\.toml:30: task answer: limit_s is -5"):
        toml(folder, TOML.replace("limit_s = 5", "limit_s = -5"))
    with pytest.raises(TaskFileError, match=r"is no TOML: .*line 2"):
        toml(folder, "\n[[tasks]\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no task"),
        ("task = []", "unknown task"),
        ("name = 3", "name is 3"),
        ("tasks = 3", "tasks is no array"),
        ("[defaults]\nid = 'x'", "defaults cannot be these"),
        ("[[tasks]]\nid = 'x'\nprompt = 2020-01-01", "task x"),
    ],
)
def test_a_file_that_is_no_task_set_says_why(folder: Path, text: str, message: str) -> None:
    with pytest.raises(TaskFileError, match=message):
        toml(folder, text)


def test_an_id_may_stand_once(folder: Path) -> None:
    with pytest.raises(TaskFileError, match="the id answer stands twice"):
        jsonl(folder, TASK, TASK)


def test_a_missing_file_and_a_file_that_is_no_text_are_named(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match="cannot read"):
        load_tasks(tmp_path / "none.toml")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(TaskFileError, match="no UTF-8"):
        load_tasks(tmp_path / "bytes.jsonl")


def test_the_evals_of_a_skill_are_tasks_without_graders(tmp_path: Path) -> None:
    evals = tmp_path / "skill" / "evals" / "evals.json"
    (evals.parent / "files").mkdir(parents=True)
    (evals.parent / "files" / "orders.csv").write_text("a,b\n")
    entry = {"id": 1, "prompt": "Sum them.", "expected_output": "A sum.", "files": ["evals/files/orders.csv"]}
    evals.write_text(json.dumps({"skill_name": "orders", "evals": [entry, {"id": "x", "prompt": "Again."}]}))
    tasks = load_tasks(evals, graded=False)
    assert (tasks.name, [(task.id, task.prompt, [*task.files]) for task in tasks.tasks]) == (
        "orders",
        [("1", "Sum them.", ["orders.csv"]), ("x", "Again.", [])],
    )
    with pytest.raises(TaskFileError, match="no grader"):
        load_tasks(evals)
    for broken, what in (
        (b"[]", "no JSON object"),
        (b"{}", "no list of evals"),
        (b'{"evals": [{"files": 1}]}', "list"),
    ):
        evals.write_bytes(broken)
        with pytest.raises(TaskFileError, match=what):
            load_tasks(evals, graded=False)
