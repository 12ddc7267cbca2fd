"""The agent `messages`: a model that works on a task through tools, and how it learns of the skill."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from pydantic import ConfigDict, Field

from registry.skill_md.front_matter import read_front
from registry.skill_md.skill_files import main_file
from registry.skill_md.text import front_end, split_lines
from strategies.models.prompts import tool_body
from strategies.models.protocol import TextBlock
from strategies.rollouts.run.agent_templates import MESSAGES, Agent, SkillMode
from strategies.rollouts.run.tools import MAX_CALL_S, MAX_RESULT_CHARS, offered

if TYPE_CHECKING:
    from pathlib import Path

_WORK: Final = (
    "You work on one task, in a folder of its own, through tools. The working folder is the current folder of "
    "every command; paths begin there. Nothing outside of it can be changed, temporary files belong in $TMPDIR, "
    "and there is no network. Nobody can be asked: decide yourself. When the task is done, call finish with your "
    "answer. What counts is the answer, and what then stands in the working folder."
)
_INJECTED: Final = "You have this skill:"
_MUST_FOLLOW: Final = "You have this skill. You must follow it:"
_CHOICE: Final = "Skills that you may load, where one helps with the task:"
_FILES: Final = "Further files of the skill lie in {place}, for reading."


class MessagesAgent(Agent):
    """A model as agent: which one, how it gets the skill, and its limits; all of it is part of the harness's hash.

    `instructions` is the hash of what the model is shown beside task and skill, instructions and tools; its old
    name goes into the hash of the harness, which else would change. Units: replies, tokens of one reply, tokens of
    a whole run, prompts and replies together.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    model: str
    skill_mode: SkillMode
    most_replies: Annotated[int, Field(gt=0)]
    reply_tokens: Annotated[int, Field(gt=0)]
    run_tokens: Annotated[int, Field(gt=0)]
    instructions: Annotated[str, Field(serialization_alias="told")]


def messages_agent(
    model: str, skill_mode: SkillMode, *, most_replies: int, reply_tokens: int, run_tokens: int
) -> MessagesAgent:
    """Set up a model as agent."""
    return MessagesAgent(
        name=MESSAGES,
        argv=(MESSAGES,),
        model=model,
        skill_mode=skill_mode,
        most_replies=most_replies,
        reply_tokens=reply_tokens,
        run_tokens=run_tokens,
        instructions=_digest_of_instructions(),
    )


def _digest_of_instructions() -> str:
    tools = [tool_body(tool) for tool in offered("SKILL")]
    texts = [_WORK, _INJECTED, _MUST_FOLLOW, _CHOICE, _FILES, MAX_RESULT_CHARS, MAX_CALL_S, tools]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


class GivenSkill(NamedTuple):
    """A skill as a model reads it: its text without front matter; `place` is where its other files lie, or ""."""

    name: str
    description: str
    body: str
    place: str = ""

    @property
    def text(self) -> str:
        """The text, and where the other files are."""
        files = f"\n{_FILES.format(place=self.place)}" if self.place else ""
        return f'<skill name="{self.name}">\n{self.body.strip()}\n</skill>{files}'


def given_skill(folder: Path | None, place: str) -> GivenSkill | None:
    """Read the skill of a folder, None where there is none; `place` is what the model calls the folder."""
    if folder is None:
        return None
    text_file = main_file(folder.name)
    lines = split_lines((folder / text_file).read_text(encoding="utf-8", errors="replace"))
    end = front_end(lines)
    front = [line for line in lines[:end] if line.rstrip() != "---"]
    entries = {entry.key: entry.value for entry in read_front(front, 1).entries}
    others = any(path.name != text_file for path in folder.iterdir())
    description = entries.get("description", "")
    return GivenSkill(
        name=folder.name,
        description=description if isinstance(description, str) else "",
        body="".join(lines[end:]),
        place=place if others else "",
    )


def instructions(agent: MessagesAgent, skill: GivenSkill | None) -> tuple[TextBlock, ...]:
    """Write the instructions before the task; all of it is kept in the prompt cache."""
    parts = [_WORK]
    if skill is not None:
        match agent.skill_mode:
            case "injected":
                parts += [_INJECTED, skill.text]
            case "must-follow":
                parts += [_MUST_FOLLOW, skill.text]
            case "choice":
                parts += [_CHOICE, f"- {skill.name}: {skill.description}"]
    return (TextBlock("\n\n".join(parts), cache=True),)
