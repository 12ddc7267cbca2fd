"""A model as agent, for tests: the stub plays it, and each reply is scripted or worked out from the prompt."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from events.sqlite.log import SqliteLog
from registry.registry import Registry
from strategies.models.thread_desk import Desk
from strategies.pool.task_sets import SplitBook
from strategies.rollouts.compare.harness import harness_on_messages
from strategies.rollouts.run.arms import Arm
from strategies.rollouts.run.messages_agent import MessagesAgent, messages_agent
from strategies.rollouts.run.runner import RunCaps
from strategies.rollouts.run.store import PlannedRun
from strategies.rollouts.tasks.check_types import FileExists, Matches
from strategies.rollouts.tasks.task import ChecksGrader, RolloutTask, TaskSet
from tests.anthropic_stub import Step, message
from tests.asking import asking
from tests.clocks import TickingClock
from tests.confining import POLICY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from strategies.models.model_settings import ModelSettings
    from strategies.models.recorded_model import RecordedModel
    from strategies.rollouts.compare.harness import Harness
    from strategies.rollouts.run.agent_templates import SkillMode
    from strategies.rollouts.run.trial import Trial
    from tests.anthropic_stub import AnthropicStub

MODEL = "stub-agent"
_IDS = count(1)


def greeting(name: str = "Ada") -> RolloutTask:
    """A task that takes one file to solve."""
    return RolloutTask(
        id=f"greet-{name.lower()}",
        prompt=f"Write a greeting of {name} to out.txt.",
        files={"names.txt": f"{name}\n"},
        graders=(
            ChecksGrader(name="there", checks=(Matches(path="out.txt", pattern=f"(?i)hello.*{name}"),)),
            ChecksGrader(name="said", checks=(Matches(pattern="done"),)),
        ),
        anchors=(FileExists(path="out.txt"),),
        tags=("files",),
    )


def calls(*made: tuple[str, Mapping[str, object]], text: str = "", **usage: int) -> Step:
    """Answer with calls of tools."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{next(_IDS)}", "name": name, "input": dict(arguments)}
        for name, arguments in made
    ]
    return Step(message(stop="tool_use", content=content, usage=usage))


def sh(script: str) -> Step:
    """Call a shell."""
    return calls(("run_command", {"argv": ["sh", "-c", script]}))


def finish(answer: str = "done") -> Step:
    """End the task."""
    return calls(("finish", {"answer": answer}))


def said_last(body: Mapping[str, Any]) -> str:
    """Give the text of the last turn of a prompt."""
    part = body["messages"][-1]["content"][0]
    return str(part.get("content", part.get("text", "")))


def diligent(body: dict[str, Any]) -> Step:
    """Solve greetings: read the name, write the file as a skill says, or without one badly; then finish."""
    turns = len(body["messages"])
    if turns == 1:
        return calls(("read_file", {"path": "names.txt"}), text="I look first.")
    if turns == 3:  # the prompt, the call, its result
        word = "Hello" if "Hello" in json.dumps(body["system"]) else "Bonjour"
        name = said_last(body).strip()
        return calls(("write_file", {"path": "out.txt", "text": f"{word}, {name}!"}))
    return finish()


def arm_of(text: str = "Say Hello.", *, name: str = "greeter", files: Mapping[str, str] | None = None) -> Arm:
    """Make a version of a skill that no registry knows."""
    from registry.skill_md.disk import FileContent

    front = f"---\nname: {name}\ndescription: How to greet.\n---\n\n"
    contents = {"SKILL.md": front + text, **(files or {})}
    held = {path: FileContent(body.encode(), 0o644) for path, body in contents.items()}
    return Arm(
        name=f"{name}@1", standing=f"{name}@1", skill=name, digest=f"{hash(text):x}".ljust(16, "0"), files=held
    )


@dataclass
class Bench:
    """A registry, a stub and a desk: where trials of the stub's agent are made."""

    registry: Registry
    stub: AnthropicStub
    desk: Desk
    folder: Path

    def agent(self, mode: SkillMode = "injected", **limits: int) -> MessagesAgent:
        most = {"most_replies": 8, "reply_tokens": 500, "run_tokens": 100_000, **limits}
        return messages_agent(MODEL, mode, **most)

    def harness(
        self,
        *tasks: RolloutTask,
        agent: MessagesAgent | None = None,
        workers: int = 2,
        caps: RunCaps | None = None,
    ) -> Harness:
        return harness_on_messages(
            TaskSet(name="greetings", tasks=tasks),
            agent or self.agent(),
            POLICY,
            SplitBook(self.registry.about().split_key),
            self.desk,
            workers=workers,
            caps=caps or RunCaps(),
        )

    def trial(
        self,
        *script: Step | Callable[[dict[str, Any]], Step],
        arm: Arm | None = None,
        agent: MessagesAgent | None = None,
        task: RolloutTask | None = None,
    ) -> Trial:
        """Run the agent once, with its replies scripted."""
        self.stub.script("agent", *script)
        job = PlannedRun(arm or arm_of(), task or greeting(), 0)
        return self.harness(job.task, agent=agent).runner(self.folder)(job)

    def transcript(self, trial: Trial) -> Any:  # noqa: ANN401 - tests look into its shape
        body = self.registry.log.get_blob(trial.transcript)
        assert body is not None
        return json.loads(body)


@contextmanager
def bench(
    registry: Registry, stub: AnthropicStub, folder: Path, settings: ModelSettings | None = None
) -> Iterator[Bench]:
    """Lend a bench; the desk has a registry of its own, in the same file."""
    seeds = count(100)

    @contextmanager
    def opening() -> Iterator[RecordedModel]:
        with closing(SqliteLog.open(folder / "registry.db")) as log:
            own = Registry(log, TickingClock(seed=next(seeds)), registry.actor)
            with asking(own, stub, settings) as model:
                yield model

    desk = Desk(opening)
    (folder / "arms").mkdir()
    try:
        yield Bench(registry, stub, desk, folder / "arms")
    finally:
        desk.close()
