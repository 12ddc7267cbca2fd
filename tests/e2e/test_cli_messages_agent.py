"""The agent `messages` as a person uses it: a candidate tested, models compared, runs reviewed and exported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.anthropic_stub import KEY, PRICE, AnthropicStub, Step, gives, overloaded
from tests.confining import require_isolation
from tests.messages_agent import calls, finish, greeting
from tests.model_worlds import NOTHING, TEMPLATE, after_error, edit, reflection, suggestion, write_world
from tests.registries import SKILL
from tests.terminal import SPLIT_KEY, Beginning, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("Ada", "Bob", "Cyd", "Dee", "Eve", "Flo", "Gus", "Hal")
TASKS = "".join(f"{greeting(name).model_dump_json(exclude={'solution'})}\n" for name in NAMES)


def greets(body: dict[str, Any], word: str) -> Step:
    """Write the greeting, and finish, in one reply."""
    name = body["messages"][0]["content"][0]["text"].removeprefix("Write a greeting of ").split()[0]
    return calls(("write_file", {"path": "out.txt", "text": f"{word} {name}"}), ("finish", {"answer": "done"}))


def worker(body: dict[str, Any]) -> Step:
    """Solve a greeting, unless the skill says otherwise."""
    return greets(body, "Bonjour" if "Bonjour" in json.dumps(body["system"]) else "Hello")


@pytest.fixture(scope="module")
def server() -> Iterator[AnthropicStub]:
    require_isolation()
    with AnthropicStub() as server:
        yield server


@pytest.fixture
def stub(server: AnthropicStub, monkeypatch: pytest.MonkeyPatch) -> AnthropicStub:
    """Give the stub as nobody has asked it yet; a test of what becomes of its failures asks it over HTTP."""
    server.received.clear()
    return server.without_wire(monkeypatch).script("agent", worker)


@pytest.fixture(scope="module")
def beginning(own_folder: Path, server: AnthropicStub) -> Beginning:
    return Beginning(begun(own_folder / "plain", server))


@pytest.fixture
def terminal(beginning: Beginning) -> Terminal:
    return beginning.again()


def begun(folder: Path, server: AnthropicStub) -> Terminal:
    folder.mkdir()
    germline = Terminal(folder, ANTHROPIC_API_KEY=KEY)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write("skills/sql-analyst/SKILL.md", SKILL)
    germline.write("tasks.jsonl", TASKS)
    configure(germline, server)
    germline.does("import", "skills")
    return germline


def elsewhere(terminal: Terminal) -> Terminal:
    """Begin again in another folder, without a key, with the same settings."""
    other = Terminal(terminal.folder / "other", ANTHROPIC_API_KEY="")
    other.folder.mkdir()
    other.does("init", "--split-key", SPLIT_KEY)
    other.write("skills/sql-analyst/SKILL.md", SKILL)
    other.write("tasks.jsonl", TASKS)
    other.write("germline.toml", (terminal.folder / "germline.toml").read_bytes())
    other.does("import", "skills")
    return other


def configure(terminal: Terminal, stub: AnthropicStub, rollouts: str = "", **models: object) -> None:
    prices = {name: dict(PRICE) for name in ("stub-agent", "stub-judge", "stub-proposer")}
    table = stub.toml(prices=prices, **models)
    runs = f'[rollouts]\ntasks = "tasks.jsonl"\nagent = "messages"\nworkers = 2\nreply_tokens = 500\n{rollouts}\n'
    terminal.write("germline.toml", runs + table)


def proposed(terminal: Terminal, line: str = "Say Bonjour.") -> str:
    terminal.write("new.md", SKILL.replace("Round nothing.", f"Round nothing.\n- {line}"))
    words = ("candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "a test", "--json")
    name: str = terminal.does(*words).json["candidate"]
    return name


def test_a_candidate_is_tested_with_a_model_within_its_caps_and_goes_on_from_the_bank(
    terminal: Terminal, stub: AnthropicStub
) -> None:
    name = proposed(terminal)
    configure(terminal, stub, cap_usd_per_cycle=0.1)
    capped = terminal.does("candidate", "test", name, "--json").json["candidates"][0]
    assert capped["verdict"] == "hold"
    assert "models.cap_usd_per_cycle is 0.1 USD" in capped["reasons"][0]
    assert len(stub.asked("agent")) * 0.02 <= 0.1
    kept = capped["rollouts"]["runs"]
    configure(terminal, stub)
    answer = terminal("candidate", "test", name, "--json")
    (candidate,) = answer.json["candidates"]
    assert (answer.code, candidate["verdict"]) == (3, "reject")
    figures = candidate["rollouts"]
    assert figures["difference"] == pytest.approx(-0.5)
    assert (figures["reused"], figures["void"], figures["unpriced"]) == (kept, 0, 0)
    assert figures["cost_usd"] == pytest.approx(figures["runs"] * 0.02)
    assert len(stub.asked("agent")) == kept + figures["runs"]  # nothing that was paid for is asked again
    configure(terminal, stub, 'skill_mode = "must-follow"')
    typed = ("candidate", "test", proposed(terminal, "Say Salut."), "--dry-run", "--json")
    plan = terminal.does(*typed).json
    assert plan["evaluator"] != answer.json["evaluator"]
    configure(terminal, stub)
    assert terminal.does(*typed, "--skill-mode", "must-follow").json["evaluator"] == plan["evaluator"]
    assert "injected, must-follow, choice" in terminal(*typed, "--skill-mode", "must").err
    assert terminal(*typed, "--skill-mode", "choice", "--agent", "true {skill_dir} {prompt_file}").code == 2
    assert terminal.does("verify").code == 0


def test_a_server_that_is_overloaded_for_a_moment_costs_no_pair(terminal: Terminal, server: AnthropicStub) -> None:
    seen: list[str] = []

    def stumbling(body: dict[str, Any]) -> Step:
        seen.append(str(body["messages"][0]))
        return overloaded() if len(seen) in {3, 6} else worker(body)

    server.script("agent", stumbling)
    (candidate,) = terminal("candidate", "test", proposed(terminal), "--json").json["candidates"]
    assert (candidate["verdict"], candidate["rollouts"]["void"]) == ("reject", 0)


def test_without_a_key_it_ends_with_4_and_without_a_model_with_the_key_to_set(
    terminal: Terminal, stub: AnthropicStub
) -> None:
    name = proposed(terminal)
    configure(terminal, stub, agent="")
    answer = terminal("candidate", "test", name)
    assert (answer.code, answer.hint) == (2, 'agent = "MODEL" under [models] in germline.toml')
    configure(terminal, stub)
    keyless = Terminal(terminal.folder, ANTHROPIC_API_KEY="")
    assert keyless("candidate", "test", name).code == 4
    assert stub.received == []


def test_what_was_recorded_once_is_replayed_without_a_server(terminal: Terminal, stub: AnthropicStub) -> None:
    stub.script("judge", lambda _: finish("no idea"))  # another model: the stub tells models apart by their role
    words = ("compare", "sql-analyst", "--models", "stub-agent,stub-judge", "--workers", "1", "--json")
    first = terminal.does(*words, "--model-replay", "tape.jsonl").json["rows"]
    sent = len(stub.received)
    other = elsewhere(terminal)
    again = other.does(*words, "--model-replay", terminal.folder / "tape.jsonl").json["rows"]
    assert [row["score"] for row in again] == [row["score"] for row in first]
    assert len(stub.received) == sent


def test_a_run_that_asks_a_proposer_and_an_agent_is_recorded_in_one_file_and_replayed_from_it(
    terminal: Terminal, stub: AnthropicStub
) -> None:
    says = edit("Look at the tables first.", after_error(TEMPLATE, do="sql:SHOW"), "sql-analyst.1")
    stub.script("proposer", gives(reflection(suggestion(says))), gives(NOTHING))
    configure(terminal, stub, writer="", notes="")
    logs = write_world(terminal.folder)
    words = ("evolve", "sql-analyst", "--proposer", "claude", "--cycles", "1", "--seed", "7", "--json")
    tape = terminal.folder / "tape.jsonl"
    first = terminal.does(*words, "--logs", logs, "--model-replay", tape).json
    assert (len(stub.asked("proposer")), len(stub.asked("agent")) > 0) == (2, True)
    (cycle,) = first["cycles"]
    assert cycle["rollouts"]["runs"] > 0
    sent = len(stub.received)
    other = elsewhere(terminal)
    (again,) = other.does(*words, "--logs", logs, "--model-replay", tape).json["cycles"]
    assert len(stub.received) == sent
    fields = ("verdict", "reasons", "effect")
    assert [again[name] for name in fields] == [cycle[name] for name in fields]
    assert again["rollouts"]["difference"] == cycle["rollouts"]["difference"]


def test_models_are_compared_on_the_same_tasks_in_a_table_of_80_columns(
    terminal: Terminal, stub: AnthropicStub
) -> None:
    stub.script("judge", lambda _: finish("no idea"))  # a weaker model: the stub tells models apart by their role
    terminal.write("skills/sql-analyst/SKILL.md", SKILL.replace("Round nothing.", "Round nothing. Say Bonjour."))
    terminal.does("adopt", "sql-analyst")
    words = ("compare", "sql-analyst@1", "sql-analyst@2", "--models", "stub-agent,stub-judge", "--no-skill")
    table = terminal.does(*words).out
    assert max(map(len, table.splitlines())) <= 80
    assert "stub-judge" in table
    answer = terminal.does(*words, "--json").json
    rows = {(row["model"], row["version"]): row for row in answer["rows"]}
    assert len(rows) == 6
    assert answer["runs"] == 0
    assert answer["reused"] == 6 * answer["sealed_tasks"]
    first = rows["stub-agent", "sql-analyst@1"]
    assert (first["score"]["value"], first["against_first"]) == (1.0, None)
    worse = rows["stub-agent", "sql-analyst@2"]["against_first"]
    assert (worse["difference"], worse["low"], worse["high"]) == (-0.5, -0.5, -0.5)
    weaker = rows["stub-judge", "sql-analyst@2"]["against_first"]
    assert weaker["difference"] == -1.0
    assert weaker["tasks"] == answer["sealed_tasks"]
    assert rows["stub-agent", "no skill"]["score"]["value"] == 1.0
    assert all(row["missing"] == 0 and row["cost_usd"] > 0 for row in rows.values())
    assert len({row["evaluator"] for row in rows.values()}) == 2


def test_a_comparison_that_reaches_a_cap_tells_what_it_has_and_goes_on_later(
    terminal: Terminal, stub: AnthropicStub
) -> None:
    configure(terminal, stub, "cost_cap_usd = 0.02")
    words = ("compare", "sql-analyst", "--models", "stub-agent", "--json")
    part = terminal.does(*words).json
    assert "cost cap of 0.02 USD" in part["stopped"]
    assert part["rows"][0]["missing"] > 0
    configure(terminal, stub)
    whole = terminal.does(*words).json
    assert (whole["stopped"], whole["rows"][0]["missing"], whole["reused"]) == (None, 0, part["runs"])


def test_a_comparison_says_what_it_needs(terminal: Terminal, stub: AnthropicStub) -> None:
    for words, message in (
        (("sql-analyst", "--models", " , "), "no model is named"),
        (("sql-analyst", "other", "--models", "a"), "versions of one skill"),
        (("sql-analyst@9", "--models", "a"), "has no version 9"),
        (("sql-analyst", "--models", "nobody-knows"), "no price of nobody-knows"),
    ):
        answer = terminal("compare", *words)
        assert (answer.code, message in answer.err) == (2, True), answer.err
    plan = terminal.does("compare", "sql-analyst", "--models", "stub-agent", "--dry-run", "--json").json
    assert plan["most_runs"] == plan["sealed_tasks"]
    assert stub.received == []


@pytest.fixture(scope="module")
def finished(own_folder: Path, server: AnthropicStub) -> Beginning:
    """A registry with finished runs, good ones and worse."""
    germline = begun(own_folder / "finished", server)
    with pytest.MonkeyPatch.context() as monkeypatch:
        server.without_wire(monkeypatch).script("agent", worker)
        assert germline("candidate", "test", proposed(germline)).code == 3
    return Beginning(germline)


@pytest.fixture
def unseen(finished: Beginning) -> Terminal:
    """Give a registry with finished runs that nobody has looked at."""
    return finished.again()


@pytest.fixture
def reviewed(unseen: Terminal) -> Terminal:
    """Give one with finished runs that a person has let go."""
    unseen.does("export", "review", "--approve", "--reason", "read them all")
    return unseen


def lines(terminal: Terminal, shape: str) -> list[dict[str, Any]]:
    terminal.does("export", "rollouts", "--format", shape, "-o", "out.jsonl", "--yes")
    return [json.loads(line) for line in (terminal.folder / "out.jsonl").read_text().splitlines()]


def test_nothing_is_exported_before_a_person_has_looked(unseen: Terminal) -> None:
    answer = unseen("export", "rollouts", "--format", "sft", "-o", "out.jsonl")
    assert (answer.code, "none was approved" in answer.err) == (2, True)
    assert not (unseen.folder / "out.jsonl").exists()
    shown = unseen.does("export", "review").out
    assert "not decided on" in shown
    assert max(map(len, shown.splitlines())) <= 80
    run = unseen.does("export", "review", "--json").json["runs"][0]
    whole = unseen.does("export", "review", run["run"][:12]).out
    assert "Write a greeting of" in whole
    assert "write_file" in whole
    assert unseen("export", "review", "--approve").code == 2
    before = unseen.events()
    dry = unseen.does("export", "review", "--approve", "--reason", "x", "--dry-run", "--json").json
    assert [event["type"] for event in dry["events"]] == ["RolloutsReviewed"]
    assert unseen.events() == before


def test_good_runs_become_supervised_examples_with_a_plain_warning_where_they_are_few(reviewed: Terminal) -> None:
    answer = reviewed.does("export", "rollouts", "--format", "sft", "-o", "out.jsonl")
    assert "under 500 fine-tuning rarely pays" in answer.err
    examples = lines(reviewed, "sft")
    assert examples
    assert all(example["score"] >= 0.8 for example in examples)
    first = examples[0]
    assert [turn["role"] for turn in first["messages"]] == ["system", "user", "assistant"]
    call = first["messages"][2]["tool_calls"][0]
    assert call["function"]["name"] == "write_file"
    assert call["function"]["arguments"]["text"].startswith("Hello")
    assert {tool["function"]["name"] for tool in first["tools"]} == {
        "run_command",
        "read_file",
        "write_file",
        "finish",
    }
    assert (reviewed.folder / "out.jsonl").stat().st_mode & 0o077 == 0


def test_a_file_that_is_there_is_replaced_only_when_told_to(reviewed: Terminal) -> None:
    reviewed.write("out.jsonl", "mine")
    answer = reviewed("export", "rollouts", "--format", "sft", "-o", "out.jsonl")
    assert (answer.code, answer.hint) == (2, "--yes replaces it")
    assert reviewed.does("export", "rollouts", "--format", "sft", "-o", "out.jsonl", "--dry-run").out
    assert (reviewed.folder / "out.jsonl").read_text() == "mine"


def test_what_a_person_takes_back_is_exported_no_more(reviewed: Terminal) -> None:
    good = lines(reviewed, "sft")[0]["run"]
    reviewed.does("export", "review", good[:16], "--reject", "--reason", "it guessed")
    assert good not in {example["run"] for example in lines(reviewed, "sft")}


def test_runs_that_began_alike_and_ended_otherwise_are_groups_with_advantages(
    terminal: Terminal, stub: AnthropicStub
) -> None:
    tries: dict[str, int] = {}

    def moody(body: dict[str, Any]) -> Step:
        task = body["messages"][0]["content"][0]["text"]
        tries[task] = tries.get(task, 0) + 1
        return greets(body, "Hello" if tries[task] % 2 else "Bonjour")

    stub.script("agent", moody)
    terminal.does("compare", "sql-analyst", "--models", "stub-agent", "--rounds", "2")
    terminal.does("export", "review", "--approve", "--reason", "read them all")
    groups = lines(terminal, "grpo")
    assert groups
    for group in groups:
        assert [turn["role"] for turn in group["prompt"]] == ["system", "user"]
        assert sorted(completion["reward"] for completion in group["completions"]) == [0.5, 1.0]
        assert sorted(completion["advantage"] for completion in group["completions"]) == [-1.0, 1.0]
        assert group["completions"][0]["messages"][0]["role"] == "assistant"
