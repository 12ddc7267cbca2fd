"""Sessions as training data: never of sealed or audit tasks, without personal data, as the trainers read it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from strategies.gate.replay.evaluation_set import ground_of
from strategies.interchange.session_reviews import session_decisions
from strategies.interchange.training_traces import let_go, training_traces
from strategies.pool.known_episodes import SUPERSEDED
from strategies.pool.moved_logs import body_of
from tests.terminal import Terminal
from tui.session.open_registry import find_registry, open_library, open_registry

if TYPE_CHECKING:
    from pathlib import Path

TERMS = ("--license", "CC0-1.0", "--consent", "the team agreed on 2026-11-20")
FORMATS = ("sft", "dpo", "grpo", "kto")


def session(task: int, trial: int, reward: float, model: str) -> dict[str, Any]:
    """A conversation on a task: a call, its result, an answer; `strong` needs one call less."""
    call = {"id": "c1", "type": "function", "function": {"name": "sql", "arguments": f'{{"q": "SELECT {task}"}}'}}
    rounds = [
        {"role": "assistant", "content": f"try {trial}", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"row\u200b {trial} of jane.doe@corp.com"},
    ]
    asked = {"role": "user", "content": f"How many orders has customer {task}? AKIAQYLPMN5HHHFPZAM2"}
    messages = [
        asked,
        *rounds * (1 if model == "strong" else 2),
        {"role": "assistant", "content": f"{task} orders"},
    ]
    return {"task_id": f"t{task}", "trial": trial, "reward": reward, "model": model, "messages": messages}


def with_logs(folder: Path, tasks: int) -> Terminal:
    """Begin a registry with sessions of two models, two of each on each task; the weak one fails in one of its."""
    germline = Terminal(folder, COLUMNS="200").with_skill()
    for model, rewards in (("strong", (1.0, 1.0)), ("weak", (0.0, 1.0))):
        rows = [session(task, trial, rewards[trial], model) for task in range(tasks) for trial in range(2)]
        germline.write(f"logs/{model}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    germline.does("scan", "logs")
    return germline


@pytest.fixture(scope="module")
def terminal(own_folder: Path) -> Terminal:
    return with_logs(own_folder, tasks=30)


@pytest.fixture(scope="module")
def exports(terminal: Terminal) -> dict[str, tuple[list[dict[str, Any]], dict[str, Any]]]:
    return {form: exported(terminal, form) for form in FORMATS}


@pytest.fixture(scope="module")
def splits(terminal: Terminal) -> dict[str, set[str]]:
    with open_library(find_registry(str(terminal.folder / ".germline/registry.db"))) as library:
        division = ground_of(library, refresh=True).division
    return {name: {record.id for record in getattr(division, name)} for name in ("explore", "sealed", "audit")}


def exported(terminal: Terminal, form: str, *words: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Write a data set, and give its rows and its manifest."""
    file = f"{form}{len(words)}.jsonl"
    manifest = terminal.does("export", "dataset", "--format", form, "-o", file, *TERMS, *words, "--json").json
    return [json.loads(line) for line in (terminal.folder / file).read_text().splitlines()], manifest


@pytest.mark.parametrize("form", FORMATS)
def test_no_session_of_a_sealed_or_audit_task_is_in_any_data_set(
    terminal: Terminal, exports: dict[str, Any], splits: dict[str, set[str]], form: str
) -> None:
    assert all(splits.values())
    rows, manifest = exports[form]
    text = (terminal.folder / manifest["file"]).read_text()
    hidden = splits["sealed"] | splits["audit"]
    assert not [name for name in hidden if name in text or name in manifest["sessions"]]
    asked = {row["prompt"][0]["content"] if "prompt" in row else row["messages"][0]["content"] for row in rows}
    assert set(manifest["sessions"]) == splits["explore"]
    assert len(asked) == manifest["tasks"] == len(splits["explore"]) / 4


