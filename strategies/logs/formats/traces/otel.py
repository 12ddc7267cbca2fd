"""OpenTelemetry traces of agents: OTLP as JSON lines, by the GenAI semantic conventions.

Lines come in no order: spans are gathered by conversation (by trace where none names one), and only the end of
the file tells that one is whole. So the steps of all conversations of a file are held in memory; other spans, and
attributes that are not read here, do not.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from strategies.files.json_records import lines_of, object_in, records_of
from strategies.files.log_records import UNREADABLE, Malformed, count_unknown
from strategies.logs.formats.traces.claude_events import ClaudeEvents
from strategies.logs.formats.traces.conventions import OF_AGENTS
from strategies.logs.formats.traces.otel_conversation import (
    ConversationSpan,
    ConversationSpans,
    OtelEvaluation,
    episode_of,
)
from strategies.logs.formats.traces.otel_spans import EXPORT, attributes_of, exception_in, nanoseconds, span_places

if TYPE_CHECKING:
    from collections.abc import Iterator

    import msgspec

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally, Span
    from strategies.logs.formats.traces.otel_spans import Attributes, OtelEvent, OtelSpan

_CONVERSATION: Final = "gen_ai.conversation.id"
_RESPONSE: Final = "gen_ai.response.id"
_EVALUATION: Final = "gen_ai.evaluation.result"


class OtelReader:
    """Reads OTLP JSON lines, of spans and of log records."""

    name = "otel"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a line holds spans or log records of a resource."""
        del source
        return head.lstrip()[:1] == b"{" and (b'"resourceSpans"' in head or b'"resourceLogs"' in head)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the conversations in the order of their first span in the file, then Claude Code's sessions."""
        conversations, claude = _Conversations(), ClaudeEvents()
        for written, line in _exports(log, tally):
            tally.records += 1
            raw = bytes(written)
            try:
                export = EXPORT.decode(raw)
            except UNREADABLE as error:
                tally.malformed.append(Malformed(log.source, line.line, line.byte_start, str(error)))
                continue
            spans = export.spans
            places = span_places(raw, line, len(spans)) if _of_agents(raw) else [line] * len(spans)
            for span, place in zip(spans, places, strict=True):
                conversations.learn(span, place)
            for event in export.events:
                conversations.judge(event)
            if export.resource_logs:
                claude.learn(raw, line)
        for name, gathered in conversations.sorted_out(tally):
            yield episode_of(gathered, name=name, source=log.source, format_name=self.name, tally=tally)
        yield from claude.episodes(log.source, self.name)


def _exports(log: LogFile, tally: ReadTally) -> Iterator[tuple[bytes | msgspec.Raw, Span]]:
    """Give what was exported at once, with its place: each line, or one document over many lines."""
    first = next(iter(log.first(1)), b"")
    return records_of(log, tally) if object_in(first) is None else lines_of(log, tally)


def _of_agents(raw: bytes) -> bool:
    """Tell whether a line has a span of an agent: of the others no place is asked for."""
    return any(name in raw for name in OF_AGENTS)


class _Conversations:
    """All conversations of a file; which one a span belongs to is known once all of its trace was read."""

    def __init__(self) -> None:
        self._spans: list[tuple[str, ConversationSpan]] = []
        self._judged: list[tuple[str, OtelEvaluation]] = []
        self._of_trace: dict[str, str] = {}
        self._of_response: dict[str, str] = {}

    def learn(self, span: OtelSpan, place: Span) -> None:
        """Learn a span, and the evaluations among its events; one that is not of an agent is passed over."""
        attributes = attributes_of(span)
        for event in span.events:
            event.trace_id = span.trace_id
            self.judge(event)
        if span.name == _EVALUATION:
            self._judged.append(
                (span.trace_id, OtelEvaluation(nanoseconds(span.start_time_unix_nano), attributes))
            )
        elif any(name.startswith("gen_ai.") for name in attributes):
            self._name(span.trace_id, attributes)
            seen = ConversationSpan(
                start=nanoseconds(span.start_time_unix_nano),
                end=nanoseconds(span.end_time_unix_nano),
                place=place,
                attributes=attributes,
                failed=span.failed or "error.type" in attributes,
                status_message=span.status.message or _exception(span),
            )
            self._spans.append((span.trace_id, seen))

    def judge(self, event: OtelEvent) -> None:
        """Learn an event if it is an evaluation."""
        attributes = attributes_of(event)
        if _EVALUATION in {event.name, event.event_name, attributes.get("event.name")}:
            at = nanoseconds(event.time_unix_nano) or nanoseconds(event.observed_time_unix_nano)
            self._judged.append((event.trace_id, OtelEvaluation(at, attributes)))

    def sorted_out(self, tally: ReadTally) -> Iterator[tuple[str, ConversationSpans]]:
        """Give the conversations in the order of their first span, each with its evaluations."""
        conversations: dict[str, ConversationSpans] = defaultdict(ConversationSpans)
        for trace, seen in self._spans:
            conversations[self._conversation(trace, seen.attributes)].spans.append(seen)
        for trace, judged in self._judged:
            name = self._conversation(trace, judged.attributes)
            if name in conversations:
                conversations[name].judged.append(judged)
            else:
                count_unknown(tally, "evaluation of no conversation")
        yield from conversations.items()

    def _name(self, trace: str, attributes: Attributes) -> None:
        named, response = attributes.get(_CONVERSATION), attributes.get(_RESPONSE)
        if named:
            self._of_trace[trace] = named
        if response:
            self._of_response[response] = named or trace

    def _conversation(self, trace: str, attributes: Attributes) -> str:
        """Give the conversation that the attributes name, else that of their trace or of the response meant."""
        trace = trace or self._of_response.get(attributes.get(_RESPONSE, ""), "")
        return attributes.get(_CONVERSATION) or self._of_trace.get(trace, trace)


def _exception(span: OtelSpan) -> str:
    """Give the message of the exception that a span recorded as an event."""
    written = (exception_in(event) for event in span.events if event.name == "exception")
    return next(written, "")
