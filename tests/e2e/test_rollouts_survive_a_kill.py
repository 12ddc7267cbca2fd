"""kill -9 in the middle of runs: what was finished is found again, and nothing is counted twice."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from events.sqlite.log import SqliteLog
from registry.registry import Registry
from strategies.rollouts.compare.judge_group import try_out
from strategies.sandbox import child_process
from strategies.sandbox.confined_run import ConfinedCommand, SandboxPolicy, run
from tests.clocks import TickingClock
from tests.confining import Pulse, require_isolation
from tests.fake_runs import FakeRunner, planted, rewritten, rig
from tests.forked import ForkedCommand
from tests.registries import SKILL, imported, new_registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.trial import Trial

DIES_AT = 41
WORKERS = 2


class Counting(FakeRunner):
    """Writes a line for every run it is asked for, and kills its process at the run with that number."""

    counter: Path
    dies_at = 0

    def __call__(self, job: PlannedRun) -> Trial:
        with self.lock:
            with self.counter.open("a") as stream:
                stream.write(f"{job.arm.name[:12]} {job.task.id} {job.round}\n")
            if self.dies_at and len(self.counter.read_text().splitlines()) == self.dies_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(job)


def run_candidate(folder: Path, name: str, *, dies_at: int = 0) -> None:
    """Test the candidate in this process."""
    registry = Registry(SqliteLog.open(folder / "registry.db"), TickingClock(seed=dies_at + 2), "person:ada")
    runner = Counting(planted)
    runner.counter, runner.dies_at = folder / "counter", dies_at
    (candidate,) = try_out(rig(registry, runner, workers=WORKERS), [name])
    assert candidate.verdict == "promote"
    registry.log.close()


def die(words: Sequence[str]) -> None:
    """Test a candidate, and be killed on the way."""
    run_candidate(Path(words[0]), words[1], dies_at=DIES_AT)


def finished(folder: Path) -> list[str]:
    """List the keys of the runs that the registry keeps."""
    with sqlite3.connect(folder / "registry.db") as connection:
        rows = connection.execute("SELECT json_extract(body, '$.key') FROM blobs WHERE kind = 'run'")
        return [key for (key,) in rows]


def test_a_killed_comparison_reuses_its_finished_runs_and_counts_none_twice(tmp_path: Path) -> None:
    registry = new_registry(tmp_path, TickingClock())
    imported(registry, tmp_path)
    copy = tmp_path / "rewritten.md"
    copy.write_text(SKILL.replace("Round nothing.", "Round nothing. HELPS a lot."))
    name = rewritten(registry, copy)
    registry.log.close()

    with ForkedCommand([tmp_path, name], called="tests.e2e.test_rollouts_survive_a_kill:die") as killed:
        assert killed.wait() == -signal.SIGKILL, killed.stderr.read()
    before = finished(tmp_path)
    assert DIES_AT - 2 * WORKERS <= len(before) < DIES_AT

    run_candidate(tmp_path, name)
    after = finished(tmp_path)
    asked = Counter((tmp_path / "counter").read_text().splitlines())
    assert len(after) == len(set(after))
    assert set(before) <= set(after)
    twice = sum(times - 1 for times in asked.values())
    assert twice == sum(asked.values()) - len(after) <= 2 * WORKERS

    again = Registry(SqliteLog.open(tmp_path / "registry.db"), TickingClock(seed=9), "person:ada")
    candidate = again.candidate(name)
    assert candidate is not None
    assert candidate.scored is not None
    assert candidate.scored.rollouts is not None
    assert candidate.scored.rollouts.runs + candidate.scored.rollouts.reused == len(after)
    assert candidate.scored.rollouts.reused == len(before)
    assert candidate.times_scored == 1
    assert again.log.verify().problems == ()
    again.log.close()


def folder_in(place: Path, name: str) -> Path:
    folder = place / name
    folder.mkdir()
    return folder


def test_all_commands_that_threads_wait_for_can_be_ended_at_once(tmp_path: Path) -> None:
    require_isolation()
    pulses = [Pulse(folder_in(tmp_path, name)) for name in ("one", "other")]
    code = "import sys, time; open(sys.argv[1], 'w', buffering=1).write('beat\\n'); time.sleep(90)"
    commands = [
        ConfinedCommand(
            argv=(sys.executable, "-I", "-S", "-c", code, str(pulse.path)),
            cwd=tmp_path,
            root=tmp_path,
            writable=(tmp_path,),
            limit_s=90,
        )
        for pulse in pulses
    ]
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(run, command, SandboxPolicy()) for command in commands]
        for pulse in pulses:
            pulse.wait_for_beat()
        child_process.end_all()
        assert {future.result().ended for future in waiting} == {"void"}
    assert not child_process.RUNNING
