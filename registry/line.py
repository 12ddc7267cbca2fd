"""Lines: what genes are made of, and what a SKILL.md is projected as."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A line with an identity that survives edits to its neighbours.

    `text` keeps its line ending. `origin` is the position of the event that wrote it, `version` the capsule
    version it first stood in. A tuple, because every look at a skill makes hundreds of them (0.2 µs each,
    against 0.7 µs for a frozen dataclass with slots).
    """

    id: int
    text: str
    origin: int
    version: int


class ProjectedLine(NamedTuple):
    """A line of the projected SKILL.md with the one event it comes from.

    `number` counts from 1. `gene` is "" for front matter and the stamp; `id` is 0 for the stamp.
    """

    number: int
    gene: str
    id: int
    text: str
    origin: int
    version: int
