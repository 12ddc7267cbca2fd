"""`candidate propose` and `candidate test`, as a person types them; the agent is a table of pass rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.rollouts.compare.harness import AgentRunner
from strategies.rollouts.run.trial import Trial
from strategies.rollouts.tasks.load import load_tasks
from tests.container_worlds import StubDocker
from tests.fake_runs import task, task_lines, terminal_with_drawn_runs
from tests.registries import SKILL
from tests.screen_pilot import screens

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.rollouts.run.store import PlannedRun
    from tests.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return terminal_with_drawn_runs(tmp_path, monkeypatch)


def proposed(terminal: Terminal, line: str) -> str:
    terminal.write("new.md", SKILL.replace("Round nothing.", f"Round nothing.\n- {line}"))
    name: str = terminal.does(
        "candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "a test", "--json"
    ).json["candidate"]
    return name


def test_a_helpful_change_is_proposed_tested_promoted_and_projected(terminal: Terminal) -> None:
    name = proposed(terminal, "HELPS a lot.")
    output = terminal.does("candidate", "test", name[:10]).out
    assert f"✓ {name[:12]}  promote → sql-analyst@2" in output
    for label in ("score", "runs", "figures", "no skill", "tags"):
        assert f"\n  {label}" in output
    assert "HELPS a lot." in (terminal.folder / "skills/sql-analyst/SKILL.md").read_text()
    assert "+." in terminal.does("why", "sql-analyst:14").out
    assert terminal.does("verify").code == 0


def test_a_tag_that_no_sealed_task_has_is_named(terminal: Terminal) -> None:
    terminal.write("new.md", SKILL.replace("Round nothing.", "Round nothing.\n- HELPS a lot."))
    words = ("candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "a test", "--tag", "mistyped")
    assert "tags       mistyped: runs look first" in terminal.does(*words).out
    (row,) = terminal.does("candidates", "--json").json["candidates"]
    assert "repair by hand: a test" in terminal.does("log").out
    assert "tags      mistyped" in terminal.does("candidate", "show", row["id"]).out
    plan = terminal("candidate", "test", row["id"], "--dry-run")
    assert f"no sealed task is tagged mistyped, which {row['id'][:12]} says it is for" in plan.err


def test_a_wrong_tag_is_corrected_by_proposing_again_until_something_is_measured(terminal: Terminal) -> None:
    name = proposed(terminal, "HARMS a lot.")
    words = ("candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "a test")
    assert f"candidate {name[:12]} was proposed before" in terminal(*words).err
    other = terminal.does(*words, "--tag", "files", "--json").json["candidate"]
    assert other != name
    assert f"candidate {other[:12]} was proposed before" in terminal(*words, "--tag", "files").err
    assert terminal("candidate", "test", name).code == 3
    assert f"candidate {name[:12]} was proposed before" in terminal(*words, "--tag", "counting").err


def test_a_harmful_change_ends_with_exit_code_3_and_its_figures_as_json(terminal: Terminal) -> None:
    name = proposed(terminal, "HARMS a lot.")
    answer = terminal("candidate", "test", name, "--json")
    assert answer.code == 3
    (candidate,) = answer.json["candidates"]
    assert answer.json["schema"] == "germline/candidate-test/1"
    assert (candidate["id"], candidate["verdict"], candidate["version"]) == (name, "reject", None)
    assert candidate["rollouts"]["difference"] < 0
    assert candidate["before"]["evaluator"] == answer.json["evaluator"]
    assert candidate["delta"]["high"] > candidate["delta"]["low"]


def test_no_command_of_a_run_may_read_the_registry(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: set[Path] = set()

    def lost(runner: AgentRunner, job: PlannedRun) -> Trial:
        hidden.update(runner.policy.hidden)
        return Trial(task=job.task.id, status="infrastructure")

    monkeypatch.setattr(AgentRunner, "__call__", lost)
    terminal("candidate", "test", proposed(terminal, "HELPS a lot."))
    assert hidden == {terminal.folder / ".germline"}


def test_a_dry_run_says_what_would_be_run_and_changes_nothing(terminal: Terminal) -> None:
    name = proposed(terminal, "HELPS a lot.")
    before = terminal.events()
    output = terminal.does("candidate", "test", name, "--dry-run").out
    assert "sealed tasks" in output
    assert "ComparisonFrozen" in output
    answer = terminal.does("candidate", "test", name, "--dry-run", "--json").json
    assert [event["type"] for event in answer["events"]] == ["EvaluatorRegistered", "ComparisonFrozen"]
    assert answer["least_runs"] == 2 * answer["sealed_tasks"]
    assert terminal.events() == before


def test_a_plan_on_too_few_sealed_tasks_says_that_only_a_person_can_promote(terminal: Terminal) -> None:
    name = proposed(terminal, "HELPS a lot.")
    assert "a person decides" not in terminal.does("candidate", "test", name, "--dry-run").err
    terminal.write("few.jsonl", task_lines(20))
    plan = terminal.does("candidate", "test", name, "--tasks", "few.jsonl", "--dry-run")
    assert "the gate needs 20 sealed tasks" in plan.err


def harbor_tasks(terminal: Terminal, container: str) -> None:
    """Write two tasks of Harbor, one with an image, and say in the settings when containers are made."""
    for name in ("first", "second"):
        terminal.write(f"harbor/{name}/task.toml", '[verifier]\nenv = { KEY = "1" }\n')
        terminal.write(f"harbor/{name}/instruction.md", f"Do the {name}.\n")
        terminal.write(f"harbor/{name}/tests/test.sh", "exit 1\n")
    terminal.write("harbor/second/environment/Dockerfile", "FROM ubuntu:24.04\n")
    settings = (terminal.folder / "germline.toml").read_text().partition("container")[0]
    terminal.write("germline.toml", f'{settings}container = "{container}"\n')


def test_a_task_that_has_an_image_gets_a_container_where_one_works_and_is_another_task_than_in_the_sandbox(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = StubDocker(tmp_path / "docker", monkeypatch)
    name, evaluators = proposed(terminal, "HELPS a lot."), []
    for container in ("auto", "always", "never"):
        harbor_tasks(terminal, container)
        plan = terminal("candidate", "test", name, "--tasks", "harbor", "--dry-run", "--json")
        evaluators.append(plan.json["evaluator"])
        words = "1 of 2 tasks: the verifier runs in a container (docker); an agent that is a command works in the"
        assert (words in plan.err) == (container != "never")
    assert evaluators[0] == evaluators[1] != evaluators[2]
    assert docker.kept("images") == [], "what is only planned builds nothing"
    (docker.folder / "docker").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("PATH", str(docker.folder))
    harbor_tasks(terminal, "always")
    refused = terminal("tasks", "list", "harbor")
    assert (refused.code, 'rollouts.container is "always", and neither' in refused.err) == (2, True)
    assert 'container = "never"' in refused.hint


def test_a_folder_of_tasks_of_harbor_is_a_task_set_and_says_what_it_lacks_here(terminal: Terminal) -> None:
    harbor_tasks(terminal, "never")
    listed = terminal.does("tasks", "list", "harbor")
    assert listed.err.splitlines() == [
        "2 of 2 tasks: verifier.env is not set",
        "1 of 2 tasks: no container is made: they run in the sandbox, with the programs of this machine",
    ]
    assert {row["task"] for row in terminal.does("tasks", "list", "harbor", "--json").json["tasks"]} == {
        "first",
        "second",
    }
    planned = terminal("candidate", "test", proposed(terminal, "HELPS a lot."), "--tasks", "harbor", "--dry-run")
    assert "verifier.env is not set" in planned.err


def test_a_proposal_can_be_rehearsed_and_comes_once(terminal: Terminal) -> None:
    terminal.write("new.md", SKILL.replace("Round nothing.", "Round nothing.\n- HELPS a lot."))
    words = ("candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "a test")
    before = terminal.events()
    assert "CandidateProposed" in terminal.does(*words, "--dry-run").out
    assert terminal.events() == before
    terminal.does(*words)
    again = terminal(*words)
    assert (again.code, "was proposed before" in again.err) == (1, True)
    assert again.hint.startswith("germline candidate show ")


def test_what_is_missing_is_said_with_what_to_type(terminal: Terminal) -> None:
    name = proposed(terminal, "HELPS a lot.")
    for words, code, message in (
        (("propose", "sql-analyst", "--reason", "x"), 2, "stands in a file"),
        (("propose", "sql-analyst", "--from", "new.md"), 2, "needs a reason"),
        (("propose", "sql-analyst", "--from", "gone.md", "--reason", "x"), 2, "there is no file"),
        (("test", "feed"), 2, "no candidate feed"),
        (("test", name, "--agent", "x {nonsense}"), 2, "names {nonsense}"),
        (("test", name, "--tasks", "gone.jsonl"), 2, "cannot read"),
    ):
        answer = terminal("candidate", *words)
        assert (answer.code, message in answer.err) == (code, True), answer.err
        assert answer.hint
    terminal.write("germline.toml", "")
    answer = terminal("candidate", "test", name)
    assert (answer.code, "no task set is named" in answer.err) == (2, True)


def test_over_the_trust_region_or_the_edit_budget_is_refused_and_nothing_is_written(terminal: Terminal) -> None:
    before = terminal.events()
    many = "".join(f"\n- Rule {number} says rather more than any rule should." for number in range(40))
    terminal.write("new.md", SKILL.replace("Round nothing.", f"Round nothing.{many}"))
    answer = terminal("candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "x")
    assert (answer.code, "trust region allows" in answer.err) == (3, True)
    apart = SKILL.replace("one SQL", "a SQL").replace("twice", "again").replace("result alone", "bare result")
    terminal.write("new.md", apart)
    answer = terminal(
        "candidate", "propose", "sql-analyst", "--from", "new.md", "--reason", "x", "--preset", "repair-only"
    )
    assert (answer.code, "3 edits, the preset allows 2" in answer.err) == (3, True)
    assert terminal.events() == before


def test_settings_that_cannot_be_are_told_with_the_key(terminal: Terminal) -> None:
    for text, message in (
        ("[rollouts]\ntask = 'x'\n", "sets task, which germline does not know"),
        ("[rollouts]\nworkers = -1\n", "sets workers to -1"),
        ("[rollouts]\ncost_cap_usd = 'much'\n", "sets cost_cap_usd to 'much'"),
        ("[rollouts.sql-analyst]\nagents = 'x'\n", "sets agents, which germline does not know"),
        ("rollouts = 3\n", "sets rollouts to 3"),
    ):
        terminal.write("germline.toml", text)
        answer = terminal("config")
        assert (answer.code, message in answer.err) == (2, True), answer.err


def test_a_skill_may_have_an_agent_and_caps_of_its_own(terminal: Terminal) -> None:
    name = proposed(terminal, "HELPS a lot.")
    settings = (terminal.folder / "germline.toml").read_text()
    terminal.write("germline.toml", f"{settings}[rollouts.sql-analyst]\ncost_cap_usd = 0.1\n")
    answer = terminal.does("candidate", "test", name, "--json").json
    (candidate,) = answer["candidates"]
    assert candidate["verdict"] == "hold"
    assert "cost cap of 0.1 USD" in candidate["reasons"][0]


def test_tasks_are_listed_by_split_and_those_of_logs_are_marked(terminal: Terminal) -> None:
    step = '{{"type": "step", "episode": "{0}", "prompt": "{1}", "tool": "sql", "text": "SELECT 1"}}\n'
    terminal.write("logs/a.jsonl", "".join(step.format(n, task(n).prompt) for n in range(10)))
    assert "10 of them new" in terminal.does("scan", "logs").out
    out = terminal.does("tasks", "list", "tasks.jsonl").out
    assert out.startswith("60 tasks: ")
    assert "10 of them as logs that show them" in out
    listed = terminal.does("tasks", "list", "tasks.jsonl", "--json").json
    rows = listed["tasks"]
    assert {row["task"] for row in rows if row["in_logs"]} == {task(n).id for n in range(10)}
    assert [listed[split] for split in ("explore", "sealed", "audit")] == [
        sum(row["split"] == split for row in rows) for split in ("explore", "sealed", "audit")
    ]
    sealed = terminal.does("tasks", "list", "tasks.jsonl", "--split", "sealed", "--json").json["tasks"]
    assert sealed == [row for row in rows if row["split"] == "sealed"]
    refused = terminal("tasks", "list", "none.jsonl")
    assert refused.code == 2
    assert "none.jsonl" in refused.err


def test_a_task_set_is_written_as_evals_and_what_decides_stays_out_of_the_skill(terminal: Terminal) -> None:
    tasks = next(terminal.folder.rglob("tasks.jsonl"))
    words = ("tasks", "export", str(tasks), "sql-analyst", "-o")
    planned = terminal.does(*words, "shared", "--dry-run", "--json").json
    assert not (terminal.folder / "shared").exists()
    assert (
        f"wrote      {planned['tasks']} tasks and 0 files for sql-analyst" in terminal.does(*words, "shared").out
    )
    assert len(load_tasks(terminal.folder / planned["place"], graded=False).tasks) == planned["tasks"]
    assert "is not overwritten" in terminal(*words, "shared").err
    refused = terminal(*words, "skills/sql-analyst")
    assert (refused.code, "agents would read there what decides" in refused.err) == (2, True)
    shown = terminal.does(*words, "skills/sql-analyst", "--split", "explore", "--json").json
    assert 0 < shown["tasks"] < planned["tasks"]


async def test_review_asks_whether_a_new_skill_may_come_to_be_and_a_name_too_long_is_refused(
    terminal: Terminal,
) -> None:
    new = "---\nname: {0}\ndescription: Counts visits.\n---\n\n# Visits\n\nCount each visitor once.\n"
    words = ("candidate", "propose", "{0}", "--from", "new.md", "--reason", "a test")
    terminal.write("new.md", new.format("v" * 65))
    refused = terminal(*(word.format("v" * 65) for word in words))
    assert "name has 65 characters, 64 are allowed (shorten it)" not in refused.err
    assert "name has 65 characters, 64 are allowed" in refused.err
    terminal.write("new.md", new.format("visits"))
    terminal.does(*(word.format("visits") for word in words))
    assert "# Visits / Count each visitor once." in terminal.does("candidates").out
    async with screens(terminal.folder / ".germline" / "registry.db", "/review") as at:
        assert "may this become the skill visits?" in at.pane("#candidate")
