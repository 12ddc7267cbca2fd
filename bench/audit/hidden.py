"""Hidden graders of examples/audit: what the files of each task must be, and how often runs reach it."""

from __future__ import annotations

import io
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.audit.aside.aside_worlds import AllKnowing, write_aside_tasks
from examples.audit import agent as scripted
from examples.audit.tasks import AuditTask, workspace_of, write_tasks
from strategies.audit.audit_tasks import load_audit_tasks
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.trial import trial
from strategies.rollouts.tasks.check_types import Matches
from strategies.rollouts.tasks.task import ChecksGrader
from strategies.sandbox.confined_run import Ran, SandboxPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench.audit.planted import PlantedSkill
    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import ConfinedCommand

FIRST_ROUND: Final = 1_000
"""Rounds from here on are graded: an audit sees none of them."""
_LIMIT_S: Final = 20.0
_WORKERS: Final = 2


def agent_command(agent: Path) -> str:
    """Give the command of a scripted agent."""
    return f"{sys.executable} -I -S {agent} {{skill_dir}} {{prompt_file}} {{round}}"


def run_in_process(command: ConfinedCommand, policy: SandboxPolicy) -> Ran:
    """Run the scripted agent in this process, unconfined, in place of a sandboxed command; one at a time.

    For a skill that names no path and no script: the same run, forty times as fast.
    """
    del policy
    *_, skill, prompt_file, number = command.argv
    printed, began = io.StringIO(), time.perf_counter()
    with chdir(command.cwd), redirect_stdout(printed):
        scripted.work(skill, prompt_file, number)
    seconds = time.perf_counter() - began
    return Ran(
        ended="exited", code=0, stdout=printed.getvalue(), stderr="", seconds=seconds, attempts=(), missing=()
    )


def expected_files(task: AuditTask) -> dict[str, str]:
    """Compute what a task must leave, by path, in a workspace of its own."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(io.StringIO()):
        workspace_of(task, Path())
        run = scripted.Run(AllKnowing("", task.prompt, ""), task.prompt)
        run.write(scripted.DOMAINS[run.source](run))
        return {path: Path(path).read_text(encoding="utf-8") for path in (task.path, task.notes) if path}


def hidden_tasks(folder: Path, planted: PlantedSkill) -> list[RolloutTask]:
    """Write the tasks of a skill's domain as an audit takes them, and give them with their hidden graders."""
    prompts = dict[str, str]()
    if planted.folder:
        wanted = write_aside_tasks(folder, planted.domain)
    else:
        written = write_tasks(folder, planted.domain)
        prompts = {task.id: task.prompt for task in written}
        wanted = {task.id: expected_files(task) for task in written}
    tasks = load_audit_tasks(folder, limit_s=_LIMIT_S).tasks
    return [_graded(task, wanted[task.id], prompts.get(task.id, task.prompt)) for task in tasks]


def _graded(task: RolloutTask, wanted: Mapping[str, str], prompt: str) -> RolloutTask:
    checks = [Matches(path=path, pattern=rf"\A{re.escape(text.strip())}\s*\z") for path, text in wanted.items()]
    grader = ChecksGrader(name="hidden", checks=tuple(checks))
    return task.model_copy(update={"prompt": prompt, "graders": (grader,)})


def pass_rate(agent_file: Path, tasks: Sequence[RolloutTask], skill: Path | None, rounds: Iterable[int]) -> float:
    """Run an agent with a skill folder, or without any, and give the share of runs in which every check held."""
    agent, policy = Agent(name="scripted", argv=tuple(agent_command(agent_file).split())), SandboxPolicy()

    def passes(task: RolloutTask, number: int) -> bool:
        argv = tuple(word.replace("{round}", str(number)) for word in agent.argv)
        made = trial(task, skill, agent.model_copy(update={"argv": argv}), policy)
        return made.status == "done" and made.value == 1.0

    jobs = [(task, FIRST_ROUND + number) for number in rounds for task in tasks]
    with ThreadPoolExecutor(_WORKERS) as pool:
        passed = list(pool.map(lambda job: passes(*job), jobs))
    return sum(passed) / len(passed)
