"""The harness: what runs are made with and judged on, as a person set it up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from strategies.rollouts.compare.hashes import harness_of, rollout_evaluator
from strategies.rollouts.compare.task_division import divide_tasks
from strategies.rollouts.run.arms import write_arm
from strategies.rollouts.run.messages_trial import MessagesRunner
from strategies.rollouts.run.runner import RunCaps
from strategies.rollouts.run.sanity import check_task
from strategies.rollouts.run.trial import trial
from strategies.sandbox.child_process import end_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from events.types.score import Split
    from strategies.models.thread_desk import Desk
    from strategies.pool.task_sets import SplitBook
    from strategies.rollouts.compare.task_division import DividedTasks
    from strategies.rollouts.run.agent_templates import Agent
    from strategies.rollouts.run.messages_agent import MessagesAgent
    from strategies.rollouts.run.runner import Runner
    from strategies.rollouts.run.sanity import Violation
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask, TaskSet
    from strategies.sandbox.confined_run import SandboxPolicy


@dataclass(frozen=True)
class Harness:
    """All that a comparison needs beside the versions it compares.

    `tasks` is the digest of the set; `digest` that of everything else a run depends on. `runner` makes runs with
    the skills that were written below a folder. With `against_nothing` a winner is also run without any skill;
    `side_by_side` measures the incumbent again beside each candidate, where the machine's load counts.
    `steering` is a text of the person's own that says what is wanted, for the proposer; `notes` say what of the
    tasks could not be taken over.
    `violations` says what is wrong with a task, before anything is run; `end_all` ends the runs in flight when
    nobody waits for them any more, `close` lets go of what they needed once they have ended. `provenance` is the
    rest of what goes into the record.
    """

    divided: DividedTasks
    tasks: str
    agent: Agent
    digest: str
    evaluator: str
    runner: Callable[[Path], Runner]
    workers: int
    caps: RunCaps = field(default_factory=RunCaps)
    against_nothing: bool = True
    side_by_side: bool = False
    end_all: Callable[[], None] = end_all
    close: Callable[[], None] = lambda: None
    violations: Callable[[RolloutTask], Sequence[Violation]] = lambda _: ()
    provenance: tuple[str, ...] = ()
    steering: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AgentRunner:
    """Runs an agent in the sandbox, with the skills that stand below a folder; can be sent to another process."""

    agent: Agent
    policy: SandboxPolicy
    place: Path

    def __call__(self, job: PlannedRun) -> Trial:
        """Make the run; agents that take a seed find the number of the round in `{round}`."""
        argv = tuple(word.replace("{round}", str(job.round)) for word in self.agent.argv)
        agent = self.agent.model_copy(update={"argv": argv})
        return trial(job.task, write_arm(job.arm, self.place), agent, self.policy, watch=job.watch)


def harness_on_tasks(
    tasks: TaskSet, agent: Agent, policy: SandboxPolicy, book: SplitBook, *, workers: int, caps: RunCaps
) -> Harness:
    """Set up runs of an agent on a task set."""
    digest, divided = harness_of(agent, policy), divide_tasks(tasks, book)
    return Harness(
        divided=divided,
        tasks=tasks.digest,
        agent=agent,
        digest=digest,
        evaluator=rollout_evaluator(tasks.digest, digest, book.split_key, divided.splits),
        runner=partial(AgentRunner, agent, policy),
        workers=workers,
        caps=caps,
        violations=partial(check_task, policy=policy),
        notes=tasks.notes,
    )


def harness_on_messages(
    tasks: TaskSet,
    agent: MessagesAgent,
    policy: SandboxPolicy,
    book: SplitBook,
    desk: Desk,
    *,
    workers: int,
    caps: RunCaps,
) -> Harness:
    """Set up runs of a model on a task set; the desk is closed whenever runs have ended."""
    plain = harness_on_tasks(tasks, agent, policy, book, workers=workers, caps=caps)
    splits: dict[str, Split] = dict.fromkeys((task.id for task in plain.divided.audit), "audit")
    splits |= dict.fromkeys((task.id for task in plain.divided.explore), "explore")

    def stop() -> None:
        desk.stop()
        end_all()

    return replace(
        plain,
        runner=lambda place: MessagesRunner(agent, policy, place, desk, splits),
        end_all=stop,
        close=desk.close,
    )
