"""Sheets: the little of a skill's state that its text is written from.

Whoever only wants to read a skill is spared all that is known of its lines: claims, triggers, scores as events
have them, and with them pydantic, half of what `germline show` would take.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, NamedTuple

from registry.line import lines_of

if TYPE_CHECKING:
    from registry.capsule import Capsule
    from registry.line import Line


class SheetGene(NamedTuple):
    """A gene as far as it is written."""

    id: str
    lines: tuple[Line, ...]


class Sheet(NamedTuple):
    """What the text of a skill is written from, and what a heading says of it; the fields are those of a capsule.

    `score` is the value of its score, None where it was not measured.
    """

    name: str
    version: int
    position: int
    cause: str
    unproven: bool
    score: float | None
    stamped: bool
    front: tuple[Line, ...]
    genes: tuple[SheetGene, ...]

    @classmethod
    def of(cls, capsule: Capsule) -> Sheet:
        """Take it from a capsule."""
        return cls(
            name=capsule.name,
            version=capsule.version,
            position=capsule.position,
            cause=capsule.cause,
            unproven=capsule.unproven,
            score=getattr(capsule.score, "value", None),
            stamped=capsule.stamped,
            front=capsule.front,
            genes=tuple(SheetGene(gene.id, gene.lines) for gene in capsule.genes),
        )

    @classmethod
    def from_bytes(cls, body: bytes) -> Sheet:
        """Read it out of a capsule's state (registry/snapshots.py)."""
        state = json.loads(zlib.decompress(body))
        own = {name: state[name] for name in ("name", "version", "position", "cause", "unproven", "stamped")}
        genes = tuple(SheetGene(gene_id, lines_of(lines)) for gene_id, _, _, _, lines, *_ in state["genes"])
        return cls(**own, score=state["score"].get("value"), front=lines_of(state["front"]), genes=genes)
