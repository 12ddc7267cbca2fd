"""JSON values that are not one a line: the elements of an array, or objects that follow each other over lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.files.log_records import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_STRING_BYTES: Final = 1024
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""A JSON string, or the beginning of one that is cut off."""
_TOKEN: Final = re.compile(_STRING.pattern + rb"|[{}\[\]]", re.DOTALL)
_SEPARATORS: Final = b" \t\r\n,[]"
_DEEPEST: Final = 2_000
"""Deeper than this nothing is decoded: what follows is one value that does not fit."""
_JSON: Final = (b"{", b"[")


def opens_as_values(head: bytes) -> bool:
    """Tell whether a text opens an array, or an object on a line of its own: its lines are no records."""
    opening = head.lstrip()
    return opening.startswith(b"[") or (opening[:1] == b"{" and opening[1:].partition(b"\n")[0].strip() == b"")


def value_ranges(text: bytes) -> Iterator[tuple[int, int]]:
    """Give where each object or array begins and ends, in order; of an array its elements.

    What is no whole value, between them or at the end, is given as well: what decodes it counts it.
    """
    last = 0
    for start, end in _nested(text):
        yield from _between(text, last, start)
        yield start, end
        last = end
    yield from _between(text, last, len(text))


def _nested(text: bytes) -> Iterator[tuple[int, int]]:
    """Give the outermost objects and arrays, of an array those in it; the last may be cut off."""
    outer = 1 if text.lstrip().startswith(b"[") else 0
    depth, start = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in _JSON:
            start = token.start() if depth == outer else start
            depth += 1
            if depth > _DEEPEST:
                break
        elif token[0] in {b"}", b"]"}:
            depth -= 1
            if depth == outer:
                yield start, token.end()
            elif depth < outer:
                outer = depth = 0  # behind an array others may follow
    if depth > outer:
        yield start, len(text)


def _between(text: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    if left := text[start:end].strip(_SEPARATORS):
        at = text.find(left, start)
        yield at, at + len(left)


def one_a_line(head: bytes) -> bytes:
    """Give the beginning of a log with a record a line, and without lines of a program before the first."""
    if opens_as_values(head):
        values = (_compact(head[start:end]) for start, end in value_ranges(head))
        return b"\n".join(value for value in values if value) or head
    if head.lstrip()[:1] in _JSON:
        return head
    lines = [line for line in head.split(b"\n") if line.strip()]
    first = next((at for at, line in enumerate(lines) if line.startswith(b"{")), len(lines))
    records = lines[first:]
    opening = sum(line.startswith(b"{") for line in records)
    return b"\n".join(records) if 2 * opening > len(records) else head


def without_long_strings(head: bytes) -> bytes:
    """Give a JSON text in which long strings are empty, so that what comes behind them is seen."""
    if max(map(len, head.replace(b'\\"', b"  ").split(b'"'))) <= LONG_STRING_BYTES:
        return head  # two quotes are nowhere far apart: this takes a twentieth of the search
    return _STRING.sub(lambda string: string[0] if len(string[0]) <= LONG_STRING_BYTES else b'""', head)


def _compact(value: bytes) -> bytes:
    try:
        return msgspec.json.format(value, indent=-1)
    except UNREADABLE:
        return b""
