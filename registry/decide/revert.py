"""Reverting: the content of an earlier version, carried into a new version; nothing is erased."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.types.capsule_events import CapsuleReverted, CapsuleVersioned, KeptClaim, KeptGene, KeptLine
from events.types.parts import Pin
from registry.skill_md.render import skill_text
from registry.skill_md.rules import require_valid
from registry.state.edits import protected

if TYPE_CHECKING:
    from events.types.frozen import Frozen
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from registry.state.line import SkillLine


def revert(capsule: Capsule, past: Capsule, reason: str) -> list[Frozen]:
    """List the events that bring a capsule back to the content of its earlier version `past`.

    Lines come back with the identity and the origin that they had.

    Raises: EditError where a protected line would change or go; SkillFormatError where the earlier version,
    imported as it was, is no valid skill.
    """
    _require_untouched(capsule, past)
    stamped = replace(past, version=capsule.version + 1, stamped=not capsule.is_instructions)
    require_valid(skill_text(stamped), capsule.name)
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
        stamped=stamped.stamped,
    )
    return [reverted, version]


def _require_untouched(capsule: Capsule, past: Capsule) -> None:
    """Refuse to change what is protected now: a person says first that the protection ends.

    A line that only gains or loses its ending says the same.
    """
    for gene in capsule.genes:
        then = past.gene(gene.id)
        texts = {line.id: line.text.removesuffix("\n") for line in then.lines} if then else {}
        changed = [line for line in gene.lines if texts.get(line.id) != line.text.removesuffix("\n")]
        if gene.protected_whole and (changed or len(texts) != len(gene.lines)):
            what = f"{gene.title or 'the preamble'!r} of {capsule.name} is protected"
        elif touched := [line for line in changed if line.id in gene.protected]:
            what = f"line {touched[0].id} of {gene.title or 'the preamble'!r} in {capsule.name} is protected"
        else:
            continue
        raise protected(gene, f"{what}, and version {past.version} says otherwise")


def _kept(gene: Gene, now: Capsule) -> KeptGene:
    """Carry a gene of an earlier version; it takes a new gene version where its content changed since."""
    current = next((other for other in now.genes + now.gone if other.id == gene.id), gene)
    same = current in now.genes and _said(current) == _said(gene)
    return KeptGene(
        gene=gene.id,
        version=current.version if same else current.version + 1,
        title=gene.title,
        lines=tuple(_kept_line(line) for line in gene.lines),
        claims=tuple(KeptClaim(claim=live.claim, origin=live.origin, line=live.line) for live in gene.claims),
        triggers=gene.triggers,
    )


def _said(gene: Gene) -> tuple[object, ...]:
    return gene.title, gene.lines, gene.claims, gene.triggers


def _kept_line(line: SkillLine) -> KeptLine:
    return KeptLine(id=line.id, text=line.text, origin=line.origin, version=line.version)
