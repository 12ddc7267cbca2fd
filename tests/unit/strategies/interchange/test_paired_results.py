"""Results of other tools, read: each format in the shape that its tool writes, and every broken file refused."""

from __future__ import annotations

import json
import os
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from events.errors import UnreadableLogError
from strategies.interchange.gepa_run import read_gepa_state
from strategies.interchange.paired_results import SideScore, SideScores, read_side_scores

if TYPE_CHECKING:
    from pathlib import Path


def read(content: object, most: float = 1.0) -> SideScores:
    text = content if isinstance(content, str) else json.dumps(content)
    return read_side_scores(text.encode(), "results", most)


def rows(results: SideScores) -> list[tuple[str, str, str, float | None]]:
    return [(run.task, run.side, run.seed, run.score) for run in results.runs]


def benchmark(task: int, side: str, run: int, rate: float) -> dict[str, Any]:
    result = {"pass_rate": rate, "passed": 6, "failed": 1, "total": 7, "time_seconds": 42.5, "tokens": 3800}
    return {"eval_id": task, "eval_name": "Ocean", "configuration": side, "run_number": run, "result": result}


def test_skill_creators_benchmark_is_read_by_eval_configuration_and_run() -> None:
    runs = [benchmark(1, "with_skill", 1, 0.85), benchmark(1, "without_skill", 1, 0.35)]
    results = read({"metadata": {"skill_name": "pdf"}, "runs": runs, "run_summary": {}})
    assert results.format == "skill-creator"
    assert rows(results) == [("1", "with_skill", "1", 0.85), ("1", "without_skill", "1", 0.35)]


def promptfoo(test: int, prompt: int, score: float, *, error: str = "", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "testIdx": test,
        "promptIdx": prompt,
        "provider": {"id": "openai:gpt-4o", "label": ""},
        "prompt": {"raw": "…", "label": f"prompt-{prompt}.txt"},
        "vars": {"topic": f"t{test}"},
        "score": score,
        "success": score == 1,
        "gradingResult": None if error else {"pass": score == 1, "score": score},
        "error": error or None,
        **more,
    }


def test_promptfoos_results_pair_prompts_or_providers_by_their_variables() -> None:
    table = [promptfoo(0, 0, 0.5), promptfoo(0, 1, 1.0), promptfoo(1, 0, 0, error="timeout"), promptfoo(1, 1, 1.0)]
    results = read({"evalId": "e", "results": {"version": 3, "results": table, "stats": {}}})
    assert (results.format, results.sides) == ("promptfoo", ("prompt-0.txt", "prompt-1.txt"))
    assert rows(results)[2] == ('{"topic":"t1"}', "prompt-0.txt", "#1", None)
    models = [promptfoo(0, 0, 1.0), promptfoo(0, 0, 0.0, provider={"id": "anthropic:claude"})]
    assert read({"results": {"results": models}}).sides == ("openai:gpt-4o", "anthropic:claude")
    again = [promptfoo(0, 0, 1.0), promptfoo(0, 1, 1.0), promptfoo(0, 0, 0.0), promptfoo(0, 1, 1.0)]
    assert [run.seed for run in read({"results": {"results": again}}).runs] == ["#1", "#1", "#2", "#2"]


def test_skillopts_rollouts_and_evalkit_outcomes_are_one_side_each() -> None:
    lines = '{"id": "q1", "question": "?", "hard": 1, "soft": 0.9}\n{"id": "q2", "hard": 0, "soft": 0.2}\n'
    assert rows(read(lines)) == [("q1", "", "#1", 1.0), ("q2", "", "#1", 0.0)]
    assert read('{"q1": 1, "q2": 0}').format == "SkillOpt evalkit"
    seeds = read({"outcomes": {"q1": [1, 0, None]}})
    assert rows(seeds) == [("q1", "", "0", 1.0), ("q1", "", "1", 0.0), ("q1", "", "2", None)]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_tables_hold_a_row_for_each_run_or_for_each_task(separator: str) -> None:
    wide = "Task,Before,After\na,0,1\nb,pass,failed\nc,,1\n".replace(",", separator)
    assert rows(read(wide)) == [
        ("a", "before", "#1", 0.0),
        ("a", "after", "#1", 1.0),
        ("b", "before", "#1", 1.0),
        ("b", "after", "#1", 0.0),
        ("c", "before", "#1", None),
        ("c", "after", "#1", 1.0),
    ]
    each = "task,arm,seed,score\na,old,7,40\na,new,7,100\na,new,7,0\n".replace(",", separator)
    assert [tuple(run[2:]) for run in read(each, most=100).runs] == [("7", 0.4), ("7#1", 1.0), ("7#2", 0.0)]


class Output:
    """A value of a type that is not built in, as an adapter of GEPA may keep."""

    def __init__(self, text: str) -> None:
        self.text = text


def gepa(*subscores: object, **more: object) -> bytes:
    state = {
        "program_candidates": [{"prompt": str(at)} for at in range(len(subscores))],
        "prog_candidate_val_subscores": list(subscores),
        "program_at_pareto_front_valset": {0: {0, 1}},
        "best_outputs_valset": {0: [(0, Output("x"))]},
        "validation_schema_version": 4,
        **more,
    }
    return pickle.dumps(state)


def test_a_gepa_run_is_read_as_its_seed_and_its_best_which_was_chosen_by_the_same_scores() -> None:
    results = read_gepa_state(gepa({0: 0.0, "b": 1.0}, {0: 0.5, "b": 0.0}, {0: 1.0, "b": 1.0}), "run")
    assert (results.format, results.choices) == ("GEPA", 2)
    assert results.sides == ("seed", "best", "0", "1", "2")
    assert [run for run in results.runs if run.side == "best"] == [
        SideScore("0", "best", "#1", 1.0),
        SideScore("b", "best", "#1", 1.0),
    ]
    assert read_gepa_state(gepa([0.0, 1.0], [1.0, 1.0]), "run").choices == 1  # before schema 2


class Attack:
    """Runs a command where it is unpickled as Python does it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("owned",)


def test_a_pickle_that_would_run_code_runs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_gepa_state(gepa({0: 1.0}, extra=Attack()), "run").choices == 1
    with pytest.raises(UnreadableLogError):
        read_gepa_state(pickle.dumps(Attack()), "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "no run"),
        ("[]", "no run"),
        ("[1]", "no object"),
        ("{", "no JSON"),
        ('{"id": "a", "hard": 1}\n{"id": ', "line 2 is no JSON"),
        ("task,score\n", "no run"),
        ("name,score\na,1\n", "names no task"),
        ("task,colour\na,red\n", "has no score"),
        ("task,score\na,green\n", "'green'"),
        ("task,score\na,87\n", "the score is 87"),
        ("task,score\na,nan\nb,inf\n", "the score is inf"),
        ('{"runs": [{"eval_id": 1}]}', "result.pass_rate"),
        ('{"results": {"results": [1]}}', "no object"),
        ('task,score\n"a,1\n', "unexpected end of data"),
    ],
)
def test_a_file_that_is_no_results_is_refused_with_what_is_wrong(content: str, what: str) -> None:
    with pytest.raises(UnreadableLogError, match=what):
        read(content)


@pytest.mark.parametrize("raw", [b"", b"no pickle", gepa(), gepa({0: 2.0}), gepa({0: "x"}), pickle.dumps([1])])
def test_a_file_that_is_no_state_of_gepa_is_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableLogError, match="GEPA"):
        read_gepa_state(raw, "run")
