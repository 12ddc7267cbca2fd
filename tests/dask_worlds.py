"""A small Dask cluster, and what is sent to its workers: it must be importable there, as test modules are not."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.gate.replay import explore_split
from strategies.rollouts.run.trial import Trial
from strategies.sandbox import child_process
from tests.fake_runs import draw, main_text, planted

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.rollouts.run.sanity import Violation
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.tasks.task import RolloutTask


@dataclass(frozen=True)
class DrawnRunner:
    """Draws trials as FakeRunner does; one run, once `dies_at` were begun, kills the worker that makes it.

    A worker is whoever is not `home`. Each run leaves a file in `counted`.
    """

    place: Path
    counted: Path
    home: int
    dies_at: int = 5

    def __call__(self, job: PlannedRun) -> Trial:
        (self.counted / f"{job.arm.digest[:8]}-{job.task.id}-{job.round}-{os.getpid()}").touch()
        if os.getpid() != self.home and len(list(self.counted.iterdir())) >= self.dies_at:
            with suppress(FileExistsError), self.counted.with_name("died").open("x") as died:
                died.write(str(os.getpid()))
                died.flush()
                os.kill(os.getpid(), signal.SIGKILL)
        passed = draw(job.arm.key, job.task.id, job.round) < planted(main_text(job), job.task)
        return Trial(task=job.task.id, status="done", value=float(passed), seconds=0.5, cost_usd=0.25)


def commands_running() -> int:
    """Count the commands that this process runs confined."""
    return len(child_process.RUNNING)


def explores_kept() -> int:
    """Count the explore splits that this process keeps unpacked."""
    return explore_split._arrived.cache_info().currsize


def nothing_wrong(_: RolloutTask) -> tuple[Violation, ...]:
    """Find nothing wrong with a task."""
    return ()
