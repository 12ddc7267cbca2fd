"""Maps from text to text that a registry keeps, each under a name of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def map_in(body: bytes | None) -> dict[str, str]:
    """Read a map from its stored bytes, an empty one where none is kept."""
    known: dict[str, str] = json.loads(body) if body else {}
    return known


def body_of(known: Mapping[str, str]) -> bytes:
    """Write a map as bytes, the same for the same map."""
    return json.dumps(known, sort_keys=True, separators=(",", ":")).encode()
