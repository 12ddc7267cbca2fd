"""Evidence read again: the raw bytes of a record in a log, and the text that they hold."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.episode import Span
from strategies.logs.json_places import UNREADABLE
from strategies.logs.stream import LogFile

if TYPE_CHECKING:
    from collections.abc import Sequence

_TELLING: Final = ("error_text", "error", "result", "text", "content", "message", "toolUseResult")
"""The fields that say what happened, the most telling first: of these the text of a JSON line is taken."""


def read_places(places: Sequence[tuple[str, Span]]) -> list[tuple[bytes, str]]:
    """Give the raw bytes and the text of each place (source and span), in the order asked for.

    Both are empty where the file is gone, or no longer reaches that far. Each file is read once.
    """
    by_source: dict[str, list[int]] = defaultdict(list)
    for number, (source, _) in enumerate(places):
        by_source[source].append(number)
    found = [(b"", "")] * len(places)
    for source, numbers in by_source.items():
        spans = [places[number][1] for number in numbers]
        for number, raw in zip(numbers, _read_spans(source, spans), strict=True):
            found[number] = (raw, text_of(raw))
    return found


def read_span(source: str, span: Span) -> bytes:
    """Give the raw bytes of one record, b"" where the file is gone, or no longer reaches that far."""
    return _read_spans(source, [span])[0]


def read_ranges(path: Path, ranges: Sequence[tuple[int, int]]) -> list[bytes | None]:
    """Give byte ranges of a log, decompressed; None for those that are not there."""
    return [raw or None for raw in _read_spans(str(path), [Span(start, end, 0) for start, end in ranges])]


def text_of(raw: bytes) -> str:
    """Give the text that a raw record holds: of a JSON string its value, of a JSON line its most telling field."""
    try:
        return _telling(msgspec.json.decode(raw)) or raw.decode(errors="replace")
    except UNREADABLE:
        return raw.decode(errors="replace")


def _read_spans(source: str, spans: list[Span]) -> list[bytes]:
    log = LogFile(Path(source))
    try:
        return _unpacked_spans(log, spans) if log.packed else _plain_spans(log, spans)
    except OSError:
        return [b""] * len(spans)


def _plain_spans(log: LogFile, spans: list[Span]) -> list[bytes]:
    with log.path.open("rb", buffering=0) as file:
        read = [os.pread(file.fileno(), span.byte_end - span.byte_start, span.byte_start) for span in spans]
    return [raw if len(raw) == at.byte_end - at.byte_start else b"" for raw, at in zip(read, spans, strict=True)]


def _unpacked_spans(log: LogFile, spans: list[Span]) -> list[bytes]:
    found = [b""] * len(spans)
    # By start: the first that waits holds all that later ones, even inside it, still need.
    waiting = sorted(range(len(spans)), key=lambda number: spans[number].byte_start, reverse=True)
    held, start = b"", 0
    for chunk in log.chunks():
        held += chunk
        while waiting and spans[waiting[-1]].byte_end <= start + len(held):
            number = waiting.pop()
            found[number] = held[spans[number].byte_start - start : spans[number].byte_end - start]
        if not waiting:
            break
        passed = max(0, min(spans[waiting[-1]].byte_start - start, len(held)))
        held, start = held[passed:], start + passed
    return found


def _telling(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return next((text for name in _TELLING if (text := _telling(value.get(name)))), "")
    if isinstance(value, list):
        return "\n".join(text for part in value if (text := _telling(part)))
    return ""
