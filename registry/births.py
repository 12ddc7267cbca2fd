"""Births: a gene that a candidate brings, as it would stand in its capsule and as the event that it becomes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.errors import EditError
from registry.gene import Gene, Line
from registry.rendering import skill_text
from registry.skill_text import Section, cut

if TYPE_CHECKING:
    from events.parts import NewGene
    from registry.capsule import Capsule


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
    lines = tuple(Line(at, text, 0, capsule.version + 1) for at, text in enumerate(born.lines, start=1))
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


def _without(sections: list[Section], one: Section) -> list[Section]:
    at = sections.index(one)
    return [*sections[:at], *sections[at + 1 :]]
