"""Tasks in the format of Harbor: what is read of their folders, and the reward that their verifiers write."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from events.errors import RefusedError, TaskFileError
from strategies.audit.audit_tasks import load_audit_tasks
from strategies.rollouts.compare.task_division import content_of
from strategies.rollouts.run.graders import grade, rewarded
from strategies.rollouts.run.harbor_script import reward_in, written_in
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.sanity import check_task
from strategies.rollouts.tasks.check_types import Fixture
from strategies.rollouts.tasks.dockerfile import built
from strategies.rollouts.tasks.load import load_tasks
from strategies.rollouts.tasks.task import HarborGrader, RolloutTask
from tests.confining import POLICY
from tests.harbor_folders import harbor
from tests.in_memory import ON_DISK

ALLOWED = POLICY.model_copy(update={"commands": ("bash",)})


def harbor_task(folder: Path, **other: str) -> RolloutTask:
    return load_tasks(harbor(folder, "a-task", **other)).tasks[0]


def grader(task: RolloutTask) -> HarborGrader:
    (only,) = task.graders
    assert isinstance(only, HarborGrader)
    return only


def left(task: RolloutTask, folder: Path, **files: str) -> AgentWork:
    """Give the workspace of an agent that left these files."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return AgentWork(task, folder, "", ALLOWED)


def test_a_folder_of_tasks_is_a_task_set(tmp_path: Path) -> None:
    harbor(tmp_path / "tasks", "first", "more/second", ".hidden/third")
    tasks = load_tasks(tmp_path / "tasks")
    assert (tasks.name, [task.id for task in tasks.tasks]) == ("tasks", ["first", "second"])
    task = tasks.tasks[0]
    assert task.prompt == "Write ./word.txt to ./out.txt; /apply nothing."
    assert (task.limit_s, task.tags) == (30.0, ("file-io", "easy"))
    held = {path: file.path for path, file in task.files.items() if isinstance(file, Fixture)}
    assert held == {
        "word.txt": "first/environment/data/word.txt",
        "more/deep.txt": "first/environment/data/more/deep.txt",
    }
    assert (grader(task).workdir, grader(task).limit_s, len(grader(task).solution)) == ("/app", 600.0, 1)
    assert [note[:12] for note in tasks.notes] == ["2 of 2 tasks"] * 2
    before = tasks.digest
    (tmp_path / "tasks/first/tests/check.py").write_text("")
    assert load_tasks(tmp_path / "tasks").digest != before


def test_tasks_in_the_sandbox_keep_the_digest_they_had_before_there_were_containers_and_share_none_with_them(
    tmp_path: Path,
) -> None:
    folder = harbor(tmp_path / "tasks", "first", "more/second")
    sandboxed = load_tasks(folder)
    assert sandboxed.digest == "59d5d009e364cf9588aa630152bd585647e19abd705dcdd42c3cb863d9c7060b"
    contained = load_tasks(folder, containers=lambda: "docker")
    assert contained.digest != sandboxed.digest
    assert [content_of(task) for task in contained.tasks] == [content_of(task) for task in sandboxed.tasks]
    (folder / "first/environment/etc.txt").write_text("other")
    assert load_tasks(folder, containers=lambda: "docker").digest != contained.digest


def test_what_makes_containers_is_asked_for_only_where_a_task_has_an_image(tmp_path: Path) -> None:
    def asked() -> str:
        raise AssertionError

    load_tasks(harbor(tmp_path / "plain", "a", environment__Dockerfile=""), containers=asked)
    with pytest.raises(AssertionError):
        load_tasks(harbor(tmp_path / "built", "a"), containers=asked)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("docker_image = '--privileged'", "docker_image|name is"),
        ("memory = 'much'", "environment.memory is 'much'"),
        ("cpus = []\nmemory_mb = -1", "memory_mb"),
        ("env = { 'A B' = '1' }", "environment"),
    ],
)
def test_a_container_that_cannot_be_is_named(tmp_path: Path, settings: str, words: str) -> None:
    folder = harbor(tmp_path, "a-task", task_dot_toml=f"[environment]\n{settings}\n")
    with pytest.raises(TaskFileError, match=words) as error:
        load_tasks(folder, containers=lambda: "docker")
    assert error.value.hint


def test_a_task_set_that_is_a_file_brings_no_image_past_what_the_person_chose(tmp_path: Path) -> None:
    (tmp_path / "test.sh").write_text("")
    grader = '{ name = "r", kind = "harbor", script = "test.sh", image = { name = "base" } }'
    (tmp_path / "tasks.toml").write_text(f'[[tasks]]\nid = "a"\nprompt = "p"\ngraders = [{grader}]\n')
    with pytest.raises(TaskFileError, match="image is not known here"):
        load_tasks(tmp_path / "tasks.toml", containers=lambda: "docker")


