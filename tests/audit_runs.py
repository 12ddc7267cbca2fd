"""Audits with a registry and without a sandbox: an agent is a function of SKILL.md and of the task."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING

from strategies.audit.audit_plan import AuditPlan
from strategies.audit.evaluators.evaluator_types import RunRecord
from strategies.audit.interpret_tasks import interpret_tasks
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.trial import Trial, graded
from strategies.rollouts.tasks.task import RolloutTask, TaskSet
from strategies.rollouts.tasks.workspace import write_files
from strategies.sandbox.confined_run import SandboxPolicy
from tests.fake_runs import main_text, rig
from tests.registries import NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.registry import Registry
    from strategies.audit.audit_model import AskingModel
    from strategies.rollouts.run.runner import RunCaps
    from strategies.rollouts.run.store import PlannedRun

SKILL = """---
name: sql-analyst
description: Makes tables from files of sales. Use when a table of totals is asked for.
---
# Tables

- Use the header `name;sum` in every table.
- Sort the rows by name.
"""
HARMFUL = "- Use the header `name;sum` in every table.\n"


def tasks(count: int = 3) -> TaskSet:
    """Some tasks without graders that state a header."""
    prompt = "Write the totals of sales.csv to totals.csv with the header `name,sum`."
    made = (
        RolloutTask(id=f"t{number}", prompt=prompt, files={"sales.csv": f"name,amount\na,{number}\nb,2\n"})
        for number in range(count)
    )
    return TaskSet(name="tables", tasks=tuple(made))


def obedient(text: str, task: RolloutTask) -> RunRecord:
    """Write the table as the task wants it, but for what the skill says of the header."""
    head = "name;sum" if "name;sum" in text else "name,sum"
    rows = str(task.files["sales.csv"]).partition("\n")[2]
    return RunRecord(answer="done", files={"totals.csv": f"{head}\n{rows}"})


@dataclass
class ScriptedRunner:
    """Makes trials of an agent that is a function; `made` counts them, and `before` may end or replace one."""

    behaves: Callable[[str, RolloutTask], RunRecord] = obedient
    before: Callable[[int], Trial | None] = lambda _: None
    made: int = 0
    lock: Lock = field(default_factory=Lock)

    def __call__(self, job: PlannedRun) -> Trial:
        with self.lock:
            self.made += 1
            other = self.before(self.made)
        if other is not None:
            return other.model_copy(update={"task": job.task.id})
        record = self.behaves(main_text(job), job.task)
        trial = Trial(task=job.task.id, status="done", seconds=0.5, work=record.model_dump_json())
        with TemporaryDirectory() as folder:
            place = Path(folder)
            write_files(place, {**job.task.files, **record.files}, job.task.folder)
            return graded(trial, AgentWork(job.task, place, record.answer, SandboxPolicy()))


def plan_of(
    registry: Registry,
    runner: ScriptedRunner,
    *,
    count: int = 3,
    asking: AskingModel | None = None,
    caps: RunCaps | None = None,
    pairs: int = 1,
) -> AuditPlan:
    """Plan an audit of the small skill."""
    known = interpret_tasks(registry, tasks(count), {}, asking.read_task if asking else None)
    made = rig(registry, runner, tasks=[task.task for task in known], workers=1, caps=caps)
    capsule = registry.capsule(NAME)
    return AuditPlan(capsule, capsule.version, made, known, asking, pairs=pairs)
