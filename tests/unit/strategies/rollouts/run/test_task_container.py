"""Containers of tasks: which are made, of what, what they may do, and that none is left; a stub plays docker."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

import pytest

from events.errors import ContainerError, NotFoundError
from strategies.rollouts.run import task_container
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.graders import grade
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.sanity import check_task
from strategies.rollouts.run.task_container import end_containers, running, write_start
from strategies.rollouts.run.tools import ReadFile, RunCommand, Toolbox, WriteFile
from strategies.rollouts.run.trial import trial
from strategies.rollouts.run.trial_folders import lay_out
from strategies.rollouts.tasks.task import HarborGrader, RolloutTask
from strategies.sandbox.child_process import end_all
from strategies.sandbox.confined_run import run_folder
from strategies.sandbox.container_program import container_program
from tests.confining import POLICY, require_isolation
from tests.container_worlds import StubDocker, contained_set, contained_task
from tests.in_memory import ON_DISK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.rollouts.run.graders import Graded

CHECK = (
    'cd /app\nif [ "$(cat out.txt)" = forty-two ] && [ "$(cat made.txt)" = made ]\n'
    "then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n"
)
SOLVE = "cp /app/word.txt /app/out.txt\n"


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubDocker]:
    assert Path(__file__).stem in ON_DISK
    yield StubDocker(tmp_path / "docker", monkeypatch)
    end_containers()


@pytest.fixture
def task(docker: StubDocker, tmp_path: Path) -> RolloutTask:
    assert docker.folder.is_dir()
    return contained_task(tmp_path / "set", tests__test_dot_sh=CHECK, solution__solve_dot_sh=SOLVE)


def graded_of(task: RolloutTask, folder: Path) -> Graded:
    """Grade what lies in a folder."""
    (grader,) = task.graders
    assert isinstance(grader, HarborGrader)
    return grade(grader, AgentWork(task, folder, "", POLICY))


def begun(task: RolloutTask, folder: Path) -> Path:
    """Make the workspace that a task begins with."""
    folder.mkdir()
    write_start(task, folder)
    return folder


def changed(task: RolloutTask, **settings: object) -> RolloutTask:
    """Give a task with other settings of its image, or of its grader."""
    (grader,) = task.graders
    assert isinstance(grader, HarborGrader)
    assert grader.image is not None
    of_image = {name: value for name, value in settings.items() if name in type(grader.image).model_fields}
    image = grader.image.model_copy(update=of_image)
    grader = grader.model_copy(update={**settings, "image": image})
    return task.model_copy(update={"graders": (grader,)})


def script(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o700)


def test_docker_goes_before_podman_and_the_one_that_works_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, answers in (("both", (0, 0)), ("second", (1, 0)), ("none", (1, 1))):
        for program, code in zip(("docker", "podman"), answers, strict=True):
            script(tmp_path / name, program, f"echo {program} $@ >>{tmp_path}/asked\nexit {code}")
    chosen = []
    for name in ("both", "second", "none"):
        monkeypatch.setenv("PATH", f"{tmp_path / name}:/usr/bin:/bin")
        chosen.append([container_program(choice) for choice in ("auto", "auto", "never")])
    assert chosen[0] == ["docker", "docker", ""]
    assert chosen[1] == ["podman", "podman", ""]
    asked = (tmp_path / "asked").read_text().split("\n")[:-1]
    assert asked[:3] == ["docker info", "docker info", "podman info"]
    with pytest.raises(NotFoundError, match="neither docker nor podman works here") as error:
        container_program("always")
    assert 'container = "never"' in error.value.hint


def test_a_program_that_never_answers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "bin", "docker", "exec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    monkeypatch.setattr("strategies.sandbox.container_program._PROBE_S", 0.1)
    assert container_program("auto") != "docker"


def test_a_run_begins_with_the_working_directory_of_the_image_and_its_verifier_judges_in_there(
    task: RolloutTask, docker: StubDocker, tmp_path: Path
) -> None:
    assert check_task(task, POLICY) == ()
    folder = begun(task, tmp_path / "1")
    assert sorted(path.name for path in folder.iterdir()) == ["made.txt", "word.txt"]
    missed = graded_of(task, folder)
    assert (missed.value, missed.note.startswith("tests/test.sh: cat: "), missed.tampering) == (0.0, True, ())
    assert missed.note.endswith(" / exit code 0")
    (folder / "out.txt").write_text("forty-two\n")
    (folder / "made.txt").unlink()
    assert graded_of(task, folder).value == 0.0, "what the agent took away is not there again"
    (folder / "made.txt").write_text("made\n")
    assert graded_of(task, folder).value == 1.0
    assert [len(docker.asked(word)) for word in ("info", "build")] == [1, 1]
    assert docker.heard[0] == "building   the image of a-task"
    assert docker.heard[1].startswith("ready      the image of a-task, after ")
    assert docker.kept("containers") == []


def test_solution_and_verifier_have_a_container_each_and_only_the_workspace_goes_from_one_to_the_other(
    task: RolloutTask, docker: StubDocker
) -> None:
    assert check_task(changed(task, verifier_network=False, network=True), POLICY) == ()
    solved = docker.asked("run")[-2:]
    places = [{word.split(":")[1] for word in words if word.endswith(":Z")} for words in solved]
    assert places == [{"/app", "/logs", "/solution"}, {"/app", "/logs", "/tests"}]
    assert ["--network" in words for words in solved] == [False, True]


def test_a_solution_gives_itself_no_reward(docker: StubDocker, tmp_path: Path) -> None:
    writes = "echo 1 >/logs/verifier/reward.txt\n"
    judges = "test -e /app/out.txt || echo 0 >/logs/verifier/reward.txt\n"
    solves = f"touch /app/out.txt\n{writes}"
    task = contained_task(tmp_path / "set", tests__test_dot_sh=judges, solution__solve_dot_sh=solves)
    (violation,) = check_task(task, POLICY)
    assert "the verifier wrote no reward: solution/solve.sh: exit code 0 tests/test.sh: " in violation.problem
    assert docker.kept("containers") == []


def test_nothing_is_left_at_the_end_not_the_image_either(
    task: RolloutTask, docker: StubDocker, tmp_path: Path
) -> None:
    begun(task, tmp_path / "1")
    assert len(docker.kept("images")) == 1
    end_containers()
    assert docker.kept("images") == docker.kept("containers") == []


def test_tasks_with_the_same_environment_share_an_image_also_where_both_ask_at_once(
    docker: StubDocker, tmp_path: Path
) -> None:
    first, again = contained_set(tmp_path / "1", "a-task", "b-task").tasks
    other = contained_task(tmp_path / "2", environment__data__word_dot_txt="forty-three\n")
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(begun, (first, again, other), [tmp_path / name for name in "abc"]))
    assert len(docker.asked("build")) == len(docker.kept("images")) == 2
    assert (tmp_path / "c/word.txt").read_text() == "forty-three\n"


def test_a_container_has_the_limits_and_variables_of_its_task_and_no_network_unless_it_says_so(
    docker: StubDocker, tmp_path: Path
) -> None:
    settings = (
        "[environment]\nmemory_mb = 512\ncpus = 1\nallow_internet = false\nenv = { BASE = 'b' }\n"
        "[verifier]\nenv = { OWN = 'o' }\n[solution]\nenv = { SOLVES = 's' }\n"
    )
    shows = 'echo "$OWN$SOLVES" >/logs/verifier/reward.txt\n'
    task = contained_task(tmp_path / "set", task_dot_toml=settings, tests__test_dot_sh=shows)
    folder = begun(task, tmp_path / "1")
    assert "its last line is 'o'" in graded_of(task, folder).note
    words = docker.asked("run")[-1]
    pairs = set(pairwise(words))
    assert {("--memory", "512m"), ("--cpus", "1"), ("--network", "none"), ("--env", "BASE=b")} <= pairs
    assert {("--pids-limit", "2048"), ("--cap-drop", "MKNOD"), ("--stop-timeout", "0")} <= pairs
    assert words[-1] == "exec sleep 720", "it ends by itself, with nobody left to remove it"
    graded_of(changed(task, verifier_network=True), folder)
    assert "--network" not in docker.asked("run")[-1]


@pytest.mark.parametrize(
    ("settings", "network", "verifier"),
    [
        ("# silent", True, True),
        ("[environment]\nallow_internet = false", False, False),
        ("[environment]\nallow_internet = false\n[verifier]\nnetwork_mode = 'public'", False, True),
        ("[verifier]\nnetwork_mode = 'no-network'", True, False),
        ("[environment]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['pypi.org']", False, False),
        ("[environment]\nallow_internet = true\n[verifier]\nallowed_hosts = ['pypi.org']", True, False),
    ],
)
def test_who_has_a_network_is_what_the_settings_of_a_task_mean(
    docker: StubDocker,
    tmp_path: Path,
    settings: str,
    network: bool,  # noqa: FBT001 - a row
    verifier: bool,  # noqa: FBT001 - a row
) -> None:
    tasks = contained_set(tmp_path / "set", "a-task", task_dot_toml=settings)
    (grader,) = tasks.tasks[0].graders
    assert isinstance(grader, HarborGrader)
    assert grader.image is not None
    assert (grader.image.network, grader.image.verifier_network) == (network, verifier)
    network_notes = [note for note in tasks.notes if "has the network" in note]
    assert bool(network_notes) == (network or verifier), docker.folder


def test_no_variable_of_this_machine_is_given_to_a_task(
    docker: StubDocker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    env = "[verifier]\nenv = { KEY = '${A_KEY}', MODEL = '${A_MODEL:-small}', ASKED = '${A_KEY:-none}' }\n"
    tasks = contained_set(tmp_path / "set", "a-task", task_dot_toml=env)
    (grader,) = tasks.tasks[0].graders
    assert isinstance(grader, HarborGrader)
    assert grader.image is not None
    assert grader.image.verifier_environment == {"MODEL": "small", "ASKED": "none"}
    assert any("verifier.env: KEY is not set" in note for note in tasks.notes), docker.folder


def test_an_image_that_has_a_name_is_pulled_where_it_is_missing_and_stays(
    docker: StubDocker, tmp_path: Path
) -> None:
    settings = "[environment]\ndocker_image = 'base:1'\n"
    task = contained_task(tmp_path / "set", task_dot_toml=settings)
    begun(task, tmp_path / "1")
    end_containers()
    begun(task, tmp_path / "2")
    assert docker.asked("pull") == [["pull", "base:1"]]
    assert docker.asked("build") == []
    assert docker.kept("images") == ["base:1"]


@pytest.mark.parametrize(("step", "words"), [("build", "its image cannot be made"), ("run", "cannot be started")])
def test_what_cannot_be_built_or_started_is_named_with_the_next_command_and_is_no_failed_task(
    task: RolloutTask, docker: StubDocker, step: str, words: str
) -> None:
    docker.goes_wrong("fails", step)
    with pytest.raises(ContainerError, match=f"^task a-task: .*{words}: no space left .docker.$") as error:
        check_task(task, POLICY)
    assert error.value.hint.startswith("docker build /" if step == "build" else "docker info ")
    assert 'container = "never"' in error.value.hint
    agent = Agent(name="idle", argv=("true",))
    lost = trial(task, None, agent, POLICY)
    assert (lost.status, words in lost.note) == ("infrastructure", True)
    assert docker.kept("containers") == []


def test_an_image_that_takes_too_long_is_named_with_its_limit(task: RolloutTask, docker: StubDocker) -> None:
    docker.goes_wrong("hangs", "build")
    with pytest.raises(ContainerError, match=r"not there after 0\.1 s \(environment\.build_timeout_sec\)"):
        check_task(changed(task, build_limit_s=0.1), POLICY)


def test_a_verifier_past_its_limit_is_named_as_in_the_sandbox_and_is_gone(
    task: RolloutTask, docker: StubDocker, tmp_path: Path
) -> None:
    folder = begun(task, tmp_path / "1")
    docker.goes_wrong("hangs", "exec")
    result = graded_of(changed(task, limit_s=0.1), folder)
    assert (result.value, result.tampering) == (0.0, ("ran past its limit of 0.1 s",))
    assert docker.asked("exec")[-1][-2:] == ["kill -9 -1", "sh"]
    assert docker.kept("containers") == []


def test_a_container_that_goes_away_makes_a_run_void(
    task: RolloutTask, docker: StubDocker, tmp_path: Path
) -> None:
    folder = begun(task, tmp_path / "1")
    docker.goes_wrong("vanishes")
    with pytest.raises(ContainerError, match="could not be looked at: its container is gone: no such container"):
        graded_of(task, folder)


@pytest.mark.parametrize("step", ["build", "exec"])
def test_whoever_ends_all_commands_leaves_no_container_running(
    task: RolloutTask, docker: StubDocker, tmp_path: Path, step: str
) -> None:
    if step == "exec":
        begun(task, tmp_path / "1")
    docker.goes_wrong("hangs", step)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(check_task, task, POLICY)
        while not (docker.folder / "hanging").exists() and not waiting.done():
            sleep(0.01)
        (docker.folder / "hangs").unlink()
        end_all()
        with pytest.raises(ContainerError, match="germline ended it"):
            waiting.result(20)
    assert docker.kept("containers") == []


def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(
    task: RolloutTask, docker: StubDocker, tmp_path: Path
) -> None:
    begun(task, tmp_path / "1")
    (label,) = {words[words.index("--label") + 1] for words in docker.asked("run")}
    with run_folder("containers-") as alive:
        for kind, name in (("containers", "germline-{}-3"), ("images", "germline-task:1a2b-{}")):
            for maker, whose in (
                ("containers-gone1", label),
                (alive.name, label),
                ("containers-gone2", "else=1:/"),
            ):
                (docker.folder / kind / name.format(maker)).mkdir(parents=True)
                (docker.folder / kind / name.format(maker) / "label").write_text(whose)
        end_containers()
        begun(task, tmp_path / "2")
        mine = [name for name in docker.kept("images") if alive.name not in name and "gone" not in name]
        assert len(mine) == 1
        assert docker.kept("containers") == sorted([f"germline-{alive.name}-3", "germline-containers-gone2-3"])
        left = [f"germline-task:1a2b-{alive.name}", "germline-task:1a2b-containers-gone2"]
        assert docker.kept("images") == sorted([*mine, *left])


def test_where_nothing_makes_containers_any_more_a_task_that_asks_for_one_says_so(
    task: RolloutTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_container, "working_program", str)
    with pytest.raises(ContainerError, match="neither docker nor podman works here"):
        begun(task, tmp_path / "1")


def test_what_root_made_in_a_container_can_be_read_and_removed_by_who_is_not_root_here(
    task: RolloutTask, docker: StubDocker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = begun(task, tmp_path / "1")
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    changing = Path.chmod

    def chmod(path: Path, mode: int) -> None:
        if path.name == "word.txt":
            raise PermissionError  # of root, from a container before
        changing(path, mode)

    monkeypatch.setattr(Path, "chmod", chmod)
    with running(task, {folder: "."}, limit_s=30):
        assert (folder / "made.txt").stat().st_mode & 0o777 == 0o666
    assert docker.asked("exec")[-1][-3:] == ['chmod -R a+rwX -- "$@"', "sh", "/app"]


def test_no_link_of_an_image_leads_germline_out_of_the_workspace(docker: StubDocker, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    dockerfile = f"FROM base\nWORKDIR /app\nRUN ln -s {outside} .claude; ln -s gone.txt dangling\n"
    task = contained_task(tmp_path / "set", environment__Dockerfile=dockerfile)
    assert (begun(task, tmp_path / "1") / "dangling").is_symlink()
    skill = tmp_path / "greeter"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: greeter\ndescription: x\n---\n\nHello.\n")
    agent = Agent(name="idle", argv=("true",), skill_at=".claude/skills/{skill}")
    with run_folder("test-") as root, pytest.raises(ContainerError, match="leads the agent's skills elsewhere"):
        lay_out(task, skill, agent, root)
    assert list(outside.iterdir()) == [], docker.folder


def test_a_reward_is_not_read_through_a_link(docker: StubDocker, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("1\n")
    links = f"ln -s {secret} /logs/verifier/reward.txt\n"
    task = contained_task(tmp_path / "set", tests__test_dot_sh=links)
    result = graded_of(task, begun(task, tmp_path / "1"))
    assert (result.value, result.note.startswith("the verifier wrote no reward")) == (0.0, True), docker.folder


def test_an_agent_that_is_a_command_works_in_the_sandbox_and_the_verifier_sees_what_it_left(
    task: RolloutTask,
) -> None:
    require_isolation()
    agent = Agent(name="copies", argv=("cp", "word.txt", "out.txt"))
    done = trial(task, None, agent, POLICY)
    assert (done.status, done.value, done.tampering, done.attempts) == ("done", 1.0, (), ())


def test_the_tools_of_a_model_are_commands_in_the_container(
    task: RolloutTask, docker: StubDocker, tmp_path: Path
) -> None:
    with run_folder("test-") as root:
        layout = lay_out(task, None, Agent(name="messages", argv=("messages",)), root)
        with running(task, {layout.workspace: "."}, limit_s=30) as container:
            tools = Toolbox(task, layout, POLICY, container)
            wrote = tools.use(WriteFile(path="/app/new/out.txt", text="forty\n"), within_s=20)
            read = tools.use(ReadFile(path="new/out.txt"), within_s=20)
            failed = tools.use(RunCommand(argv=("sh", "-c", "cat; exit 3"), stdin="given"), within_s=20)
            docker.goes_wrong("hangs", "exec")
            late = tools.use(RunCommand(argv=("true",)), within_s=0.1)
            (docker.folder / "hangs").unlink()
            docker.goes_wrong("vanishes")
            gone = tools.use(RunCommand(argv=("true",)), within_s=20)
        assert (layout.workspace / "new/out.txt").read_text() == "forty\n"
    assert (wrote.text, read.text) == ("wrote /app/new/out.txt", "forty\n")
    assert (failed.text, failed.failed) == ("exit code 3\ngiven", True)
    assert (late.text, gone.ended) == ("stopped after 0 s", "void")
    assert docker.kept("containers") == [], tmp_path
