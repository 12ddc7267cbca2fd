"""Work on a Dask cluster: the bytes of the local engine, whatever happens to workers; silent, and nothing left."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from multiprocessing import forkserver
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from unittest.mock import patch

import pytest

from events.errors import EngineError, EngineMismatchError, IsolationError, OutOfSightError
from strategies.engines import dask_engine
from strategies.engines.code_version import code_here, differences
from strategies.engines.dask_engine import DaskWorkers, _cluster_here
from strategies.engines.engine_settings import EngineSettings
from strategies.engines.share import HERE, Sharing, Workers
from strategies.evolve.loop import Plan, evolve
from strategies.gate.replay.explore_split import Explore, forget
from strategies.logs.scan_file import ReadTask
from strategies.logs.scan_parallel import scan_files, scan_in_sight
from strategies.policy.presets import PRESETS
from strategies.pool import raise_signals
from strategies.pool.intake import scan_into, take_in
from strategies.propose.guard import guard_claims
from strategies.propose.habit import habit_claims
from strategies.rollouts.compare.harness import AgentRunner
from strategies.rollouts.compare.judge_group import try_out
from strategies.rollouts.compare.remote import made_there, sent_elsewhere
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.arms import NO_SKILL
from strategies.rollouts.run.store import PlannedRun
from strategies.sandbox.child_process import end_all
from strategies.sandbox.confined_run import SandboxPolicy
from tests.clocks import TickingClock
from tests.confining import require_isolation, without_anything
from tests.dask_worlds import DrawnRunner, commands_running, explores_kept, nothing_wrong
from tests.fake_runs import FakeRunner, planted, rewritten, rig, task
from tests.registries import NAME, SKILL, imported, new_registry
from tests.sample_logs import SAMPLES
from tests.terminal import Terminal
from tests.worlds import division_of, world_with_a_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from registry.registry import Registry
    from strategies.engines.engine import Elsewhere

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = 20
T = TypeVar("T")

pytestmark = pytest.mark.xdist_group("dask")  # one cluster for all of them


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Start a cluster of two workers, once: its processes take a second."""
    assert not multiprocessing.active_children()
    forkserver._forkserver._stop()  # type: ignore[attr-defined] # others' has not loaded what these need
    with ExitStack() as stack:
        stack.enter_context(patch.object(dask_engine, "_LOADED", (*dask_engine._LOADED, "tests.dask_worlds")))
        yield _cluster_here(stack, 2)


@pytest.fixture(autouse=True)
def sources_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let someone work on the sources while these tests run: a worker that is started again would read others."""
    monkeypatch.setattr(dask_engine, "differences", lambda here, there: differences(without(here), without(there)))


def without(code: dict[str, str]) -> dict[str, str]:
    return {name: what for name, what in code.items() if name != "germline"}


@pytest.fixture
def workers(scheduler: str) -> Iterator[DaskWorkers]:
    there = DaskWorkers(EngineSettings(name="dask", scheduler=scheduler), forget=forget)
    yield there
    there.close()


def registry_in(folder: Path) -> Registry:
    folder.mkdir()
    return new_registry(folder, TickingClock())


def source_rows(registry: Registry) -> dict[str, list[tuple[object, ...]]]:
    """Read all rows that a registry is made of."""
    registry.log.close()
    with sqlite3.connect(registry.log.location) as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in ("events", "blobs", "episodes", "checkpoints")
        }


@pytest.fixture
def counted_salts(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Give a way to begin the salts of evidence again: they are the one thing that is drawn for each registry."""

    def begin() -> None:
        salts = count()
        monkeypatch.setattr(raise_signals, "new_salt", lambda: f"{next(salts):032x}")

    return begin


GREETER = Agent(
    name="greeter",
    argv=(sys.executable, "-I", "-S", "-c", "open('done', 'w'); open('log', 'w'); print({round}, 'done')"),
)


def test_an_agent_runs_confined_on_the_worker_and_comes_to_what_it_does_here(workers: DaskWorkers) -> None:
    require_isolation()
    job, runner = PlannedRun(NO_SKILL, task(1), 0), partial(AgentRunner, GREETER, SandboxPolicy())
    there = workers.call(partial(made_there, runner, job, workers.session))
    here = made_there(runner, job, "")
    assert (there.status, there.value) == ("done", 1.0)
    assert there.model_copy(update={"seconds": 0.0}) == here.model_copy(update={"seconds": 0.0})


