"""One trial: an agent, with a skill or without, on one task, in isolation; then anchors, then graders."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from events.errors import CheckFailedError, ContainerError, NotFoundError
from events.types.frozen import Frozen
from strategies.rollouts.run.agent_sessions import AgentTrace, FilesLeft
from strategies.rollouts.run.agent_templates import cost_of, told_by
from strategies.rollouts.run.graders import LENIENT, grade
from strategies.rollouts.run.leftovers import OVERRUNS, AgentWork, VoidLookError
from strategies.rollouts.run.run_checks import keeps_anchors
from strategies.rollouts.run.trial_folders import agent_command, lay_out, take_skill_away
from strategies.rollouts.tasks.task import JudgeGrader, judge_layers
from strategies.rollouts.tasks.workspace import changed_fixtures, overfull, read_text, state_of
from strategies.sandbox.confined_run import installed, run, run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from events.errors import GermlineError
    from strategies.rollouts.run.agent_sessions import Watch
    from strategies.rollouts.run.agent_templates import Agent, AgentAnswer
    from strategies.rollouts.run.trial_folders import Layout
    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import Ran, SandboxPolicy

COST_FILE: Final = "germline-cost.json"
"""Where an agent may leave what its run cost: `{"cost_usd": 0.12}`, in its workspace."""
NOTE_CHARS: Final = 300
"""How much is kept of why a trial ended as it did."""

Status = Literal["done", "infrastructure", "stopped"]
FilesState = dict[str, tuple[int, int, int]]


class LayerResult(Frozen):
    """The result of one layer of grading; `note` tells why it failed, or was stopped.

    One that does not count is a note beside the others: a judge that is not calibrated.
    """

    name: str
    value: Annotated[float, Field(ge=0, le=1)]
    threshold: float
    note: str = ""
    counts: bool = True

    @property
    def passed(self) -> bool:
        """Whether the layer reached its threshold."""
        return self.value >= self.threshold


class ShownWork(Frozen):
    """What a layer that asks a judge will show: a file or the answer, None where it cannot be read."""

    layer: str
    text: str | None


class Trial(Frozen):
    """What one trial gave.

    `status` is done, infrastructure (the agent never got going: the pair is void) or stopped (a limit was hit, or
    the sandbox was lost while the agent ran: the value is 0, and nothing was graded).
    `value` is the mean over layers, `lenient` whether three of four passed and every anchor holds. `tampering`
    names what a grader tried that it should not have, or which files of the set changed: such a trial counts for
    nobody, and its candidate must not be promoted. `attempts` names what the agent tried and was not let do.
    `transcript` is the blob of its messages, where it is known; `work_kept` that of what an agent that is a
    command did, where that was asked for: until it is kept, that is `work`.
    `shown` is what a judge has yet to see, and never stored, no more than `work`.

    Units: value in [0, 1], seconds of the agent's run, cost in US dollars, None where it is not known; `number` is
    what a metric printed.
    """

    task: str
    status: Status
    value: Annotated[float, Field(ge=0, le=1)] = 0.0
    lenient: bool = False
    layers: tuple[LayerResult, ...] = ()
    failed_anchors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    seconds: Annotated[float, Field(ge=0)] = 0.0
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    tampering: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    number: float | None = None
    note: str = ""
    transcript: str = ""
    work_kept: str = ""
    work: Annotated[str, Field(exclude=True)] = ""
    shown: Annotated[tuple[ShownWork, ...], Field(exclude=True)] = ()

    @property
    def tampered(self) -> bool:
        """Whether the trial is worth nothing because somebody reached beyond what they were given."""
        return bool(self.tampering)


def trial(
    task: RolloutTask, skill: Path | None, agent: Agent, policy: SandboxPolicy, *, watch: Watch | None = None
) -> Trial:
    """Run one agent on one task, with this skill folder or none, and grade what it left behind.

    With `watch` the trial tells what the agent did, as that writes it down.
    Raises: IsolationError where the machine cannot isolate and `policy` does not allow that; RefusedError for a
    command off the allow list; NotFoundError for a grader's program that is not installed; CheckFailedError if a
    file of the set is not what was loaded; StorageError.
    """
    require_unchanged(task)
    try:
        program = installed(agent.argv[0])
    except NotFoundError as error:
        return lost(task, error)
    with run_folder("trial-") as root:
        try:
            layout = lay_out(task, skill, agent, root)
        except ContainerError as error:
            return lost(task, error)
        before = files_in(layout)
        ran = run(agent_command(task, agent, program, layout), policy)
        answer, after = told_by(agent, ran.stdout), files_in(layout)
        so_far = Trial(
            task=task.id,
            status="done",
            tags=task.tags,
            seconds=ran.seconds,
            cost_usd=answer.cost_usd if answer.cost_usd is not None else _left_cost(layout),
            tampering=changed_files(task),
            attempts=ran.attempts,
            work=watch(_trace_of(layout, ran, answer.answer, left_in(layout, before, after))) if watch else "",
        )
        ended = _ended_early(task, ran, answer, idle=after == before) or too_full(layout, policy)
        if ended:
            status, note = ended
            return so_far.model_copy(update={"status": status, "note": note[:NOTE_CHARS]})
        if so_far.tampered:
            return so_far
        _remove_cost(layout)
        take_skill_away(layout)
        return graded(so_far, AgentWork(task, layout.workspace, answer.answer, policy))


def lost(task: RolloutTask, error: GermlineError) -> Trial:
    """Give the trial that infrastructure lost before an agent was asked."""
    return Trial(task=task.id, status="infrastructure", tags=task.tags, note=error.message[:NOTE_CHARS])


def graded(trial: Trial, work: AgentWork) -> Trial:
    """Grade what was left; the trial is void where the machine let nobody look at it."""
    try:
        return seen_through(trial, work)
    except (VoidLookError, ContainerError) as error:
        return trial.model_copy(update={"status": "infrastructure", "note": error.message[:NOTE_CHARS]})


def seen_through(trial: Trial, work: AgentWork) -> Trial:
    """Grade what was left: anchors first, then every layer, and last whether the files of the set still stand.

    Layers that ask a judge are left to those that have one (jury.py). Raises: VoidLookError, ContainerError.
    """
    try:
        kept = keeps_anchors(work.task.anchors, work)
        marks = [
            (grader, grade(grader, work)) for grader in work.task.graders if not isinstance(grader, JudgeGrader)
        ]
    except CheckFailedError as error:  # a file of the set changed under our hands
        return trial.model_copy(update={"tampering": changed_files(work.task), "note": error.message})
    layers = [
        LayerResult(name=grader.name, value=result.value, threshold=grader.threshold, note=result.note)
        for grader, result in marks
    ]
    tried = [f"grader {grader.name}: {deed}" for grader, result in marks for deed in result.tampering]
    tampering = (*kept.tampering, *tried, *changed_files(work.task))
    judged = () if tampering else judge_layers(work.task)
    return summed(
        trial.model_copy(
            update={
                "layers": tuple(layers),
                "failed_anchors": kept.failed,
                "tampering": tampering,
                "shown": tuple(ShownWork(layer=layer.name, text=work.text(layer.path)) for layer in judged),
            }
        )
    )


def summed(trial: Trial) -> Trial:
    """Give a trial the value that its layers come to; a trial that was tampered with comes to nothing."""
    counting = [layer for layer in trial.layers if layer.counts]
    passed = sum(layer.passed for layer in counting)
    layers = max(len(counting), 1)  # the tasks of an audit have none: anchors alone speak for their runs
    return trial.model_copy(
        update={
            "value": 0.0 if trial.tampered else sum(layer.value for layer in counting) / layers,
            "lenient": passed / layers >= LENIENT and not trial.failed_anchors and not trial.tampered,
        }
    )


def require_unchanged(task: RolloutTask) -> None:
    """Raise CheckFailedError where a file of the task set is not what was loaded."""
    changed = changed_files(task)
    if changed:
        raise CheckFailedError(
            f"task {task.id}: {', '.join(changed)} since it was loaded",
            hint="load the task set again, and measure both versions with it",
        )


def changed_files(task: RolloutTask) -> tuple[str, ...]:
    """Say which files of the task set are not what was loaded."""
    return tuple(f"{path} of the task set changed" for path in changed_fixtures(task.folder, task.fixtures))


def files_in(layout: Layout) -> FilesState:
    """Tell of each entry of the workspace how large it is, when it changed, and its mode."""
    return {path: state for path, state in state_of(layout.workspace).items() if path != COST_FILE}


def left_in(layout: Layout, before: FilesState, after: FilesState) -> FilesLeft:
    """Name the files that an agent made or changed, and those it removed, but for those of the skill."""
    skill = f"{layout.installed.relative_to(layout.workspace)}/" if layout.installed else "/"
    own = [path for path in after.keys() | before.keys() if not path.startswith(skill)]
    return FilesLeft(
        tuple(sorted(path for path in own if path in after and before.get(path) != after[path])),
        tuple(sorted(path for path in own if path not in after)),
    )


def _trace_of(layout: Layout, ran: Ran, answer: str, left: FilesLeft) -> AgentTrace:
    stderr = ran.stderr if ran.code else ""
    return AgentTrace(layout, answer, ran.stdout, stderr, ran.code or 0, left)


def _ended_early(task: RolloutTask, ran: Ran, answer: AgentAnswer, *, idle: bool) -> tuple[Status, str] | None:
    """Say why there is nothing to grade, None if there is.

    An agent that fails after it has worked is graded: crashing is its own. One that fails before it changed a file
    or wrote anything never got going.
    """
    if ran.ended in {"unstarted", "void"}:
        return "infrastructure", f"the agent could not be run: {ran.error}"
    if ran.ended == "limit":
        return "stopped", f"the agent ran past the limit of {task.limit_s:g} s"
    if ran.ended != "exited":
        return "stopped", f"the agent {OVERRUNS[ran.ended]}{ran.error and f': {ran.error}'}"
    silent = answer.failed or not answer.answer.strip()
    if (ran.code != 0 or answer.failed) and idle and silent:
        last = (ran.stderr or answer.answer).strip().splitlines()[-1:]
        return "infrastructure", f"the agent ended before it did anything, exit code {ran.code}: {''.join(last)}"
    return None


def too_full(layout: Layout, policy: SandboxPolicy) -> tuple[Status, str] | None:
    """Say why what was left is too much to be graded, None where it is not."""
    problem = overfull(layout.workspace, most_files=policy.workspace_files, most_bytes=policy.workspace_bytes)
    return ("stopped", problem) if problem else None


def _remove_cost(layout: Layout) -> None:
    with suppress(OSError):  # a folder of that name is the agent's own
        (layout.workspace / COST_FILE).unlink(missing_ok=True)


def _left_cost(layout: Layout) -> float | None:
    """Read what the run cost, where the agent left a file that says so."""
    text = read_text(layout.workspace, COST_FILE)
    try:
        report = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return cost_of(report.get("cost_usd")) if isinstance(report, dict) else None
