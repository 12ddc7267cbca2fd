"""Promotion: the edits of a candidate as the mutations and the version that they become."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.capsule_events import CapsuleVersioned
from events.errors import NotFoundError
from events.gene_events import GeneMutated
from events.parts import Pin
from registry.edits import apply_edits, check_protected
from registry.rendering import skill_text
from registry.skill_rules import require_valid

if TYPE_CHECKING:
    from events.base import Frozen
    from events.candidate_events import CandidateProposed
    from events.parts import Edit
    from registry.capsule import Capsule
    from registry.commands import Judge
    from registry.gene import Gene


def promotion(capsule: Capsule, proposed: CandidateProposed, command: Judge) -> list[Frozen]:
    """List the mutations that a promotion causes, and the version that they make.

    Raises: EditError where an edit does not fit; SkillFormatError where the result is no valid skill.
    """
    scored = command.scored
    cause = {
        "before": scored.before,
        "after": scored.after,
        "candidate": proposed.candidate,
        "scored": command.scored_id,
    }
    by_gene: dict[str, list[Edit]] = {}
    for edit in proposed.edits:
        by_gene.setdefault(edit.gene, []).append(edit)
    mutated = [
        GeneMutated(
            **cause,
            gene=gene_id,
            capsule=capsule.name,
            version=named_gene(capsule, gene_id).version + 1,
            edits=tuple(edits),
            strategy=proposed.strategy,
            claims_added=proposed.claims,
            triggers_added=proposed.triggers,
        )
        for gene_id, edits in by_gene.items()
    ]
    after = edited(capsule, proposed.edits)
    text = skill_text(replace(after, version=capsule.version + 1, stamped=True))
    require_valid(text, capsule.name, encoding=capsule.encoding)
    version = CapsuleVersioned(
        **cause,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=tuple(Pin(gene=gene.id, version=gene.version) for gene in after.genes),
        cause="promotion",
        summary=proposed.reason,
        stamped=True,
        delta=scored.delta,
    )
    return [*mutated, version]


def edited(capsule: Capsule, edits: tuple[Edit, ...]) -> Capsule:
    """Return the capsule as it would be with these edits; origins are those of nothing yet (0).

    Raises: EditError where an edit names what is not there, or what is protected.
    """
    genes = []
    for gene in capsule.genes:
        mine = tuple(edit for edit in edits if edit.gene == gene.id)
        if mine:
            check_protected(gene, mine)
            lines, next_line = apply_edits(
                gene.lines, mine, next_line=gene.next_line, origin=0, version=capsule.version + 1
            )
            genes.append(replace(gene, version=gene.version + 1, lines=lines, next_line=next_line))
        else:
            genes.append(gene)
    for edit in edits:
        named_gene(capsule, edit.gene)
    return replace(capsule, genes=tuple(genes))


def named_gene(capsule: Capsule, gene_id: str) -> Gene:
    """Return one gene of a capsule; raises NotFoundError where there is none of that name."""
    gene = capsule.gene(gene_id)
    if gene is None:
        raise NotFoundError(f"{capsule.name} has no gene {gene_id}", hint=f"germline show {capsule.name}")
    return gene
