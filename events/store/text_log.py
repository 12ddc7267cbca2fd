"""The log as text: an event a line, so that git compares it and joins the lines of two clones.

A line is a JSON object: the header, the hash and, last, the payload byte for byte as it was stored, so that the
hash can be checked wherever the line goes. Lines are a set: the chain is found again by the hashes, whatever order
they come in, and where two registries began as copies of one another it parts.
"""

from __future__ import annotations

import json
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from events.store.envelope import Envelope, holds

if TYPE_CHECKING:
    from collections.abc import Iterable

_PAYLOAD: Final = b',"payload":'
"""What stands between header and payload; inside a JSON string its quotes would be escaped."""
_KINDS: Final = {
    name: int if name in {"position", "version", "schema"} else str
    for name in Envelope._fields
    if name != "payload"
}


def line_of(envelope: Envelope) -> bytes:
    """Write an event as a line, without its ending."""
    header = {name: getattr(envelope, name) for name in _KINDS}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    return text[:-1].encode() + _PAYLOAD + envelope.payload + b"}"


def event_in(line: bytes) -> Envelope:
    """Read an event from its line; raises ValueError where it is none, or not what was hashed."""
    head, _, payload = line.partition(_PAYLOAD)
    header = json.loads(head + b"}")
    if not isinstance(header, dict) or {name: type(value) for name, value in header.items()} != _KINDS:
        raise ValueError("no event")
    envelope = Envelope(**header, payload=payload[:-1])
    if not holds(envelope):
        raise ValueError("its text is not what was hashed")
    return envelope


def in_order(envelopes: Iterable[Envelope]) -> list[Envelope]:
    """Put events in the order that every clone writes them in: by time, then by position and hash."""
    return sorted(envelopes, key=attrgetter("at", "position", "hash"))
