"""Tracks: what each piece of advice is called where people read it, and the commands that start it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from events.types.judgements import Track

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


def commands_for(track: Track, skill: str) -> tuple[str, ...]:
    """Give the commands that start a track, for a skill or, where none is named, for whichever it will be."""
    name = skill or "SKILL"
    evolve = f"germline evolve {skill}".rstrip()
    words = f"germline candidate propose {name} --from FILE --reason TEXT"
    reference = f"germline candidate propose {name} --from FOLDER --reason TEXT"
    good_runs = f"germline export review --skill {skill}" if skill else "germline export review"
    starts: dict[Track, tuple[str, ...]] = {
        "none": ("germline scan PATH",),
        "prompt": (words,),
        "skill": (evolve,),
        "both": (evolve, words),
        "code": ("germline signals",),
        "knowledge": (reference,),
        "fine-tune": (good_runs,),
        "knowledge + fine-tune": (reference, good_runs),
    }
    return starts[track]
