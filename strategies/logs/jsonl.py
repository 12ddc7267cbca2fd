"""Line-delimited JSON: typed records with their places, bad lines counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from registry.redaction import without_secrets
from strategies.logs.episode import Malformed, Span
from strategies.logs.json_places import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import Tally
    from strategies.logs.stream import LogFile

T_co = TypeVar("T_co", covariant=True)

_KIND_CHARS: Final = 40
_LOOKED_AT_CHARS: Final = 16 * _KIND_CHARS
"""A secret that the cut divides must still be known as one."""


class Decoder(Protocol[T_co]):
    """What msgspec's decoders do."""

    def decode(self, raw: bytes, /) -> T_co:
        """Decode one line; raises one of UNREADABLE."""
        ...


def typed_lines(log: LogFile, decoder: Decoder[T_co], tally: Tally) -> Iterator[tuple[T_co, Span]]:
    """Yield every line that decodes, with its place; count the others, pass over blank ones."""
    for raw, start, number in log.lines():
        if not raw.strip():
            continue
        tally.records += 1
        try:
            record = decoder.decode(raw)
        except UNREADABLE as error:
            tally.malformed.append(Malformed(log.source, number, start, str(error)))
        else:
            yield record, Span(start, start + len(raw), number)


def count_unknown(tally: Tally, kind: str) -> None:
    """Count a record of a type that the reader does not know."""
    kind = without_secrets(kind[:_LOOKED_AT_CHARS])[:_KIND_CHARS]
    tally.unknown[kind] = tally.unknown.get(kind, 0) + 1
