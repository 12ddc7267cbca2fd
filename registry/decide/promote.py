"""Promotion: the edits of a candidate as the mutations and the version that they become."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from events.errors import NotFoundError
from events.types.capsule_events import CapsuleBorn, CapsuleVersioned, FileChanged
from events.types.gene_events import GeneBorn, GeneMutated
from events.types.parts import Pin
from registry.decide.birth import as_born, require_sections, with_born
from registry.skill_md.render import encoding_of, skill_text
from registry.skill_md.rules import require_valid
from registry.state.capsule import CapsuleFile
from registry.state.edits import apply_edits, check_protected
from registry.state.line_claims import claims_by_edit, lost_claims

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.claims import Claim
    from events.types.frozen import Frozen
    from events.types.parts import Edit, FileEdit, NewGene, NewSkill
    from events.types.runs import Attribution
    from events.types.score import Delta, Measured
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene


class PromotionGrounds(NamedTuple):
    """What a new version rests on: a verdict, or a person's override.

    `scored_id` is the event id of the `CandidateScored` that holds the scores, "" where nothing was measured. Only
    with `tested` claims they become live: what nobody held against logs is part of the proposal alone.
    """

    before: Measured
    after: Measured
    delta: Delta | None
    scored_id: str
    tested: bool
    attributions: tuple[Attribution, ...] = ()
    cause: Literal["promotion", "override"] = "promotion"


def promotion(capsule: Capsule, proposed: CandidateProposed, grounds: PromotionGrounds) -> list[Frozen]:
    """List the mutations that a promotion causes, and the version that they make.

    Raises: EditError where an edit does not fit, or would change which sections there are; SkillFormatError where
    the result is no valid skill.
    """
    if not grounds.tested:
        proposed = without_claims(proposed)
    if proposed.skill is not None:
        return birth(proposed, proposed.skill, grounds)
    cause = _cause(proposed, grounds)
    after = edited(capsule, proposed.edits, proposed.born, by=proposed.proposer)
    require_sections(capsule, after)
    stamped = replace(after, version=capsule.version + 1, stamped=not capsule.is_instructions)
    require_valid(skill_text(stamped), capsule.name, encoding=encoding_of(capsule))
    reached = {gene.id: gene.version for gene in capsule.genes}
    mutated = []
    for part in _parts(capsule, proposed, grounds.attributions):
        gene, edits = part.gene, part.edits
        reached[gene.id] += 1
        mutated.append(
            GeneMutated(
                **{**cause, "attribution": part.attribution},
                gene=gene.id,
                capsule=capsule.name,
                version=reached[gene.id],
                edits=edits,
                strategy=proposed.strategy,
                claims_added=part.claims,
                claims_dropped=tuple(claim for lost in lost_claims(gene, edits) for claim in lost),
                triggers_added=() if proposed.born else proposed.triggers,
            )
        )
    files = [
        FileChanged(**cause, capsule=capsule.name, path=file.path, entry=file.entry) for file in proposed.files
    ]
    version = CapsuleVersioned(
        **cause,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=tuple(Pin(gene=gene.id, version=reached.get(gene.id, 1)) for gene in after.genes),
        cause=grounds.cause,
        summary=f"{proposed.strategy}: {_taught(proposed)}",
        stamped=stamped.stamped,
        delta=grounds.delta,
    )
    return [*mutated, *_born(capsule, proposed, cause), *files, version]


def without_claims(proposed: CandidateProposed) -> CandidateProposed:
    """Return what a candidate proposes without what it claims; what its edits take away goes all the same."""
    born = proposed.born and proposed.born.model_copy(update={"claimed": ()})
    bare = {"claims": (), "claimed": ()}
    skill = proposed.skill and proposed.skill.model_copy(
        update={"sections": tuple(section.model_copy(update=bare) for section in proposed.skill.sections)}
    )
    return proposed.model_copy(update={"claims": (), "born": born, "skill": skill})


def without_live_claims(capsule: Capsule, claims: Mapping[str, tuple[Claim, ...]], reason: str) -> list[Frozen]:
    """List the events by which claims end whose lines stay: mutations without an edit, and the version they make.

    Raises: NotFoundError for an unknown gene.
    """
    same = {"before": capsule.score, "after": capsule.score}
    genes = {name: named_gene(capsule, name) for name, dropped in claims.items() if dropped}
    if not genes:
        return []
    mutated = [
        GeneMutated(
            **same,
            gene=name,
            capsule=capsule.name,
            version=gene.version + 1,
            edits=(),
            claims_dropped=claims[name],
        )
        for name, gene in genes.items()
    ]
    version = CapsuleVersioned(
        **same,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=tuple(Pin(gene=gene.id, version=gene.version + (gene.id in genes)) for gene in capsule.genes),
        cause="override",
        summary=reason,
        stamped=not capsule.is_instructions,
    )
    return [*mutated, version]


def require_birth(name: str, skill: NewSkill) -> None:
    """Check that a new skill can be written; raises EditError and SkillFormatError as `birth` does."""
    require_valid(skill_text(replace(as_born(name, skill), version=1, stamped=True)), name)


def birth(proposed: CandidateProposed, skill: NewSkill, grounds: PromotionGrounds) -> list[Frozen]:
    """List the events by which a whole skill comes to be, and its first version.

    Raises: EditError where its sections would not stand; SkillFormatError where it is no valid skill.
    """
    cause = _cause(proposed, grounds)
    name = proposed.capsule
    require_birth(name, skill)
    after = as_born(name, skill)
    begun = CapsuleBorn(**cause, capsule=name, source=skill.source, front=skill.front, strategy=proposed.strategy)
    genes = [
        GeneBorn(
            **cause,
            gene=gene.id,
            capsule=name,
            title=section.title,
            lines=section.lines,
            strategy=proposed.strategy,
            claims=section.claims,
            claimed=section.claimed,
            triggers=proposed.triggers,
        )
        for gene, section in zip(after.genes, skill.sections, strict=True)
    ]
    version = CapsuleVersioned(
        **cause,
        capsule=name,
        version=1,
        genes=tuple(Pin(gene=gene.id, version=1) for gene in after.genes),
        cause=grounds.cause,
        summary=f"{proposed.strategy}: a new skill",
        stamped=True,
        delta=grounds.delta,
    )
    return [begun, *genes, version]


def _cause(proposed: CandidateProposed, grounds: PromotionGrounds) -> dict[str, object]:
    """Give what every event of a promotion carries of why it came."""
    return {
        "before": grounds.before,
        "after": grounds.after,
        "candidate": proposed.candidate,
        "scored": grounds.scored_id,
    }


def whole(base: Capsule, proposed: CandidateProposed) -> Capsule:
    """Return what a candidate would make of its base, files aside: as `edited`, or a skill of its own."""
    if proposed.skill is not None:
        return as_born(proposed.capsule, proposed.skill)
    return edited(base, proposed.edits, proposed.born, by=proposed.proposer)


def _born(capsule: Capsule, proposed: CandidateProposed, cause: Mapping[str, object]) -> Iterator[GeneBorn]:
    """Give the event of a new gene, with the claims and triggers of the candidate."""
    if proposed.born is not None:
        fields = {
            **proposed.born.model_dump(),
            "capsule": capsule.name,
            "strategy": proposed.strategy,
            "claims": proposed.claims,
            "triggers": proposed.triggers,
        }
        yield GeneBorn.model_validate({**cause, **fields})


class _Part(NamedTuple):
    """What one mutation makes of a gene: its edits together, or each on its own where each was measured."""

    gene: Gene
    edits: tuple[Edit, ...]
    claims: tuple[Claim, ...]
    attribution: Delta | None


def _parts(capsule: Capsule, proposed: CandidateProposed, measured: Sequence[Attribution]) -> list[_Part]:
    """Divide a proposal into mutations, in the order of its edits."""
    claims = claims_by_edit(proposed.edits, () if proposed.born else proposed.claims)
    if measured:
        deltas = {attribution.edit: attribution.delta for attribution in measured}
        return [
            _Part(named_gene(capsule, edit.gene), (edit,), claims[at], deltas.get(at))
            for at, edit in enumerate(proposed.edits)
        ]
    of_gene: dict[str, tuple[Claim, ...]] = {}
    for edit, mine in zip(proposed.edits, claims, strict=True):
        of_gene[edit.gene] = tuple(dict.fromkeys((*of_gene.get(edit.gene, ()), *mine)))
    return [_Part(gene, edits, of_gene[gene.id], None) for gene, edits in _by_gene(capsule, proposed.edits)]


def _taught(proposed: CandidateProposed) -> str:
    """Say what a promotion taught, in its own words: lines hold templates and action classes, never log text."""
    lines = proposed.new_lines[1:] if proposed.born else proposed.new_lines
    texts = (line.strip() for line in lines if line.strip())
    rest = "lines removed" if proposed.edits else f"changed {', '.join(file.path for file in proposed.files)}"
    return next(texts, rest)


def with_files(capsule: Capsule, files: Sequence[FileEdit]) -> Capsule:
    """Return the capsule as it would be with these files; origins are those of nothing yet (0)."""
    changed = {file.path: file.entry for file in files}
    kept = [file for file in capsule.files if file.entry.path not in changed]
    new = [CapsuleFile(entry, 0) for entry in changed.values() if entry is not None]
    return replace(capsule, files=tuple(sorted((*kept, *new), key=lambda file: file.entry.path)))


def edited(capsule: Capsule, edits: tuple[Edit, ...], born: NewGene | None = None, *, by: str = "") -> Capsule:
    """Return the capsule as it would be with these edits and this new gene; origins are those of nothing yet (0).

    `by` is the proposer: a gene that has a keeper is open to that one alone.
    Raises: EditError where an edit names what is not there, or what is protected, or the gene would not stand;
    NotFoundError for an unknown gene.
    """
    changed: dict[str, Gene] = {}
    for gene, mine in _by_gene(capsule, edits):
        check_protected(gene, mine, by=by)
        lines, next_line = apply_edits(
            gene.lines, mine, next_line=gene.next_line, origin=0, version=capsule.version + 1
        )
        changed[gene.id] = replace(gene, version=gene.version + 1, lines=lines, next_line=next_line)
    after = replace(capsule, genes=tuple(changed.get(gene.id, gene) for gene in capsule.genes))
    return after if born is None else with_born(after, born)


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
