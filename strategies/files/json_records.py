"""The records of a log that is JSON Lines, one JSON array, or one object that holds an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.files.json_offsets import JsonDocument, document_of
from strategies.files.log_records import UNREADABLE, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally


_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def object_in(line: bytes) -> dict[str, msgspec.Raw] | None:
    """Give the members of the object on a line, undecoded; None where it holds none."""
    try:
        return _OBJECT.decode(line)
    except UNREADABLE:
        return None


def lines_of(log: LogFile, tally: ReadTally) -> Iterator[tuple[bytes, Span]]:
    """Give the lines of a log that are not blank, each with its place; those that are too long are counted."""
    for raw, start, number in log.lines(tally):
        if raw.strip():
            yield raw, Span(start, start + len(raw), number)


def is_document(log: LogFile) -> bool:
    """Tell whether a log is one JSON document, rather than a record a line, by its first line."""
    if log.holds_values or log.suffix.lower() != ".json":
        return log.holds_values
    lines = (text for line in log.again().lines() if (text := line.raw.strip()))
    return object_in(next(lines, b"")) is None or next(lines, None) is None


def records_of(log: LogFile, tally: ReadTally, holder: str = "") -> Iterator[tuple[bytes | msgspec.Raw, Span]]:
    """Give each record with its place; `holder` names the member that holds the array of a document, or of a line.

    For formats that are one document too, or an array; `lines_of` is for those that are a record a line alone.
    Raises: UnreadableLogError where a document is not whole.
    """
    if not is_document(log):
        for line, place in lines_of(log, tally):
            yield from _held_in(line, place, holder)
        return
    document = document_of(log)
    try:
        root = document.root
        if not root.opens_with(b"["):
            root = document.members(root).get(holder, root)
        parts = list(document.elements(root)) if root.opens_with(b"[") else [root]
    except UNREADABLE as error:
        raise UnreadableLogError(
            f"{log.source}: not a whole JSON document ({error})", hint="write one record a line (JSONL)"
        ) from error
    for part in parts:
        yield part.raw, document.span(part)


def _held_in(line: bytes, place: Span, holder: str) -> Iterator[tuple[bytes | msgspec.Raw, Span]]:
    """Give the records in the array that a line holds, else the line itself."""
    members = object_in(line) if holder and f'"{holder}"'.encode() in line else None
    if not members or holder not in members or bytes(memoryview(members[holder])[:1]) != b"[":
        yield line, place
        return
    document, start = JsonDocument(line), place.byte_start
    try:
        parts = list(document.elements(document.child(document.root, holder)))
    except UNREADABLE:
        yield line, place
        return
    for part in parts:
        yield part.raw, Span(start + part.byte_start, start + part.byte_end, place.line)
