from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from strategies.rollouts.run.agent_templates import PLACEHOLDERS, PRESETS
from strategies.rollouts.tasks.errors import _KINDS
from strategies.rollouts.tasks.load import load_tasks
from strategies.rollouts.tasks.task import RolloutTask
from strategies.sandbox.confined_run import MISSING

TEXT = (Path(__file__).resolve().parents[5] / "docs" / "rollouts.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ")[0] for line in TEXT.splitlines() if line.startswith("| ")]


def example(language: str) -> str:
    code_block = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert code_block
    return code_block[1]


@pytest.mark.parametrize(
    "word",
    [
        *(name for name in RolloutTask.model_fields if name != "folder"),
        *_KINDS,
        *PRESETS,
        *(f"{{{name}}}" for name in PLACEHOLDERS),
    ],
)
def test_every_word_of_a_task_set_and_of_an_agent_is_in_the_docs(word: str) -> None:
    assert f"| `{word}`" in ROWS


@pytest.mark.parametrize("name", PRESETS)
def test_the_docs_state_the_command_of_a_preset(name: str) -> None:
    assert f"`{' '.join(PRESETS[name].argv)}`" in TEXT


@pytest.mark.parametrize("meaning", MISSING.values())
def test_the_docs_say_what_a_missing_part_of_the_isolation_means(meaning: str) -> None:
    assert f"{meaning} |" in TEXT


def test_the_example_of_a_task_set_loads(tmp_path: Path) -> None:
    for name in ("fixtures/long.txt", "graders/right.py", "graders/expected.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tasks.toml").write_text(example("toml"))
    [task] = load_tasks(tmp_path / "tasks.toml").tasks
    assert (task.tags, task.limit_s) == (("csv", "counting"), 120)


def test_the_example_line_of_jsonl_loads(tmp_path: Path) -> None:
    (tmp_path / "capital.jsonl").write_text(json.dumps(json.loads(example("json"))))
    assert load_tasks(tmp_path / "capital.jsonl").name == "capital"
