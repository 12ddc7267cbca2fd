"""One trial of a model as agent: it works through tools, and what it leaves is graded as any work is."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import JsonValue

from events.errors import ContainerError, SpendingCapError
from events.types.frozen import Frozen
from events.types.score import Split
from strategies.models.prompts import message_body, tool_body
from strategies.rollouts.run.agent_sessions import AgentTrace
from strategies.rollouts.run.agent_templates import SkillMode
from strategies.rollouts.run.arms import write_arm
from strategies.rollouts.run.dialogue import Dialogue, unmarked
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.messages_agent import given_skill
from strategies.rollouts.run.runner import CapReachedError
from strategies.rollouts.run.task_container import contained, running
from strategies.rollouts.run.tools import Toolbox
from strategies.rollouts.run.trial import (
    NOTE_CHARS,
    Trial,
    changed_files,
    files_in,
    graded,
    left_in,
    lost,
    require_unchanged,
    too_full,
)
from strategies.rollouts.run.trial_folders import lay_out
from strategies.sandbox.confined_run import run_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from strategies.models.thread_desk import Desk
    from strategies.rollouts.run.messages_agent import MessagesAgent
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.task_container import Container
    from strategies.rollouts.run.trial import FilesState
    from strategies.rollouts.run.trial_folders import Layout
    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import SandboxPolicy


_WROTE: Final = "tried to write "


@dataclass(frozen=True)
class MessagesRunner:
    """Runs a model on tasks, with the skills that stand below a folder; `splits` are those of open tasks.

    A task that it does not name is sealed.
    """

    agent: MessagesAgent
    policy: SandboxPolicy
    place: Path
    desk: Desk
    splits: Mapping[str, Split]

    def __call__(self, job: PlannedRun) -> Trial:
        """Make the run.

        Raises: CapReachedError where the next request could pass a cap on models; what a trial raises;
        CredentialsError, UnknownPriceError and the other errors of asking but for ModelError.
        """
        task, skill = job.task, write_arm(job.arm, self.place)
        require_unchanged(task)
        with run_folder("trial-") as root:
            try:
                layout = lay_out(task, skill, self.agent, root)
                with _container(task, layout) as container:
                    before = files_in(layout)
                    dialogue = self._held(Toolbox(task, layout, self.policy, container), skill)
            except SpendingCapError as error:
                raise CapReachedError(f"{error.message}; finished runs are kept") from error
            except ContainerError as error:
                return lost(task, error)
            return self._judged(job, dialogue, layout, before)

    def _held(self, toolbox: Toolbox, skill: Path | None) -> Dialogue:
        place = f"../{toolbox.layout.skill.relative_to(toolbox.layout.root)}"
        dialogue = Dialogue(self.agent, given_skill(skill, place), toolbox, self.desk)
        dialogue.hold()
        return dialogue

    def _judged(self, job: PlannedRun, dialogue: Dialogue, layout: Layout, before: FilesState) -> Trial:
        """Grade what was left, unless there is nothing to grade."""
        task, attempts = job.task, tuple(dialogue.toolbox.attempts)
        transcript = self._transcript(job, dialogue)
        trial = Trial(
            task=task.id,
            status=dialogue.status,
            tags=task.tags,
            seconds=dialogue.seconds,
            cost_usd=dialogue.cost_usd,
            tampering=(*changed_files(task), *reached_for(attempts, task)),
            attempts=attempts,
            note=dialogue.note[:NOTE_CHARS],
            transcript=self.desk.keep(transcript.model_dump(mode="json"), kind="transcript"),
            work=job.watch(_trace_of(transcript, layout, before)) if job.watch else "",
        )
        full = too_full(layout, self.policy) if trial.status == "done" else None
        if full:
            return trial.model_copy(update={"status": full[0], "note": full[1]})
        if trial.status != "done" or trial.tampered:
            return trial
        return graded(trial, AgentWork(task, layout.workspace, dialogue.answer, self.policy))

    def _transcript(self, job: PlannedRun, dialogue: Dialogue) -> RunTranscript:
        return RunTranscript(
            task=job.task.id,
            split=self.splits.get(job.task.id, "sealed"),
            skill=job.arm.skill,
            model=self.agent.model,
            skill_mode=self.agent.skill_mode,
            loaded=dialogue.loaded,
            system="".join(part.text for part in dialogue.system),
            tools=tuple(map(tool_body, dialogue.tools)),
            messages=tuple(message_body(unmarked(turn)) for turn in dialogue.messages),
            answer=dialogue.answer,
        )


def _container(task: RolloutTask, layout: Layout) -> AbstractContextManager[Container | None]:
    """Start the container that a model works in, with workspace and skill; none where the task has none."""
    if contained(task) is None:
        return nullcontext()
    mounts = {layout.workspace: ".", layout.skill.parent: "../skill"}
    return running(task, mounts, limit_s=task.limit_s)


def _trace_of(transcript: RunTranscript, layout: Layout, before: FilesState) -> AgentTrace:
    printed = transcript.model_dump_json(include={"messages"})
    left = left_in(layout, before, files_in(layout))
    return AgentTrace(layout, transcript.answer, printed, stderr="", code=0, files=left)


def reached_for(attempts: tuple[str, ...], task: RolloutTask) -> tuple[str, ...]:
    """Name the attempts to write to what a run is given and judged by: the skill, the prompt, the task set.

    Others are reported and no more, as of every agent: a model that writes to /tmp means no harm.
    """
    folder = task.folder.resolve() if task.folder.is_absolute() else None

    def given(attempt: str) -> bool:
        place = attempt.removeprefix(_WROTE)
        own = not place.startswith("/")  # below the trial's own folder, and not where it may write
        return attempt.startswith(_WROTE) and (own or (folder is not None and Path(place).is_relative_to(folder)))

    return tuple(f"agent: {attempt}" for attempt in attempts if given(attempt))


class RunTranscript(Frozen):
    """The messages, without cache marks; `loaded` tells whether a skill of choice was."""

    form: Literal["germline/transcript/1"] = "germline/transcript/1"
    task: str
    split: Split
    skill: str
    model: str
    skill_mode: SkillMode
    loaded: bool
    system: str
    tools: tuple[dict[str, JsonValue], ...]
    messages: tuple[dict[str, JsonValue], ...]
    answer: str
