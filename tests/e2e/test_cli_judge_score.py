"""Scores of single runs: a note beside them, tested against outcomes and length, and looked at by no verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.gate.replay.evaluation_set import ground_of
from strategies.judge.ask_criteria import CRITERIA
from tests.anthropic_stub import AnthropicStub, declines, gives
from tests.judged_pairs import as_jsonl, blocks, draw, with_models
from tests.terminal import SPLIT_KEY, Beginning, Terminal
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from tests.anthropic_stub import Step

TASKS = 30
TRIALS = 4


def log() -> str:
    """Runs of tasks that every second run solves; how long a run is has nothing to do with that."""
    rows: list[dict[str, Any]] = []
    for task in range(TASKS):
        for trial in range(TRIALS):
            name, won = f"run-{task}-{trial}", trial % 2 == 0
            padding = "x " * int(draw(name) * 400)
            about = {"dataset": "shop", "task": f"t{task}", "run": f"trial {trial}"}
            rows += [
                {"type": "episode", "episode": name, "prompt": f"question {task}", **about},
                {"type": "step", "episode": name, "tool": "sql", "text": f"SELECT {task}{trial} {padding}"},
                {
                    "type": "step",
                    "episode": name,
                    "kind": "message",
                    "text": f"{name} is {'good' if won else 'bad'}",
                },
                {"type": "outcome", "episode": name, "value": int(won)},
            ]
    return as_jsonl(rows)


def marks_by(mark: Callable[[str, str], int]) -> Callable[[dict[str, Any]], Step]:
    """A model that marks each criterion by what a run says."""

    def answer(body: dict[str, Any]) -> Step:
        run = blocks(body)["run"]
        return gives({"reason": "as it says", **{name: mark(run, name) for name in CRITERIA}})

    return answer


def sees_what_counts(run: str, criterion: str) -> int:
    """Accuracy goes with the outcome, helpfulness with nothing but length, the rest with nothing at all."""
    noise = int(draw(run + criterion) * 3)
    if criterion == "accuracy":
        return (3 if "good" in run else 1) + noise
    if criterion == "helpfulness":
        return 1 + min(4, len(run) // 180)
    return 2 + noise


@pytest.fixture(scope="module")
def server() -> Iterator[AnthropicStub]:
    with AnthropicStub() as server, pytest.MonkeyPatch.context() as monkeypatch:
        yield server.without_wire(monkeypatch)


@pytest.fixture
def stub(server: AnthropicStub) -> AnthropicStub:
    return server.afresh().script("judge", marks_by(sees_what_counts))


@pytest.fixture(scope="module")
def scanned(own_folder: Path, server: AnthropicStub) -> Beginning:
    """A registry that knows the runs."""
    terminal = with_models(own_folder, server, "judge")
    terminal.does("init", "--split-key", SPLIT_KEY)
    terminal.write("runs.jsonl", log())
    terminal.does("scan", "runs.jsonl")
    return Beginning(terminal)


@pytest.fixture
def germline(scanned: Beginning, stub: AnthropicStub) -> Terminal:
    assert stub.received == []
    return scanned.again()


def explore_runs(germline: Terminal) -> set[str]:
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        return {record.name for record in ground_of(library, refresh=True).division.explore}


def test_each_criterion_is_told_with_how_far_it_goes_with_outcomes(germline: Terminal) -> None:
    germline.does("judge", "score", "--runs", "200")
    (tested,) = germline.does("judge", "show", "--json").json["criteria"]
    assert tested["runs"] == len(explore_runs(germline)) >= 40
    outcomes = {row["criterion"]: row["outcomes"] for row in tested["criteria"]}
    assert list(outcomes) == list(CRITERIA)
    assert outcomes["accuracy"]["low"] > 0.5
    for name in ("helpfulness", "reasoning", "tool_choice", "knowledge"):
        assert outcomes[name]["low"] < 0 < outcomes[name]["high"]
    out = germline.does("judge", "show").out
    assert "a note, which no verdict looks at" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_marks_that_follow_length_are_found_out(germline: Terminal, stub: AnthropicStub) -> None:
    def by_length(run: str, criterion: str) -> int:
        return 1 + min(4, len(run) // 180 + int(draw(run + criterion) * 2))

    stub.script("judge", marks_by(by_length))
    germline.does("judge", "score", "--runs", "200")
    (tested,) = germline.does("judge", "show", "--json").json["criteria"]
    assert tested["length"]["low"] > 0.3
    assert "they follow length" in germline.does("judge", "show").out


def test_only_explore_runs_are_shown_to_the_model(germline: Terminal, stub: AnthropicStub) -> None:
    germline.does("judge", "score", "--runs", "500")
    sent = stub.texts("judge")
    for run in (blocks(request.body)["run"] for request in stub.asked("judge")):
        assert run.startswith("task\n  question ")
        assert "[1] agent calls sql:SELECT\n  SELECT " in run
    every = {f"run-{task}-{trial}" for task in range(TASKS) for trial in range(TRIALS)}
    explore = explore_runs(germline)
    assert {name for name in every if f"{name} is" in sent} == explore
    assert 0 < len(explore) < len(every)


def test_a_run_is_scored_once_by_a_model_and_a_prompt(germline: Terminal, stub: AnthropicStub) -> None:
    germline.does("judge", "score", "--runs", "8")
    assert len(stub.asked("judge")) == 8
    germline.does("judge", "score", "--runs", "8")
    assert len({request.text for request in stub.asked("judge")}) == 16
    germline.does("judge", "score", "--runs", "500")
    again = germline("judge", "score")
    assert again.code == 2
    assert "no run is left to score" in again.err


def test_lost_and_won_runs_of_a_task_are_chosen_together(germline: Terminal, stub: AnthropicStub) -> None:
    germline.does("judge", "score", "--runs", "10")
    ends = [blocks(request.body)["run"].rpartition(" is ")[2] for request in stub.asked("judge")]
    assert ends.count("good") == ends.count("bad") == 5


def test_scores_keep_no_text_and_move_no_verdict(germline: Terminal) -> None:
    germline.does("judge", "score", "--runs", "6")
    (line,) = germline.does("log", "--type", "RunsScored", "--json").out.splitlines()
    assert "6 runs scored by stub-judge, as a note" in line
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        (envelope,) = library.log.read(types=("RunsScored",))
        body = library.log.get_blob(envelope.event.scores)  # type: ignore[attr-defined] # the log was asked for this type
    assert body is not None
    assert b"as it says" not in body
    assert b"SELECT" not in body
    germline.does("verify")


def test_a_run_that_is_declined_takes_no_other_with_it(germline: Terminal, stub: AnthropicStub) -> None:
    stub.script("judge", declines(), marks_by(sees_what_counts))
    scored = germline.does("judge", "score", "--runs", "6", "--json").json
    assert (scored["runs"], scored["failed"]) == (5, 1)
    assert germline.does("judge", "show", "--json").json["criteria"][0]["runs"] == 5


def test_where_all_are_declined_it_fails_and_records_nothing(germline: Terminal, stub: AnthropicStub) -> None:
    stub.script("judge", declines())
    answer = germline("judge", "score", "--runs", "3")
    assert answer.code == 1
    assert "declined" in answer.err
    assert germline.does("log", "--type", "RunsScored", "--json").out == ""


def test_a_run_whose_log_is_gone_is_counted_and_left_out(germline: Terminal, stub: AnthropicStub) -> None:
    (germline.folder / "runs.jsonl").unlink()
    scored = germline.does("judge", "score", "--runs", "5", "--json").json
    assert (scored["runs"], scored["gone"]) == (0, 5)
    assert stub.received == []


def test_a_run_of_which_a_person_had_a_text_erased_is_not_shown(germline: Terminal, stub: AnthropicStub) -> None:
    rows = [
        row
        for at in range(40)
        for row in (
            {"type": "episode", "episode": f"sad-{at}", "dataset": "d", "task": f"t{at // 2}", "run": f"r{at % 2}"},  # noqa: E501
            {"type": "step", "episode": f"sad-{at}", "tool": "sql", "text": "SELECT 1", "error": True,
             "error_text": "the drawer of Ada Lovelace is stuck"},
            {"type": "step", "episode": f"sad-{at}", "tool": "sql", "text": f"SELECT {at}"},
            {"type": "outcome", "episode": f"sad-{at}", "value": at % 2},
        )
    ]  # fmt: skip
    other = Terminal(germline.folder / "other", **germline._env)
    other.write("germline.toml", (germline.folder / "germline.toml").read_bytes())
    other.does("init", "--split-key", SPLIT_KEY)
    other.write("sad.jsonl", as_jsonl(rows))
    other.does("scan", "sad.jsonl")
    evidence = [name for signal in other.does("signals", "--json").json["signals"] for name in signal["evidence"]]
    other.does("evidence", "erase", *sorted(set(evidence)), "--reason", "she asked for it")
    scored = other.does("judge", "score", "--json").json
    assert scored["gone"] > 0
    assert scored["runs"] == 0
    assert stub.received == []


def test_a_dry_run_scores_nothing(germline: Terminal, stub: AnthropicStub) -> None:
    before = germline.events()
    plan = germline.does("judge", "score", "--dry-run", "--json").json
    assert (plan["runs"], plan["events"]) == (20, [])
    assert "would ask stub-judge about 20 runs" in germline.does("judge", "score", "--dry-run").out
    assert stub.received == []
    assert germline.events() == before
