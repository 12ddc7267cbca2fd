"""Transcripts: what was said in a run of a model, in the form of the Messages API, kept without secrets."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from events.base import Frozen
from events.score import Split
from strategies.rollouts.messages import SkillMode


class Transcript(Frozen):
    """What was said, without cache marks; `loaded` tells whether a skill of choice was."""

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
