"""A judge among the layers of grading: it decides while it is calibrated, and is a note beside the score else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from strategies.rollouts.compare.harness import AgentRunner
from strategies.rollouts.run.trial import LayerResult, ShownWork, Trial
from tests.anthropic_stub import AnthropicStub, Step, declines, gives
from tests.fake_runs import main_text, task
from tests.judged_pairs import as_jsonl, blocks, judge_with, labelled_pairs, with_models
from tests.registries import SKILL
from tests.terminal import SPLIT_KEY, Beginning, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strategies.rollouts.run.store import PlannedRun

AGENT = "python3 agent.py {skill_dir} {prompt_file} {round}"
SETTINGS = f'[rollouts]\ntasks = "tasks.jsonl"\nagent = "{AGENT}"\nworkers = 2\n'
LAYER = {"kind": "judge", "name": "clear", "family": "sql", "reference": "a plain answer"}
NOTE = "a note: it is not calibrated"


def tasks(number: int = 44) -> str:
    rows = []
    for at in range(number):
        row = json.loads(task(at).model_dump_json(exclude={"solution"}))
        rows.append({**row, "graders": [*row["graders"], LAYER]})
    return as_jsonl(rows)


@pytest.fixture(scope="module")
def server() -> Iterator[AnthropicStub]:
    with AnthropicStub() as server, pytest.MonkeyPatch.context() as monkeypatch:
        yield server.without_wire(monkeypatch)


@pytest.fixture
def stub(server: AnthropicStub) -> AnthropicStub:
    server.received.clear()
    return server.script("judge", judge_with(1.0))


@pytest.fixture(scope="module")
def beginning(own_folder: Path, server: AnthropicStub) -> Beginning:
    """A skill, and a task set with a judge."""
    return Beginning(begun(own_folder / "plain", server))


@pytest.fixture(scope="module")
def calibrated_beginning(own_folder: Path, server: AnthropicStub) -> Beginning:
    """The same with a calibrated judge."""
    terminal = begun(own_folder / "calibrated", server)
    server.script("judge", judge_with(1.0))
    terminal.write("labels.jsonl", as_jsonl(labelled_pairs(45)))
    terminal.does("judge", "calibrate", "--labels", "labels.jsonl")
    return Beginning(terminal)


def begun(folder: Path, server: AnthropicStub) -> Terminal:
    folder.mkdir()
    terminal = with_models(folder, server, "judge", more=SETTINGS)
    terminal.does("init", "--split-key", SPLIT_KEY)
    terminal.write("skills/sql-analyst/SKILL.md", SKILL)
    terminal.write("tasks.jsonl", tasks())
    terminal.does("import", "skills")
    return terminal


@pytest.fixture(scope="module", autouse=True)
def agent() -> Iterator[None]:
    """Run an agent that a line makes better in the eyes of one grader only."""

    def ran(_: AgentRunner, job: PlannedRun) -> Trial:
        text = main_text(job)
        answer = f"answer to {job.task.id}, {job.arm.name}" + (" right" if "CLEAR" in text else "")
        answer += ", muddled" if "MUDDLED" in text else ""
        value = 1.0 if "MUDDLED" in text else 0.5
        return Trial(
            task=job.task.id,
            status="done",
            value=value,
            layers=(LayerResult(name="done", value=value, threshold=1.0),),
            cost_usd=0.01,
            shown=(ShownWork(layer="clear", text=answer),),
        )

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(AgentRunner, "__call__", ran)
        yield


@pytest.fixture
def germline(beginning: Beginning, stub: AnthropicStub) -> Terminal:
    assert stub.received == []
    return beginning.again()


@pytest.fixture
def calibrated(calibrated_beginning: Beginning, stub: AnthropicStub) -> Terminal:
    terminal = calibrated_beginning.again()
    stub.received.clear()
    return terminal


class Promoted(NamedTuple):
    """A candidate that was tested, and what was frozen before."""

    candidate: Any
    comparison: Any


def proposed(germline: Terminal, line: str = "Be CLEAR.") -> str:
    germline.write("new.md", SKILL.replace("Round nothing.", f"Round nothing.\n- {line}"))
    words = ("candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "a test", "--json")
    name: str = germline.does(*words).json["candidate"]
    return name


def tried(germline: Terminal, name: str) -> Any:  # noqa: ANN401 - one candidate of the answer
    answer = germline("candidate", "test", name, "--json")
    (candidate,) = answer.json["candidates"]
    return candidate


def test_a_judge_that_is_not_calibrated_is_a_note_and_moves_nothing(germline: Terminal) -> None:
    candidate = tried(germline, proposed(germline))
    assert candidate["verdict"] == "reject"
    (judge,) = candidate["rollouts"]["judges"]
    assert (judge["layer"], judge["before"], judge["after"], judge["counts"]) == ("clear", 0.5, 1.0, False)
    assert candidate["before"]["value"] == candidate["after"]["value"] == 0.5


def test_a_judge_that_is_not_calibrated_may_veto_what_the_checks_would_promote(
    germline: Terminal, stub: AnthropicStub
) -> None:
    def dislikes_muddle(body: dict[str, Any]) -> Step:
        shown = blocks(body)
        better = "second" if "muddled" in shown["first"] else "first" if "muddled" in shown["second"] else "tie"
        return gives({"reason": "clear or not", "better": better})

    stub.script("judge", dislikes_muddle)
    name = proposed(germline, "Be MUDDLED.")
    candidate = tried(germline, name)
    assert (candidate["before"]["value"], candidate["after"]["value"]) == (0.5, 1.0)
    assert candidate["verdict"] == "hold"
    assert candidate["reasons"][0].startswith("the judge finds it worse, clear: -0.500")
    assert "judge" in germline.does("gate", "explain", name).out
    settings = (germline.folder / "germline.toml").read_text().replace('judge = "stub-judge"', "")
    germline.write("germline.toml", settings)
    assert tried(germline, proposed(germline, "Be MUDDLED, too."))["verdict"] == "promote"


@pytest.fixture(scope="module")
def promoted(calibrated_beginning: Beginning, server: AnthropicStub, agent: None) -> Promoted:  # noqa: ARG001 - it is to run
    """Test a candidate before a calibrated judge, and tell what came of it."""
    from tui.session.open_registry import open_library

    server.script("judge", judge_with(1.0))
    germline = calibrated_beginning.again()
    name = proposed(germline)
    rows = germline.does("candidate", "test", name, "--dry-run", "--json").json["events"]
    (frozen,) = (row["payload"] for row in rows if row["type"] == "ComparisonFrozen")
    candidate = tried(germline, name)
    germline.does("verify")
    with open_library(germline.folder / ".germline" / "registry.db") as library:
        body = library.log.get_blob(frozen["comparison"])
    assert body is not None
    return Promoted(candidate, json.loads(body))


def test_a_calibrated_judge_counts_and_its_verdict_promotes(promoted: Promoted) -> None:
    candidate = promoted.candidate
    assert candidate["verdict"] == "promote"
    assert (candidate["before"]["value"], candidate["after"]["value"]) == (0.5, 0.75)
    assert candidate["rollouts"]["judges"][0]["counts"]


def test_what_was_frozen_says_who_judged_and_whether_it_counted(promoted: Promoted) -> None:
    assert promoted.comparison["provenance"] == ["judge on sql: stub-judge, calibrated: it counts"]


def test_once_its_rubric_changes_it_is_a_note_again_under_another_evaluator(calibrated: Terminal) -> None:
    name = proposed(calibrated)
    before = calibrated.does("candidate", "test", name, "--dry-run", "--json").json["evaluator"]
    calibrated.write("rubric.md", "Prefer what is right.\n")
    settings = (calibrated.folder / "germline.toml").read_text()
    calibrated.write("germline.toml", f'{settings}\n[judge]\nrubric = "rubric.md"\n')
    assert calibrated.does("candidate", "test", name, "--dry-run", "--json").json["evaluator"] != before
    answer = calibrated("candidate", "test", name)
    assert answer.code == 3
    assert NOTE in " ".join(answer.out.split())


def test_the_judge_sees_the_work_and_the_reference_in_both_orders(germline: Terminal, stub: AnthropicStub) -> None:
    tried(germline, proposed(germline))
    shown = [blocks(request.body) for request in stub.asked("judge")]
    assert {frozenset((pair["first"][:6], pair["second"][:6])) for pair in shown} == {
        frozenset(("a plai", "answer"))
    }
    assert sum(pair["first"] == "a plain answer" for pair in shown) * 2 == len(shown)
    assert all(pair["task"].startswith("Do the thing of task") for pair in shown)


def test_without_a_model_the_other_layers_decide_alone(germline: Terminal, stub: AnthropicStub) -> None:
    germline.write("germline.toml", SETTINGS)
    candidate = tried(germline, proposed(germline))
    assert (candidate["verdict"], candidate["rollouts"]["judges"]) == ("reject", [])
    assert stub.received == []


def test_a_counting_judge_that_declines_voids_the_pairs_and_promotes_nothing(
    calibrated: Terminal, stub: AnthropicStub
) -> None:
    good = judge_with(1.0)

    def often_declines(body: dict[str, Any]) -> Step:
        shown = blocks(body)
        return declines() if "task-01" in shown["first"] + shown["second"] else good(body)

    stub.script("judge", often_declines)
    candidate = tried(calibrated, proposed(calibrated))
    assert candidate["verdict"] == "hold"
    assert candidate["rollouts"]["void"] > 0


def test_a_noting_judge_that_declines_takes_nothing_with_it(germline: Terminal, stub: AnthropicStub) -> None:
    stub.script("judge", declines())
    candidate = tried(germline, proposed(germline))
    assert (candidate["verdict"], candidate["rollouts"]["void"], candidate["rollouts"]["judges"]) == (
        "reject",
        0,
        [],
    )


def test_a_task_whose_only_grader_is_a_judge_is_refused(germline: Terminal) -> None:
    row = json.loads(task(1).model_dump_json(exclude={"solution"}))
    germline.write("tasks.jsonl", as_jsonl([{**row, "graders": [LAYER]}]))
    answer = germline("candidate", "test", proposed(germline))
    assert answer.code == 2
    assert "a judge is its only grader" in answer.err


def test_the_cost_of_judging_is_part_of_what_a_run_cost(germline: Terminal, stub: AnthropicStub) -> None:
    stub.script("judge", lambda _: gives({"reason": "alike", "better": "tie"}))
    candidate = tried(germline, proposed(germline))
    runs = candidate["rollouts"]["runs"]
    assert candidate["rollouts"]["cost_usd"] == pytest.approx(runs * (0.01 + 2 * 0.02))
