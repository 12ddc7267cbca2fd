"""Capsules: an ordered bundle of gene versions, front matter and files that projects to one skill."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.score import Unmeasured
from registry.state.instruction_formats import covers_project, is_instructions_name

if TYPE_CHECKING:
    from events.types.parts import FileEntry, NewSkill
    from events.types.score import Delta, Measured
    from registry.state.gene import Gene
    from registry.state.line import SkillLine


NEW_FILE_MODE: Final = 0o644
"""The permission bits of the SKILL.md of a skill that no folder held before."""

MAX_NAME: Final = 64
"""A limit of the Agent Skills specification."""


def is_skill_name(name: str) -> bool:
    """Tell whether a text is a valid skill name: it becomes a folder, and a word of commands."""
    return len(name) <= MAX_NAME and bool(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name))


def is_capsule_name(name: str) -> bool:
    """Tell whether a text is the name of a skill or of instructions."""
    return is_skill_name(name) or is_instructions_name(name)


class CapsuleFile(NamedTuple):
    """A file beside SKILL.md, and the position of the event that gave it its present content."""

    entry: FileEntry
    origin: int


@dataclass(frozen=True)
class Capsule:
    """A capsule at one version: a skill, or the instructions in one file.

    `position` is that of its last `CapsuleVersioned`, `at` its time, `cause` why it came; `born` is the position
    of its import, or of its birth. `front` is the front matter, both `---` lines included. `gone` keeps retired
    genes, so that no identity is given twice. `encoding` is that of the imported file; from the first change on
    the projection of a skill is UTF-8 and carries the germline stamp (`stamped`). `unproven` marks a person's
    override not measured yet. `arm` names the arm of a trial, made from a version; "" for the version itself.
    """

    name: str
    source: str
    encoding: str
    mode: int
    version: int
    position: int
    at: str
    cause: str
    front: tuple[SkillLine, ...]
    next_front: int
    genes: tuple[Gene, ...]
    gone: tuple[Gene, ...]
    files: tuple[CapsuleFile, ...]
    aliases: tuple[tuple[str, int], ...]
    stamped: bool
    unproven: bool
    retired: bool
    born: int
    score: Measured
    delta: Delta | None
    arm: str = ""

    @property
    def is_instructions(self) -> bool:
        """Whether it is a file of instructions (CLAUDE.md and its like), not a skill."""
        return not is_skill_name(self.name)

    @property
    def covers_project(self) -> bool:
        """Whether it is instructions for the project as a whole."""
        return covers_project(self.name)

    def gene(self, gene_id: str) -> Gene | None:
        """Return one of its genes, None where there is no such gene."""
        return next((gene for gene in self.genes if gene.id == gene_id), None)


def blank(name: str, source: str, score: Measured) -> Capsule:
    """Return a capsule to which nothing happened yet: version 0, without a line."""
    return Capsule(
        name=name,
        source=source,
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
        score=score,
        delta=None,
    )


def unborn(name: str, skill: NewSkill) -> Capsule:
    """Return a skill as it is before it is there: version 0, without a line."""
    return blank(name, skill.source, Unmeasured(reason="no earlier version"))