def test_one_task_is_a_task_set_too_and_an_audit_takes_both(tmp_path: Path) -> None:
    harbor(tmp_path, "alone", tests__test_dot_sh="", solution__solve_dot_sh="")
    with pytest.raises(TaskFileError, match="has no tests/test"):
        load_tasks(tmp_path / "alone")
    assert [task.id for task in load_audit_tasks(tmp_path / "alone").tasks] == ["alone"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"task_dot_toml": "="}, "is no TOML"),
        ({"task_dot_toml": "agent = 3"}, "agent is no table"),
        ({"task_dot_toml": "[verifier]\ntimeout_sec = -1"}, "timeout_sec is -1"),
        ({"task_dot_toml": '[[steps]]\nname = "one"'}, "several steps"),
        ({"task_dot_toml": f"a = {'[' * 50_000}"}, "is no TOML"),
        ({"instruction_dot_md": "<!-- canary -->\n"}, "prompt is ''"),
        ({"environment__data__a\nb": "x"}, "no plain relative path"),
        ({"tests__a\nb": "x"}, "no plain relative path"),
        ({"instruction_dot_md": ""}, "holds no task"),
    ],
)
def test_what_is_no_task_is_named(tmp_path: Path, other: dict[str, str], words: str) -> None:
    with pytest.raises(TaskFileError, match=words) as error:
        harbor_task(tmp_path, **other)
    assert error.value.hint


@pytest.mark.parametrize("name", ["instruction.md", "task.toml", "environment/Dockerfile"])
def test_nothing_outside_of_a_set_is_read_for_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("a key")
    place = harbor(tmp_path / "set", "a-task") / "a-task" / name
    place.unlink()
    place.symlink_to(tmp_path / "secret.txt")
    with pytest.raises(TaskFileError, match="is no file below"):
        load_tasks(tmp_path / "set")


def test_links_in_an_environment_are_passed_over_and_said_so(tmp_path: Path) -> None:
    context = harbor(tmp_path / "set", "a-task") / "a-task/environment/data"
    (context / "link.txt").symlink_to("word.txt")
    tasks = load_tasks(tmp_path / "set")
    assert "link.txt" not in tasks.tasks[0].files
    assert "1 of 1 tasks: links in environment/ are passed over" in tasks.notes


def test_a_pipe_in_the_place_of_the_settings_is_not_waited_for(tmp_path: Path) -> None:
    place = harbor(tmp_path, "a-task", task_dot_toml="") / "a-task/task.toml"
    os.mkfifo(place)
    with pytest.raises(TaskFileError, match="is no file below"):
        load_tasks(tmp_path)


def test_an_instruction_of_many_canaries_is_read_at_once(tmp_path: Path) -> None:
    begun = time.monotonic()
    many = f"<!-- canary -->\n# {'canary ' * 40_000}\n\nDo it.\n"
    assert harbor_task(tmp_path / "1", instruction_dot_md=many).prompt == "Do it."
    assert harbor_task(tmp_path / "2", instruction_dot_md=f"#{'canary' * 40_000}").prompt.startswith("#canary")
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("dockerfile", "placed", "outside"),
    [
        ("FROM x\nWORKDIR /w\nCOPY . .\n", {"data/word.txt", "data/more/deep.txt", "etc.txt"}, ()),
        ("FROM x\nWORKDIR /w\nCOPY data /w/d\n", {"d/word.txt", "d/more/deep.txt"}, ()),
        ('FROM x\nWORKDIR /w\nCOPY --chown=1:1 ["etc.txt", "renamed.txt"]\n', {"renamed.txt"}, ()),
        ("FROM x\nWORKDIR /w\nCOPY *.txt ./\n", {"etc.txt"}, ()),
        ("FROM x\nWORKDIR /\nWORKDIR w\nCOPY etc.txt sub/\n", {"sub/etc.txt"}, ()),
        ("FROM x\nWORKDIR /w\nCOPY --from=build /a /w/a\nADD etc.txt /data/\n", set(), ("/data/etc.txt",)),
    ],
)
def test_a_run_begins_with_what_is_copied_into_the_working_directory(
    tmp_path: Path, dockerfile: str, placed: set[str], outside: tuple[str, ...]
) -> None:
    context = harbor(tmp_path, "a", environment__Dockerfile=dockerfile) / "a/environment"
    start = built(context)
    assert (start.workdir, set(start.files), start.outside) == ("/w", placed, outside)


def test_a_dockerfile_that_copies_too_often_from_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strategies.rollouts.tasks.dockerfile.MOST_COMPARED", 12)
    context = harbor(tmp_path, "a", environment__Dockerfile="COPY *.txt . /app/\n" * 2) / "a/environment"
    assert len(built(context).files) == len({*context.rglob("*.txt")})
    (context / "Dockerfile").write_text("COPY *.txt . /app/\n" * 3)
    with pytest.raises(TaskFileError, match=r"COPY and ADD name, times 3 files, is over 12"):
        built(context)


