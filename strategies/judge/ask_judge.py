"""A model as judge of two outputs: asked in both orders, blind to whose they are, by a rubric that is cached."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from events.model_errors import UNFIT
from events.types.frozen import Frozen
from registry.evidence.scrub_text import compact
from strategies.judge.calibration_rule import BothOrders, JudgeIdentity, Place
from strategies.models.answer_schema import answer_schema
from strategies.models.prompts import NOTICE, untrusted
from strategies.models.protocol import Reply, Request, TextBlock, user_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.errors import SpendingCapError
    from events.model_errors import ModelError
    from strategies.models.protocol import Model

RUBRIC: Final = """\
You compare two outputs for the same task, and say which of them is better.

Better is what does more of what the task asks for, and does it right:
1. Correctness comes first: facts, figures, code and commands that are right beat any that are wrong.
2. Then completeness: everything that the task asks for, and nothing that it forbids.
3. Then use: an output that the asker can act on as it stands.

What does not count: length, polish, confidence, politeness, formatting that nobody asked for, and which output was
shown first. A longer output is not better for being longer. Where both are equally good, or equally bad, say tie.
"""
"""What a judge goes by where nobody wrote another rubric."""

_RULES: Final = """\
You are shown the task and two outputs, called first and second. You do not know who made them, and their order
means nothing. Give your reason in at most three sentences, then your decision: first, second or tie."""
_ASK: Final = "Which output is better for this task: first, second or tie?"

MOST_TASK_CHARS: Final = 12_000
MOST_OUTPUT_CHARS: Final = 24_000
"""What is shown of a task and of each output (guesses: about 3,000 and 6,000 tokens)."""
_MOST_TOKENS: Final = 1_000
"""Room for three sentences and the decision, with some to think (a guess)."""


class PairAnswer(Frozen):
    """What a judge answers: its reason first, so that the decision follows from it."""

    reason: str
    better: Place


class Pair(NamedTuple):
    """Two outputs for one task."""

    task: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class PairJudge:
    """A judge: the model that is asked, its name, and the rubric that it goes by."""

    model: Model
    name: str
    rubric: str = RUBRIC

    def identity(self, family: str) -> JudgeIdentity:
        """Name the judge as a calibration does."""
        return judge_identity(self.name, self.rubric, family)

    def judge(self, pairs: Sequence[Pair]) -> list[Ruling]:
        """Judge pairs, each in both orders; what was answered before is not paid for again.

        Raises: what `Model.ask_all` raises; ModelError and SpendingCapError that are not the judge's own doing,
        once the others are answered and kept.
        """
        asked = [case for pair in pairs for case in asked_in_both_orders(pair, self.name, self.rubric)]
        replies = self.model.ask_all(asked)
        answers = [_of_its_own(reply) for reply in replies]
        return [_ruling(forward, backward) for forward, backward in zip(answers[::2], answers[1::2], strict=True)]


def asked_in_both_orders(pair: Pair, name: str, rubric: str) -> tuple[Request[PairAnswer], Request[PairAnswer]]:
    """Write the two questions about a pair: with a shown first, and with b shown first."""
    forward, backward = (
        Request(
            role="judge",
            model=name,
            system=_system(rubric),
            messages=(user_message(_shown(ordered)),),
            answer=PairAnswer,
            max_tokens=_MOST_TOKENS,
            again=True,
        )
        for ordered in (pair, _turned(pair))
    )
    return forward, backward


def judge_identity(name: str, rubric: str, family: str) -> JudgeIdentity:
    """Name a judge as a calibration does."""
    return JudgeIdentity(name, judge_prompt(rubric), family)


def judge_prompt(rubric: str = RUBRIC) -> str:
    """Give the hash of everything that a judge is shown beside the pair itself."""
    parts = (*(block.text for block in _system(rubric)), _ASK, compact(answer_schema(PairAnswer)))
    return sha256("\x1f".join(parts).encode()).hexdigest()


class Ruling(NamedTuple):
    """What came of one pair: the answers, None where the judge gave none of use; what it cost in US dollars."""

    orders: BothOrders | None
    cost_usd: float


def _system(rubric: str) -> tuple[TextBlock, ...]:
    """Write what stays the same from pair to pair; everything up to its end is kept in the prompt cache."""
    return TextBlock(_RULES), TextBlock(f"{rubric.strip()}\n\n{NOTICE}", cache=True)


def _shown(pair: Pair) -> str:
    blocks = (
        untrusted("task", pair.task, most_chars=MOST_TASK_CHARS),
        untrusted("first", pair.a, most_chars=MOST_OUTPUT_CHARS),
        untrusted("second", pair.b, most_chars=MOST_OUTPUT_CHARS),
    )
    return "\n\n".join((*blocks, _ASK))


def _turned(pair: Pair) -> Pair:
    return Pair(pair.task, pair.b, pair.a)


def _of_its_own(reply: Reply[PairAnswer] | ModelError | SpendingCapError) -> Reply[PairAnswer] | ModelError:
    """Let through what the judge itself answered or failed to answer; raises what kept it from being asked."""
    if isinstance(reply, (Reply, *UNFIT)):
        return reply
    raise reply


def _ruling(*replies: Reply[PairAnswer] | ModelError) -> Ruling:
    cost_usd = sum(reply.cost_usd or 0.0 for reply in replies)
    answers = [reply.answer.better for reply in replies if isinstance(reply, Reply)]
    return Ruling(BothOrders(*answers) if len(answers) == len(replies) else None, cost_usd)
