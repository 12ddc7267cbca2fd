"""OTLP in JSON: exports of spans and log records, and their attributes as plain texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.files.json_offsets import JsonDocument
from strategies.files.log_records import UNREADABLE, Span
from strategies.logs.formats.traces.conventions import KEPT, in_current_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.json_offsets import JsonPart

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Attributes = dict[str, str]
"""By name; what is no text is given as JSON."""


class _Value(msgspec.Struct, rename="camel"):
    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | None = None
    bool_value: bool | None = None
    array_value: _Values | None = None
    kvlist_value: _Pairs | None = None


class _Values(msgspec.Struct):
    values: list[_Value] = []


class _Attribute(msgspec.Struct):
    key: str
    value: _Value = msgspec.field(default_factory=_Value)


class _Pairs(msgspec.Struct):
    values: list[_Attribute] = []


class _Status(msgspec.Struct):
    code: int | str = 0
    message: str = ""


class OtelEvent(msgspec.Struct, rename="camel"):
    """An event of a span, or a log record, which is how events are written since span events are deprecated."""

    name: str = ""
    event_name: str = ""
    time_unix_nano: int | str = 0
    observed_time_unix_nano: int | str = 0
    trace_id: str = ""
    attributes: list[_Attribute] = []
    body: object = None

    @property
    def body_text(self) -> str:
        """The text that is the body of a log record, "" for another."""
        text = self.body.get("stringValue") if isinstance(self.body, dict) else self.body
        return text if isinstance(text, str) else ""


class OtelSpan(msgspec.Struct, rename="camel"):
    """A span."""

    trace_id: str = ""
    name: str = ""
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[_Attribute] = []
    events: list[OtelEvent] = []
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def failed(self) -> bool:
        """Tell whether its status says so."""
        return self.status.code in {2, "STATUS_CODE_ERROR"}


class _ScopeSpans(msgspec.Struct):
    spans: list[OtelSpan] = []


class _ScopeLogs(msgspec.Struct, rename="camel"):
    log_records: list[OtelEvent] = []


class _ResourceSpans(msgspec.Struct, rename="camel"):
    scope_spans: list[_ScopeSpans] = []


class OtelResource(msgspec.Struct):
    """What sent an export."""

    attributes: list[_Attribute] = []


class _ResourceLogs(msgspec.Struct, rename="camel"):
    resource: OtelResource = msgspec.field(default_factory=OtelResource)
    scope_logs: list[_ScopeLogs] = []


class Export(msgspec.Struct, rename="camel"):
    """One line: what an exporter sent at once."""

    resource_spans: list[_ResourceSpans] = []
    resource_logs: list[_ResourceLogs] = []
    resource_metrics: msgspec.Raw = msgspec.Raw(b"")

    @property
    def spans(self) -> list[OtelSpan]:
        """All spans."""
        return [span for resource in self.resource_spans for scope in resource.scope_spans for span in scope.spans]

    @property
    def events(self) -> list[OtelEvent]:
        """All log records."""
        scopes = [scope for resource in self.resource_logs for scope in resource.scope_logs]
        return [record for scope in scopes for record in scope.log_records]


EXPORT: Final = msgspec.json.Decoder(Export)


def span_places(raw: bytes, line: Span, count: int) -> list[Span]:
    """Give the place of each span of a line; the line itself for all where that is not known."""
    return _places(raw, line, count, ("resourceSpans", "scopeSpans", "spans"))


def log_record_places(raw: bytes, line: Span, count: int) -> list[Span]:
    """Give the place of each log record of a line, as `span_places`."""
    return _places(raw, line, count, ("resourceLogs", "scopeLogs", "logRecords"))


def _places(raw: bytes, line: Span, count: int, names: tuple[str, ...]) -> list[Span]:
    document = JsonDocument(raw)
    try:
        parts = list(_nested(document, document.root, names))
    except UNREADABLE:
        parts = []  # of a name given twice the decoder keeps one value, at no place of its own
    if len(parts) != count:
        return [line] * count
    within = [document.span(part) for part in parts]
    first, above = line.byte_start, line.line - 1
    return [Span(first + place.byte_start, first + place.byte_end, above + place.line) for place in within]


def _nested(document: JsonDocument, part: JsonPart, names: tuple[str, ...]) -> Iterator[JsonPart]:
    """Give the elements of the lists nested under these names."""
    if not names:
        yield part
        return
    held = document.members(part).get(names[0])
    for element in document.elements(held) if held else ():
        yield from _nested(document, element, names[1:])


def attributes_of(source: OtelSpan | OtelEvent) -> Attributes:
    """Give the attributes that are read, by their current names.

    The others are dropped at once: a conversation stays in memory to the end of its file.
    """
    written = {
        attribute.key: _text(attribute.value) for attribute in source.attributes if attribute.key.startswith(KEPT)
    }
    return in_current_names(written, source.name)


def all_attributes_of(source: OtelResource | OtelEvent) -> Attributes:
    """Give every attribute, by the name that it is written with."""
    return {attribute.key: _text(attribute.value) for attribute in source.attributes}


def exception_in(event: OtelEvent) -> str:
    """Give the message of an event that tells of an exception."""
    texts = (_text(attribute.value) for attribute in event.attributes if attribute.key == "exception.message")
    return next(texts, "")


def nanoseconds(written: int | str) -> int:
    """Give a time as OTLP writes it, in nanoseconds since 1970; 0 for what is none."""
    if isinstance(written, str):
        written = (
            int(written) if written.isascii() and written.isdigit() and len(written) <= len(str(2**64)) else 0
        )
    return written


def rfc3339(nanos: int) -> str | None:
    """Give a time as RFC 3339, None for 0 and for what no calendar holds."""
    if not nanos:
        return None
    try:
        return (_EPOCH + timedelta(microseconds=nanos // 1000)).isoformat()
    except OverflowError:
        return None


def _text(value: _Value) -> str:
    plain = _plain(value)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _plain(value: _Value) -> object:
    if value.array_value:
        return [_plain(inner) for inner in value.array_value.values]
    if value.kvlist_value:
        return {entry.key: _plain(entry.value) for entry in value.kvlist_value.values}
    scalars = (value.string_value, value.int_value, value.double_value, value.bool_value)
    return next((scalar for scalar in scalars if scalar is not None), "")
