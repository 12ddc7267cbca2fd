"""An event as it is stored: where it stands, who caused it, and what binds it to all that came before.

Importing this module loads neither pydantic nor the event classes: commands that only read projections
do without them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import CorruptLogError, StorageError, UsageError
from events.upcasters import schema_of, upcast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from events.base import Frozen

GENESIS: Final = "0" * 64
"""The previous hash of the first event."""

_SEPARATOR: Final = "\x1f"
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""U+0000 as JSON writes it: escaped, where the backslash is not itself escaped."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event about to be appended: all that is known before the log gives it a position.

    `actor` is `person:<name>`, `miner:<proposer>`, `model:<name>#<prompt hash>` or `germline`.
    """

    stream: str
    event: Frozen
    event_id: str
    at: str
    actor: str
    causation: str = ""
    correlation: str = ""


class Envelope(NamedTuple):
    """A stored event: its header, its payload bytes as written, and the hash over both.

    `version` is the stream version, counted from 1; `schema` the schema number of the payload. The fields
    are the columns of the events table, in order: a tuple, because building a million of them is the cost
    of reading the log (0.3 µs each, against 1.7 µs for a frozen dataclass with slots).
    """

    position: int
    event_id: str
    stream: str
    version: int
    type: str
    schema: int
    at: str
    actor: str
    causation: str
    correlation: str
    previous_hash: str
    hash: str
    payload: bytes

    @property
    def event(self) -> Frozen:
        """Read the payload as its event, upcast from an older schema; raises CorruptLogError where it is not one.

        Types and schemas of a newer germline are kept in the log and skipped by readers: ask `is_known` first.
        """
        return _read(self.position, self.type, self.schema, self.payload)

    @property
    def is_known(self) -> bool:
        """Tell whether this version of germline knows the event's type, and its schema."""
        return self.type in _classes() and (self.schema == 1 or self.schema <= schema_of(self.type))


def holds(envelope: Envelope) -> bool:
    """Tell whether an event is still what was hashed when it was appended."""
    one = envelope
    fields = (str(one.position), one.event_id, one.stream, str(one.version), one.type, str(one.schema))
    header = _SEPARATOR.join((*fields, one.at, one.actor, one.causation, one.correlation))
    return sha256((one.previous_hash + header).encode() + one.payload).hexdigest() == one.hash


class Origin(NamedTuple):
    """What a line needs to know of the event it comes from: a third of an envelope, read in half its time."""

    position: int
    type: str
    schema: int
    at: str
    actor: str
    payload: bytes

    @property
    def event(self) -> Frozen:
        """Read the payload as its event; raises CorruptLogError where it is not one."""
        return _read(self.position, self.type, self.schema, self.payload)


def _read(position: int, kind: str, schema: int, payload: bytes) -> Frozen:
    current = schema_of(kind)
    if schema > current:
        raise StorageError(
            f"event {position} was written by a newer germline: {kind}, schema {schema}", hint="upgrade germline"
        )
    try:
        now = payload if schema == current else upcast(kind, schema, payload)
        return _classes()[kind].model_validate_json(now)
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptLogError(
            f"event {position} does not read as {kind}: {str(error).splitlines()[0]}",
            position=position,
            hint="germline verify",
        ) from error


@cache
def _classes() -> dict[str, type[Frozen]]:
    from events.types import EVENT_TYPES  # noqa: PLC0415 - all of pydantic, for those who read payloads only

    return {cls.__name__: cls for cls in EVENT_TYPES}


def encode(event: Frozen) -> bytes:
    """Write an event as compact JSON in declared field order.

    Raises: UsageError if any text holds U+0000 or is not valid Unicode.
    """
    try:
        payload: bytes = event.__pydantic_serializer__.to_json(event)
    except ValueError as error:
        raise UsageError(f"{type(event).__name__} holds text that cannot be stored: {error}") from error
    if b"\\" in payload and b"\\u0000" in payload and _NUL.search(payload):
        raise UsageError(f"{type(event).__name__} holds a NUL character, which events refuse")
    return payload


def seal(
    encoded: Iterable[tuple[Draft, bytes]], *, position: int, previous: str, versions: Mapping[str, int]
) -> tuple[Envelope, ...]:
    """Give drafts their place behind the event at `position`, and bind each to the one before.

    The hash of an event is SHA-256(previous hash ‖ header fields joined by 0x1F ‖ payload). Nothing separates
    the last header field from the payload, so it may not hold the brace that a payload begins with.

    Shapes: encoded pairs each draft with its payload; versions holds the version of every stream of them.
    Raises: UsageError for a stream without a version, or a header that would blur where a field ends.
    """
    reached = dict(versions)
    sealed = []
    for draft, payload in encoded:
        stream, event_id, kind = draft.stream, draft.event_id, type(draft.event).__name__
        if stream not in reached:
            raise UsageError(f"an append to {stream} must say which version it expects")
        position += 1
        version = reached[stream] = reached[stream] + 1
        at, actor, cause, turn = draft.at, draft.actor, draft.causation, draft.correlation
        schema = schema_of(kind)
        fields = (str(position), event_id, stream, str(version), kind, str(schema), at, actor, cause, turn)
        header = _SEPARATOR.join(fields)
        if header.count(_SEPARATOR) >= len(fields) or "\x00" in header or "{" in turn:
            raise UsageError(f"a header field of event {event_id!r} holds U+0000, 0x1F, or (correlation) a brace")
        try:
            digest = sha256((previous + header).encode() + payload).hexdigest()
        except UnicodeEncodeError as error:
            raise UsageError(f"a header field of event {event_id!r} is not valid Unicode: {error}") from error
        columns = (
            position,
            event_id,
            stream,
            version,
            kind,
            schema,
            at,
            actor,
            cause,
            turn,
            previous,
            digest,
            payload,
        )
        sealed.append(Envelope._make(columns))
        previous = digest
    return tuple(sealed)
