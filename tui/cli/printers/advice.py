"""Advice as it was given last, in a line for each skill; what each track means, and the commands that start it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.clock import SystemClock
from tui.cli.output.color import width
from tui.text.durations import age
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import share
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from events.types.judgements import Rung, Track
    from strategies.advice.given_advice import Given
    from tui.cli.output.invocation import Invocation
    from tui.text.next_steps import Situation


def print_advice(call: Invocation, advice: Mapping[str, Given]) -> None:
    """Print the track that was advised for each skill, what a model answered beside it, and how long ago."""
    now = SystemClock().now()
    for at, (skill, given) in enumerate(sorted(advice.items())):
        event = given.event
        reading = event.reading
        beside = f"; model: {reading.track} ({share(reading.confidence)})" if reading else ""
        reason = f": {event.reasons[0]}" if event.reasons else ""
        text = f"{skill or 'all runs'}: {event.track}{beside}, {age(given.at, now)}{one_line(reason)}"
        call.say(clip(f"{'' if at else 'advice':<10} {text}", width()))


MEANINGS: Final[dict[Track, str]] = {
    "none": "nothing to do",
    "prompt": "what the agent is told before it loads the skill: its description, and when to use it",
    "skill": "what the skill says",
    "both": "the skill, and what leads an agent to it",
    "code": "the tools: they break, whatever words say",
    "knowledge": "facts that the agent lacks: a reference beside the skill",
    "fine-tune": "training on good runs: words have not helped",
    "knowledge + fine-tune": "facts that the agent lacks, and training on good runs",
}


def commands_for(
    track: Track, skill: str, situation: Situation | None = None, *, corpus: bool | None = None
) -> tuple[str, ...]:
    """Give the commands that start a track, for a skill or, where none is named, for whichever it will be.

    Where there is nothing to advise on, `situation` says why; `corpus` tells that the skill has knowledge.
    """
    name = skill or "SKILL"
    evolve = f"germline evolve {skill}".rstrip()
    describe = f"germline skill describe {name}"
    words = f"germline candidate propose {name} --from FILE --reason TEXT"
    reference = f"germline knowledge add {name} PATH --reason TEXT"
    references = (f"germline knowledge check {name}", reference) if corpus else (reference,)
    of_skill = f" --skill {skill}" if skill else ""
    good_runs = f"germline export dataset --format sft -o FILE --license TEXT --consent TEXT{of_skill}"
    starts: dict[Track, tuple[str, ...]] = {
        "none": (NEXT_STEPS[situation or "no sessions"],),
        "prompt": (describe, words),
        "skill": (evolve,),
        "both": (evolve, describe),
        "code": (f"germline research {name}", "germline signals"),
        "knowledge": references,
        "fine-tune": (good_runs,),
        "knowledge + fine-tune": (*references, good_runs),
    }
    return starts[track]


def words_that_start(rung: Rung, skill: str) -> tuple[str, ...]:
    """Give the words of the command that starts a round on a rung, before those that a person adds."""
    starts: dict[Rung, tuple[str, ...]] = {
        "prompt": ("skill", "describe", skill),
        "skill": ("evolve", skill),
        "code": ("research", skill),
        "knowledge": ("knowledge", "add", skill),
        "fine-tune": ("export", "dataset", "--format", "sft", "--skill", skill),
    }
    return starts[rung]
