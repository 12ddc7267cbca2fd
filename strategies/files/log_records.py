"""Records of a log file: their places, JSON Lines decoded one by one, and counts of those that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypeVar

import msgspec

from registry.evidence.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from strategies.files.log_file import LogFile


UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decode raises on bad input: not JSON or not the shape, not UTF-8, nested too deeply."""


NotObject = str | int | float | bool | list[msgspec.Raw] | None
"""What may be in the place of an object, so that the rest of the record is read."""

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""A number of things or bytes; the bound is what other programs read exactly in JSON."""


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The place of a record: bytes of the decompressed stream, end exclusive, and its line, counted from 1.

    It covers the whole raw record: the JSONL line without its newline, or the JSON string token with quotes.
    """

    byte_start: Count
    byte_end: Count
    line: Count


_KIND_CHARS: Final = 40
_LOOKED_AT_CHARS: Final = 16 * _KIND_CHARS
"""A secret that the cut divides must still be known as one."""


class Malformed(msgspec.Struct, frozen=True):
    """A record that could not be read: counted and skipped, never fatal."""

    source: str
    line: Count
    byte_start: Count
    reason: str


class ReadTally(msgspec.Struct):
    """What one pass over a file met, filled in while the reader is consumed."""

    records: Count = 0
    unknown: dict[str, Count] = {}
    malformed: list[Malformed] = []


def count_unknown(tally: ReadTally, kind: str) -> None:
    """Count a record of a type that the reader does not know."""
    kind = without_secrets(kind[:_LOOKED_AT_CHARS])[:_KIND_CHARS]
    tally.unknown[kind] = tally.unknown.get(kind, 0) + 1


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Json = bytes | msgspec.Raw
"""A JSON value that is not decoded yet."""


class Decoder(Protocol[T_co]):
    """What msgspec's decoders do."""

    def decode(self, raw: bytes, /) -> T_co:
        """Decode one line; raises one of UNREADABLE."""
        ...


def typed_records(
    records: Iterable[tuple[Json, Span]], decode: Callable[[Json], T], source: str, tally: ReadTally
) -> Iterator[tuple[T, Span]]:
    """Yield every record that decodes, with its place; count the others."""
    for raw, span in records:
        tally.records += 1
        try:
            record = decode(raw)
        except UNREADABLE as error:
            tally.malformed.append(Malformed(source, span.line, span.byte_start, str(error)))
        else:
            yield record, span


def typed_lines(log: LogFile, decoder: Decoder[T_co], tally: ReadTally) -> Iterator[tuple[T_co, Span]]:
    """Yield every line that decodes, with its place; count the others, pass over blank ones."""
    for raw, start, number in log.lines(tally):
        if not raw.strip():
            continue
        tally.records += 1
        try:
            record = decoder.decode(raw)
        except UNREADABLE as error:
            tally.malformed.append(Malformed(log.source, number, start, str(error)))
        else:
            yield record, Span(start, start + len(raw), number)