@pytest.mark.parametrize("form", FORMATS)
def test_rows_are_free_of_secrets_and_addresses_and_the_manifest_holds_their_hash(
    terminal: Terminal, exports: dict[str, Any], form: str
) -> None:
    rows, manifest = exports[form]
    body = (terminal.folder / manifest["file"]).read_bytes()
    assert b"AKIA" not in body
    assert b"jane.doe" not in body
    assert b"[email]" in body
    kept = json.loads((terminal.folder / f"{manifest['file']}.manifest.json").read_text())
    assert kept == manifest
    assert (kept["sha256"], kept["rows"]) == (sha256(body).hexdigest(), len(rows))
    assert (kept["license"], kept["consent"]) == (TERMS[1], TERMS[3])


def test_each_form_has_what_its_trainer_reads(exports: dict[str, Any], splits: dict[str, set[str]]) -> None:
    sessions, tasks = len(splits["explore"]), len(splits["explore"]) / 4
    sft, dpo, grpo, kto = (exports[form][0] for form in FORMATS)
    assert [message["role"] for message in sft[0]["messages"]][:3] == ["user", "assistant", "tool"]
    call = sft[0]["messages"][1]["tool_calls"][0]
    assert sft[0]["messages"][1]["content"].startswith("try ")
    assert isinstance(call["function"]["arguments"], str)
    assert call["id"] == sft[0]["messages"][2]["tool_call_id"]
    assert len(sft) == 3 * tasks
    assert (len(kto), sum(row["label"] for row in kto)) == (sessions, 3 * tasks)
    assert len(dpo) == tasks
    assert all(row["chosen_outcome"] > row["rejected_outcome"] for row in dpo)
    used = [row[side] for row in dpo for side in ("chosen_session", "rejected_session")]
    assert len(used) == len(set(used))
    assert len(grpo) == tasks
    assert all(abs(sum(each["advantage"] for each in row["completions"])) < 1e-5 for row in grpo)
    for rows in (sft, dpo, grpo, kto):  # each column has one type: what the loader of data sets asks
        assert len({tuple((name, type(value)) for name, value in row.items()) for row in rows}) == 1


@pytest.mark.parametrize("form", FORMATS)
def test_the_ordinary_loader_of_data_sets_reads_every_row(
    terminal: Terminal, exports: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="the extra `datasets` is not installed")
    rows, manifest = exports[form]
    file = str(terminal.folder / manifest["file"])
    loaded = datasets.load_dataset("json", data_files=file, split="train", cache_dir=str(tmp_path))
    assert loaded.num_rows == len(rows)
    assert list(loaded) == rows


def test_distilling_keeps_the_best_session_of_each_task_by_the_strongest_model(terminal: Terminal) -> None:
    rows, manifest = exported(terminal, "sft", "--distill")
    assert {row["run"] for row in rows} == {manifest["distilled_from"]} == {"strong"}
    assert len(rows) == manifest["tasks"] == len({row["task"] for row in rows})


def test_what_advice_counts_as_examples_can_be_written(terminal: Terminal, exports: dict[str, Any]) -> None:
    rows, manifest = exports["sft"]
    assert terminal.does("advise", "--json").json["figures"]["examples"] == len(rows) > 0
    assert manifest["left_out"] == {}


def test_without_licence_or_consent_nothing_is_written_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    terminal = with_logs(tmp_path, tasks=8)
    words = ("export", "dataset", "--format", "sft", "-o", "out.jsonl")
    assert terminal(*words, "--license", "MIT").code == 2
    assert terminal(*words, *TERMS, "--dry-run").code == 0
    assert not (terminal.folder / "out.jsonl").exists()
    (terminal.folder / "logs/weak.jsonl").unlink()
    rows, manifest = exported(terminal, "sft")
    assert {row["run"] for row in rows} == {"strong"}
    assert sum(manifest["left_out"].values()) == len(manifest["sessions"]) > 0
    assert terminal(*words[:-1], manifest["file"], *TERMS).code == 2


def test_a_general_set_that_fell_is_refused_and_one_that_was_kept_is_not(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)

    def judged(lost: int, tasks: int) -> str:
        rows = [f"t{at},1,{0 if at < lost else 1}" for at in range(tasks)]
        file = terminal.write("general.csv", "\n".join(["task,before,after", *rows]))
        answer = terminal("gate", "pairs", file, "--general", "--json")
        decision: str = answer.json["decision"]
        assert (answer.code == 0) == (decision == "promote")
        return decision

    assert judged(lost=0, tasks=100) == "promote"
    assert judged(lost=30, tasks=100) == "reject"
    assert judged(lost=5, tasks=100) == "hold"
    assert judged(lost=0, tasks=20) == "hold"


