"""One conversation of an OpenTelemetry trace: its spans in the order of time, as steps, and how it was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from strategies.logs.conversation import Conversation
from strategies.logs.episode import EndedBy, Episode, Outcome, Span
from strategies.logs.json_places import UNREADABLE
from strategies.logs.jsonl import count_unknown
from strategies.logs.otel_spans import rfc3339
from strategies.logs.skill_use import ran_under, skills_used

if TYPE_CHECKING:
    from strategies.logs.episode import Tally
    from strategies.logs.otel_spans import Attributes

_MODEL_CALLS: Final = frozenset(["chat", "text_completion", "generate_content"])
_CUT_SHORT: Final = ("length", "max_tokens")
_GOOD: Final = frozenset(["pass", "passed", "success", "correct", "true", "yes"])
_BAD: Final = frozenset(["fail", "failed", "failure", "incorrect", "false", "no"])
"""Labels of an evaluation without a score."""


class Seen(NamedTuple):
    """A span as it was read. Units: nanoseconds since 1970."""

    start: int
    end: int
    place: Span
    attributes: Attributes
    failed: bool
    said: str


class Judged(NamedTuple):
    """An evaluation of a response. Units: nanoseconds since 1970."""

    at: int
    attributes: Attributes


class _Part(msgspec.Struct):
    type: str = "text"
    content: str | None = None


class _Message(msgspec.Struct):
    role: str = ""
    parts: list[_Part] = []

    @property
    def text(self) -> str:
        return "\n".join(part.content for part in self.parts if part.type == "text" and part.content)


_MESSAGES: Final = msgspec.json.Decoder(list[_Message])
_REASONS: Final = msgspec.json.Decoder(list[str])


class Gathered:
    """What a file holds of one conversation, in no order."""

    def __init__(self) -> None:
        self.spans: list[Seen] = []
        self.judged: list[Judged] = []


def episode_of(gathered: Gathered, *, name: str, source: str, format_name: str, tally: Tally) -> Episode:
    """Give the episode of a conversation: spans sorted by start, the longer first."""
    spans = sorted(gathered.spans, key=lambda seen: (seen.start, -seen.end, seen.place.byte_start))
    told = _Telling()
    for seen in spans:
        told.learn(seen)
    labels, outcome = _judgement(gathered.judged, tally)
    agent = _first(spans, "gen_ai.agent.name")
    return Episode(
        id=name,
        source=source,
        format=format_name,
        run=_first(spans, "gen_ai.request.model"),
        labels={"agent": agent, **labels} if agent else labels,
        prompt=told.talk.prompt,
        started_at=rfc3339(spans[0].start) if spans else None,
        outcome=outcome,
        ended_by=told.ended_by,
        skills=ran_under(_skills(spans), skills_used(told.talk.steps)),
        steps=tuple(told.talk.steps),
    )


class _Telling:
    """The steps of a conversation while its spans come, in the order of time."""

    def __init__(self) -> None:
        self.talk = Conversation()
        self.ended_by: EndedBy = "unknown"
        self._turn = 0
        self._model_spoke = False
        self._busy_until = 0
        self._asked = ""

    def learn(self, seen: Seen) -> None:
        operation = seen.attributes.get("gen_ai.operation.name", "")
        if operation in _MODEL_CALLS:
            self._answered(seen)
        elif operation == "execute_tool" or "gen_ai.tool.name" in seen.attributes:
            self._called(seen)

    def _answered(self, seen: Seen) -> None:
        """Learn a call of the model: what was asked since the last one, and what it said."""
        self._turn += 1
        self._model_spoke = True
        asked = _messages(seen, "gen_ai.input.messages")
        last = asked[-1].text if asked and asked[-1].role == "user" else ""
        if last and last != self._asked:
            self._asked = last
            self.talk.say("user", last, seen.place, at=rfc3339(seen.start))
        for message in _messages(seen, "gen_ai.output.messages"):
            if message.text:
                at = rfc3339(seen.end)
                self.talk.say("agent", message.text, seen.place, group=str(self._turn), at=at)
        self.ended_by = "agent" if _finished(seen) else "unknown"
        if any(reason in seen.attributes.get("gen_ai.response.finish_reasons", "") for reason in _CUT_SHORT):
            self.ended_by = "limit"
        if seen.failed:
            self.talk.mark(_error_type(seen) or "error", "environment", seen.place, at=rfc3339(seen.end))
            self._say_why(seen)
            self.ended_by = "environment"

    def _called(self, seen: Seen) -> None:
        """Learn a call of a tool.

        Those between two calls of the model were issued together; where a trace shows none, those that overlap.
        """
        if not self._model_spoke and seen.start >= self._busy_until:
            self._turn += 1
        self._busy_until = max(self._busy_until, seen.end)
        attributes = seen.attributes
        call_id = attributes.get("gen_ai.tool.call.id", "") or "this one"
        argument = attributes.get("gen_ai.tool.call.arguments", "")
        tool = attributes.get("gen_ai.tool.name", "")
        self.talk.call(call_id, tool, argument, seen.place, group=str(self._turn), at=rfc3339(seen.start))
        result = attributes.get("gen_ai.tool.call.result", "")
        self.talk.answer(call_id, result, seen.place, failed=seen.failed, at=rfc3339(seen.end))
        if seen.failed:
            self._say_why(seen)
        self.ended_by = "unknown"

    def _say_why(self, seen: Seen) -> None:
        last = self.talk.steps[-1]
        self.talk.steps[-1] = msgspec.structs.replace(
            last, error=True, error_text=seen.said or last.result, error_type=_error_type(seen)
        )


def _error_type(seen: Seen) -> str:
    named = seen.attributes.get("error.type", "")
    return "" if named == "_OTHER" else named


def _finished(seen: Seen) -> bool:
    """Tell whether the model stopped by itself, rather than to call a tool."""
    try:
        reasons = _REASONS.decode(seen.attributes.get("gen_ai.response.finish_reasons", "[]"))
    except UNREADABLE:
        return False
    return bool(reasons) and all(reason in {"stop", "end_turn"} for reason in reasons)


def _messages(seen: Seen, attribute: str) -> list[_Message]:
    """Decode messages; content that is not recorded, or in another shape, is no message."""
    try:
        return _MESSAGES.decode(seen.attributes.get(attribute, "[]"))
    except UNREADABLE:
        return []


def _first(spans: list[Seen], attribute: str) -> str:
    return next((seen.attributes[attribute] for seen in spans if seen.attributes.get(attribute)), "")


def _skills(spans: list[Seen]) -> tuple[tuple[str, str], ...]:
    """Give each skill that a span names once, with its version where any span tells it."""
    found: dict[str, str] = {}
    for seen in spans:
        name = seen.attributes.get("gen_ai.skill.name", "")
        if name:
            found[name] = found.get(name) or seen.attributes.get("gen_ai.skill.version", "")
    return tuple(found.items())


def _judgement(judged: list[Judged], tally: Tally) -> tuple[dict[str, str], Outcome | None]:
    """Give the last score by every name as a label, and their mean as the outcome."""
    scores: dict[str, float] = {}
    labels: dict[str, str] = {}
    for one in sorted(judged, key=lambda judged: judged.at):
        name = one.attributes.get("gen_ai.evaluation.name", "")
        written = one.attributes.get("gen_ai.evaluation.score.value", "")
        label = one.attributes.get("gen_ai.evaluation.score.label", "").lower()
        labels[f"evaluation.{name}"] = written or label
        value = _score(written, label)
        if value is None or not 0 <= value <= 1:
            count_unknown(tally, "outcome outside 0 to 1")
        else:
            scores[name] = value
    return labels, Outcome(sum(scores.values()) / len(scores), "reward") if scores else None


def _score(written: str, label: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return 1.0 if label in _GOOD else 0.0 if label in _BAD else None
