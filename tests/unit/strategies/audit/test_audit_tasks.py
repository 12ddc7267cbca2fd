"""Tasks of an audit need no grader; what cannot be run is refused with its place, before it is read whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from events.errors import TaskFileError
from strategies.audit.anchor_checks import compiled_anchors
from strategies.audit.audit_tasks import MAX_WORKSPACE_BYTES, load_audit_tasks, workspace_texts
from strategies.audit.evaluators.table_text import table_of
from strategies.audit.interpret_tasks import interpret_tasks, read_corrections
from strategies.audit.requirements import interpreted
from strategies.audit.workspace_tables import tables_in
from strategies.rollouts.tasks.check_types import check_name
from strategies.rollouts.tasks.task import RolloutTask
from tests.audit_runs import tasks

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

PROMPT = """Read sales.csv and write the totals of each region to `out/totals.csv` with the header `region,total`.
Do not create notes.txt.

1. Also create summary.json with the keys total, best and status.
2. There `status` is one of ok, failed or unknown.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tasks" / "one" / "workspace"
    place.mkdir(parents=True)
    (place / "sales.csv").write_text("region,amount\nnorth,1\n", encoding="utf-8")
    (place.parent / "task.md").write_text(PROMPT, encoding="utf-8")
    return tmp_path / "tasks"


def anchors_of(prompt: str, files: dict[str, str]) -> dict[str, str]:
    """Name the anchors of a task that were kept, and those that were dropped with the reason."""
    task = RolloutTask(id="t", prompt=prompt, files=files)
    compiled = compiled_anchors(task, interpreted("t", prompt, files, ()), files)
    return {check_name(check): "" for check in compiled.kept} | dict(compiled.dropped)


def test_a_folder_holds_a_task_with_its_workspace(folder: Path) -> None:
    (task,) = load_audit_tasks(folder, limit_s=5).tasks
    assert (task.id, task.limit_s, task.graders) == ("one", 5, ())
    assert workspace_texts(task) == {"sales.csv": "region,amount\nnorth,1\n"}


def test_a_path_that_begins_where_the_run_does_is_the_same_file_and_one_that_leads_out_is_none() -> None:
    anchors = anchors_of("Write the totals to ./out/totals.csv. Save it in ../other.csv and a/../b.csv, too.", {})
    assert [name for name in anchors if "is there" in name] == ["out/totals.csv is there"]
    columns = ",".join(f"column_{number}" for number in range(60))
    long = anchors_of(f"Write {'x' * 600}.csv, and out.csv with the header `{columns}`.", {})
    assert "out.csv is there" in long
    assert not any("xxx" in name for name in long)


def test_a_prompt_that_a_link_takes_from_outside_is_not_read(folder: Path) -> None:
    (folder.parent / "secret.txt").write_text("a key", encoding="utf-8")
    (folder / "one/task.md").unlink()
    (folder / "one/task.md").symlink_to(folder.parent / "secret.txt")
    with pytest.raises(TaskFileError, match="is no file below"):
        load_audit_tasks(folder)


def test_a_task_set_is_taken_without_its_graders(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(
        '{"id": "a", "prompt": "Say yes.", "graders": [{"kind": "nothing we know"}]}\n', encoding="utf-8"
    )
    (task,) = load_audit_tasks(file).tasks
    assert task.graders == ()


def test_a_folder_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match="holds no task"):
        load_audit_tasks(tmp_path)


def test_a_workspace_of_a_gigabyte_is_refused_unread(folder: Path) -> None:
    large = folder / "one" / "workspace" / "large.bin"
    large.touch()
    os.truncate(large, 1024**3)  # a sparse file: only its size says so
    with pytest.raises(TaskFileError, match=f"at most {MAX_WORKSPACE_BYTES:,}"):
        load_audit_tasks(folder)


def test_a_link_in_a_workspace_is_refused(folder: Path) -> None:
    (folder / "one" / "workspace" / "passwords").symlink_to("/etc/passwd")
    with pytest.raises(TaskFileError, match="is a link"):
        load_audit_tasks(folder)