def test_sessions_are_read_as_they_would_be_written_and_only_what_a_person_let_go_is(tmp_path: Path) -> None:
    germline = with_logs(tmp_path, tasks=12)
    listed = germline.does("export", "review", "--sessions", "--json").json["sessions"]
    first, second, *others = (row["id"] for row in listed)
    review = germline.does("export", "review", "--sessions", first[:10]).out
    assert "orders has customer" in review
    assert not {"AKIAQYLPMN5HHHFPZAM2", "jane.doe@corp.com"} & set(review.split())
    assert "row\\u200b " in review, "a person sees what does not show, and would be learned"
    assert germline("export", "review", "--sessions", "").code == 2
    dry = germline.does(
        "export", "review", "--sessions", first, "--approve", "--reason", "read", "--dry-run", "--json"
    )
    assert [event["type"] for event in dry.json["events"]] == ["SessionsReviewed"]
    none = germline("export", "dataset", "--format", "kto", "-o", "k.jsonl", *TERMS, "--approved")
    assert (none.code, "that no person approved" in none.err) == (2, True)
    germline.does("export", "review", "--sessions", first, "--approve", "--reason", "read it")
    germline.does("export", "review", "--sessions", second, "--reject", "--reason", "it names a customer")
    _, approved = exported(germline, "kto", "--approved")
    assert (approved["sessions"], approved["approved"]) == ([first], True)
    assert approved["left_out"]["that no person approved"] == len(others)
    _, every = exported(germline, "kto")
    assert second not in every["sessions"]
    assert every["left_out"]["that a person rejected"] == 1
    germline.does("export", "review", "--sessions", "--approve", "--reason", "read them all")
    assert len(exported(germline, "kto", "--approved", "--yes")[1]["sessions"]) == len(others) + 1
    assert germline("export", "review", "--sessions", "--approve", "--reason", "again").code == 2
    twice = ("export", "review", "--sessions", second, second[:12], "--reject", "--reason", "twice", "--json")
    assert germline.does(*twice).json["sessions"] == 1
    assert germline("export", "review", "--sessions", "zzz").code == 2
    assert germline.does("verify").code == 0


def test_a_session_that_goes_on_after_it_was_rejected_is_rejected_still(tmp_path: Path) -> None:
    germline = with_logs(tmp_path, tasks=12)
    rejected, approved, *_ = (
        row["id"] for row in germline.does("export", "review", "--sessions", "--json").json["sessions"]
    )
    germline.does("export", "review", "--sessions", rejected, "--reject", "--reason", "it names a customer")
    germline.does("export", "review", "--sessions", approved, "--approve", "--reason", "read it")
    with open_registry(find_registry(str(germline.folder / ".germline/registry.db"))) as registry:
        assert session_decisions(registry) == {rejected: "reject", approved: "approve"}
        registry.log.put_map(SUPERSEDED, body_of({rejected: "it went on", approved: "so did this"}))
        decided = session_decisions(registry)
    assert decided == {rejected: "reject", "it went on": "reject", approved: "approve"}


def test_what_was_rejected_is_not_written_for_another_session_that_says_the_same(tmp_path: Path) -> None:
    germline = with_logs(tmp_path, tasks=12)
    again = [session(task, 0, 1.0, "strong") | {"trial": 7} for task in range(12)]
    germline.write("logs/again.jsonl", "".join(f"{json.dumps(row)}\n" for row in again))
    germline.does("scan", "logs")
    with open_library(find_registry(str(germline.folder / ".germline/registry.db"))) as library:
        every = training_traces(library)
    copied = next(trace for trace in every.traces if trace.copies)
    only = every._replace(traces=(copied,))
    assert let_go(only, {copied.copies[0]: "reject"}, approved=False).traces == ()
    assert let_go(only, {copied.copies[0]: "approve"}, approved=True).traces == (copied,)
