"""What each event does to a capsule: the pure fold that every projection is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from events.errors import CorruptLogError, EditError
from events.types.score import Score
from registry.state.capsule import Capsule, CapsuleFile, blank, is_capsule_name, is_skill_name
from registry.state.edits import apply_edits
from registry.state.gene import Gene, LiveClaim
from registry.state.instruction_formats import instruction_format, path_of_name
from registry.state.line import SkillLine, first_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from events.store.envelope import Envelope
    from events.types.capsule_events import (
        AliasMoved,
        CapsuleBorn,
        CapsuleDescribed,
        CapsuleImported,
        CapsuleMoved,
        CapsuleRestored,
        CapsuleRetired,
        CapsuleReverted,
        CapsuleVersioned,
        FileChanged,
        KeptClaim,
        KeptGene,
        KeptLine,
        VersionRetired,
        VersionScored,
    )
    from events.types.frozen import Frozen
    from events.types.gene_events import GeneBorn, GeneMoved, GeneMutated, GeneProtected, GeneReleased, GeneRetired


def apply(capsule: Capsule | None, event: Frozen, envelope: Envelope) -> Capsule:
    """Fold one event that changes a capsule into its state; the envelope gives position and time.

    Raises: CorruptLogError if the event does not fit the state, which a whole log never shows.
    """
    kind = envelope.type
    if kind in _BEGINNINGS:
        return _BEGINNINGS[kind](event, envelope)
    if capsule is None:
        raise _misfit(envelope, "names a capsule that was never imported or born")
    try:
        return _EFFECTS[kind](capsule, event, envelope)
    except EditError as error:
        raise _misfit(envelope, f"does not fit {capsule.name}: {error.message}") from error


def changes_capsule(kind: str) -> bool:
    """Tell whether events of a type change the state of the capsule that they name."""
    return kind in _BEGINNINGS or kind in _EFFECTS


def _misfit(envelope: Envelope, what: str) -> CorruptLogError:
    return CorruptLogError(
        f"event {envelope.position} ({envelope.type}) {what}", position=envelope.position, hint="germline verify"
    )


def _require_version(capsule: Capsule, version: int, envelope: Envelope, *, least: int = 1) -> None:
    if not least <= version <= capsule.version:
        raise _misfit(
            envelope, f"names version {str(version)[:20]} of {capsule.name}, which has {capsule.version}"
        )


def _require_origins(kept: Iterable[KeptLine | KeptClaim], envelope: Envelope) -> None:
    if any(not 0 <= part.origin < envelope.position for part in kept):
        raise _misfit(envelope, "brings back what a later event made")


def _imported(event: CapsuleImported, envelope: Envelope) -> Capsule:
    files = tuple([CapsuleFile(entry, envelope.position) for entry in event.files])
    return _with_files(replace(_born(event, envelope), encoding=event.encoding, mode=event.mode), files, envelope)


def _with_files(capsule: Capsule, files: tuple[CapsuleFile, ...], envelope: Envelope) -> Capsule:
    if files and capsule.is_instructions:  # they would be written beside, among files of the project
        raise _misfit(envelope, f"brings files beside the instructions {capsule.name}")
    return replace(capsule, files=files)


def _born(event: CapsuleBorn | CapsuleImported, envelope: Envelope) -> Capsule:
    if not is_capsule_name(event.capsule):
        raise _misfit(envelope, f"names a skill {event.capsule[:80]!r}, which is no name of a skill")
    _require_place(event, envelope)
    return replace(
        blank(event.capsule, event.source, event.after),
        position=envelope.position,
        at=envelope.at,
        cause="import",
        front=first_lines(event.front, origin=envelope.position, version=1),
        next_front=len(event.front) + 1,
        born=envelope.position,
    )


def _require_place(event: CapsuleBorn | CapsuleImported | CapsuleMoved, envelope: Envelope) -> None:
    """Refuse instructions that would be written to a file which no agent reads as such."""
    file = f"{event.source}/{path_of_name(event.capsule).rpartition('/')[2]}"
    if not is_skill_name(event.capsule) and instruction_format(file) is None:
        raise _misfit(envelope, f"puts the instructions {event.capsule} into {file[:200]!r}")


def _gene_born(capsule: Capsule, event: GeneBorn, envelope: Envelope) -> Capsule:
    if event.claimed and len(event.claimed) != len(event.claims):
        raise _misfit(envelope, f"names {len(event.claimed)} lines for {len(event.claims)} claims")
    carriers = event.claimed or (0,) * len(event.claims)
    gene = Gene(
        id=event.gene,
        capsule=capsule.name,
        version=1,
        title=event.title,
        lines=first_lines(event.lines, origin=envelope.position, version=capsule.version + 1),
        next_line=len(event.lines) + 1,
        claims=tuple(
            LiveClaim(claim, envelope.position, line) for claim, line in zip(event.claims, carriers, strict=True)
        ),
        triggers=event.triggers,
        keeper=event.keeper,
    )
    return replace(capsule, genes=_placed(capsule.genes, gene, event.after_gene, last=True))


def _placed(genes: tuple[Gene, ...], gene: Gene, after: str | None, *, last: bool) -> tuple[Gene, ...]:
    """Put a gene after another; where none is named, at the end or at the beginning."""
    if after is None:
        # A file of many headings comes section by section: unpacking would copy them all twice each time.
        return genes + (gene,) if last else (gene, *genes)  # noqa: RUF005
    at = next((i + 1 for i, other in enumerate(genes) if other.id == after), len(genes))
    return (*genes[:at], gene, *genes[at:])


def _gene_mutated(capsule: Capsule, event: GeneMutated, envelope: Envelope) -> Capsule:
    gene = _gene(capsule, event.gene, envelope)
    lines, next_line = apply_edits(
        gene.lines,
        event.edits,
        next_line=gene.next_line,
        origin=envelope.position,
        version=capsule.version + 1,
    )
    dropped = event.claims_dropped
    kept = tuple([live for live in gene.claims if live.claim not in dropped]) if dropped else gene.claims
    new = tuple(LiveClaim(claim, envelope.position) for claim in event.claims_added)
    return _with_gene(
        capsule,
        replace(
            gene,
            version=event.version,
            title=gene.title if event.title is None else event.title,
            lines=lines,
            next_line=next_line,
            claims=kept + new,
            triggers=gene.triggers + tuple(t for t in event.triggers_added if t not in gene.triggers),
        ),
    )


def _gene(capsule: Capsule, gene_id: str, envelope: Envelope) -> Gene:
    gene = capsule.gene(gene_id)
    if gene is None:
        raise _misfit(envelope, f"names gene {gene_id}, which {capsule.name} lacks")
    return gene


def _with_gene(capsule: Capsule, gene: Gene) -> Capsule:
    return replace(capsule, genes=tuple([gene if old.id == gene.id else old for old in capsule.genes]))


def _gene_moved(capsule: Capsule, event: GeneMoved, envelope: Envelope) -> Capsule:
    gene = _gene(capsule, event.gene, envelope)
    others = tuple(old for old in capsule.genes if old.id != gene.id)
    return replace(capsule, genes=_placed(others, gene, event.after_gene, last=False))


def _gene_protected(capsule: Capsule, event: GeneProtected, envelope: Envelope) -> Capsule:
    gene = _gene(capsule, event.gene, envelope)
    whole = gene.protected_whole or not event.lines
    gene = replace(gene, protected=gene.protected | set(event.lines), protected_whole=whole)
    return _with_gene(capsule, gene)


def _gene_released(capsule: Capsule, event: GeneReleased, envelope: Envelope) -> Capsule:
    gene = _gene(capsule, event.gene, envelope)
    return _with_gene(capsule, replace(gene, protected=frozenset(), protected_whole=False, keeper=""))


def _gene_retired(capsule: Capsule, event: GeneRetired, envelope: Envelope) -> Capsule:
    gene = _gene(capsule, event.gene, envelope)
    left = tuple(old for old in capsule.genes if old.id != gene.id)
    return replace(capsule, genes=left, gone=(*capsule.gone, gene))


def _versioned(capsule: Capsule, event: CapsuleVersioned, envelope: Envelope) -> Capsule:
    if [(pin.gene, pin.version) for pin in event.genes] != [(gene.id, gene.version) for gene in capsule.genes]:
        raise _misfit(envelope, f"pins genes that {capsule.name} does not have")
    if event.version != capsule.version + 1:
        raise _misfit(
            envelope, f"makes version {str(event.version)[:20]} of {capsule.name} after {capsule.version}"
        )
    return replace(
        capsule,
        version=event.version,
        position=envelope.position,
        at=envelope.at,
        cause=event.cause,
        stamped=event.stamped and not capsule.is_instructions,
        unproven=not isinstance(event.after, Score),
        score=event.after,
        delta=event.delta,
    )


def _reverted(capsule: Capsule, event: CapsuleReverted, envelope: Envelope) -> Capsule:
    _require_version(capsule, event.to_version, envelope)
    _require_origins(event.front, envelope)
    for kept in event.genes:
        _require_origins((*kept.lines, *kept.claims), envelope)
    now = {gene.id: gene for gene in capsule.genes + capsule.gone}
    lacking = [kept.gene for kept in event.genes if kept.gene not in now]
    if lacking:
        raise _misfit(envelope, f"brings back gene {lacking[0]}, which {capsule.name} never had")
    back = tuple(_restored(now[kept.gene], kept) for kept in event.genes)
    names = {gene.id for gene in back}
    known = {old.entry: old for old in capsule.files}
    files = tuple(known.get(entry) or CapsuleFile(entry, envelope.position) for entry in event.files)
    return replace(
        _with_files(capsule, files, envelope),
        front=tuple(_line(kept) for kept in event.front),
        genes=back,
        gone=tuple(gene for gene in now.values() if gene.id not in names),
    )


def _line(kept: KeptLine) -> SkillLine:
    return SkillLine(kept.id, kept.text, kept.origin, kept.version)


def _restored(gene: Gene, kept: KeptGene) -> Gene:
    """Bring a gene back to its earlier content; line ids are never given out again, protection stays."""
    return replace(
        gene,
        version=kept.version,
        title=kept.title,
        lines=tuple([_line(line) for line in kept.lines]),
        claims=tuple(LiveClaim(live.claim, live.origin, live.line) for live in kept.claims),
        triggers=kept.triggers,
    )


def _described(capsule: Capsule, event: CapsuleDescribed, envelope: Envelope) -> Capsule:
    front, next_front = apply_edits(
        capsule.front,
        event.edits,
        next_line=capsule.next_front,
        origin=envelope.position,
        version=capsule.version + 1,
    )
    return replace(capsule, front=front, next_front=next_front)


def _file_changed(capsule: Capsule, event: FileChanged, envelope: Envelope) -> Capsule:
    files = [old for old in capsule.files if old.entry.path != event.path]
    if event.entry is not None:
        files.append(CapsuleFile(event.entry, envelope.position))
    return _with_files(capsule, tuple(sorted(files, key=lambda file: file.entry.path)), envelope)


def _alias_moved(capsule: Capsule, event: AliasMoved, envelope: Envelope) -> Capsule:
    _require_version(capsule, event.version, envelope, least=0)
    names = {name: version for name, version in capsule.aliases if name != event.alias}
    if event.version:
        names[event.alias] = event.version
    return replace(capsule, aliases=tuple(sorted(names.items())))


def _moved(capsule: Capsule, event: CapsuleMoved, envelope: Envelope) -> Capsule:
    _require_place(event, envelope)
    return replace(capsule, source=event.source)


def _version_retired(capsule: Capsule, event: VersionRetired, envelope: Envelope) -> Capsule:
    _require_version(capsule, event.version, envelope)
    return capsule  # that it is no longer offered is in the outline


def _version_scored(capsule: Capsule, event: VersionScored, envelope: Envelope) -> Capsule:
    _require_version(capsule, event.version, envelope)
    return scored(capsule, event.score) if event.version == capsule.version else capsule


def scored(capsule: Capsule, score: Score) -> Capsule:
    """Return a version as it is once it is measured: proven, unless it claims nothing that could be tested."""
    claims = any(gene.claims for gene in capsule.genes)
    return replace(capsule, score=score, unproven=capsule.unproven and not claims)


def _retired(capsule: Capsule, event: CapsuleRetired, envelope: Envelope) -> Capsule:
    del event, envelope  # that it happened is all there is to know here
    return replace(capsule, retired=True)


def _back_again(capsule: Capsule, event: CapsuleRestored, envelope: Envelope) -> Capsule:
    del event, envelope
    return replace(capsule, retired=False)


_BEGINNINGS: Final[dict[str, Callable[..., Capsule]]] = {"CapsuleImported": _imported, "CapsuleBorn": _born}

_EFFECTS: Final[dict[str, Callable[[Capsule, Any, Envelope], Capsule]]] = {
    "GeneBorn": _gene_born,
    "GeneMutated": _gene_mutated,
    "GeneMoved": _gene_moved,
    "GeneProtected": _gene_protected,
    "GeneReleased": _gene_released,
    "GeneRetired": _gene_retired,
    "CapsuleVersioned": _versioned,
    "CapsuleReverted": _reverted,
    "CapsuleDescribed": _described,
    "FileChanged": _file_changed,
    "AliasMoved": _alias_moved,
    "CapsuleMoved": _moved,
    "VersionRetired": _version_retired,
    "VersionScored": _version_scored,
    "CapsuleRetired": _retired,
    "CapsuleRestored": _back_again,
}