def test_agents_that_nobody_waits_for_any_more_are_ended_on_their_workers_and_those_of_others_go_on(
    workers: DaskWorkers,
) -> None:
    require_isolation()
    waits = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(90)")
    runner = partial(AgentRunner, Agent(name="waits", argv=waits), SandboxPolicy())

    def running() -> int:
        return sum(workers._connected().run(commands_running).values())

    with ThreadPoolExecutor(2) as threads:
        own, other = (
            threads.submit(
                workers.call, partial(made_there, runner, PlannedRun(NO_SKILL, task(number), 0), session)
            )
            for number, session in enumerate((workers.session, "somebody else's"))
        )
        while running() < 2:
            time.sleep(0.05)
        workers._connected().run(end_all, workers.session)
        assert own.result().status == "infrastructure"
        assert running() == 1
        workers._connected().run(end_all, "somebody else's")
        workers.end(end_all)
        with suppress(EngineError):
            other.result()
    while running():
        time.sleep(0.05)


def logs_of_all_formats(folder: Path) -> Path:
    """Write twenty logs, no two the same."""
    folder.mkdir()
    for number in range(FILES):
        sample = SAMPLES[number % len(SAMPLES)]
        body = sample.body if sample.text else sample.body.replace(b"s1", f"s{number}".encode())
        (folder / f"{number:02}-{sample.name}").write_bytes(body)
    return folder


