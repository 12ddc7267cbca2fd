"""Runs without any agent: what each comes to is drawn from a hash of its place, and a test can plant effects."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registry.skill_md.skill_files import SKILL_FILE
from strategies.policy.presets import PRESETS
from strategies.pool.known_episodes import split_groups
from strategies.pool.task_sets import split_book
from strategies.rollouts.compare.comparison import Rig
from strategies.rollouts.compare.handwritten import propose_rewrite
from strategies.rollouts.compare.harness import AgentRunner, Harness
from strategies.rollouts.compare.hashes import rollout_evaluator
from strategies.rollouts.compare.task_division import divide_tasks
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.runner import RunCaps
from strategies.rollouts.run.trial import Trial
from strategies.rollouts.tasks.check_types import FileExists
from strategies.rollouts.tasks.task import ChecksGrader, RolloutTask, TaskSet
from tests.registries import NAME, SKILL
from tests.terminal import SPLIT_KEY, Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest

    from events.types.parts import Strategy
    from registry.registry import Registry
    from strategies.rollouts.run.runner import Runner
    from strategies.rollouts.run.store import PlannedRun

AGENT = Agent(name="fake", argv=("fake",))


def task(number: int, *tags: str) -> RolloutTask:
    """A task that no agent is run on."""
    return RolloutTask(
        id=f"task-{number:03d}",
        prompt=f"Do the thing of task {number}.",
        graders=(ChecksGrader(name="done", checks=(FileExists(path="done"),)),),
        anchors=(FileExists(name="log kept", path="log"),),
        tags=tags or ("even" if number % 2 == 0 else "odd",),
    )


def task_lines(count: int) -> str:
    """Write so many tasks as a task file has them."""
    return "".join(f"{task(number).model_dump_json(exclude={'solution'})}\n" for number in range(count))


def rewritten(
    registry: Registry,
    copy: Path,
    *,
    reason: str = "a test",
    strategy: Strategy = "repair",
    preset: str = "balanced",
    tags: tuple[str, ...] = (),
) -> str:
    """Propose what a rewritten copy makes of the small skill, and give the candidate's id."""
    receipt = propose_rewrite(
        registry, NAME, copy, reason=reason, strategy=strategy, preset=PRESETS[preset], tags=tags
    )
    return receipt.envelopes[0].stream.removeprefix("candidate:")


def draw(*parts: object) -> float:
    """Draw from [0, 1), the same for the same parts."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6]) / 2**48


def main_text(job: PlannedRun) -> str:
    """Give the SKILL.md that a run is made with, "" where it is made without a skill."""
    return job.arm.files[SKILL_FILE].body.decode() if job.arm.files else ""


def terminal_with_drawn_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give a registry with a skill and a task set, whose agent only draws by what SKILL.md says."""

    def drawn(_: AgentRunner, job: PlannedRun) -> Trial:
        passed = draw(job.arm.key, job.task.id, job.round) < planted(main_text(job), job.task)
        return Trial(task=job.task.id, status="done", value=float(passed), seconds=1.0, cost_usd=0.02)

    monkeypatch.setattr(AgentRunner, "__call__", drawn)
    terminal = Terminal(folder)
    terminal.does("init", "--split-key", SPLIT_KEY)
    terminal.write("skills/sql-analyst/SKILL.md", SKILL)
    terminal.write("tasks.jsonl", task_lines(60))
    agent = "python3 agent.py {skill_dir} {prompt_file} {round}"  # which is never started
    terminal.write("germline.toml", f'[rollouts]\ntasks = "tasks.jsonl"\nagent = "{agent}"\n')
    terminal.does("import", "skills")
    return terminal


@dataclass
class FakeRunner:
    """Makes trials from what stands in SKILL.md: `rate` tells how often a task passes with that text.

    `seen` lists the places that were run, in the order in which they were asked for.
    """

    rate: Callable[[str, RolloutTask], float]
    changed: Callable[[PlannedRun, Trial], Trial] = lambda _, trial: trial
    seen: list[tuple[str, str, int]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, job: PlannedRun) -> Trial:
        with self.lock:
            self.seen.append((job.arm.name, job.task.id, job.round))
        passed = draw(job.arm.key, job.task.id, job.round) < self.rate(main_text(job), job.task)
        trial = Trial(task=job.task.id, status="done", value=float(passed), seconds=0.5, cost_usd=0.01)
        return self.changed(job, trial)

    def runs_of(self, name: str) -> list[tuple[str, str, int]]:
        with self.lock:
            return [run for run in self.seen if run[0].startswith(name)]


def planted(text: str, task: RolloutTask) -> float:
    """What the rules of the test's skills do: half of the tasks pass, more or fewer with a rule that counts."""
    if f"answer {task.id}" in text:
        return 1.0
    return 0.4 + 0.5 * ("HELPS" in text) - 0.3 * ("HARMS" in text)


SIXTY = tuple(task(number) for number in range(60))


def rig(
    registry: Registry,
    runner: Runner,
    *,
    tasks: Sequence[RolloutTask] = SIXTY,
    workers: int = 2,
    caps: RunCaps | None = None,
    preset: str = "balanced",
) -> Rig:
    """Set up runs of the fake agent."""
    digest = hashlib.sha256(repr(tasks).encode()).hexdigest()
    book = split_book(registry, split_groups(registry))
    divided = divide_tasks(TaskSet(name="sixty", tasks=tuple(tasks)), book)

    def runner_in(_: Path) -> Runner:
        return runner

    harness = Harness(
        divided=divided,
        tasks=digest,
        agent=AGENT,
        digest="harness",
        evaluator=rollout_evaluator(digest, "harness", registry.about().split_key, divided.splits),
        runner=runner_in,
        workers=workers,
        caps=caps or RunCaps(),
    )
    return Rig(registry, harness, PRESETS[preset], seed=7)