def test_files_headers_keys_values_and_steps_are_read_from_a_prompt() -> None:
    read = interpreted("t", PROMPT, {"sales.csv"}, ())
    table, summary = read.deliverables
    assert (table.path, table.header) == ("out/totals.csv", ("region", "total"))
    assert (summary.path, summary.header) == ("summary.json", ("total", "best", "status"))
    assert summary.values == {"status": ("ok", "failed", "unknown")}
    assert len(read.workflow) == 2


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Count the rows of in.csv and write the number to n.txt.", "n.txt holds 3, as in.csv gives it"),
        ("Write the sum of `amount` of in.csv to n.txt.", "n.txt holds 7.5, as in.csv gives it"),
        ("Write the average of `amount` in in.csv to n.txt.", "n.txt holds 2.5, as in.csv gives it"),
    ],
)
def test_a_plain_count_or_sum_is_computed_again(prompt: str, name: str) -> None:
    assert name in anchors_of(prompt, {"in.csv": "who,amount\na,1\nb,2.5\nc,4\n"})


@pytest.mark.parametrize(
    "prompt",
    [
        "Count the rows of in.csv whose amount is above 2 and write the number to n.txt.",
        "Write the sum of `amount` per person of in.csv to n.txt.",
        "Count the distinct rows of in.csv and write the number to n.txt.",
        "Count the rows of in.csv and of in2.csv and write the number to n.txt.",
    ],
)
def test_what_says_more_than_a_count_is_left_alone(prompt: str) -> None:
    files = {"in.csv": "who,amount\na,1\n", "in2.csv": "who,amount\na,1\n"}
    assert not any(" holds " in name for name in anchors_of(prompt, files))


def test_a_check_that_proves_nothing_is_dropped_with_the_reason() -> None:
    prompt = "Update in.csv, and write out.csv with the header `a,b`."
    anchors = anchors_of(prompt, {"in.csv": "a\n", "examples/out.csv": "a;b\n"})
    assert anchors["in.csv is there"] == "it holds before anything is done"
    assert anchors["out.csv has the header a,b"] == "it fails on the task's own example examples/out.csv"
    assert anchors["out.csv is there"] == ""


def test_a_model_suggests_declarative_checks_alone() -> None:
    task = tasks(1).tasks[0]
    suggested = [
        {"kind": "command", "argv": ["python3", "-c", "1"]},
        {"kind": "matches", "path": "../etc/passwd", "pattern": "x"},
        {"kind": "matches", "path": "totals.csv", "pattern": "b,2"},
    ]
    compiled = compiled_anchors(task, interpreted("t0", task.prompt, task.files, ()), {}, suggested)
    assert len(compiled.dropped) == 2
    assert "matches totals.csv" in map(check_name, compiled.kept)


def test_anchors_are_locked_once_and_a_person_may_correct_what_a_task_asks_for(
    registry: Registry, folder: Path, tmp_path: Path
) -> None:
    loaded = load_audit_tasks(folder)
    (first,) = interpret_tasks(registry, loaded, {})
    head = registry.log.head().position
    assert interpret_tasks(registry, loaded, {}) == (first,)
    assert registry.log.head().position == head
    file = tmp_path / "plan.json"
    kept = first.requirements.model_copy(update={"deliverables": first.requirements.deliverables[:1]})
    file.write_text(f'{{"requirements": [{kept.model_dump_json()}]}}', encoding="utf-8")
    (second,) = interpret_tasks(registry, loaded, read_corrections(file))
    assert second.by == "person"
    assert len(second.task.anchors) < len(first.task.anchors)
    assert interpret_tasks(registry, loaded, {}) == (second,)


def test_tables_are_read_from_csv_json_and_sqlite() -> None:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (Name TEXT, age INTEGER)")
    files = [
        ("a.csv", b"Region,Amount\n"),
        ("b.json", b'[{"k": 1}, {"l": 2}]'),
        ("c.db", connection.serialize()),
        ("d.csv", b"\xff\xfe"),
    ]
    columns = {table.path: table.columns for table in tables_in(files)}
    assert columns == {"a.csv": ("Region", "Amount"), "b.json": ("k", "l"), "c.db": ("Name", "age")}


def test_a_field_longer_than_csv_reads_makes_a_file_no_table() -> None:
    """A quote that nothing closes takes in the rest of a file, and csv reads no field of that size."""
    long = f'a,b\n"{"1,2 x" * 40_000}\n'
    assert table_of("in.csv", long) is None
    assert tables_in([("in.csv", b"x" * 200_000)]) == ()
    asked = anchors_of(
        "Count the rows of in.csv and write the number of rows of in.csv to n.txt.", {"in.csv": long}
    )
    assert asked == {"n.txt is there": ""}


def test_a_column_that_a_table_has_twice_is_not_summed_up() -> None:
    files = {"in.csv": "amount,amount\n1,2\n"}
    assert anchors_of("Write the sum of `amount` of in.csv to n.txt.", files) == {"n.txt is there": ""}