def test_scan_with_a_worker_killed_on_the_way_gives_the_bytes_of_a_local_one(
    workers: DaskWorkers, tmp_path: Path, capfd: pytest.CaptureFixture[str], counted_salts: Callable[[], None]
) -> None:
    logs = logs_of_all_formats(tmp_path / "logs")
    local, shared = registry_in(tmp_path / "local"), registry_in(tmp_path / "dask")
    counted_salts()
    scan_into(local, [logs])
    counted_salts()
    killed: list[int] = []

    def kill_a_worker(done: int, total: int) -> None:
        if not killed and done < total:
            killed.append(next(iter(workers._connected().run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    with workers.files([1]) as executor:
        scan, _ = scan_into(shared, [logs], executor=executor, progress=kill_a_worker)
        assert killed[0] not in workers._connected().run(os.getpid).values()
    assert len(scan.files) == FILES
    rows = source_rows(local)
    assert all(rows.values())
    assert source_rows(shared) == rows
    assert capfd.readouterr() == ("", "")


class Ran(NamedTuple):
    """The rows that are kept of a candidate that was tested, which runs were made by whom, and who was killed."""

    rows: dict[str, list[tuple[object, ...]]]
    made: list[tuple[str, str]]
    killed: str


def ran(folder: Path, elsewhere: Elsewhere | None) -> Ran:
    """Test a candidate here or elsewhere."""
    registry = registry_in(folder)
    imported(registry, folder)
    (folder / "rewritten.md").write_text(SKILL.replace("Round nothing.", "Round nothing. HELPS a lot."))
    name = rewritten(registry, folder / "rewritten.md", reason="test")
    counted = folder / "counted"
    counted.mkdir()
    subject = rig(registry, FakeRunner(planted), tasks=[task(number) for number in range(8)])
    runner = partial(DrawnRunner, counted=counted, home=os.getpid())
    harness = replace(subject.harness, runner=runner, violations=nothing_wrong)
    harness = harness if elsewhere is None else sent_elsewhere(harness, elsewhere)
    try_out(replace(subject, harness=harness), [name])
    made = [(run, worker) for run, _, worker in (file.name.rpartition("-") for file in counted.iterdir())]
    died = folder / "died"
    candidate_test = Ran(source_rows(registry), made, died.read_text() if died.exists() else "")
    rmtree(folder)
    return candidate_test


def test_runs_with_a_worker_killed_on_the_way_give_the_bytes_of_local_ones(
    workers: DaskWorkers, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = ran(tmp_path / "of", None)
    there = ran(tmp_path / "of", workers)  # the same place: events name it
    times = Counter(run for run, _ in there.made)
    assert times.keys() == {run for run, _ in here.made}
    again = {run for run, count in times.items() if count > 1}
    assert again, "the run that died was made once more"
    lost = {run for run, worker in there.made if worker == there.killed}
    assert again <= lost, "and none but those that died with their worker, or had not been handed over by it"
    assert max(times.values()) == 2
    assert str(os.getpid()) not in {worker for _, worker in there.made}
    for table in ("events", "blobs"):
        assert here.rows[table]
        assert there.rows[table] == here.rows[table]
    assert capfd.readouterr() == ("", "")


class KillingDask(DaskWorkers):
    """Kills a worker when its second call is handed over."""

    calls_made = 0

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Hand over a call."""
        self.calls_made += 1
        future = super().submit(function)
        if self.calls_made == 2:
            os.kill(next(iter(self._connected().run(os.getpid).values())), signal.SIGKILL)
        return future


def evolved(folder: Path, sharing: Sharing) -> dict[str, list[tuple[object, ...]]]:
    """Evolve a skill on episodes in which a rule holds; returns the rows that are kept."""
    registry = registry_in(folder)
    imported(registry, folder)
    take_in(registry, world_with_a_rule(3, tasks=150))
    assert evolve(registry, Plan(PRESETS["balanced"], 7, skill=NAME, cycles=3, sharing=sharing)).cycles
    rows = source_rows(registry)
    rmtree(folder)
    return rows


def test_evolution_with_a_worker_killed_on_the_way_gives_the_bytes_of_one_process(
    scheduler: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = evolved(tmp_path / "of", HERE)
    dask = KillingDask(EngineSettings(name="dask", scheduler=scheduler), forget=forget)
    explore = division_of(world_with_a_rule(3, tasks=60), "1").explore
    claims = [*habit_claims(explore), *guard_claims("", explore)]
    with Sharing(Workers(lambda: 2, dask.calls), start_s=0.0, part_s=1e-9) as sharing:  # whoever is there by now
        assert Explore(explore, sharing).shows_all(claims) == Explore(explore).shows_all(claims)
        mined = dask.calls_made
        others = evolved(tmp_path / "of", sharing)  # the same place: events name it
        assert dask.calls_made > mined >= 2
        assert sum(dask._connected().run(explores_kept).values())
    assert dask._client is None
    assert not sum(dask._connected().run(explores_kept).values())
    dask.close()
    assert rows["events"]
    assert others == rows
    assert capfd.readouterr() == ("", "")


def test_where_a_worker_cannot_isolate_it_is_the_worker_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    without_anything(monkeypatch)
    runner = partial(AgentRunner, GREETER, SandboxPolicy())
    with pytest.raises(IsolationError, match=rf"on the worker {os.uname().nodename}: .* cannot isolate") as caught:
        made_there(runner, PlannedRun(NO_SKILL, task(1), 0), "session")
    assert caught.value.missing


class KilledWorker(Exception):  # noqa: N818 - bears the name that Dask gives to it
    """Stands for Dask's own, which only a scheduler can make."""


@pytest.mark.parametrize("error", [KilledWorker("all of them died"), CancelledError()], ids=repr)
def test_what_dask_gives_up_on_is_told_with_a_hint(error: Exception) -> None:
    with pytest.raises(EngineError) as caught, dask_engine._told():
        raise error
    assert caught.value.hint


def test_workers_that_run_other_code_are_refused_before_they_get_work(
    workers: DaskWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "code_here", lambda: {"python": f"3.11 of {os.getpid()}"})
    with pytest.raises(EngineMismatchError, match=r"tcp://.*: python 3\.11 of \d+, here 3\.11") as caught:
        workers.call(os.getpid)
    assert "every worker" in caught.value.hint


def test_sources_packages_and_log_readers_make_the_code_of_a_worker() -> None:
    code = code_here()
    assert {"germline", "python", "msgspec", "dask", "log readers"} <= code.keys()
    assert differences(code, code) == ()
    assert differences(code, code | {"msgspec": "0.1"}) == (f"msgspec 0.1, here {code['msgspec']}",)


def test_a_file_that_a_worker_sees_otherwise_is_named_and_never_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "own.jsonl"
    log.write_bytes(b"{}\n")
    for seen in (ReadTask(path=log), ReadTask(path=tmp_path / "gone.jsonl")):
        with pytest.raises(OutOfSightError, match=f"does not see {seen.path}") as caught:
            scan_in_sight(seen, 4)
        assert "same path on every worker" in caught.value.hint


class CuttingOff(ThreadPoolExecutor):
    """Empties a file before it is read, as a rotation may."""

    def __init__(self, path: Path) -> None:
        super().__init__(1, initializer=lambda: path.write_bytes(b""))


def test_a_file_that_was_cut_off_here_too_is_read_as_it_is_now(tmp_path: Path) -> None:
    log = tmp_path / "own.jsonl"
    log.write_bytes(SAMPLES[0].body)
    with CuttingOff(log) as executor:
        (file_scan,) = scan_files([ReadTask(path=log)], executor, None)
    assert (file_scan.drafts, file_scan.broken) == ((), None)


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path).with_skill()
    terminal.write("logs/own.jsonl", SAMPLES[0].body)
    return terminal


def test_the_command_line_hands_a_scan_to_the_scheduler_that_is_named(germline: Terminal, scheduler: str) -> None:
    answer = germline.does("scan", "logs", "--engine", "dask", "--scheduler", scheduler, "--json")
    assert answer.json["episodes"] == SAMPLES[0].episodes
    assert answer.err == ""


def test_a_scheduler_that_does_not_answer_is_told_within_the_time_that_is_set(germline: Terminal) -> None:
    germline.write("germline.toml", '[engine]\nname = "dask"\nscheduler = "tcp://127.0.0.1:1"\nconnect_s = 0.2\n')
    answer = germline("scan", "logs")
    assert answer.code == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:1 within 0.2 s" in answer.err
    assert "dask scheduler" in answer.hint
    assert germline.does("scan", "logs", "--engine", "local", "--json").json["episodes"] == SAMPLES[0].episodes


def test_a_project_may_not_name_a_scheduler_on_another_machine(germline: Terminal) -> None:
    germline.write("germline.toml", '[engine]\nscheduler = "tcp://203.0.113.7:8786"\n')
    answer = germline("scan", "logs")
    assert answer.code == 2
    assert "could run its code on this machine" in answer.err
    assert "export GERMLINE_ENGINE_SCHEDULER=tcp://203.0.113.7:8786" in answer.hint


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "slurm"), "slurm"),
        (("--scheduler", "tcp://127.0.0.1:1"), "for another engine than local"),
    ],
)
def test_an_engine_that_cannot_be_is_a_slip_of_whoever_typed_it(
    germline: Terminal, words: tuple[str, ...], message: str
) -> None:
    answer = germline("scan", "logs", *words)
    assert (answer.code, message in answer.err) == (2, True)


def test_without_dask_all_works_but_the_engine_that_needs_it(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "find_spec", lambda _: None)
    answer = germline("scan", "logs", "--engine", "dask")
    assert answer.code == 2
    assert answer.hint.startswith("pip install 'dask>=")
    germline.does("scan", "logs")


def test_ctrl_c_ends_a_local_cluster_in_good_order(germline: Terminal) -> None:
    pipe, temporary = germline.folder / "session.jsonl", germline.folder / "tmp"
    os.mkfifo(pipe)
    temporary.mkdir()
    words = [sys.executable, "-m", "tui.cli.main", "scan", str(pipe), "--engine", "dask"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), "GERMLINE_ENGINE_WORKERS": "1"}
    command = subprocess.Popen(
        words,
        cwd=germline.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with pipe.open("wb"):  # opens once a worker reads: it waits for the first byte now
        os.killpg(command.pid, signal.SIGINT)
        out, err = command.communicate()
    assert (command.returncode, out) == (130, "")
    assert err == "interrupted: what was acknowledged is safe; the same command goes on from there\n"
    assert list(temporary.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.killpg(command.pid, 0)
    assert json.loads(germline.does("verify", "--json").out)["ok"]
