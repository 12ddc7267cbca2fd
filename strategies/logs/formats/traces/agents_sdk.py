"""Traces of the OpenAI Agents SDK: spans as JSON Lines, or in the `data` of one document.

Source: src/agents/tracing of openai/openai-agents-python, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.files.json_records import records_of
from strategies.files.log_records import NotObject
from strategies.logs.formats.openai_responses import ResponseUsage, usage_of_response
from strategies.logs.formats.traces.trace_runs import TraceRun, episodes_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally

_KINDS: Final = {"function": "tool", "mcp_tools": "tool", "generation": "model", "response": ""}
"""Kinds of spans that are read; a response has no text here, only its usage."""


class _Data(msgspec.Struct):
    type: str = ""
    name: str | None = None
    input: object = None
    output: object = None
    model: str | None = None
    usage: ResponseUsage | NotObject = None


class _Error(msgspec.Struct):
    message: str = ""


class _Span(msgspec.Struct):
    object: str = ""
    trace_id: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    span_data: _Data = msgspec.field(default_factory=_Data)
    error: _Error | None = None


_SPAN: Final = msgspec.json.Decoder(_Span)


class AgentsSdkReader:
    """Reads traces of the OpenAI Agents SDK."""

    name = "openai-agents"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether there are spans of the kind that the SDK exports."""
        del source
        return head.lstrip()[:1] in {b"{", b"["} and b'"trace.span"' in head and b'"span_data"' in head

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the traces in the order of their first span in the file."""
        return episodes_of_runs(records_of(log, tally, "data"), _run_of, log, tally, self.name)


def _run_of(raw: Json) -> TraceRun | None:
    span = _SPAN.decode(raw)
    data, kind = span.span_data, _KINDS.get(span.span_data.type)
    if kind is None or span.object != "trace.span":
        return None
    return TraceRun(
        trace=span.trace_id,
        kind=kind,
        name=data.name or data.type,
        started=span.started_at or "",
        ended=span.ended_at or "",
        input=data.input,
        output=data.output,
        error=span.error.message if span.error else "",
        failed=span.error is not None,
        model=data.model or "",
        usage=usage_of_response(data.usage, data.model),
    )
