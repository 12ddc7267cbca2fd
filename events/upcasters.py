"""Upcasters: payloads of old schemas, brought to the current one whenever they are read.

The log is never rewritten: an event keeps the schema number and the bytes that it was written with, and its hash.
A type begins at schema 1. Where its fields change, an upcaster is added to `UPCASTERS`: the next schema number is
then the one that is written, and a golden file of the old schema stays in `tests/golden/` for ever. A new optional
field takes a number too, though its upcaster changes nothing: an older germline then says that a newer one wrote
the event, where it would else call it damaged.

Importing this module loads neither pydantic nor the event classes, as `events.envelope` promises.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
    """Takes the fields of a payload to the next schema: pure, and total for whatever that schema allowed."""

UPCASTERS: Final[dict[str, tuple[Upcaster, ...]]] = {}
"""By event type: the n-th takes a payload from schema n to schema n + 1. No type has needed one yet."""


def schema_of(kind: str) -> int:
    """Return the schema number that events of a type are written with."""
    return 1 + len(UPCASTERS.get(kind, ()))


def upcast(kind: str, schema: int, payload: bytes) -> bytes:
    """Bring a payload of an older schema to the current one of its type.

    Raises: ValueError, KeyError or TypeError where it is not what its schema says, or there is no such schema.
    """
    if schema < 1:
        raise ValueError(f"there is no schema {schema}")
    fields: dict[str, Any] = json.loads(payload)
    for step in UPCASTERS.get(kind, ())[schema - 1 :]:
        fields = step(fields)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