def test_without_a_dockerfile_the_whole_environment_is_the_working_directory(tmp_path: Path) -> None:
    compose = {"environment__docker-compose_dot_yaml": "services: {}"}
    start = built(harbor(tmp_path, "a", environment__Dockerfile="", **compose) / "a/environment")
    assert (start.workdir, set(start.files)) == ("/app", {"data/word.txt", "data/more/deep.txt", "etc.txt"})
    assert (start.from_image, start.services) == (False, True)


def test_the_verifier_gives_the_reward_and_its_solution_proves_it(tmp_path: Path) -> None:
    assert Path(__file__).stem in ON_DISK
    task = harbor_task(tmp_path / "set")
    assert check_task(task, ALLOWED) == ()
    right, wrong = left(task, tmp_path / "1", out_dot_txt="forty-two\n"), left(task, tmp_path / "2")
    assert grade(grader(task), right).value == 1.0
    missed = grade(grader(task), wrong)
    assert (missed.value, "FileNotFoundError" in missed.note, missed.tampering) == (0.0, True, ())
    assert not list((tmp_path / "2").iterdir()), "it runs on a copy"
    with pytest.raises(RefusedError, match="bash"):
        grade(grader(task), AgentWork(task, tmp_path / "1", "", POLICY))


def test_a_verifier_that_cannot_work_here_is_named_before_anything_is_run(tmp_path: Path) -> None:
    missing = harbor_task(tmp_path / "1", tests__test_dot_sh="no-such-program /tests/check.py\n")
    (violation,) = check_task(missing, ALLOWED)
    assert violation.problem.startswith("the verifier wrote no reward: tests/test.sh: ")
    assert "command not found" in violation.problem
    hopeless = harbor_task(tmp_path / "2", solution__solve_dot_sh="no-such-program\n")
    (violation,) = check_task(hopeless, ALLOWED)
    assert violation.problem.startswith("its own solution gets the reward 0.00: solution/solve.sh: ")
    reach = 'import socket; socket.create_connection(("192.0.2.1", 80), 1)'
    reaching = harbor_task(tmp_path / "3", tests__test_dot_sh=f"python3 -c '{reach}'\n")
    problems = [violation.problem for violation in check_task(reaching, ALLOWED)]
    assert any("grader reward: tried to reach 192.0.2.1" in problem for problem in problems), problems


@pytest.mark.parametrize("reward", ["2", "-1", "NaN", "1e999", "\\033[31mred"])
def test_a_reward_that_is_no_share_is_none_and_is_named_before_anything_is_run(
    tmp_path: Path, reward: str
) -> None:
    writes = f"printf -- '{reward}\\n' > /logs/verifier/reward.txt\n"
    task = harbor_task(tmp_path / "set", tests__test_dot_sh=writes, solution__solve_dot_sh="")
    (violation,) = check_task(task, ALLOWED)
    assert violation.problem.startswith("the verifier wrote no reward from 0 to 1: its last line is '")
    assert violation.problem.isprintable()


def test_what_a_verifier_leaves_running_is_not_waited_for_nor_a_pipe_that_it_leaves(tmp_path: Path) -> None:
    stays = "(trap '' HUP TERM; sleep 60) &\necho 1 > /logs/verifier/reward.txt\n"
    task = harbor_task(tmp_path / "1", tests__test_dot_sh=stays)
    begun = time.monotonic()
    assert grade(grader(task), left(task, tmp_path / "w1")).value == 1.0
    pipe = harbor_task(
        tmp_path / "2", tests__test_dot_sh="mkfifo /logs/verifier/reward.json /logs/verifier/reward.txt\n"
    )
    assert grade(grader(pipe), left(pipe, tmp_path / "w2")).note.startswith("the verifier wrote no reward")
    assert time.monotonic() - begun < 30


def test_a_solution_is_not_there_for_the_verifier_of_an_agent_s_work(tmp_path: Path) -> None:
    looking = "mkdir -p /logs/verifier\ntest -e /solution/solve.sh; echo 0.$? > /logs/verifier/reward.txt\n"
    task = harbor_task(tmp_path / "set", tests__test_dot_sh=looking)
    work = left(task, tmp_path / "1")
    assert grade(grader(task), work).value == 0.1
    assert rewarded(grader(task), work, solved=True).value == 0.0


@pytest.mark.parametrize(
    ("files", "reward"),
    [
        ({"reward.txt": "0.85\n"}, "0.85"),
        ({"reward.json": '{"reward": 0.5, "speed": 3}'}, "0.5"),
        ({"reward.json": '{"accuracy": 0.25}', "reward.txt": "1"}, "0.25"),
        ({"reward.json": "0.75"}, "0.75"),
        ({"reward.json": '{"a": 1, "b": 0}', "reward.txt": "1"}, "1"),
        ({"reward.json": "{", "reward.txt": ""}, ""),
        ({"reward.json": "[" * 100_000, "reward.txt": "1"}, "1"),
        ({"reward.json": f"1{'0' * 400}"}, "inf"),
        ({}, ""),
    ],
)
def test_a_reward_is_read_from_either_file(tmp_path: Path, files: dict[str, str], reward: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert reward_in(lambda name: written_in(tmp_path / name)) == reward
