"""Innovate: a section or a skill that a model wrote, as what a person decides on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import EditError, NotFoundError
from events.types.parts import NewSection, NewSkill
from registry.decide.birth import as_born
from registry.decide.promote import edited
from registry.skill_md.text import FENCE
from registry.state.capsule import is_skill_name
from strategies.gate.explain import WRITER
from strategies.propose.placement import newborn
from strategies.propose.proposal import FOR_A_PERSON, Copied, LearnedLine, Mined, UnmeasuredEdits
from strategies.propose.suggestion_checks import vocabulary_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from events.types.claims import Claim
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord
    from strategies.models.tasks.write_section import WrittenLine, WrittenSection, WrittenSkill
    from strategies.propose.suggestion_checks import Vocabulary

_HEADING_LINES: Final = 2
"""The heading of a section and the blank line below it."""


class WrittenText(NamedTuple):
    """Lines as they will stand, without endings, and which of them carry which claims (from 1, in their order)."""

    texts: tuple[str, ...]
    claims: tuple[Claim, ...]
    carriers: tuple[int, ...]


class DraftedSkill(NamedTuple):
    """A skill that a model wrote, or why there is none."""

    name: str
    skill: NewSkill | None
    reason: str


def section_proposed(
    capsule: Capsule, explore: Sequence[EpisodeRecord], section: WrittenSection, actor: str
) -> Mined:
    """Propose a section as the last gene of a skill; one that does not fit there is a misfit."""
    title = _one_line(section.title).lstrip("# ")
    text = _text_of(section.lines, vocabulary_of(explore))
    if not title or not all(text.texts) or not text.texts or not capsule.genes:
        return Mined(None, 0, None, why="the model has no section to write")
    born, edits = newborn(capsule, capsule.genes[-1], Copied("", title), [f"- {line}" for line in text.texts])
    born = born.model_copy(update={"claimed": tuple(at + _HEADING_LINES for at in text.carriers)})
    try:
        edited(capsule, edits, born, by=WRITER)
    except (EditError, NotFoundError) as error:
        return Mined(None, 0, None, why=f"the section that the model wrote does not fit: {error.message}")
    lines = tuple(
        LearnedLine(text.texts[at - 1], claim) for at, claim in zip(text.carriers, text.claims, strict=True)
    )
    reason = f"a section of {len(text.texts)} lines for what no gene answers, {len(lines)} of them with a claim"
    proposal = UnmeasuredEdits(
        proposer=WRITER, reason=reason, lines=lines, edits=edits, actor=actor, why=FOR_A_PERSON, born=born
    )
    return Mined(proposal, 0, None)


def skill_drafted(
    folder: str, explore: Sequence[EpisodeRecord], written: WrittenSkill, taken: Collection[str]
) -> DraftedSkill:
    """Make a skill of what a model wrote, to stand below a folder under its own name.

    What it would break of the format is for lint to say. Shapes: taken are the names that no new skill may have.
    """
    name = written.name.strip()
    if not name:
        return DraftedSkill("", None, "the model has no skill to write")
    if not is_skill_name(name):
        return DraftedSkill(name, None, f"the model calls a new skill {name[:80]!r}, which is no valid name")
    if name in taken:
        return DraftedSkill(name, None, f"the model calls a new skill {name}, and that name is taken")
    vocabulary = vocabulary_of(explore)
    parts = [(_one_line(part.title).lstrip("# "), _text_of(part.lines, vocabulary)) for part in written.sections]
    if not parts or not all(title and text.texts and all(text.texts) for title, text in parts):
        return DraftedSkill(name, None, f"the new skill {name} that the model wrote has no section with lines")
    words = _one_line(written.opening)
    opening = NewSection(title="", lines=("\n", *((f"{words}\n", "\n") if words else ())))
    last = len(parts) - 1
    sections = (_section(*part, ends=at == last) for at, part in enumerate(parts))
    front = (f"{FENCE}\n", f"name: {name}\n", f"description: {_quoted(written.description)}\n", f"{FENCE}\n")
    skill = NewSkill(source=f"{folder}/{name}", front=front, sections=(opening, *sections))
    try:
        as_born(name, skill)
    except EditError as error:
        return DraftedSkill(name, None, f"what the model wrote does not fit: {error.message}")
    lines, claims = sum(len(part.texts) for _, part in parts), sum(len(part.claims) for _, part in parts)
    reason = f"a skill of {lines} lines for what no skill answers, {claims} of them with a claim"
    return DraftedSkill(name, skill, reason)


def _section(title: str, text: WrittenText, *, ends: bool) -> NewSection:
    lines = (f"## {title}", "", *(f"- {line}" for line in text.texts), *(() if ends else ("",)))
    return NewSection(
        title=title,
        lines=tuple(f"{line}\n" for line in lines),
        claims=text.claims,
        claimed=tuple(at + _HEADING_LINES for at in text.carriers),
    )


def _text_of(lines: Sequence[WrittenLine], vocabulary: Vocabulary) -> WrittenText:
    """Put lines in order, each with its claim where logs could hold it and no line before it made the same."""
    claimed: dict[Claim, int] = {}
    for at, line in enumerate(lines, start=1):
        if line.claim is not None and vocabulary.holds(line.claim):
            claimed.setdefault(line.claim, at)
    texts = tuple(_one_line(line.text).removeprefix("- ") for line in lines)
    return WrittenText(texts, tuple(claimed), tuple(claimed.values()))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    """Write a text as YAML in double quotes."""
    escaped = re.sub(r'(["\\])', r"\\\1", _one_line(text))
    return f'"{escaped}"'
