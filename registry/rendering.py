"""Rendering: a capsule's state as the lines and bytes of its SKILL.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.capsule import ProjectedLine
from registry.skill_text import stamp

if TYPE_CHECKING:
    from registry.capsule import Capsule


def projected_lines(capsule: Capsule) -> tuple[ProjectedLine, ...]:
    """List the lines of SKILL.md, each with its one origin event; the stamp belongs to the version's event."""
    rows: list[tuple[str, str, int, int, int]] = [
        (line.text, "", line.id, line.origin, line.version) for line in capsule.front
    ]
    if capsule.stamped and capsule.front:
        place = stamp(tuple(line.text for line in capsule.front), label(capsule))
        added = [(text, "", 0, capsule.position, capsule.version) for text in place.lines]
        rows[place.index : place.index + place.replaces] = added
    rows.extend(
        (line.text, gene.id, line.id, line.origin, line.version) for gene in capsule.genes for line in gene.lines
    )
    return tuple([ProjectedLine(number, *row) for number, row in enumerate(rows, start=1)])


def label(capsule: Capsule) -> str:
    """Name a capsule with its version, as the stamp and every screen do: `sql-analyst@3`."""
    return f"{capsule.name}@{capsule.version}"


def skill_text(capsule: Capsule) -> str:
    """Join the projected lines into the text of SKILL.md."""
    return "".join(line.text for line in projected_lines(capsule))


def skill_bytes(capsule: Capsule) -> bytes:
    """Encode SKILL.md as it was imported: an unedited import gives the same bytes."""
    return skill_text(capsule).encode(capsule.encoding)
