"""Documents read back: they are disposable, so the error for a damaged one names the command that rebuilds all."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from events.errors import CorruptLogError, RefusedError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.store.envelope import Envelope
    from events.store.protocol import StoredDocument
    from events.store.sql_log import EventLog

T = TypeVar("T")

FORMAT: Final = 7
"""The shape of the documents; with a higher one, every registry is folded again when it is next opened."""
PROJECTION: Final = "projection"
"""The subscriber that the documents are made by (events.store.subscriptions)."""

_HOLDS: Final = {
    "evaluator": "the place of evaluator {key:.12}",
    "erased": "the erasure of evidence {key:.12}",
    "hint": "what git lists of episode {key:.12}",
    "outcome": "the outcome of episode {key:.12}",
    "placed": "what stood on the path of {key}",
    "preset": "the definition of preset {key}",
    "proposed": "the list of candidates that answer {key}",
    "registry": "what the registry says of itself",
    "scored": "the place of a score of {key}",
    "signal": "the place of signal {key}",
    "trial": "the place of an event of a trial of {key}",
    "version": "the place of a version of {key}",
}
"""What a document holds, by its view; the others hold the state of a skill, whole or in outline."""
_MOST_DIGITS: Final = 18
"""Longer numbers are no positions, and the databases refuse the longest."""

_MOST_STATE_BYTES: Final = 64 * 1024 * 1024
"""Of a skill's state as JSON: four times that of the longest SKILL.md that is read, 1 MB of empty lines (measured
2026-11-23). Without a bound 1.5 MB of a stranger's registry took 3.1 GB."""

_UNREADABLE: Final = (zlib.error, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What readers raise for bytes that are not what they should be."""


class About(NamedTuple):
    """What a registry says of itself."""

    preset: str
    split_key: str
    created_at: str


def read_back(log: EventLog, document: StoredDocument, read: Callable[[bytes], T]) -> T:
    """Read the body of a document; raises StorageError for one that is damaged."""
    try:
        return read(document.body)
    except _UNREADABLE as error:
        raise damaged(log, document) from error


def damaged(log: EventLog, what: StoredDocument | str) -> StorageError:
    """Say which document is not what it must be, or what was folded from documents, and what folds them again."""
    holds = what if isinstance(what, str) else content_of(what)
    return StorageError(
        f"{holds} that is kept beside the events is damaged",
        hint=f"germline copy {log.location} NEW folds it again",
    )


def content_of(document: StoredDocument) -> str:
    """Say what a document holds."""
    return _HOLDS.get(document.view, "the state of {key}").format(key=document.key)


def deflated(name: str, state: str) -> bytes:
    """Pack a skill's state at the fastest level; raises RefusedError for one that `inflated` would not read.

    It is a fifth larger than at the usual level, and made in a seventh of the time.
    """
    body = state.encode()
    if len(body) > _MOST_STATE_BYTES:
        raise RefusedError(
            f"{name} with its history of sections takes {len(body):,} bytes; {_MOST_STATE_BYTES:,} is the most",
            hint="move detail to files beside SKILL.md",
        )
    return zlib.compress(body, 1)


def inflated(body: bytes) -> bytes:
    """Unpack what `deflated` packed; raises ValueError where it is cut off or would be larger, zlib.error."""
    unpacking = zlib.decompressobj()
    state = unpacking.decompress(body, _MOST_STATE_BYTES)
    if not unpacking.eof:
        raise ValueError(len(state))
    return state


def about_in(body: bytes) -> About:
    """Read what a registry says of itself."""
    stated = fields(body, preset=str, split_key=str, at=str)
    return About(stated["preset"], stated["split_key"], stated["at"])


def format_in(document: StoredDocument | None) -> int:
    """Read the shape of the documents, 0 where it is unknown: then they are folded again."""
    try:
        return int(fields(document.body, format=int)["format"]) if document else 0
    except _UNREADABLE:
        return 0


def event_in(log: EventLog, document: StoredDocument, kind: str) -> Envelope:
    """Return the event of a kind whose position a document holds; raises what `events_in` raises."""
    return events_in(log, [document], kind)[document.seq]


def events_in(
    log: EventLog, documents: Sequence[StoredDocument], kind: str, read: Callable[[bytes], int] | None = None
) -> dict[int, Envelope]:
    """Return the events of a kind whose positions documents of one sequence hold, by their place in it.

    `read` finds the position in a body; if it is left out, the body is nothing else.
    Raises: StorageError where a document names no such event; CorruptLogError where the log lacks it.
    """
    positions = {document.seq: read_back(log, document, read or position_in) for document in documents}
    envelopes = {envelope.position: envelope for envelope in log.at(sorted(positions.values()))}
    for document in documents:
        position = positions[document.seq]
        if position not in envelopes and position <= log.head().position:
            raise event_missing(position)
        if position not in envelopes or envelopes[position].type != kind:
            raise damaged(log, document)
    return {seq: envelopes[position] for seq, position in positions.items()}


def definition_in(log: EventLog, document: StoredDocument) -> str:
    """Return what a preset is defined to be; raises StorageError where its event says another thing."""
    definition = read_back(log, document, bytes.decode)
    if [getattr(envelope.event, "definition", "") for envelope in log.at([document.seq])] != [definition]:
        raise damaged(log, document)
    return definition


def event_missing(position: int) -> CorruptLogError:
    """Say that the log lacks an event that something names."""
    return CorruptLogError(f"event {position} is missing", position=position, hint="germline verify")


def compact(value: object) -> str:
    """Write a value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def position_in(body: bytes) -> int:
    """Read the position of an event, written in decimal digits."""
    if not body.isdigit() or len(body) > _MOST_DIGITS:
        raise ValueError(body)
    return int(body)


def row(body: bytes, *kinds: type) -> list[Any]:
    """Read a list of values, each of its kind."""
    value = json.loads(body)
    if not isinstance(value, list) or list(map(type, value)) != list(kinds):
        raise ValueError(body)
    return value


def fields(body: bytes, **kinds: type) -> dict[str, Any]:
    """Read an object that has at least these fields, each of its kind."""
    value = json.loads(body)
    if not isinstance(value, dict) or any(type(value.get(name)) is not kind for name, kind in kinds.items()):
        raise ValueError(body)
    return value
