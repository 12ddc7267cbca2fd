"""Births: what a candidate brings that is new, a gene or a whole skill, as it would stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.errors import EditError
from events.score import Unmeasured
from registry.capsule import NEW_FILE_MODE, Capsule
from registry.gene import Gene, Line, LiveClaim
from registry.rendering import skill_text
from registry.skill_text import Section, cut

if TYPE_CHECKING:
    from events.candidate_events import CandidateProposed
    from events.parts import NewGene, NewSkill
    from registry.library import Library


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


def unborn(name: str, skill: NewSkill) -> Capsule:
    """Return a skill as it is before it is there: version 0, without a line."""
    return Capsule(
        name=name,
        source=skill.source,
        encoding="utf-8",
        mode=NEW_FILE_MODE,
        version=0,
        position=0,
        at="",
        cause="",
        front=(),
        next_front=1,
        genes=(),
        gone=(),
        files=(),
        aliases=(),
        stamped=False,
        unproven=True,
        retired=False,
        born=0,
        score=Unmeasured(reason="no earlier version"),
        delta=None,
    )


def base_of(library: Library, proposed: CandidateProposed, ref: str = "") -> Capsule:
    """Return what a candidate changes: its skill at a version, now where none is named, or one not there yet."""
    if proposed.skill is not None:
        return unborn(proposed.capsule, proposed.skill)
    return library.capsule(proposed.capsule, ref)


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
            lines=_first_lines(section.lines),
            next_line=len(section.lines) + 1,
            claims=tuple(
                LiveClaim(claim, 0, line) for claim, line in zip(section.claims, section.claimed, strict=True)
            ),
        )
        for number, section in enumerate(skill.sections, start=1)
    )
    front = _first_lines(skill.front)
    born = replace(unborn(name, skill), front=front, next_front=len(front) + 1, genes=genes)
    pieces = cut(skill_text(born))
    sections = tuple(Section(section.title, section.lines) for section in skill.sections)
    if not genes or pieces.front != skill.front or pieces.sections != sections:
        what = f"the sections of the new skill {name} would not stand in its file as such"
        raise EditError(what, rule="new skill", hint="a section is a heading and whole lines below it")
    return born


def _first_lines(texts: tuple[str, ...]) -> tuple[Line, ...]:
    return tuple(Line(at, text, 0, 1) for at, text in enumerate(texts, start=1))
