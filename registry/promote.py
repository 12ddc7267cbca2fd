"""Promotion: the edits of a candidate as the mutations and the version that they become."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.capsule_events import CapsuleVersioned
from events.errors import NotFoundError
from events.gene_events import GeneMutated
from events.parts import Pin
from registry.claimed import lost_claims
from registry.edits import apply_edits, check_protected
from registry.rendering import encoding_of, skill_text
from registry.skill_rules import require_valid

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    after = edited(capsule, proposed.edits)
    stamped = replace(after, version=capsule.version + 1, stamped=True)
    require_valid(skill_text(stamped), capsule.name, encoding=encoding_of(capsule))
    mutated = [
        GeneMutated(
            **cause,
            gene=gene.id,
            capsule=capsule.name,
            version=gene.version + 1,
            edits=edits,
            strategy=proposed.strategy,
            claims_added=proposed.claims,
            claims_dropped=tuple(claim for lost in lost_claims(gene, edits) for claim in lost),
            triggers_added=proposed.triggers,
        )
        for gene, edits in _by_gene(capsule, proposed.edits)
    ]
    version = CapsuleVersioned(
        **cause,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=tuple(Pin(gene=gene.id, version=gene.version) for gene in after.genes),
        cause="promotion",
        summary=f"{proposed.strategy}: {_first_new_line(proposed.edits)}",
        stamped=True,
        delta=scored.delta,
    )
    return [*mutated, version]


def _first_new_line(edits: Sequence[Edit]) -> str:
    """Say what a promotion taught, in its own words: lines hold templates and action classes, never log text."""
    said = (line.strip() for edit in edits for line in edit.text if line.strip())
    return next(said, "lines removed")


def edited(capsule: Capsule, edits: tuple[Edit, ...]) -> Capsule:
    """Return the capsule as it would be with these edits; origins are those of nothing yet (0).

    Raises: EditError where an edit names what is not there, or what is protected; NotFoundError for an
    unknown gene.
    """
    changed: dict[str, Gene] = {}
    for gene, mine in _by_gene(capsule, edits):
        check_protected(gene, mine)
        lines, next_line = apply_edits(
            gene.lines, mine, next_line=gene.next_line, origin=0, version=capsule.version + 1
        )
        changed[gene.id] = replace(gene, version=gene.version + 1, lines=lines, next_line=next_line)
    return replace(capsule, genes=tuple(changed.get(gene.id, gene) for gene in capsule.genes))


def _by_gene(capsule: Capsule, edits: Sequence[Edit]) -> list[tuple[Gene, tuple[Edit, ...]]]:
    """Divide edits among the genes that they name, both in their order."""
    names = dict.fromkeys(edit.gene for edit in edits)
    return [(named_gene(capsule, name), tuple(edit for edit in edits if edit.gene == name)) for name in names]


def named_gene(capsule: Capsule, gene_id: str) -> Gene:
    """Return one gene of a capsule; raises NotFoundError where there is none of that name."""
    gene = capsule.gene(gene_id)
    if gene is None:
        raise NotFoundError(f"{capsule.name} has no gene {gene_id}", hint=f"germline show {capsule.name}")
    return gene
