"""Innovate: a section that a model wrote, as a gene that a person decides on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import EditError, NotFoundError
from registry.promote import edited
from strategies.gate.explain import WRITER
from strategies.proposers.ideas import vocabulary_of
from strategies.proposers.placement import newborn
from strategies.proposers.proposal import Copied, LearnedLine, Mined, Proposal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.capsule import Capsule
    from strategies.logs.episode import EpisodeRecord
    from strategies.models.writing import WrittenSection


def section_proposed(
    capsule: Capsule, explore: Sequence[EpisodeRecord], section: WrittenSection, actor: str
) -> Mined:
    """Propose a section as the last gene of a skill; one that would not stand there is said to be a misfit.

    Claims go with it only where every line has one: else nobody could tell which line they are of.
    """
    title = " ".join(section.title.split()).lstrip("# ")
    texts = [" ".join(line.text.split()) for line in section.lines]
    if not title or not all(texts) or not texts or not capsule.genes:
        return Mined(None, 0, None, why="the model has no section to write")
    vocabulary = vocabulary_of(explore)
    claims = [line.claim for line in section.lines if line.claim and vocabulary.holds(line.claim)]
    claimed = len(claims) == len(texts) == len(set(claims))
    born, edits = newborn(capsule, capsule.genes[-1], Copied("", title), [f"- {text}" for text in texts])
    try:
        edited(capsule, edits, born, by=WRITER)
    except (EditError, NotFoundError) as error:
        return Mined(None, 0, None, why=f"the section that the model wrote does not fit: {error.message}")
    lines = tuple(LearnedLine(*pair) for pair in zip(texts, claims, strict=True)) if claimed else ()
    reason = f"a section of {len(texts)} lines for what no gene answers, {len(claims)} of them with a claim"
    proposal = Proposal(WRITER, lines, reason, edits=edits, born=born, apart=True, actor=actor)
    return Mined(proposal, 0, None)
