"""Whether a task set tells good work from none: anchors and graders tried on both, before an agent is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.trial import Trial, graded
from strategies.rollouts.tasks.check_types import check_name
from strategies.rollouts.tasks.workspace import write_files
from strategies.sandbox.confined_run import run_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import SandboxPolicy


class Violation(NamedTuple):
    """What is wrong with a task: which, and what."""

    task: str
    problem: str


def check_task(task: RolloutTask, policy: SandboxPolicy) -> tuple[Violation, ...]:
    """Grade no work at all, which every anchor and the whole must refuse, and the known good solution, if any.

    Nothing is wrong where nothing is returned. Raises: what a trial raises but for the agent.
    """
    mistakes = list(_of_nothing(task, _tried(task, policy, solved=False)))
    if task.solution is not None:
        mistakes += _of_solution(_tried(task, policy, solved=True))
    return tuple(Violation(task.id, mistake) for mistake in dict.fromkeys(mistakes))


def _of_nothing(task: RolloutTask, tried: Trial) -> Iterator[str]:
    yield from tried.tampering
    for name in map(check_name, task.anchors):
        if name not in tried.failed_anchors:
            yield f"anchor {name} holds before anything is done: it can veto nothing"
    if tried.lenient:
        yield "the graders pass work that was never begun"


def _of_solution(tried: Trial) -> Iterator[str]:
    yield from tried.tampering
    yield from (f"anchor {name} does not hold on the known good solution" for name in tried.failed_anchors)
    for layer in tried.layers:
        if not layer.passed:
            why = layer.note or "it gave no reason"
            yield f"grader {layer.name} gives the known good solution {layer.value:.2f}: {why}"


def _tried(task: RolloutTask, policy: SandboxPolicy, *, solved: bool) -> Trial:
    with run_folder("check-") as folder:
        write_files(folder, task.files, task.folder)
        answer = ""
        if solved and task.solution is not None:
            write_files(folder, task.solution.files, task.folder)
            answer = task.solution.answer
        return graded(Trial(task=task.id, status="done", tags=task.tags), AgentWork(task, folder, answer, policy))
