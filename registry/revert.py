"""Reverting: what an earlier version said, carried into a new version; nothing is erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.capsule_events import CapsuleReverted, CapsuleVersioned, KeptClaim, KeptGene, KeptLine
from events.parts import Pin

if TYPE_CHECKING:
    from events.base import Frozen
    from registry.capsule import Capsule
    from registry.gene import Gene, Line


def revert(capsule: Capsule, past: Capsule, reason: str) -> list[Frozen]:
    """List the events that bring a capsule back to what its earlier version `past` said.

    Lines come back with the identity and the origin that they had.
    """
    cause = {"before": capsule.score, "after": past.score}
    genes = tuple(_kept(gene, capsule) for gene in past.genes)
    reverted = CapsuleReverted(
        **cause,
        capsule=capsule.name,
        to_version=past.version,
        reason=reason,
        front=tuple(_kept_line(line) for line in past.front),
        genes=genes,
        files=tuple(file.entry for file in past.files),
    )
    version = CapsuleVersioned(
        **cause,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=tuple(Pin(gene=gene.gene, version=gene.version) for gene in genes),
        cause="revert",
        summary=f"back to version {past.version}: {reason}",
        stamped=True,
    )
    return [reverted, version]


def _kept(gene: Gene, now: Capsule) -> KeptGene:
    """Carry a gene of an earlier version; it takes a new gene version where it said something else since."""
    current = next((other for other in now.genes + now.gone if other.id == gene.id), gene)
    same = current in now.genes and current.lines == gene.lines and current.claims == gene.claims
    return KeptGene(
        gene=gene.id,
        version=current.version if same else current.version + 1,
        title=gene.title,
        lines=tuple(_kept_line(line) for line in gene.lines),
        claims=tuple(KeptClaim(claim=live.claim, origin=live.origin) for live in gene.claims),
        triggers=gene.triggers,
    )


def _kept_line(line: Line) -> KeptLine:
    return KeptLine(id=line.id, text=line.text, origin=line.origin, version=line.version)
