"""Whether a task set tells good work from none: anchors and graders tried on both, before an agent is paid for."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from strategies.rollouts.run.graders import NO_REWARD, rewarded
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.task_container import write_start
from strategies.rollouts.run.trial import Trial, seen_through
from strategies.rollouts.tasks.check_types import check_name
from strategies.rollouts.tasks.task import HarborGrader
from strategies.rollouts.tasks.workspace import write_files
from strategies.sandbox.confined_run import run_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import SandboxPolicy


class Violation(NamedTuple):
    """What is wrong with a task: which, and what."""

    task: str
    problem: str


def check_task(task: RolloutTask, policy: SandboxPolicy) -> tuple[Violation, ...]:
    """Grade no work at all, which every anchor and the whole must refuse, and the known good solution, if any.

    Nothing is wrong where nothing is returned. Raises: what a trial raises but for the agent; VoidLookError and
    ContainerError where the machine let nobody look.
    """
    mistakes = list(_of_nothing(task, _tried(task, policy, solved=False)))
    if task.solution is not None:
        mistakes += _of_solution(_tried(task, policy, solved=True))
    if not mistakes:
        mistakes += _of_solving(task, policy)
    return tuple(Violation(task.id, mistake) for mistake in dict.fromkeys(mistakes))


def _of_nothing(task: RolloutTask, tried: Trial) -> Iterator[str]:
    yield from tried.tampering
    for name in map(check_name, task.anchors):
        if name not in tried.failed_anchors:
            yield f"anchor {name} holds before anything is done: it can veto nothing"
    yield from (layer.note for layer in tried.layers if layer.note.startswith(NO_REWARD))
    if tried.lenient:
        yield "the graders pass work that was never begun"


def _of_solution(tried: Trial) -> Iterator[str]:
    yield from tried.tampering
    yield from (f"anchor {name} does not hold on the known good solution" for name in tried.failed_anchors)
    for layer in tried.layers:
        if not layer.passed:
            why = layer.note or "it gave no reason"
            yield f"grader {layer.name} gives the known good solution {layer.value:.2f}: {why}"


def _of_solving(task: RolloutTask, policy: SandboxPolicy) -> Iterator[str]:
    """Tell where a solution that is a script does not get the reward."""
    for grader in task.graders:
        if isinstance(grader, HarborGrader) and grader.solution:
            with _begun(task) as folder:
                given = rewarded(grader, AgentWork(task, folder, "", policy), solved=True)
            yield from given.tampering
            if given.value < grader.threshold and not given.tampering:
                yield f"its own solution gets the reward {given.value:.2f}: {given.note or 'for no stated reason'}"


@contextmanager
def _begun(task: RolloutTask) -> Iterator[Path]:
    """Make the workspace that a task begins with."""
    with run_folder("check-") as folder:
        write_start(task, folder)
        yield folder


def _tried(task: RolloutTask, policy: SandboxPolicy, *, solved: bool) -> Trial:
    with _begun(task) as folder:
        answer = ""
        if solved and task.solution is not None:
            write_files(folder, task.solution.files, task.folder)
            answer = task.solution.answer
        return seen_through(
            Trial(task=task.id, status="done", tags=task.tags), AgentWork(task, folder, answer, policy)
        )
