"""The recordings that the demo ships: real, whole, reproducible, and strong enough to decide what they show."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from examples.record_demo import questions
from examples.record_sql import Database
from tui.demo import demo_folder

ROOT = Path(__file__).resolve().parents[2]
SEED = 7
RECORDINGS = sorted((demo_folder() / "recordings").rglob("*.jsonl.gz"))
LOOK_FIRST = [
    ("no such table: ", "PRAGMA", "sql"),
    ("error: pathspec ", "git branch", "git"),
    ("error: Your local changes ", "git stash", "git"),
]

Line = dict[str, Any]


@cache
def lines_of(path: Path) -> list[Line]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


@cache
def episodes_of(path: Path) -> list[list[Line]]:
    episodes: dict[str, list[Line]] = defaultdict(list)
    for line in lines_of(path):
        episodes[line["episode"]].append(line)
    return list(episodes.values())


def every_episode() -> list[list[Line]]:
    return [episode for path in RECORDINGS for episode in episodes_of(path)]


def failing_steps() -> list[Line]:
    return [line for episode in every_episode() for line in episode if line.get("error")]


def test_there_is_one_file_for_each_kind_of_work_and_run_configuration() -> None:
    runs = {(path.parent.name, path.name.removesuffix(".jsonl.gz")) for path in RECORDINGS}
    assert len(RECORDINGS) == len(runs) == 8
    for path in RECORDINGS:
        named = {line["run"] for line in lines_of(path) if line["type"] == "episode"}
        assert named == {path.name.removesuffix(".jsonl.gz")}
    assert sum(path.stat().st_size for path in RECORDINGS) < 600_000


def test_every_episode_is_a_head_then_steps_in_turn_then_one_outcome() -> None:
    for head, *steps, outcome in every_episode():
        assert head["type"] == "episode"
        assert head["dataset"] == "demo"
        assert head["difficulty"] in {"easy", "medium", "hard"}
        assert head["task"]
        assert [step["turn"] for step in steps] == list(range(len(steps)))
        assert {step["type"] for step in steps} == {"step"}
        assert outcome["type"] == "outcome"
        assert outcome["value"] in {0, 1}
        assert outcome["source"] == "tests"


def test_every_call_carries_either_a_result_or_the_text_of_its_error() -> None:
    calls = [line for episode in every_episode() for line in episode if line.get("kind") == "call"]
    assert len(calls) > 10_000
    for call in calls:
        assert {"tool", "head", "text", "error", "writes"} <= call.keys()
        assert bool(call.get("error_text", "").strip()) == call["error"]
        assert ("result" in call) != call["error"]
        assert call["text"].startswith(call["head"])


def test_an_episode_cut_off_by_the_limit_never_passes_and_one_ended_by_the_agent_says_so() -> None:
    endings: dict[tuple[str, int], int] = defaultdict(int)
    for _, *steps, outcome in every_episode():
        endings[outcome["ended_by"], outcome["value"]] += 1
        assert (steps[-1]["kind"] == "message") == (outcome["ended_by"] == "agent")
    assert set(endings) == {("agent", 0), ("agent", 1), ("limit", 0)}
    assert min(endings.values()) > 200


def test_each_run_does_each_task_once_and_no_two_tasks_share_a_prompt() -> None:
    heads = [episode[0] for episode in every_episode()]
    assert len({(head["run"], head["task"]) for head in heads}) == len(heads) == 2560
    prompts = {(head["task"], head["prompt"]) for head in heads}
    assert len({prompt for _, prompt in prompts}) == len({task for task, _ in prompts}) == 640


def test_an_error_about_a_name_names_what_its_own_command_asked_for() -> None:
    named = re.compile(r"no such (?:table|column): (\S+)|pathspec '([^']+)'|branch (\S+) has no upstream")
    named_count = 0
    for step in failing_steps():
        match = named.search(step["error_text"])
        if match and (name := match[1] or match[2]):
            named_count += 1
            assert name in step["text"]
    assert named_count > 4000


def test_no_path_of_the_recording_machine_is_left() -> None:
    for path in RECORDINGS:
        assert not re.search(rb"[\s\"'](/\w+)+|/tmp|/home|\\u001b", gzip.decompress(path.read_bytes()))


@pytest.mark.parametrize(("error", "look", "kind"), LOOK_FIRST)
def test_three_tenths_of_the_tasks_hold_enough_of_both_arms_and_looking_wins(
    error: str, look: str, kind: str
) -> None:
    moments = [
        (episode[0], after["head"] == look, episode[-1]["value"])
        for path in RECORDINGS
        if path.parent.name == kind
        for episode in episodes_of(path)
        for after in next_after(episode, error)
    ]
    for key in range(5):
        tasks = sorted({head["task"] for head, _, _ in moments})
        sealed = set(random.Random(key).sample(tasks, len(tasks) * 3 // 10))
        strata: dict[tuple[str, str], dict[bool, list[int]]] = defaultdict(lambda: defaultdict(list))
        for head, obeyed, value in moments:
            if head["task"] in sealed:
                strata[head["run"], head["difficulty"]][obeyed].append(value)
        both = [arms for arms in strata.values() if len(arms) == 2]
        obeyed, not_obeyed = ([value for arms in both for value in arms[arm]] for arm in (True, False))
        assert min(len(obeyed), len(not_obeyed)) >= 20
        assert sum(obeyed) / len(obeyed) > sum(not_obeyed) / len(not_obeyed) + 0.1


def next_after(episode: list[Line], error: str) -> list[Line]:
    """Give the step after the first failing one of this kind, if there is one that is a call."""
    steps = [line for line in episode if line.get("kind") == "call"]
    follow = (after for step, after in pairwise(steps) if is_error(step, error))
    return [step for step in [next(follow, None)] if step is not None]


def is_error(step: Line, start: str) -> bool:
    return bool(step["error"] and step["error_text"].startswith(start))


def test_every_recorded_statement_works_or_fails_again_as_recorded() -> None:
    path = demo_folder() / "recordings" / "sql" / "mixed.jsonl.gz"
    known = {question.task.id: question for question in questions(SEED)}
    recorded = episodes_of(path)[:80]
    assert len(recorded) == 80
    for head, *steps, outcome in recorded:
        with closing(Database(known[head["task"]], random.Random(0))) as database:
            for step in steps:
                if step["kind"] == "call":
                    seen = database.run(step["text"])
                    assert seen.failed == step["error"]
                    assert seen.text.startswith(step.get("error_text", step.get("result", "").rstrip("…")))
            answer = steps[-1]["text"] == f"The answer is {database.gold}."
            assert answer == bool(outcome["value"])


@pytest.fixture(scope="module")
def recorded_again(own_folder: Path) -> dict[str, bytes]:
    return record(own_folder / "again", seed=SEED, hash_seed="0")


def record(out: Path, *, seed: int, hash_seed: str) -> dict[str, bytes]:
    script = ROOT / "examples" / "record_demo.py"
    command = [sys.executable, str(script), "--episodes", "8", "--out", str(out), "--seed", str(seed)]
    environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.gz")}


def test_the_same_seed_records_the_same_bytes_and_another_seed_does_not(
    recorded_again: dict[str, bytes], tmp_path: Path
) -> None:
    assert len(recorded_again) == 8
    assert record(tmp_path / "same", seed=SEED, hash_seed="1") == recorded_again
    other = record(tmp_path / "other", seed=SEED + 1, hash_seed="0")
    assert all(recorded_again[name] != other[name] for name in recorded_again)


def test_recording_again_gives_the_shipped_lines(recorded_again: dict[str, bytes]) -> None:
    assert len(recorded_again) == 8
    for name, body in recorded_again.items():
        shipped = gzip.decompress((demo_folder() / "recordings" / name).read_bytes())
        lines = gzip.decompress(body)
        here, there = (json.loads(text.splitlines()[0])["labels"]["made_with"] for text in (lines, shipped))
        if here != there:
            pytest.skip(f"recorded with {there}, this machine has {here}")
        assert shipped.startswith(lines)


@pytest.mark.parametrize("name", ["sql-analyst", "git-helper"])
def test_the_demo_skills_are_valid(name: str) -> None:
    validator = Path(sys.executable).with_name("agentskills")
    validation = subprocess.run(
        [validator, "validate", demo_folder() / "skills" / name], capture_output=True, check=False
    )
    assert validation.returncode == 0, validation
