"""Tasks interpreted once: what each asks for, and its anchors, locked by hash and never made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pydantic import JsonValue, TypeAdapter, ValidationError

from events.errors import UsageError
from events.types.audit_events import AuditTaskInterpreted
from registry.decide.commands import RecordFact
from strategies.audit.anchor_checks import compiled_anchors
from strategies.audit.audit_tasks import workspace_contents, workspace_texts
from strategies.audit.evaluators.evaluator_types import TaskRequirements
from strategies.audit.requirements import interpreted
from strategies.audit.workspace_tables import tables_in
from strategies.rollouts.tasks.check_types import Check, check_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from registry.registry import Registry
    from strategies.rollouts.tasks.task import RolloutTask, TaskSet

_ANCHORS: Final[TypeAdapter[tuple[Check, ...]]] = TypeAdapter(tuple[Check, ...])
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
    by: Literal["rule", "model", "person"]


def interpret_tasks(
    registry: Registry,
    tasks: TaskSet,
    corrections: Mapping[str, TaskRequirements],
    read_task: ReadTask | None = None,
) -> tuple[InterpretedTask, ...]:
    """Read each task once, and lock its anchors; what was locked before is taken as it is.

    `corrections` are a person's, by task: those are locked in its place. Raises: UsageError for one of no task.
    """
    unknown = sorted(corrections.keys() - {task.id for task in tasks.tasks})
    if unknown:
        known = ", ".join(task.id for task in tasks.tasks[:8])
        raise UsageError(f"there is no task {unknown[0]} to correct", hint=f"the tasks are {known}")
    known_events = _locked_before(registry)
    return tuple(
        _interpreted(registry, task, corrections.get(task.id), known_events.get(task_digest(task)), read_task)
        for task in tasks.tasks
    )


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


def _interpreted(
    registry: Registry,
    task: RolloutTask,
    correction: TaskRequirements | None,
    known: AuditTaskInterpreted | None,
    read_task: ReadTask | None,
) -> InterpretedTask:
    texts = workspace_texts(task)
    stored = _stored(registry, task, texts, known) if known else None
    if stored is not None and correction in {None, stored.requirements}:
        return stored
    requirements, suggested, by = correction, tuple[JsonValue, ...](), "person"
    if requirements is None:
        requirements, by = (
            interpreted(task.id, task.prompt, task.files, tables_in(workspace_contents(task))),
            "rule",
        )
        reading = read_task(task, requirements) if read_task else None
        if reading is not None:
            requirements, suggested, by = reading.requirements, reading.checks, "model"
    compiled = compiled_anchors(task, requirements, texts, suggested)
    body = _ANCHORS.dump_json(compiled.kept)
    with registry.log.transaction():
        event = AuditTaskInterpreted(
            task=task.id,
            digest=task_digest(task),
            requirements=registry.log.put_blob(requirements.model_dump_json().encode(), kind="audit"),
            anchors=registry.log.put_blob(body, kind="audit"),
            kept=tuple(map(check_name, compiled.kept)),
            dropped=tuple(f"{dropped.name}: {dropped.why}" for dropped in compiled.dropped),
            by=by,
        )
        registry.execute(RecordFact((event,)), actor="germline")
    return _as_task(task, requirements, texts, compiled.kept, event)


def _stored(
    registry: Registry, task: RolloutTask, texts: Mapping[str, str], known: AuditTaskInterpreted
) -> InterpretedTask | None:
    """Read what was locked; None where it was erased."""
    requirements, anchors = registry.log.get_blob(known.requirements), registry.log.get_blob(known.anchors)
    if requirements is None or anchors is None:
        return None
    read = TaskRequirements.model_validate_json(requirements)
    return _as_task(task, read, texts, _ANCHORS.validate_json(anchors), known)


def _as_task(
    task: RolloutTask,
    requirements: TaskRequirements,
    texts: Mapping[str, str],
    anchors: tuple[Check, ...],
    event: AuditTaskInterpreted,
) -> InterpretedTask:
    anchored = task.model_copy(update={"anchors": anchors, "graders": (), "solution": None})
    return InterpretedTask(anchored, requirements, texts, event.dropped, event.anchors, event.by)
