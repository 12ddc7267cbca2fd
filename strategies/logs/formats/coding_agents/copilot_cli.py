"""GitHub Copilot CLI (`events.jsonl`) and the transcripts of Copilot chat, which are a part of the same events.

Source: docs/features/streaming-events.md of github/copilot-sdk, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.step_marks import USER_INTERRUPT
from strategies.episodes.usage import Amount, Usage, usage_of
from strategies.files.json_records import lines_of
from strategies.files.log_records import NotObject, count_unknown
from strategies.logs.formats.coding_agents.session import Session, first_objects, raw_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally, Span

_TYPES: Final = tuple(b'"session.start" "user.message" "assistant.message" "tool.execution_start"'.split())
_SILENT: Final = ("assistant.", "session.", "system.", "hook.", "permission.", "subagent.", "tool.", "user_input.")
"""Families of events that are known, and of which the others hold no step."""


class _Request(msgspec.Struct, rename="camel"):
    tool_call_id: str = ""
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _Error(msgspec.Struct):
    message: str = ""
    code: str | None = None


class _Result(msgspec.Struct):
    content: str | None = None
    kind: str | None = None


class _ModelUsage(msgspec.Struct, rename="camel"):
    """Tokens of one model; those from a cache are among the input."""

    input_tokens: Amount = None
    output_tokens: Amount = None
    cache_read_tokens: Amount = None


class _ModelMetrics(msgspec.Struct):
    usage: _ModelUsage | NotObject = None


class _Data(msgspec.Struct, rename="camel"):
    """The fields of all payloads that are read."""

    session_id: str = ""
    selected_model: str | None = None
    content: str = ""
    message_id: str = ""
    tool_requests: list[_Request] | None = None
    tool_call_id: str = ""
    tool_name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    success: bool | None = None
    result: _Result | None = None
    error: _Error | None = None
    error_type: str | None = None
    message: str = ""
    name: str = ""
    reason: str | None = None
    output_tokens: Amount = None
    model_metrics: msgspec.Raw = msgspec.Raw(b"null")


class _Event(msgspec.Struct, rename="camel"):
    type: str
    timestamp: str | None = None
    agent_id: str | None = None
    data: _Data = msgspec.field(default_factory=_Data)


_EVENT: Final = msgspec.json.Decoder(_Event)
_METRICS: Final = msgspec.json.Decoder(dict[str, _ModelMetrics | NotObject] | NotObject)


class CopilotCliReader:
    """Reads the event logs of GitHub Copilot CLI."""

    name = "copilot-cli"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether one of the first records is an event of a Copilot session."""
        del source
        return any(kind in head for kind in _TYPES) and any(
            {"type", "data", "id"} <= record.keys() and bytes(record["type"]) in _TYPES
            for record in first_objects(head)
        )

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one session, once the file is read; what sub-agents do belongs to it."""
        session = _CopilotSession(log, tally)
        session.learn_each(lines_of(log, tally), session.learn)
        session.settle()
        yield from session.episodes(self.name)


class _CopilotSession(Session):
    """A session while its events come. A call counts from its request, or where there is none from its start."""

    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        super().__init__(log, tally)
        self._requested: set[str] = set()
        self._wrote: dict[str, Usage] = {}
        self._metrics: list[Usage] = []

    def settle(self) -> None:
        """Count the tokens that each run of the session tells at its end, else those of its messages."""
        self.spent = [*(self._metrics or self._wrote.values()), usage_of(model=self.model)]

    def learn(self, raw: Json, span: Span) -> None:
        event = _EVENT.decode(raw)
        data, at = event.data, plain_time(event.timestamp)
        if event.type == "session.start":
            self.name = self.name or plain(data.session_id)
            self.model = self.model or plain(data.selected_model or "")
            self.started_at = self.started_at or at
        elif event.type == "user.message":
            self.ask(data.content, span, at=at)
        elif event.type == "assistant.message":
            self._learn_message(data, span, at)
        elif event.type == "tool.execution_start":
            if data.tool_call_id not in self._requested:
                self._request(
                    _Request(data.tool_call_id, data.tool_name, data.arguments), span, data.tool_call_id, at
                )
        elif event.type == "tool.execution_complete":
            self._learn_result(data, span, at)
        else:
            self._learn_other(event, span, at)

    def _learn_message(self, data: _Data, span: Span, at: str | None) -> None:
        group = data.message_id or f"line {span.line}"
        self._wrote[group] = usage_of(wrote=data.output_tokens)
        self.say(data.content, span, group=group, at=at)
        for request in data.tool_requests or ():
            self._request(request, span, group, at)

    def _request(self, request: _Request, span: Span, group: str, at: str | None) -> None:
        self._requested.add(request.tool_call_id)
        self.call(request.tool_call_id, request.name, raw_text(request.arguments), span, group=group, at=at)

    def _learn_result(self, data: _Data, span: Span, at: str | None) -> None:
        result, error = data.result or _Result(), data.error or _Error()
        denied = (error.code or "").startswith(("denied", "rejected"))
        failed = data.success is False
        text = error.message if failed and error.message else result.content or ""
        if not self.answer(data.tool_call_id, text, span, failed=failed, denied=denied, at=at):
            count_unknown(self.tally, "result without a call")

    def _learn_metrics(self, by_model: dict[str, _ModelMetrics | NotObject] | NotObject) -> None:
        for model, metrics in by_model.items() if isinstance(by_model, dict) else ():
            used = metrics.usage if isinstance(metrics, _ModelMetrics) else None
            used = used if isinstance(used, _ModelUsage) else _ModelUsage()
            self._metrics.append(
                usage_of(used.input_tokens, used.output_tokens, used.cache_read_tokens, model=plain(model))
            )

    def _learn_other(self, event: _Event, span: Span, at: str | None) -> None:
        data = event.data
        if event.type == "abort":
            self.conversation.mark(USER_INTERRUPT, "user", span, at=at)
            self.ended_by = "environment"
        elif event.type == "session.error":
            name = data.error_type or "error"
            self.conversation.mark(name, "environment", span, at=at, failed=True, error_text=data.message)
            self.ended_by = "environment"
        elif event.type == "session.shutdown":
            self._learn_metrics(_METRICS.decode(data.model_metrics))
        elif event.type == "session.task_complete":
            self.ended_by = "agent"
        elif event.type == "skill.invoked":
            self.skills.append(plain(data.name))
        elif not event.type.startswith(_SILENT):
            count_unknown(self.tally, event.type)
