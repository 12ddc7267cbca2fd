"""Runs made on other machines: what they need is sent with them, but for the agent and the files of tasks."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from events.errors import GermlineError, OutOfSightError
from strategies.rollouts.run.trial import changed_files
from strategies.sandbox.child_process import end_all, on_behalf_of
from strategies.sandbox.confined_run import run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from strategies.engines.engine import Elsewhere
    from strategies.rollouts.compare.harness import Harness
    from strategies.rollouts.run.runner import Runner
    from strategies.rollouts.run.sanity import Violation
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask


@dataclass(frozen=True)
class SentRunner:
    """Has runs made on other machines, each in a call that this thread waits for."""

    elsewhere: Elsewhere
    runner: Callable[[Path], Runner]

    def __call__(self, job: PlannedRun) -> Trial:
        """Have the run made; raises what the runner raises there, OutOfSightError and EngineError."""
        return self.elsewhere.call(partial(made_there, self.runner, job, self.elsewhere.session))


def sent_elsewhere(harness: Harness, elsewhere: Elsewhere) -> Harness:
    """Have the runs of a harness made on other machines, and its tasks checked there, where graders will run.

    Agent, tasks and the sandbox's policy stay what they are, and so does the evaluator. Whether a machine can
    isolate is decided on each worker. Runner and checks must be fit to be sent to another process.
    """

    def violations(task: RolloutTask) -> Sequence[Violation]:
        return elsewhere.call(partial(checked_there, harness.violations, task, elsewhere.session))

    def stop() -> None:
        elsewhere.end(end_all)
        harness.end_all()

    def close() -> None:
        elsewhere.close()
        harness.close()

    return replace(
        harness,
        runner=lambda _: SentRunner(elsewhere, harness.runner),
        violations=violations,
        end_all=stop,
        close=close,
    )


def made_there(runner: Callable[[Path], Runner], job: PlannedRun, session: str) -> Trial:
    """Make a run on the machine that this is called on, with the version that came with the job."""
    with _as_worker(job.task, session), run_folder("version-") as folder:
        return runner(folder)(job)


def checked_there(
    violations: Callable[[RolloutTask], Sequence[Violation]], task: RolloutTask, session: str
) -> Sequence[Violation]:
    """Check a task on the machine that this is called on."""
    with _as_worker(task, session):
        return violations(task)


@contextmanager
def _as_worker(task: RolloutTask, session: str) -> Iterator[None]:
    """Work for one command among others; errors say on which machine they were met.

    Raises: OutOfSightError where the files of the task set are not what they were when it was loaded.
    """
    host = platform.node()
    if changed := changed_files(task):
        raise OutOfSightError(
            f"a worker on {host} does not see the task set as it was loaded: {', '.join(changed)}",
            hint=f"mount {task.folder} at the same path on every worker, or: --engine local",
        )
    token = on_behalf_of.set(session)
    try:
        yield
    except GermlineError as error:
        error.message = f"on the worker {host}: {error.message}"
        error.args = (error.message,)
        raise
    finally:
        on_behalf_of.reset(token)
