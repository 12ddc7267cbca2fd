"""One conversation of an OpenTelemetry trace: its spans in the order of time, as steps, and how it was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from strategies.episodes.conversation import Conversation
from strategies.episodes.episode import EndedBy, Episode, EpisodeOutcome
from strategies.episodes.episode_records import plain
from strategies.episodes.skill_use import ran_under, skills_used
from strategies.episodes.usage import NOTHING_SPENT, Usage, total
from strategies.files.log_records import UNREADABLE, count_unknown
from strategies.logs.formats.traces.conventions import usage_in
from strategies.logs.formats.traces.otel_spans import rfc3339

if TYPE_CHECKING:
    from strategies.files.log_records import ReadTally, Span
    from strategies.logs.formats.traces.otel_spans import Attributes

_MODEL_CALLS: Final = frozenset(["chat", "text_completion", "generate_content"])
_CUT_SHORT: Final = ("length", "max_tokens")
_GOOD: Final = frozenset(["pass", "passed", "success", "correct", "true", "yes"])
_BAD: Final = frozenset(["fail", "failed", "failure", "incorrect", "false", "no"])
"""Labels of an evaluation without a score."""


class ConversationSpan(NamedTuple):
    """A span as it was read. Units: nanoseconds since 1970."""

    start: int
    end: int
    place: Span
    attributes: Attributes
    failed: bool
    status_message: str


class OtelEvaluation(NamedTuple):
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


class ConversationSpans:
    """What a file holds of one conversation, in no order."""

    def __init__(self) -> None:
        self.spans: list[ConversationSpan] = []
        self.judged: list[OtelEvaluation] = []
        self.spent: list[Usage] = []
        """What the log tells of usage apart from the attributes of spans."""


def episode_of(
    gathered: ConversationSpans, *, name: str, source: str, format_name: str, tally: ReadTally
) -> Episode:
    """Give the episode of a conversation: spans sorted by start, the longer first."""
    spans = sorted(gathered.spans, key=lambda seen: (seen.start, -seen.end, seen.place.byte_start))
    steps = _TraceSteps()
    for seen in spans:
        steps.learn(seen)
    labels, outcome = _judgement(gathered.judged, tally)
    agent = _first(spans, "gen_ai.agent.name")
    return Episode(
        id=name,
        source=source,
        format=format_name,
        run=_first(spans, "gen_ai.request.model"),
        labels={"agent": agent, **labels} if agent else labels,
        prompt=steps.conversation.prompt,
        started_at=rfc3339(spans[0].start) if spans else None,
        outcome=outcome,
        ended_by=steps.ended_by,
        skills=ran_under(_skills(spans), skills_used(steps.conversation.steps)),
        steps=tuple(steps.conversation.steps),
        usage=total([*gathered.spent, *_spent(spans)]),
    )


def _spent(spans: list[ConversationSpan]) -> list[Usage]:
    """Give the usage of the calls of models, else that of agents: a span around others adds up what they spent."""
    used = [(seen, usage_in(seen.attributes)) for seen in spans]
    used = [(seen, usage) for seen, usage in used if usage != NOTHING_SPENT]
    of_models = [
        (seen, usage) for seen, usage in used if seen.attributes.get("gen_ai.operation.name") in _MODEL_CALLS
    ]
    spent, until = list[Usage](), -1
    for seen, usage in of_models or used:
        if of_models or seen.end > until:  # else it lies within the one before, which counts it
            until = seen.end
            model = seen.attributes.get("gen_ai.response.model") or seen.attributes.get("gen_ai.request.model", "")
            spent.append(msgspec.structs.replace(usage, models=(plain(model),) if model else ()))
    return spent


class _TraceSteps:
    """The steps of a conversation while its spans come, in the order of time."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.ended_by: EndedBy = "unknown"
        self._turn = 0
        self._model_spoke = False
        self._busy_until = 0
        self._asked = ""

    def learn(self, seen: ConversationSpan) -> None:
        operation = seen.attributes.get("gen_ai.operation.name", "")
        if operation in _MODEL_CALLS:
            self._learn_model_call(seen)
        elif operation == "execute_tool" or "gen_ai.tool.name" in seen.attributes:
            self._learn_tool_call(seen)

    def _learn_model_call(self, seen: ConversationSpan) -> None:
        """Learn a call of the model: what was asked since the last one, and its answer."""
        self._turn += 1
        self._model_spoke = True
        asked = _messages(seen, "gen_ai.input.messages")
        last = asked[-1].text if asked and asked[-1].role == "user" else ""
        if last and last != self._asked:
            self._asked = last
            self.conversation.say("user", last, seen.place, at=rfc3339(seen.start))
        for message in _messages(seen, "gen_ai.output.messages"):
            if message.text:
                at = rfc3339(seen.end)
                self.conversation.say("agent", message.text, seen.place, group=str(self._turn), at=at)
        self.ended_by = "agent" if _finished(seen) else "unknown"
        if any(reason in seen.attributes.get("gen_ai.response.finish_reasons", "") for reason in _CUT_SHORT):
            self.ended_by = "limit"
        if seen.failed:
            self.conversation.mark(
                _error_type(seen),
                "environment",
                seen.place,
                at=rfc3339(seen.end),
                failed=True,
                error_text=seen.status_message,
            )
            self.ended_by = "environment"

    def _learn_tool_call(self, seen: ConversationSpan) -> None:
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
        self.conversation.call(call_id, tool, argument, seen.place, group=str(self._turn), at=rfc3339(seen.start))
        result = attributes.get("gen_ai.tool.call.result", "")
        self.conversation.answer(
            call_id,
            result,
            seen.place,
            failed=seen.failed,
            error_type=_error_type(seen) if seen.failed else "",
            error_text=(seen.status_message or result) if seen.failed else "",
            at=rfc3339(seen.end),
        )
        self.ended_by = "unknown"


