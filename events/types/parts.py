"""Parts that several events share: edits, pins, files, and what every mutation carries."""

from typing import Annotated, Literal

from pydantic import Field

from events.types.claims import Claim
from events.types.frozen import Frozen
from events.types.score import Delta, Measured

Strategy = Literal["repair", "harden", "innovate"]
Reason = Annotated[str, Field(min_length=1, max_length=2_000)]
ModelRole = Literal["proposer", "writer", "judge", "notes", "classifier", "agent"]
"""What a model is asked as."""


class Edit(Frozen):
    """One edit of one gene, on lines named by identity.

    `append` takes no target, `insert_after` one, `replace` and `delete` one or more adjacent ones. `text`
    holds whole lines with their endings, and is empty for `delete`.
    """

    op: Literal["append", "insert_after", "replace", "delete"]
    gene: str
    target: tuple[int, ...] = ()
    text: tuple[str, ...] = ()


class NewGene(Frozen):
    """A gene that a candidate would bring: heading and lines, whole with their endings, behind another gene.

    `derived_from` is the gene of another capsule that it was copied from, if it was; `keeper` the only proposer
    that may edit it later on, "" where all may. `claimed` names the line of each claim of the candidate, counted
    from 1, in their order; empty where there are as many claims as lines that say something.
    """

    gene: str
    title: str
    lines: tuple[str, ...]
    after_gene: str
    derived_from: str | None = None
    keeper: str = ""
    claimed: tuple[int, ...] = ()


class NewSection(Frozen):
    """A section of a skill that would be new: whole lines with their endings, title "" before the first heading.

    `claimed` names the line of each of its claims, counted from 1, in their order.
    """

    title: str
    lines: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    claimed: tuple[int, ...] = ()


class NewSkill(Frozen):
    """A skill that a candidate would bring, whole; `source` is the folder that it would be written to."""

    source: str
    front: tuple[str, ...]
    sections: tuple[NewSection, ...]


class Pin(Frozen):
    """A gene at one of its versions."""

    gene: str
    version: int


class FileEntry(Frozen):
    """A file of a capsule beside SKILL.md: its path within the skill, content hash and mode bits."""

    path: str
    blob: str
    mode: int
    size_bytes: int


class FileEdit(Frozen):
    """What a candidate makes of one file of a capsule: its new content, or null where the file goes."""

    path: str
    entry: FileEntry | None


class Mutation(Frozen):
    """What every event that changes what an agent reads carries beside the change itself.

    `candidate` is the id of the candidate that caused it and `scored` the event id of its `CandidateScored`;
    both are empty for a person's override, which stays unproven.
    """

    before: Measured
    after: Measured
    candidate: str = ""
    scored: str = ""
    attribution: Delta | None = None
