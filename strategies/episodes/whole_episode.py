"""Episodes read again with their texts: without secrets, and of a long text without its middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from registry.evidence.scrub_text import plain as scrubbed
from strategies.episodes.clipped_text import clipped
from strategies.episodes.episode_records import plain, prompt_key
from strategies.episodes.step_marks import Marker
from strategies.episodes.step_records import draft_of
from strategies.files.log_records import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.episodes.episode import Episode, Step
    from strategies.episodes.step_records import StepDraft

MOST_CHARS: Final = 32_000
"""What is held of one text of a step: more than a prompt shows, and a bound for memory (a guess)."""


class WholeEpisode(NamedTuple):
    """An episode as its reader finds it again: by `prompt_key` and `drafts` it is known for the recorded one.

    `task` is what was asked for first. Shapes: one of `steps` for each of `drafts`.
    """

    name: str
    task: str
    prompt_key: str
    drafts: Sequence[StepDraft]
    steps: Sequence[Step]


def whole_episode(episode: Episode) -> WholeEpisode:
    """Give an episode with all that its record would be made of."""
    marker = Marker()
    return WholeEpisode(
        plain(episode.id),
        shown_text(episode.prompt),
        prompt_key(episode.prompt),
        [draft_of(step, marker) for step in episode.steps],
        list(map(shown_step, episode.steps)),
    )


def first_request(steps: Iterable[Step]) -> str:
    """Give what the person asked for first, "" where nobody asked."""
    return next((step.text for step in steps if step.actor == "user" and step.text), "")


def shown_step(step: Step) -> Step:
    """Give a step as it may be shown: no text of it holds a secret, and none is too long."""
    result = shown_text(step.result)
    return msgspec.structs.replace(
        step,
        text=shown_text(step.text),
        result=result,
        error_text=result if step.error_text == step.result else shown_text(step.error_text),
        error_type=shown_text(step.error_type),
        target=shown_text(step.target),
    )


def shown_text(text: str) -> str:
    """Give a text as it may be shown; secrets leave it first, for a cut could divide one."""
    return clipped(scrubbed(_unescaped(text)), MOST_CHARS) if text else ""


def _unescaped(text: str) -> str:
    """Give JSON with its characters as they are: a secret must not hide behind escapes."""
    if not text.startswith(("{", "[")) or not ("\\u" in text or "\\/" in text):
        return text
    try:
        return msgspec.json.encode(msgspec.json.decode(text)).decode()
    except (*UNREADABLE, UnicodeEncodeError):
        return text
