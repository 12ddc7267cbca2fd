"""Births: what a candidate brings that is new, a gene or a whole skill, as it would stand."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from events.errors import EditError
from registry.skill_md.render import skill_text
from registry.skill_md.text import FENCE, Section, cut
from registry.state.capsule import unborn
from registry.state.gene import Gene, LiveClaim
from registry.state.line import first_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.parts import NewGene, NewSkill
    from registry.state.capsule import Capsule

_NO_FRONT: Final = f"{FENCE}\n{FENCE}\n"
"""Front matter without a line, so that a body which begins with a rule is not taken for some."""


def next_gene(capsule: Capsule) -> str:
    """Name the next gene of a capsule: names are counted, and never given twice."""
    return f"{capsule.name}.{len(capsule.genes) + len(capsule.gone) + 1}"


def with_born(capsule: Capsule, born: NewGene) -> Capsule:
    """Return the capsule as it would be with a new gene; origins are those of nothing yet (0).

    Raises: EditError where its name is not the next one, the gene before it is not there, or its lines would not
    stand in the file as a section of their own.
    """
    if born.gene != next_gene(capsule):
        raise EditError(f"a new gene of {capsule.name} is {next_gene(capsule)}, not {born.gene}", rule="new gene")
    place = next((at + 1 for at, gene in enumerate(capsule.genes) if gene.id == born.after_gene), 0)
    if not place:
        what = f"a new gene would stand behind {born.after_gene}, which {capsule.name} does not have"
        raise EditError(what, rule="new gene")
    lines = first_lines(born.lines, origin=0, version=capsule.version + 1)
    gene = Gene(born.gene, capsule.name, 1, born.title, lines, len(lines) + 1, keeper=born.keeper)
    after = replace(capsule, genes=(*capsule.genes[:place], gene, *capsule.genes[place:]))
    own, others = Section(born.title, born.lines), list(cut(skill_text(capsule)).sections)
    sections = list(cut(skill_text(after)).sections)
    if not born.title or own not in sections or _without(sections, own) != others:
        raise EditError(
            f"the new gene {born.title!r} would not stand as a section of its own behind {born.after_gene}",
            rule="new gene",
            hint="a gene is a heading and whole lines below it, outside lists, quotes and fenced code",
        )
    return after


def require_sections(base: Capsule, after: Capsule) -> None:
    """Refuse edits after which the text would be cut into other sections than there are genes.

    A heading that changes or goes, a fence that stays open, a line that runs into the next heading: a later hand
    edit would then be taken for the end of genes that nobody touched. Only what changed is cut, between its
    neighbours: a heading starts a section, whatever was before it, and what follows the one below is as it was.

    Raises: EditError, naming the section; not where the base was cut otherwise already.
    """
    known = {gene.id: gene for gene in base.genes}
    changed = [at for at, gene in enumerate(after.genes) if known.get(gene.id) is not gene]
    if not changed:
        return
    first, end = changed[0], changed[-1] + 1
    above = [gene for gene in after.genes[:first] if gene.lines][-1:]
    below = [gene for gene in after.genes[end:] if gene.lines][:1]
    cut_out = [*above, *after.genes[first:end], *below]
    title = _misplaced(cut_out)
    if title is not None and _misplaced([known[gene.id] for gene in cut_out if gene.id in known]) is None:
        raise EditError(
            f"{title or 'the preamble'!r} of {base.name} would no longer be a section of its own",
            rule="sections",
            hint="edit whole lines below a heading; headings stay as they are, and fences are closed",
        )


def _misplaced(genes: Sequence[Gene]) -> str | None:
    """Name the first of adjacent genes that is no section of their text, None where all are.

    One without lines is in no text.
    """
    texts = ["".join([line.text for line in gene.lines]) for gene in genes]
    sections = ((section.title, "".join(section.lines)) for section in cut(_NO_FRONT + "".join(texts)).sections)
    named = ((gene.title, text) for gene, text in zip(genes, texts, strict=True) if text)
    pairs = zip_longest(named, sections, fillvalue=("", ""))
    return next((gene[0] or section[0] for gene, section in pairs if gene != section), None)


def _without(sections: list[Section], section: Section) -> list[Section]:
    at = sections.index(section)
    return [*sections[:at], *sections[at + 1 :]]


def as_born(name: str, skill: NewSkill) -> Capsule:
    """Return a skill as it would be once it is there; origins are those of nothing yet (0).

    Raises: EditError where its sections would not stand in the file as they are.
    """
    genes = tuple(
        Gene(
            id=f"{name}.{number}",
            capsule=name,
            version=1,
            title=section.title,
            lines=first_lines(section.lines, origin=0, version=1),
            next_line=len(section.lines) + 1,
            claims=tuple(
                LiveClaim(claim, 0, line) for claim, line in zip(section.claims, section.claimed, strict=True)
            ),
        )
        for number, section in enumerate(skill.sections, start=1)
    )
    front = first_lines(skill.front, origin=0, version=1)
    born = replace(unborn(name, skill), front=front, next_front=len(front) + 1, genes=genes)
    pieces = cut(skill_text(born))
    sections = tuple(Section(section.title, section.lines) for section in skill.sections)
    if not genes or pieces.front != skill.front or pieces.sections != sections:
        what = f"the sections of the new skill {name} would not stand in its file as such"
        raise EditError(what, rule="new skill", hint="a section is a heading and whole lines below it")
    return born
