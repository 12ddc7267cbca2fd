"""A model scores single runs by five criteria: a note for people, which no verdict ever looks at."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal

from events.types.frozen import Frozen
from registry.evidence.scrub_text import compact
from strategies.models.answer_schema import answer_schema
from strategies.models.prompts import NOTICE, untrusted
from strategies.models.protocol import Request, TextBlock, user_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.errors import SpendingCapError
    from events.model_errors import ModelError
    from strategies.models.protocol import Model, Reply
    from strategies.models.transcript_text import EpisodeTranscript

CRITERIA: Final = ("helpfulness", "accuracy", "reasoning", "tool_choice", "knowledge")
"""What a run is scored by, each from 1 to 5."""

_SYSTEM: Final = """\
You score one run of an agent by five criteria, each from 1 (poor) to 5 (excellent). You see its task, as the
person put it, then each step: what it said or called, and what came back. You do not see whether it succeeded.

- helpfulness: does it do what the task asks, in a form that can be used?
- accuracy: is what it says and does right, as far as the run itself shows?
- reasoning: does each step follow from what came before, errors included?
- tool_choice: does it use the right tool, with the right arguments, and no more calls than it needs?
- knowledge: does it use what it was given (skills, references, results), rather than guess?

Length does not count: a longer run is neither better nor worse for it. Give your reason first, in at most three
sentences."""
_ASK: Final = "Score this run."
_MOST_TOKENS: Final = 800
MOST_RUN_CHARS: Final = 60_000
"""What is shown of a run (a guess: about 15,000 tokens)."""

Mark = Literal[1, 2, 3, 4, 5]


class RunMarks(Frozen):
    """What a run was given by each criterion: the reason first, so that the marks follow from it."""

    reason: str
    helpfulness: Mark
    accuracy: Mark
    reasoning: Mark
    tool_choice: Mark
    knowledge: Mark

    def marks(self) -> dict[str, int]:
        """Give the marks by criterion."""
        return {name: getattr(self, name) for name in CRITERIA}


def criteria_prompt() -> str:
    """Give the hash of everything that a model is shown beside the run itself."""
    parts = (_SYSTEM, NOTICE, _ASK, compact(answer_schema(RunMarks)))
    return sha256("\x1f".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RunScorer:
    """Scores runs with a model, by its name."""

    model: Model
    name: str

    def score(self, runs: Sequence[EpisodeTranscript]) -> list[Reply[RunMarks] | ModelError | SpendingCapError]:
        """Score runs, in their order; raises what `Model.ask_all` raises."""
        return self.model.ask_all([self._asked(run) for run in runs])

    def _asked(self, run: EpisodeTranscript) -> Request[RunMarks]:
        shown = untrusted("run", run.text, most_chars=MOST_RUN_CHARS)
        return Request(
            role="judge",
            model=self.name,
            system=(TextBlock(f"{_SYSTEM}\n\n{NOTICE}", cache=True),),
            messages=(user_message(f"{shown}\n\n{_ASK}"),),
            answer=RunMarks,
            max_tokens=_MOST_TOKENS,
            evidence=run.evidence,
            again=True,
        )
