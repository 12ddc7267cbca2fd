"""Evidence read again: the raw bytes of a record in a log, and the text that they hold."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from events.errors import UnreadableLogError
from registry.evidence.log_paths import paths_of
from strategies.files.log_file import LogFile
from strategies.files.log_records import UNREADABLE, Span
from strategies.files.zip_members import MEMBER, member_body

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TELLING: Final = ("error_text", "error", "result", "output", "text", "content", "message", "toolUseResult")
"""The fields that say what happened, the most telling first: of these the text of a JSON line is taken."""

_HOLDING: Final = ("observation", "status", "payload", "data", "state", "value", "toolFormerData")
"""Fields that say it where they are objects: an observation, the status of a span, a call in a row of a store."""

_PACKED: Final = "(packed in an archive that cannot be shown here)"


class _Sample(msgspec.Struct):
    messages: list[msgspec.Raw] = []


_MESSAGES: Final = msgspec.json.Decoder(_Sample)


class RecordTexts(Protocol):
    """What the raw records of a format say; each method gives nothing for bytes that it cannot read."""

    def message_in(self, raw: bytes) -> str:
        """Give the last message of the agent in a raw record."""
        ...

    def calls_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the ids and arguments of the calls in a raw record, in order; none where it holds their answers."""
        ...

    def answers_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the answers in a raw record, in order: the ids of their calls, and their texts."""
        ...


def read_places(places: Sequence[tuple[str, Span]]) -> list[tuple[bytes, str]]:
    """Give the raw bytes and the text of each place (source and span), in the order asked for.

    Both are empty where the file is gone, or no longer reaches that far. Each file is read once.
    """
    by_source: dict[str, list[int]] = defaultdict(list)
    for number, (source, _) in enumerate(places):
        by_source[source].append(number)
    records = [(b"", "")] * len(places)
    for source, numbers in by_source.items():
        spans = [places[number][1] for number in numbers]
        for number, raw in zip(numbers, _read_spans(source, spans), strict=True):
            records[number] = (raw, text_of(raw, line=places[number][1].line))
    return records


def read_span(source: str, span: Span) -> bytes:
    """Give the raw bytes of one record, b"" where the file is gone, or no longer reaches that far."""
    return _read_spans(source, [span])[0]


def read_ranges(path: Path, ranges: Sequence[tuple[int, int]]) -> list[bytes | None]:
    """Give byte ranges of a log, decompressed; None for those that are not there."""
    return [raw or None for raw in _read_spans(str(path), [Span(start, end, 0) for start, end in ranges])]


def text_of(raw: bytes, *, line: int = 0) -> str:
    """Give the text that a raw record holds: of a JSON string its value, of a JSON line its most telling field.

    JSON that tells nothing in particular is given without its escapes: a secret must not hide behind one. Of a
    sample packed in an archive `line` counts the messages, and the text is that of one.
    """
    if raw.startswith(MEMBER):
        return _packed_text(member_body(raw), line)
    try:
        value = msgspec.json.decode(raw)
        return _telling(value) or msgspec.json.encode(value).decode()
    except UNREADABLE:
        return raw.decode(errors="replace")


def _packed_text(sample: bytes | None, number: int) -> str:
    try:
        messages = _MESSAGES.decode(sample or b"{}").messages
    except UNREADABLE:
        return _PACKED
    if 1 <= number <= len(messages):
        return text_of(bytes(messages[number - 1]))
    return text_of(sample) if sample and messages else _PACKED


def _read_spans(source: str, spans: list[Span]) -> list[bytes]:
    paths = paths_of(source)
    if len(paths) != 1 or not paths[0].is_file():  # a pipe or a device is no log
        return [b""] * len(spans)  # masked names that several files have: which one was read is not known
    return spans_of(LogFile(paths[0]), spans)


def spans_of(log: LogFile, spans: Sequence[Span]) -> list[bytes]:
    """Give the raw bytes of places in a log, b"" where it is gone, or no longer reaches that far."""
    try:
        if log.store:
            raws = log.store.at([span.byte_start for span in spans])
            return [
                raw if len(raw) == at.byte_end - at.byte_start else b""
                for raw, at in zip(raws, spans, strict=True)
            ]
        return _unpacked_spans(log.again(), spans) if log.packed else _plain_spans(log, spans)
    except (OSError, UnreadableLogError):
        return [b""] * len(spans)


def _plain_spans(log: LogFile, spans: Sequence[Span]) -> list[bytes]:
    with log.opened() as file:
        size = os.fstat(file.fileno()).st_size  # memory is taken for all that is asked for, whatever is there
        there = [0 <= span.byte_start <= span.byte_end <= size for span in spans]
        read = [
            os.pread(file.fileno(), span.byte_end - span.byte_start, span.byte_start) if is_there else b""
            for span, is_there in zip(spans, there, strict=True)
        ]
    return [raw if len(raw) == at.byte_end - at.byte_start else b"" for raw, at in zip(read, spans, strict=True)]


def _unpacked_spans(log: LogFile, spans: Sequence[Span]) -> list[bytes]:
    raws = [b""] * len(spans)
    # By start: the first that waits holds all that later ones, even inside it, still need.
    waiting = sorted(range(len(spans)), key=lambda number: spans[number].byte_start, reverse=True)
    held, start = b"", 0
    for chunk in log.chunks():
        held += chunk
        while waiting and spans[waiting[-1]].byte_end <= start + len(held):
            number = waiting.pop()
            raws[number] = held[spans[number].byte_start - start : spans[number].byte_end - start]
        if not waiting:
            break
        passed = max(0, min(spans[waiting[-1]].byte_start - start, len(held)))
        held, start = held[passed:], start + passed
    return raws


def _telling(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        objects = (value.get(name) for name in _HOLDING if isinstance(value.get(name), dict))
        texts = (text for inner in (*map(value.get, _TELLING), *objects) if (text := _telling(inner)))
        return next(texts, "")
    if isinstance(value, list):
        return "\n".join(text for part in value if (text := _telling(part)))
    return ""
