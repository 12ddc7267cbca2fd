"""A model as second reader of failures: which track it would take, beside what the rule says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.frozen import Frozen
from events.types.judgements import Level, Reading, Track
from events.types.score import Unit
from strategies.models.prompts import NOTICE, untrusted
from strategies.models.protocol import Request, TextBlock, user_message

if TYPE_CHECKING:
    from events.types.judgements import FailureFigures
    from strategies.models.protocol import Model, Reply

_SYSTEM: Final = """\
You read how runs of an agent failed, and say what should be worked on first. A skill is a text that the agent
loads for this kind of task. The tracks:

- none: nothing has to be done, or too little is known to tell.
- prompt: what the agent is told in general, or before it loads the skill (its description), is at fault.
- skill: the skill is used, and what it says is missing, wrong or not followed.
- both: prompt and skill.
- code: a tool or a script breaks or is missing; no words help.
- knowledge: the agent lacks facts that it cannot find out, such as names, schemas or rules: give it a reference.
- fine-tune: failures stay whatever the words say, and there are enough good runs to train on.
- knowledge + fine-tune: both.

Judge by the evidence alone. Be sparing: name the cheapest track that would remove most failures. Give your
rationale first, in at most five sentences; then the track, your confidence in it from 0 to 1, the effort and the
risk of it, and at most five next steps, each one sentence. You run nothing, and nothing that you write is run."""

_MOST_TOKENS: Final = 2_000
_MOST_SKILL_CHARS: Final = 16_000
_MOST_TEMPLATES: Final = 30
_MOST_LIST_CHARS: Final = 6_000
_MOST_QUOTE_CHARS: Final = 2_000
"""What is shown (guesses: about 4,000 tokens of skill, as much of evidence)."""


class FailureReading(Frozen):
    """What the model answers: its rationale first, so that the rest follows from it."""

    rationale: str
    track: Track
    confidence: Unit
    effort: Level
    risk: Level
    next_steps: tuple[str, ...]


class TemplateCount(NamedTuple):
    """An error template, and in how many failed runs it shows."""

    template: str
    runs: int


class Quote(NamedTuple):
    """A piece of evidence with what is around it; `evidence` names all that is kept of its episode."""

    evidence: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class FailureCase:
    """What the model is shown, of runs that a proposer may see. `skill_text` is "" where no skill is named."""

    skill: str
    skill_text: str
    figures: FailureFigures
    templates: tuple[TemplateCount, ...]
    quotes: tuple[Quote, ...]


def ask_for_reading(model: Model, case: FailureCase) -> Reply[FailureReading]:
    """Ask for the model's own reading; raises what `Model.ask` raises."""
    return model.ask(
        Request(
            role="classifier",
            system=(TextBlock(f"{_SYSTEM}\n\n{NOTICE}", cache=True),),
            messages=(user_message(_shown(case)),),
            answer=FailureReading,
            max_tokens=_MOST_TOKENS,
            evidence=tuple(dict.fromkeys(name for quote in case.quotes for name in quote.evidence)),
            again=True,
        )
    )


def reading_of(reply: Reply[FailureReading]) -> Reading:
    """Write down what the model answered, without its words."""
    answer = reply.answer
    return Reading(
        track=answer.track,
        confidence=answer.confidence,
        effort=answer.effort,
        risk=answer.risk,
        model=reply.model,
        prompt=reply.prompt_hash,
        reply=reply.kept,
        cost_usd=reply.cost_usd,
    )


def _shown(case: FailureCase) -> str:
    figures = json.dumps(case.figures.model_dump(mode="json"), indent=1)
    parts = [f"Measured over the runs (shares are of the failed ones, null where nobody can tell):\n{figures}"]
    if case.skill_text:
        parts.append(untrusted(f"skill {case.skill}", case.skill_text, most_chars=_MOST_SKILL_CHARS))
    if case.templates:
        lines = "\n".join(
            f"{template.runs:>6}  {template.template}" for template in case.templates[:_MOST_TEMPLATES]
        )
        parts.append(untrusted("errors, by failed runs", lines, most_chars=_MOST_LIST_CHARS))
    parts += [
        untrusted(f"evidence {number}", quote.text, most_chars=_MOST_QUOTE_CHARS)
        for number, quote in enumerate(case.quotes, start=1)
    ]
    return "\n\n".join((*parts, "Which track would you take?"))
