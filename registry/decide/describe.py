"""Describing: another description in the front matter of a skill, as the version that it makes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from events.errors import ConflictError, SkillFormatError
from events.types.capsule_events import CapsuleDescribed, CapsuleVersioned
from events.types.parts import Pin
from registry.skill_md.front_matter import read_front
from registry.skill_md.render import skill_text
from registry.skill_md.rules import require_valid
from registry.state.edits import align
from registry.state.line import first_lines

if TYPE_CHECKING:
    from events.types.capsule_events import DescriptionJudged
    from events.types.frozen import Frozen
    from registry.state.capsule import Capsule

_ESCAPED: Final = re.compile(r'(["\\])')


def judged_description(capsule: Capsule, judged: DescriptionJudged) -> list[Frozen]:
    """List what follows from a verdict on a description: the verdict, and where it passed the next version.

    Raises: ConflictError where the skill moved on since; SkillFormatError where the result is no valid skill.
    """
    if judged.verdict != "promote":
        return [judged]
    if judged.version != capsule.version:
        raise ConflictError(
            f"{capsule.name} is at version {capsule.version}; the description was judged on {judged.version}",
            stream=f"capsule:{capsule.name}",
            expected=judged.version,
            actual=capsule.version,
            hint=f"germline skill describe {capsule.name}",
        )
    front = with_description(capsule, judged.description)
    after = replace(capsule, front=first_lines(front, origin=0, version=capsule.version + 1))
    require_valid(skill_text(replace(after, version=capsule.version + 1, stamped=True)), capsule.name)
    same = {"before": capsule.score, "after": capsule.score}
    version = CapsuleVersioned(
        **same,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=tuple(Pin(gene=gene.id, version=gene.version) for gene in capsule.genes),
        cause="promotion",
        summary=f"description: {judged.description}",
        stamped=True,
    )
    described = CapsuleDescribed(
        **same, capsule=capsule.name, edits=align(capsule.front, front, ""), judged=judged
    )
    return [judged, described, version]


def with_description(capsule: Capsule, description: str) -> tuple[str, ...]:
    """Give the front matter of a skill with another description; raises SkillFormatError where it has none."""
    lines = [line.text for line in capsule.front]
    start = next(at for at, line in enumerate(lines) if line.strip() == "---") + 1
    end = next(at for at, line in enumerate(lines) if at >= start and line.strip() == "---")
    entries = read_front(lines[start:end], start).entries
    places = [entry.number for entry in entries]
    at = next((entry.number for entry in entries if entry.key == "description"), None)
    if at is None:
        raise SkillFormatError(
            f"{capsule.name} has no description that can be read",
            rule="description",
            hint="write `description:` into its front matter, then germline adopt",
        )
    following = min((place for place in places if place > at), default=end)
    text = _ESCAPED.sub(r"\\\1", " ".join(description.split()))
    return (*lines[:at], f'description: "{text}"\n', *lines[following:])