def _error_type(seen: ConversationSpan) -> str:
    named = seen.attributes.get("error.type", "")
    return "" if named == "_OTHER" else named


def _finished(seen: ConversationSpan) -> bool:
    """Tell whether the model stopped by itself, rather than to call a tool."""
    try:
        reasons = _REASONS.decode(seen.attributes.get("gen_ai.response.finish_reasons", "[]"))
    except UNREADABLE:
        return False
    return bool(reasons) and all(reason in {"stop", "end_turn"} for reason in reasons)


def _messages(seen: ConversationSpan, attribute: str) -> list[_Message]:
    """Decode messages; content that is not recorded, or in another shape, is no message."""
    try:
        return _MESSAGES.decode(seen.attributes.get(attribute, "[]"))
    except UNREADABLE:
        return []


def _first(spans: list[ConversationSpan], attribute: str) -> str:
    return next((seen.attributes[attribute] for seen in spans if seen.attributes.get(attribute)), "")


def _skills(spans: list[ConversationSpan]) -> tuple[tuple[str, str], ...]:
    """Give each skill that a span names once, with its version where any span tells it."""
    versions: dict[str, str] = {}
    for seen in spans:
        name = seen.attributes.get("gen_ai.skill.name", "")
        if name:
            versions[name] = versions.get(name) or seen.attributes.get("gen_ai.skill.version", "")
    return tuple(versions.items())


def _judgement(judged: list[OtelEvaluation], tally: ReadTally) -> tuple[dict[str, str], EpisodeOutcome | None]:
    """Give the last score by every name as a label, and their mean as the outcome."""
    scores: dict[str, float] = {}
    labels: dict[str, str] = {}
    for evaluation in sorted(judged, key=lambda judged: judged.at):
        name = evaluation.attributes.get("gen_ai.evaluation.name", "")
        written = evaluation.attributes.get("gen_ai.evaluation.score.value", "")
        label = evaluation.attributes.get("gen_ai.evaluation.score.label", "").lower()
        labels[f"evaluation.{name}"] = written or label
        value = _score(written, label)
        if value is None or not 0 <= value <= 1:
            count_unknown(tally, "outcome outside 0 to 1")
        else:
            scores[name] = value
    return labels, EpisodeOutcome(sum(scores.values()) / len(scores), "reward") if scores else None


def _score(written: str, label: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return 1.0 if label in _GOOD else 0.0 if label in _BAD else None
