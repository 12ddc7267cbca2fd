"""Tasks interpreted once: what each asks for, and its anchors, locked by hash and never made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import JsonValue, TypeAdapter, ValidationError

from events.errors import UsageError
from events.types.audit_events import AuditTaskInterpreted, ReadBy
from registry.decide.commands import RecordFact
from strategies.audit.anchor_checks import compiled_anchors
from strategies.audit.audit_record import ANCHORS, stored_anchors
from strategies.audit.audit_tasks import workspace_contents, workspace_texts
from strategies.audit.evaluators.evaluator_types import TaskRequirements
from strategies.audit.requirements import interpreted
from strategies.audit.workspace_tables import tables_in
from strategies.rollouts.tasks.check_types import check_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from registry.registry import Registry
    from strategies.rollouts.tasks.check_types import Check
    from strategies.rollouts.tasks.task import RolloutTask, TaskSet

_CORRECTIONS: Final[TypeAdapter[tuple[TaskRequirements, ...]]] = TypeAdapter(tuple[TaskRequirements, ...])
_KEY: Final = "requirements"


class TaskReading(NamedTuple):
    """What a model reads in a task beside the rules: further requirements, steps, and checks that it suggests."""

    requirements: TaskRequirements
    checks: tuple[JsonValue, ...]


ReadTask = Callable[["RolloutTask", TaskRequirements], TaskReading | None]
"""Asks a model to read a task; None where nothing of use came back."""


@dataclass(frozen=True)
class InterpretedTask:
    """A task with its locked anchors, what it asks for, and the text files that it begins with.

    `dropped` says which checks were compiled and are no anchors, `locked` is the hash of those that are.
    """

    task: RolloutTask
    requirements: TaskRequirements
    texts: Mapping[str, str]
    dropped: tuple[str, ...]
    locked: str
    by: ReadBy


def interpret_tasks(
    registry: Registry,
    tasks: TaskSet,
    corrections: Mapping[str, TaskRequirements],
    read_task: ReadTask | None = None,
    *,
    lock: bool = True,
    show: Callable[[InterpretedTask], None] = lambda _: None,
) -> tuple[InterpretedTask, ...]:
    """Read each task once, and lock its anchors; what was locked before is taken as it is.

    `corrections` are a person's, by task: those are locked in its place. Without `lock` nothing is written; `show`
    is called before a task is locked. Raises: UsageError for a correction of no task.
    """
    strangers = sorted(corrections.keys() - {task.id for task in tasks.tasks})
    if strangers:
        listed = ", ".join(task.id for task in tasks.tasks[:8])
        raise UsageError(f"there is no task {strangers[0]} to correct", hint=f"the tasks are {listed}")
    known_events = _locked_before(registry)
    made = []
    for task in tasks.tasks:
        texts, known = workspace_texts(task), known_events.get(task_digest(task))
        stored, correction = _stored(registry, task, texts, known), corrections.get(task.id)
        if stored is not None and (correction is None or correction == stored.requirements):
            made.append(stored)
            continue
        fresh = _compiled(task, texts, correction, read_task)
        made.append(fresh)
        if lock:
            show(fresh)
            _lock(registry, task, fresh)
    return tuple(made)


def read_corrections(path: Path) -> dict[str, TaskRequirements]:
    """Read the requirements that a person corrected: what `--dry-run --json` printed, edited.

    Raises: UsageError for a file that is none.
    """
    hint = "germline audit SKILL --tasks FOLDER --dry-run --json > FILE, and edit requirements in it"
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        listed = _CORRECTIONS.validate_json(json.dumps(given[_KEY]), strict=True)
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        what = str(error).splitlines()[0]
        raise UsageError(f"cannot read the requirements in {path}: {what}", hint=hint) from error
    return {requirements.task: requirements for requirements in listed}


def task_digest(task: RolloutTask) -> str:
    """Hash what a task asks of an agent: its prompt and the files that it begins with."""
    return sha256(task.model_dump_json(include={"id", "prompt", "files", "anchors"}).encode()).hexdigest()


def with_anchors(tasks: TaskSet, interpreted_tasks: Sequence[InterpretedTask]) -> TaskSet:
    """Give the task set whose runs are checked by the locked anchors alone."""
    return tasks.model_copy(update={"tasks": tuple(known.task for known in interpreted_tasks)})


def _locked_before(registry: Registry) -> dict[str, AuditTaskInterpreted]:
    read = (envelope.event for envelope in registry.log.read(types=("AuditTaskInterpreted",)))
    return {event.digest: event for event in read if isinstance(event, AuditTaskInterpreted)}


def _compiled(
    task: RolloutTask,
    texts: Mapping[str, str],
    correction: TaskRequirements | None,
    read_task: ReadTask | None,
) -> InterpretedTask:
    """Interpret a task and compile its anchors: as a person corrected it, by a model's reading, or by rule."""
    by: ReadBy = "person"
    requirements, suggested = correction, tuple[JsonValue, ...]()
    if requirements is None:
        tables = tables_in(workspace_contents(task))
        requirements, by = interpreted(task.id, task.prompt, task.files, tables), "rule"
        reading = read_task(task, requirements) if read_task else None
        if reading is not None:
            requirements, suggested, by = reading.requirements, reading.checks, "model"
    compiled = compiled_anchors(task, requirements, texts, suggested)
    dropped = tuple(f"{check.name}: {check.why}" for check in compiled.dropped)
    return _as_task(task, requirements, texts, compiled.kept, dropped, by)


def _lock(registry: Registry, task: RolloutTask, fresh: InterpretedTask) -> None:
    """Record what was interpreted and compiled; from now on it holds for this task."""
    requirements = fresh.requirements.model_dump_json().encode()
    with registry.log.transaction():
        event = AuditTaskInterpreted(
            task=task.id,
            digest=task_digest(task),
            requirements=registry.log.put_blob(requirements, kind="audit"),
            anchors=registry.log.put_blob(ANCHORS.dump_json(fresh.task.anchors), kind="audit"),
            kept=tuple(map(check_name, fresh.task.anchors)),
            dropped=fresh.dropped,
            by=fresh.by,
        )
        registry.execute(RecordFact((event,)), actor="germline")


def _stored(
    registry: Registry, task: RolloutTask, texts: Mapping[str, str], known: AuditTaskInterpreted | None
) -> InterpretedTask | None:
    """Read what was locked; None where nothing was, or it was erased."""
    if known is None:
        return None
    requirements, anchors = registry.log.get_blob(known.requirements), stored_anchors(registry, known.anchors)
    if requirements is None or anchors is None:
        return None
    read = TaskRequirements.model_validate_json(requirements)
    return _as_task(task, read, texts, anchors, known.dropped, known.by)


def _as_task(
    task: RolloutTask,
    requirements: TaskRequirements,
    texts: Mapping[str, str],
    anchors: tuple[Check, ...],
    dropped: tuple[str, ...],
    by: ReadBy,
) -> InterpretedTask:
    anchored = task.model_copy(update={"anchors": anchors, "graders": (), "solution": None})
    locked = sha256(ANCHORS.dump_json(anchors)).hexdigest()
    return InterpretedTask(anchored, requirements, texts, dropped, locked, by)
