"""Runs of a trace, however a tool exports them, as the spans that conversations are made of."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode import moment
from strategies.episodes.usage import NOTHING_SPENT, Usage
from strategies.files.log_records import typed_records
from strategies.logs.formats.traces.otel_conversation import ConversationSpan, ConversationSpans, episode_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally, Span

_ROLES: Final = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class TraceRun(msgspec.Struct, kw_only=True):
    """One run: of a "tool" or a "model", the "root" of a trace, or of kind "" where only its `usage` is known.

    A root holds the question and the answer of a trace, and what it spent, where no call of a model is in it.

    `input` and `output` are decoded JSON, of whatever shape.
    `started` and `ended` are times in ISO 8601; one without a zone is in UTC. `error` is "" where it did not fail.
    """

    trace: str
    kind: str
    name: str
    started: str = ""
    ended: str = ""
    input: object = None
    output: object = None
    error: str = ""
    failed: bool = False
    model: str = ""
    session: str = ""
    usage: Usage = NOTHING_SPENT


def episodes_of_runs(
    records: Iterable[tuple[Json, Span]],
    run_of: Callable[[Json], TraceRun | None],
    log: LogFile,
    tally: ReadTally,
    log_format: str,
) -> Iterator[Episode]:
    """Yield one episode a session, or a trace where none is named; records that give no run are passed over."""
    runs = [(run, place) for run, place in typed_records(records, run_of, log.source, tally) if run]
    gathered: dict[str, ConversationSpans] = defaultdict(ConversationSpans)
    modelled = {run.trace for run, _ in runs if run.kind == "model"}
    for run, place in runs:
        conversation = gathered[run.session or run.trace]
        if run.kind != "root":
            conversation.spent.append(run.usage)
        if run.kind in {"tool", "model"}:
            conversation.spans.append(_span_of(run, place))
    for run, place in runs:
        if run.kind == "root" and run.trace not in modelled:
            _add_root(gathered[run.session or run.trace], run, place)
    for name, conversation in gathered.items():
        episode = episode_of(conversation, name=name, source=log.source, format_name=log_format, tally=tally)
        if episode.steps:
            yield episode


def _span_of(run: TraceRun, place: Span) -> ConversationSpan:
    """Give a run as a span by the conventions of OpenTelemetry GenAI."""
    attributes = {"gen_ai.request.model": run.model} if run.model else {}
    if run.kind == "tool":
        attributes |= {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": run.name,
            "gen_ai.tool.call.arguments": text_of(run.input),
            "gen_ai.tool.call.result": text_of(run.output),
        }
    elif run.kind == "model":
        answers = messages_in(run.output, "assistant")
        attributes |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": _written(messages_in(run.input, "user")),
            "gen_ai.output.messages": _written(answers),
            "gen_ai.response.finish_reasons": '["stop"]' if any(text for _, text in answers) else "[]",
        }
    start = nanoseconds_at(run.started)
    return ConversationSpan(
        start, nanoseconds_at(run.ended) or start, place, attributes, run.failed or bool(run.error), run.error
    )


def _add_root(conversation: ConversationSpans, run: TraceRun, place: Span) -> None:
    """Add the question where a trace starts, and the answer where it ends: of a history only the last message."""
    conversation.spent.append(run.usage)
    asked, answered = _messages_of_root(run.input, "user")[-1:], _messages_of_root(run.output, "assistant")[-1:]
    start, named = nanoseconds_at(run.started), {"gen_ai.operation.name": "chat"}
    end = nanoseconds_at(run.ended) or start
    question = named | {"gen_ai.input.messages": _written(asked)}
    answer = named | {
        "gen_ai.output.messages": _written([message for message in answered if message[0] == "assistant"]),
        "gen_ai.response.finish_reasons": '["stop"]' if answered else "[]",
    }
    known = any(seen.failed for seen in conversation.spans)
    conversation.spans += (
        ConversationSpan(start, end, place, question, failed=False, status_message=""),
        ConversationSpan(end, end, place, answer, not known and (run.failed or bool(run.error)), run.error),
    )


def _messages_of_root(value: object, role: str) -> list[tuple[str, str]]:
    """Give the messages in what a chain was given or gave; its only text is one, whatever its name."""
    texts = [text for text in value.values() if isinstance(text, str)] if isinstance(value, dict) else []
    return messages_in(value, role) or messages_in(texts[0] if len(texts) == 1 else None, role)


def nanoseconds_at(text: str) -> int:
    """Give a time in nanoseconds since 1970, 0 for a text that is none."""
    time = moment(text)
    if time is None:
        return 0
    since = time - _EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


def text_of(value: object) -> str:
    """Give a decoded value as text: that of a message or of its only text, else its JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, dict):
        message = value.get("kwargs")
        inner = message if isinstance(message, dict) else value
        alone = ("output", "input", "text", "result") if len(inner) == 1 or inner is message else ()
        for name in ("content", *alone):
            if name in inner:
                return text_of(inner[name])
    if isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value):
        return "\n".join(str(part["text"]) for part in value)
    return msgspec.json.encode(value).decode()


def messages_in(value: object, role: str) -> list[tuple[str, str]]:
    """Give the messages that a decoded value holds, role and text; one that says no role has `role`."""
    if isinstance(value, str):
        return [(role, value)] if value.strip() else []
    if isinstance(value, list):
        return [message for part in value for message in messages_in(part, role)]
    if not isinstance(value, dict):
        return []
    for holder in ("messages", "generations", "choices", "message", "kwargs"):
        if holder in value and not isinstance(value[holder], str):
            return messages_in(value[holder], _role_of(value, role))
    for name in ("content", "text", "input", "output"):
        if name in value:
            text = value[name] if isinstance(value[name], str) else _joined(value[name])
            return [(_role_of(value, role), text)] if text.strip() else []
    return []


def _role_of(value: dict[object, object], role: str) -> str:
    named = value.get("role") or value.get("type") or role
    if named == "constructor" and isinstance(value.get("id"), list):  # LangChain's own serialisation
        named = str(value["id"][-1:]).strip("[]'").removesuffix("Message").lower()  # type: ignore[index]
    return _ROLES.get(str(named), str(named))


def _joined(value: object) -> str:
    parts = value if isinstance(value, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and part.get("text"))


def _written(messages: list[tuple[str, str]]) -> str:
    parts = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages]
    return msgspec.json.encode(parts).decode()
