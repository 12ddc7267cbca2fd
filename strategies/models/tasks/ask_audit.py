"""A model asked by an audit: what a task asks for beyond the rules, what an evaluator sees in a pair of runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal

from events.types.audit_events import AuditResult
from events.types.frozen import Frozen
from strategies.models.prompts import NOTICE, untrusted
from strategies.models.protocol import Request, TextBlock, user_message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from strategies.models.protocol import A, Model, Reply

_EVALUATE: Final = """\
You audit a skill, a text that an agent loads. The same agent did the same task twice: with the skill, and
without. You are one of several evaluators, called {evaluator}, and you answer one question alone:

{question}

Say what the skill did to this task, as far as your question goes: helped, inert, hurt, or null where nobody can
tell from what is shown. Give your reason first, in at most three sentences. Then name what should happen to
passages of the skill: harmful (following it lost something), noise (it changes nothing), swap (a right text can
take its place), gap (something is missing; no quote). Quote passages word for word as they stand in the skill,
one line each: a quote that is not found counts for nothing. Be sparing: no signal is better than a guess. Under
protected, quote the passages that what went well comes from."""

_READ: Final = """\
You read a task that an agent will be given, and say what it asks for, before anybody works on it. You are shown
the task, the files it begins with, and what rules read in it already. Name further requirements that the task
states, each one sentence in its own words, and the steps in the order that it states, where it states one.
Suggest checks that a right result cannot fail, only of these kinds: exists (path), matches (path, pattern in
RE2), first_line (path, line), one_of (path, key, values). Paths are relative, and named in the task. Leave
fields that a kind does not have empty. Suggest few: a check that a right result fails does harm."""

_MOST_TOKENS: Final = 2_000
_MOST_BLOCK_CHARS: Final = 16_000
"""What is asked and shown (guesses, as for the judge)."""


class OpinionSignal(Frozen):
    """What should happen to one passage, by its own words."""

    action: Literal["harmful", "noise", "swap", "gap"]
    quote: str
    reason: str
    replacement: str
    section: str


class EvaluatorOpinion(Frozen):
    """What a model answers an evaluator: its reason first, so that the rest follows from it."""

    reason: str
    result: AuditResult
    signals: tuple[OpinionSignal, ...]
    protected: tuple[str, ...]


class SuggestedCheck(Frozen):
    """A declarative check that a model suggests; what its kind does not have is empty."""

    kind: Literal["exists", "matches", "first_line", "one_of"]
    path: str
    pattern: str
    line: str
    key: str
    values: tuple[str, ...]

    @property
    def fields(self) -> dict[str, JsonValue]:
        """The fields that its kind has, as a task file writes them."""
        own: dict[str, dict[str, JsonValue]] = {
            "exists": {},
            "matches": {"pattern": self.pattern},
            "first_line": {"line": self.line},
            "one_of": {"key": self.key, "values": list(self.values)},
        }
        return {"kind": self.kind, "path": self.path, **own[self.kind]}


class ReadTaskAnswer(Frozen):
    """What a model reads in a task."""

    requirements: tuple[str, ...]
    workflow: tuple[str, ...]
    checks: tuple[SuggestedCheck, ...]


def ask_evaluator(
    model: Model, name: str, evaluator: str, question: str, shown: JsonValue, *, look: int = 0
) -> Reply[EvaluatorOpinion]:
    """Ask what an evaluator sees in a pair; another `look` is another prompt. Raises what `Model.ask` raises."""
    system = _EVALUATE.format(evaluator=evaluator, question=question)
    system += f"\n\nThis is look {look + 1} at the pair." if look else ""
    given = shown if isinstance(shown, dict) else {"shown": shown}
    return model.ask(_request(name, system, given, EvaluatorOpinion))


def ask_task_reading(model: Model, name: str, shown: Mapping[str, JsonValue]) -> Reply[ReadTaskAnswer]:
    """Ask what a task asks for; raises what `Model.ask` raises."""
    return model.ask(_request(name, _READ, shown, ReadTaskAnswer))


def _request(name: str, instruction: str, shown: Mapping[str, JsonValue], answer: type[A]) -> Request[A]:
    return Request(
        role="judge",
        model=name,
        system=(TextBlock(f"{instruction}\n\n{NOTICE}", cache=True),),
        messages=(user_message(_blocks(shown)),),
        answer=answer,
        max_tokens=_MOST_TOKENS,
        again=True,
    )


def _blocks(shown: Mapping[str, JsonValue]) -> str:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        for name, value in shown.items()
    }
    return "\n\n".join(untrusted(name, text, most_chars=_MOST_BLOCK_CHARS) for name, text in texts.items())
