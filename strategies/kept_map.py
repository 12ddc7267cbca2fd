"""Maps from text to text that a registry keeps in a checkpoint, each under a name of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def map_in(body: bytes | None) -> dict[str, str]:
    """Read a map out of the body of a checkpoint, an empty one where nobody kept any."""
    known: dict[str, str] = json.loads(body) if body else {}
    return known


def body_of(known: Mapping[str, str]) -> bytes:
    """Write a map as the body of a checkpoint, the same bytes for the same map."""
    return json.dumps(known, sort_keys=True, separators=(",", ":")).encode()
