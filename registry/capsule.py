"""Capsules: an ordered bundle of gene versions, front matter and files that projects to one skill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from events.parts import FileEntry
    from events.score import Delta, Measured
    from registry.gene import Gene, Line


@dataclass(frozen=True, slots=True)
class CapsuleFile:
    """A file beside SKILL.md and the position of the event that gave it its present content."""

    entry: FileEntry
    origin: int


@dataclass(frozen=True, slots=True)
class Capsule:
    """A capsule at one version.

    `position` is that of its last `CapsuleVersioned`, `at` its time, `cause` why it came. `gone` keeps retired
    genes, so that no identity is ever given twice. `front` is the front matter, both `---`
    lines included; empty where the file has none. `stamped` tells whether the projection carries the
    germline stamp (from the first change on). `unproven` marks a person's override not measured yet.
    """

    name: str
    source: str
    encoding: str
    mode: int
    version: int
    position: int
    at: str
    cause: str
    front: tuple[Line, ...]
    next_front: int
    genes: tuple[Gene, ...]
    gone: tuple[Gene, ...]
    files: tuple[CapsuleFile, ...]
    aliases: tuple[tuple[str, int], ...]
    stamped: bool
    unproven: bool
    retired: bool
    born: int
    score: Measured
    delta: Delta | None

    def gene(self, gene_id: str) -> Gene | None:
        """Return one of its genes, None where there is no such gene."""
        return next((gene for gene in self.genes if gene.id == gene_id), None)


@dataclass(frozen=True, slots=True)
class ProjectedLine:
    """A line of the projected SKILL.md with the one event it comes from.

    `number` counts from 1. `gene` is "" for front matter and the stamp; `id` is 0 for the stamp.
    """

    number: int
    text: str
    gene: str
    id: int
    origin: int
    version: int
