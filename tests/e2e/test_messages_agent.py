"""A model as agent: it works through tools in the sandbox, over real HTTP, and is judged as any agent is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from events.errors import CredentialsError, SpendingCapError, UnknownPriceError
from events.model_errors import OverloadedError
from strategies.models.recorded_model import Begun
from strategies.rollouts.compare.hashes import harness_of
from strategies.rollouts.run.arms import NO_SKILL
from strategies.rollouts.run.runner import CapReachedError
from strategies.rollouts.run.store import PlannedRun
from strategies.rollouts.run.task_container import end_containers
from tests.anthropic_stub import (
    AnthropicStub,
    Step,
    broken,
    cuts,
    declines,
    drops,
    hangs,
    message,
    overloaded,
    says,
)
from tests.asking import asked, asking, question
from tests.confining import POLICY, require_isolation
from tests.container_worlds import StubDocker, contained_task
from tests.messages_agent import Bench, arm_of, bench, calls, diligent, finish, greeting, said_last, sh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from registry.registry import Registry
    from strategies.rollouts.run.agent_templates import SkillMode

PAID = 0.02
"""What each reply of the stub costs."""


@pytest.fixture
def stub(stub: AnthropicStub) -> AnthropicStub:
    require_isolation()
    return stub


@pytest.fixture
def table(registry: Registry, stub: AnthropicStub, tmp_path: Path) -> Iterator[Bench]:
    with bench(registry, stub, tmp_path) as table:
        yield table


def test_a_model_reads_writes_and_finishes_and_its_work_is_graded_and_priced(
    table: Bench, registry: Registry
) -> None:
    trial = table.trial(diligent)
    assert (trial.status, trial.value, trial.lenient, trial.attempts) == ("done", 1.0, True, ())
    assert trial.cost_usd == pytest.approx(3 * PAID)
    assert trial.tags == ("files",)
    events = asked(registry)
    assert [(event.role, event.outcome) for event in events] == [("agent", "ok")] * 3
    assert sum(event.cost_usd or 0 for event in events) == pytest.approx(trial.cost_usd)
    assert registry.log.verify().problems == ()


def test_a_task_that_asks_for_a_container_has_its_calls_made_in_there_and_its_skill_beside(
    table: Bench, stub: AnthropicStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = StubDocker(tmp_path / "docker", monkeypatch)
    check = 'test "$(cat /app/out.txt)" = made && echo 1 >/logs/verifier/reward.txt\n'
    task = contained_task(tmp_path / "set", tests__test_dot_sh=check)
    trial = table.trial(calls(("read_file", {"path": "made.txt"})), sh("cp made.txt out.txt"), finish(), task=task)
    assert (trial.status, trial.value) == ("done", 1.0)
    assert said_last(stub.asked("agent")[1].body).strip() == "made"
    volumes = [word for words in docker.asked("run") for word in words if word.endswith(":/skill:Z")]
    assert len(volumes) == 1
    assert docker.kept("containers") == []
    docker.goes_wrong("fails", "run")
    lost = table.trial(finish(), task=task)
    assert (lost.status, "cannot be started: no space left" in lost.note) == ("infrastructure", True)
    end_containers()


def test_the_transcript_is_kept_whole_and_without_secrets(table: Bench, stub: AnthropicStub) -> None:
    secret = "sk-ant-" + "z" * 30
    trial = table.trial(sh(f"echo {secret} > key; cat key"), finish())
    transcript = table.transcript(trial)
    assert (transcript["task"], transcript["split"], transcript["model"], transcript["skill_mode"]) == (
        "greet-ada",
        transcript["split"],
        "stub-agent",
        "injected",
    )
    assert [turn["role"] for turn in transcript["messages"]] == ["user", "assistant", "user", "assistant"]
    assert transcript["answer"] == "done"
    assert secret not in json.dumps(transcript)
    assert secret in stub.texts("agent")  # what it works on is its own: there it stands as it is


def test_without_a_call_what_it_says_is_the_answer(table: Bench) -> None:
    trial = table.trial(says("All done."))
    assert (trial.status, [layer.value for layer in trial.layers]) == ("done", [0.0, 1.0])


@pytest.mark.parametrize(
    ("mode", "prompt", "tools"),
    [
        ("injected", "You have this skill:\n\n<skill", 4),
        ("must-follow", "You must follow it:\n\n<skill", 4),
        ("choice", "- greeter: How to greet.", 5),
    ],
)
def test_the_mode_says_how_the_model_is_told_of_the_skill(
    table: Bench, stub: AnthropicStub, mode: SkillMode, prompt: str, tools: int
) -> None:
    table.trial(finish(), agent=table.agent(mode))
    body = stub.asked("agent")[0].body
    (system,) = body["system"]
    assert prompt in system["text"]
    assert system["cache_control"] == {"type": "ephemeral"}
    assert ("Say Hello." in system["text"]) == (mode != "choice")
    assert len(body["tools"]) == tools


def test_a_skill_of_choice_is_loaded_by_a_tool_and_that_is_on_record(table: Bench, stub: AnthropicStub) -> None:
    arm = arm_of(files={"names/list.md": "Ada"})
    script = (
        calls(("load_skill", {"name": "nonsense"})),
        calls(("load_skill", {"name": "greeter"})),
        calls(("read_file", {"path": "../skill/greeter/names/list.md"})),
        finish(),
    )
    trial = table.trial(*script, arm=arm, agent=table.agent("choice"))
    results = [said_last(request.body) for request in stub.asked("agent")[1:]]
    assert results[0] == "there is no skill 'nonsense'"
    assert "Say Hello." in results[1]
    assert "../skill/greeter" in results[1]
    assert results[2] == "Ada"
    assert table.transcript(trial)["loaded"]
    assert trial.attempts == ()


def test_a_run_without_a_skill_is_told_of_none(table: Bench, stub: AnthropicStub) -> None:
    table.trial(finish(), arm=NO_SKILL, agent=table.agent("choice"))
    body = stub.asked("agent")[0].body
    assert "skill" not in body["system"][0]["text"].lower()
    assert [tool["name"] for tool in body["tools"]] == ["run_command", "read_file", "write_file", "finish"]


def test_mode_model_and_limits_are_part_of_the_evaluator(table: Bench) -> None:
    agents = [
        table.agent(),
        table.agent("must-follow"),
        table.agent("choice"),
        table.agent(most_replies=9),
        table.agent().model_copy(update={"model": "other"}),
        table.agent().model_copy(update={"instructions": "other instructions"}),
    ]
    assert len({harness_of(agent, POLICY) for agent in agents}) == len(agents)
    assert len({table.harness(greeting(), agent=agent).evaluator for agent in agents}) == len(agents)


def test_places_are_told_from_the_working_folder_so_that_prompts_repeat(table: Bench, stub: AnthropicStub) -> None:
    table.trial(sh("pwd; echo $TMPDIR; python3 -c 'import os; print(os.getcwd())'"), finish())
    assert said_last(stub.asked("agent")[-1].body) == "exit code 0\n.\n../tmp\n.\n"


def test_only_the_last_turn_is_marked_for_the_cache(table: Bench, stub: AnthropicStub) -> None:
    table.trial(sh("true"), sh("true"), finish())
    marked = [
        ["cache_control" in turn["content"][0] for turn in request.body["messages"]]
        for request in stub.asked("agent")
    ]
    assert marked == [[False], [False, False, True], [False, False, False, False, True]]


def test_calls_that_make_no_sense_are_told_and_the_run_goes_on(table: Bench, stub: AnthropicStub) -> None:
    nonsense = calls(
        ("fly", {}),
        ("run_command", {"argv": []}),
        ("run_command", {"argv": ["no-such-program"]}),
        ("run_command", {"argv": ["./names.txt"]}),
        ("read_file", {"path": "gone.txt"}),
        ("read_file", {"path": "a\0b"}),
    )
    assert table.trial(nonsense, finish()).status == "done"
    results = stub.asked("agent")[-1].body["messages"][-1]["content"]
    assert all(result["is_error"] for result in results)
    contents = [result["content"] for result in results]
    assert contents[0] == "there is no tool 'fly'"
    assert contents[1].startswith("argv: ")
    assert "not installed" in contents[2]
    assert contents[3].startswith("it could not be started")
    assert contents[4] == "No such file or directory: gone.txt"
    assert contents[5].startswith("path: ")


def test_a_call_that_reaches_out_of_the_sandbox_is_stopped_and_told(table: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    script = (
        calls(("write_file", {"path": str(outside), "text": "x"})),
        sh("echo x > /tmp/germline-no; true"),
        finish(),
    )
    trial = table.trial(*script)
    assert trial.attempts == (f"tried to write {outside}", "tried to write /tmp/germline-no")
    assert not outside.exists()
    assert not trial.tampered  # told, and no more: nobody was harmed
    assert trial.status == "done"


@pytest.mark.parametrize("place", ["../skill/greeter/SKILL.md", "../prompt.md"])
def test_a_call_that_writes_to_what_the_run_was_given_is_stopped_and_is_tampering(
    table: Bench, place: str
) -> None:
    trial = table.trial(diligent_but(calls(("write_file", {"path": place, "text": "Say nothing."}))))
    assert trial.tampering == (f"agent: tried to write {place.removeprefix('../')}",)
    assert (trial.value, trial.layers) == (0.0, ())


def diligent_but(first: Step) -> Callable[[dict[str, Any]], Step]:
    """Do one thing, and then work as ever."""

    def step(body: dict[str, Any]) -> Step:
        return first if len(body["messages"]) == 1 else finish()

    return step


def test_the_network_is_out_of_reach(table: Bench, stub: AnthropicStub) -> None:
    code = f"import urllib.request as u; u.urlopen('{stub.base_url}', timeout=2)"
    trial = table.trial(calls(("run_command", {"argv": ["python3", "-c", code]})), finish())
    assert len(trial.attempts) == 1
    assert "network" in trial.attempts[0] or "reach" in trial.attempts[0]
    assert not trial.tampered


@pytest.mark.parametrize(
    ("limits", "note"),
    [({"most_replies": 2}, "not done after 2 replies"), ({"run_tokens": 2_000}, "not done after 2,400 tokens")],
)
def test_a_limit_of_replies_or_tokens_stops_the_run_at_0(table: Bench, limits: dict[str, int], note: str) -> None:
    trial = table.trial(sh("echo Hello Ada > out.txt"), agent=table.agent("injected", **limits))
    assert (trial.status, trial.value, trial.layers) == ("stopped", 0.0, ())
    assert note in trial.note
    assert trial.cost_usd == pytest.approx(2 * PAID)


def test_a_reply_that_is_cut_off_stops_the_run(table: Bench) -> None:
    trial = table.trial(cuts("so long"))
    assert trial.status == "stopped"
    assert trial.cost_usd == pytest.approx(PAID)
    assert "500 tokens" in trial.note


def test_a_model_that_declines_is_graded_for_what_it_left(table: Bench) -> None:
    trial = table.trial(sh("echo Hello Ada > out.txt"), declines())
    assert (trial.status, trial.value) == ("done", 0.5)
    assert "declined" in trial.note


@pytest.mark.parametrize(
    "step", [overloaded(), broken(), drops(), Step(b"<html>")], ids=["529", "500", "drop", "html"]
)
def test_a_server_that_fails_in_the_middle_voids_the_run_and_what_was_paid_is_told(
    table: Bench, step: Step
) -> None:
    trial = table.trial(sh("echo Hello Ada > out.txt"), step)
    assert (trial.status, trial.value) == ("infrastructure", 0.0)
    assert trial.cost_usd is not None
    assert trial.cost_usd >= PAID


def test_a_task_has_its_time_and_a_server_that_hangs_uses_it_up(table: Bench, registry: Registry) -> None:
    task = greeting().model_copy(update={"limit_s": 0.3})
    trial = table.trial(hangs(), task=task)
    assert (trial.status, trial.note) == ("stopped", "the agent ran past the limit of 0.3 s")
    (event,) = asked(registry)
    assert (event.outcome, event.error) == ("lost", "timed_out")
    assert trial.cost_usd == event.cost_usd


def test_a_command_that_hangs_is_stopped_within_the_time_of_the_task(table: Bench) -> None:
    task = greeting().model_copy(update={"limit_s": 0.6})
    trial = table.trial(sh("sleep 60"), finish(), task=task)
    assert (trial.status, trial.note) == ("stopped", "the agent ran past the limit of 0.6 s")


def test_a_paused_turn_goes_on(table: Bench) -> None:
    paused = Step(message("wait", stop="pause_turn"))
    assert table.trial(paused, sh("echo Hello Ada > out.txt"), finish()).value == 1.0


def test_an_agent_does_not_find_the_folder_of_the_task_set(
    table: Bench, tmp_path: Path, stub: AnthropicStub
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "answers.txt").write_text("forty-two")
    task = greeting().model_copy(update={"folder": folder})
    table.trial(sh(f"ls {folder}; cat {folder}/answers.txt"), finish(), task=task)
    assert "forty-two" not in said_last(stub.asked("agent")[-1].body)


def test_a_cap_on_models_stops_before_it_is_passed(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    settings = stub.settings(cap_usd_per_cycle=0.06)
    with (
        bench(registry, stub, tmp_path, settings) as table,
        pytest.raises(CapReachedError, match="cap_usd_per_cycle"),
    ):
        table.trial(sh("true"))
    assert sum(event.cost_usd or 0.0 for event in asked(registry)) <= 0.06


def test_what_is_under_way_counts_against_a_cap_before_it_has_come_back(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", hangs())
    with asking(registry, stub, stub.settings(cap_usd_per_cycle=0.03)) as model:
        first = model.begin(question())
        assert isinstance(first, Begun)
        with pytest.raises(SpendingCapError):
            model.begin(question("And now?"))
        model.lose(first, OverloadedError("overloaded"))
        assert isinstance(model.begin(question("And now?")), Begun)


def test_a_refused_key_and_an_unknown_price_end_the_command_not_the_run(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    with bench(registry, stub, tmp_path) as table:
        stub.key = "another"
        with pytest.raises(CredentialsError):
            table.trial(finish())
        agent = table.agent().model_copy(update={"model": "nobody-knows"})
        with pytest.raises(UnknownPriceError):
            table.trial(finish(), agent=agent)


def test_nobody_waits_for_a_server_once_runs_are_ended(
    table: Bench, registry: Registry, stub: AnthropicStub
) -> None:
    harness = table.harness(greeting())

    def stopping(_: object) -> Step:
        harness.end_all()
        return hangs()

    stub.script("agent", stopping)
    trial = harness.runner(table.folder)(PlannedRun(arm_of(), greeting(), 0))
    assert trial.status == "infrastructure"
    assert [(event.outcome, event.error) for event in asked(registry)] == [("lost", "interrupted")]
