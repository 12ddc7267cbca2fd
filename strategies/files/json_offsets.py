"""Byte ranges of the parts of a JSON document, which msgspec's own decode does not keep.

msgspec hands out parts undecoded (`Raw`), in the order of the document. Between two parts there is only white
space, commas, colons and keys, so walking from part to part gives every start exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.files.bounded_lines import VALUES_LIMIT, fit_part, has_too_many_values
from strategies.files.log_file import BOM
from strategies.files.log_records import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from strategies.files.log_file import LogFile

_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw])
_BLANK: Final = frozenset(b" \t\r\n")
_BLANK_OR_COMMA: Final = _BLANK | frozenset(b",")


class JsonPart:
    """A value inside a JSON document, undecoded: its bytes and where they start."""

    __slots__ = ("byte_start", "raw")

    def __init__(self, raw: msgspec.Raw | bytes, byte_start: int) -> None:
        self.raw = raw
        self.byte_start = byte_start

    def opens_with(self, bracket: bytes) -> bool:
        """Tell whether the value is an object or array, by its first byte."""
        return bytes(memoryview(self.raw)[:1]) == bracket

    @property
    def byte_end(self) -> int:
        """The first byte after the value."""
        return self.byte_start + memoryview(self.raw).nbytes


class JsonDocument:
    """A whole JSON document, walked part by part."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._line_at = (0, 1)

    @property
    def root(self) -> JsonPart:
        """The outermost value."""
        start = self._skip(len(BOM) if self._body.startswith(BOM) else 0, _BLANK)
        return JsonPart(self._body[start:].rstrip() if start else self._body.rstrip(), start)

    def members(self, part: JsonPart) -> dict[str, JsonPart]:
        """Give the members of an object.

        Raises: one of UNREADABLE if it is no object, msgspec.DecodeError if it names a key twice.
        """
        parts: dict[str, JsonPart] = {}
        cursor = part.byte_start + 1
        for key, raw in _OBJECT.decode(part.raw).items():
            cursor = self._body.index(b":", self._end_of_string(self._body.index(b'"', cursor)))
            cursor = self._skip(cursor + 1, _BLANK)
            member = JsonPart(raw, cursor)
            # Of a key given twice the decoder keeps the last value at the first place: no walk fits that.
            if not self._body.startswith(bytes(raw), cursor):
                raise msgspec.DecodeError(f"the key before byte {cursor} is given twice")
            parts[key] = member
            cursor = member.byte_end
        return parts

    def elements(self, part: JsonPart) -> Iterator[JsonPart]:
        """Give the elements of an array; raises one of UNREADABLE if it is none."""
        cursor = part.byte_start + 1
        for raw in _ARRAY.decode(part.raw):
            cursor = self._skip(cursor, _BLANK_OR_COMMA)
            element = JsonPart(raw, cursor)
            yield element
            cursor = element.byte_end

    def child(self, part: JsonPart, name: str | int) -> JsonPart:
        """Give one member or element; raises one of UNREADABLE if it is not there."""
        try:
            return self.members(part)[name] if isinstance(name, str) else list(self.elements(part))[name]
        except LookupError as error:
            raise msgspec.DecodeError(f"no {name!r} in it") from error

    def span(self, part: JsonPart) -> Span:
        """Give the place of a part as evidence keeps it."""
        return Span(part.byte_start, part.byte_end, self.line(part.byte_start))

    def line(self, offset: int) -> int:
        """Count the line of an offset, from the place that was asked for last: neighbours are cheap."""
        last, number = self._line_at
        if offset >= last:
            number += self._body.count(b"\n", last, offset)
        else:
            number -= self._body.count(b"\n", offset, last)
        self._line_at = (offset, number)
        return number

    def _skip(self, cursor: int, passed: frozenset[int]) -> int:
        body = self._body
        while cursor < len(body) and body[cursor] in passed:
            cursor += 1
        return cursor

    def _end_of_string(self, start: int) -> int:
        end = self._body.index(b'"', start + 1)
        while self._escaped(end):
            end = self._body.index(b'"', end + 1)
        return end + 1

    def _escaped(self, quote: int) -> bool:
        before = quote - 1
        while self._body[before] == ord("\\"):
            before -= 1
        return (quote - 1 - before) % 2 == 1


def plain_values(members: Mapping[str, JsonPart], names: Iterable[str]) -> dict[str, str | float]:
    """Decode the members of these names that are plain values; anything else under them is passed over."""
    values: dict[str, str | float] = {}
    for name in names:
        written = members.get(name)
        if written is None or written.opens_with(b"[") or written.opens_with(b"{"):
            continue
        value = msgspec.json.decode(fit_part(written.raw))
        if isinstance(value, (str, int, float)):
            values[name] = value
    return values


def document_of(log: LogFile) -> JsonDocument:
    """Give the document that is a whole log; raises UnreadableLogError where it is broken or too large to hold."""
    body = log.whole()
    if has_too_many_values(body):
        raise UnreadableLogError(
            f"{log.source}: one JSON document of more than {VALUES_LIMIT:,} values",
            hint="write one record a line (JSONL): such files are read at any size",
        )
    return JsonDocument(body)
