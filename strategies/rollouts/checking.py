"""Whether a task set tells good work from none: anchors and graders tried on both, before an agent is paid for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from strategies.rollouts.checks import told
from strategies.rollouts.trial import Trial, graded
from strategies.rollouts.work import Work
from strategies.rollouts.workspace import write_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.rollouts.sandbox import SandboxPolicy
    from strategies.rollouts.task import RolloutTask


class Violation(NamedTuple):
    """What is wrong with a task: which, and what."""

    task: str
    said: str


def check_task(task: RolloutTask, policy: SandboxPolicy) -> tuple[Violation, ...]:
    """Grade no work at all, which every anchor and the whole must refuse, and the known good solution, if any.

    Nothing is wrong where nothing is returned. Raises: what a trial raises but for the agent.
    """
    found = list(_of_nothing(task, _tried(task, policy, solved=False)))
    if task.solution is not None:
        found += _of_solution(_tried(task, policy, solved=True))
    return tuple(Violation(task.id, said) for said in dict.fromkeys(found))


def _of_nothing(task: RolloutTask, tried: Trial) -> Iterator[str]:
    yield from tried.tampering
    for name in map(told, task.anchors):
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
    with tempfile.TemporaryDirectory(prefix="germline-check-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        write_files(folder, task.files, task.folder)
        answer = ""
        if solved and task.solution is not None:
            write_files(folder, task.solution.files, task.folder)
            answer = task.solution.answer
        return graded(Trial(task=task.id, status="done", tags=task.tags), Work(task, folder, answer, policy))
