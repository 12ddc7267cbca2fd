"""Adoption: the edits that a person made to the projected files, as events with before and after."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from events.capsule_events import CapsuleDescribed, CapsuleVersioned, FileChanged, HandEditAdopted
from events.errors import RefusedError
from events.gene_events import GeneBorn, GeneMutated, GeneRetired
from events.parts import Pin
from events.score import Unmeasured
from registry.edits import align, apply_edits, check_protected
from registry.rendering import label
from registry.skill_rules import require_valid
from registry.skill_text import stamp

if TYPE_CHECKING:
    from events.base import Frozen
    from events.claims import Claim
    from events.parts import Edit
    from registry.capsule import Capsule
    from registry.gene import Gene
    from registry.skill_folder import SkillFolder
    from registry.skill_text import Section

_BY_HAND = Unmeasured(reason="edited by hand: nothing measured yet")


def adopt(capsule: Capsule, skill: SkillFolder, *, keep_claims: bool) -> list[Frozen]:
    """List the events that make the capsule say what the files on disk say.

    Sections are matched by title, in order; lines inside them by patience diff (skill_files.md). A changed
    line that carries a claim drops it, unless `keep_claims`.

    Raises: RefusedError where nothing differs; SkillFormatError where the edited skill is not valid; EditError
    where a protected line was edited.
    """
    cause = {"before": capsule.score, "after": _BY_HAND}
    changes: list[Frozen] = []
    pins: list[Pin] = []
    front = _front_edits(capsule, skill)
    if front:
        changes.append(CapsuleDescribed(**cause, capsule=capsule.name, edits=front))
    born = len(capsule.genes) + len(capsule.gone)
    after: str | None = None
    for gene, section in _matched(capsule.genes, skill.sections):
        if section is None and gene is not None:
            changes.append(
                GeneRetired(**cause, gene=gene.id, capsule=capsule.name, reason="section removed by hand")
            )
            continue
        if section is None:
            continue
        if gene is None:
            born += 1
            name = f"{capsule.name}.{born}"
            changes.append(_birth(capsule, name, section, after))
            pins.append(Pin(gene=name, version=1))
        else:
            name = gene.id
            edits = align(gene.lines, section.lines, gene.id)
            if edits:
                changes.append(_mutation(capsule, gene, section.title, edits, keep_claims=keep_claims))
            pins.append(Pin(gene=name, version=gene.version + (1 if edits else 0)))
        after = name
    changes += _file_changes(capsule, skill)
    if not changes:
        raise RefusedError(
            f"the files of {capsule.name} are as projected: nothing to adopt", hint="germline status"
        )
    text = "".join(skill.front) + "".join(line for section in skill.sections for line in section.lines)
    require_valid(text, capsule.name, encoding=skill.encoding)
    dropped = sum(len(event.claims_dropped) for event in changes if isinstance(event, GeneMutated))
    paths = tuple(event.path for event in changes if isinstance(event, FileChanged))
    body = ("SKILL.md",) if len(paths) < len(changes) else ()
    adopted = HandEditAdopted(
        **cause,
        capsule=capsule.name,
        base_version=capsule.version,
        files=body + paths,
        dropped_claims=dropped,
    )
    version = CapsuleVersioned(
        **cause,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=tuple(pins),
        cause="adoption",
        summary=f"hand edit of {', '.join(body + paths)}",
        stamped=True,
    )
    return [adopted, *changes, version]


def _front_edits(capsule: Capsule, skill: SkillFolder) -> tuple[Edit, ...]:
    """Align the front matter, after taking out the stamp that the projection put in."""
    lines = list(skill.front)
    if capsule.stamped and capsule.front:
        place = stamp(tuple(line.text for line in capsule.front), label(capsule))
        for start in range(len(lines)):
            if tuple(lines[start : start + len(place.lines)]) == place.lines:
                replaced = [line.text for line in capsule.front[place.index : place.index + place.replaces]]
                lines[start : start + len(place.lines)] = replaced
                break
    return align(capsule.front, tuple(lines), "")


def _matched(genes: tuple[Gene, ...], sections: tuple[Section, ...]) -> list[tuple[Gene | None, Section | None]]:
    """Pair genes with sections of the same title, in order; blocks that differ pair up as far as they reach."""
    matcher = SequenceMatcher(None, [g.title for g in genes], [s.title for s in sections], autojunk=False)
    pairs: list[tuple[Gene | None, Section | None]] = []
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        both = min(i2 - i1, j2 - j1)
        pairs += [(genes[i1 + k], sections[j1 + k]) for k in range(both)]
        pairs += [(gene, None) for gene in genes[i1 + both : i2]]
        pairs += [(None, section) for section in sections[j1 + both : j2]]
    return pairs


def _birth(capsule: Capsule, name: str, section: Section, after: str | None) -> GeneBorn:
    return GeneBorn(
        before=capsule.score,
        after=_BY_HAND,
        gene=name,
        capsule=capsule.name,
        title=section.title,
        lines=section.lines,
        after_gene=after,
    )


def _mutation(
    capsule: Capsule, gene: Gene, title: str, edits: tuple[Edit, ...], *, keep_claims: bool
) -> GeneMutated:
    check_protected(gene, edits)
    return GeneMutated(
        before=capsule.score,
        after=_BY_HAND,
        gene=gene.id,
        capsule=capsule.name,
        version=gene.version + 1,
        edits=edits,
        title=title if title != gene.title else None,
        claims_dropped=() if keep_claims else _lost_claims(gene, edits),
    )


def _lost_claims(gene: Gene, edits: tuple[Edit, ...]) -> tuple[Claim, ...]:
    """Name the claims that a line carried which the edits change or remove."""
    after, _ = apply_edits(gene.lines, edits, next_line=gene.next_line, origin=0, version=0)
    left = {(line.id, line.origin) for line in after}
    lost = {line.origin for line in gene.lines if (line.id, line.origin) not in left}
    return tuple(live.claim for live in gene.claims if live.origin in lost)


def _file_changes(capsule: Capsule, skill: SkillFolder) -> list[Frozen]:
    cause = {"before": capsule.score, "after": _BY_HAND, "capsule": capsule.name}
    old = {file.entry.path: file.entry for file in capsule.files}
    new = {file.entry.path: file.entry for file in skill.files}
    return [
        FileChanged.model_validate({**cause, "path": path, "entry": new.get(path)})
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]
