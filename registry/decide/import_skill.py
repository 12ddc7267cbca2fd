"""Importing: a skill folder as the events that make it a capsule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.capsule_events import CapsuleImported, CapsuleVersioned
from events.types.gene_events import GeneBorn
from events.types.parts import Pin
from events.types.score import Unmeasured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Trigger
    from events.types.parts import Mutation
    from registry.skill_md.folder import SkillFolder

_IMPORTED: Final = Unmeasured(reason="imported: nothing measured yet")
_NOTHING_EARLIER: Final = Unmeasured(reason="no earlier version")


def imported(skill: SkillFolder, triggers: Sequence[tuple[Trigger, ...]] = ()) -> list[Mutation]:
    """Give the events of an import: a person's override, which nobody measured.

    Shapes: `triggers` are those of each section, in order; none where it is empty.
    """
    cause = {"before": _NOTHING_EARLIER, "after": _IMPORTED}
    folder = CapsuleImported(
        **cause,
        capsule=skill.name,
        source=skill.source,
        encoding=skill.encoding,
        mode=skill.mode,
        front=skill.front,
        files=tuple(file.entry for file in skill.files),
        warnings=skill.warnings,
    )
    genes = [
        GeneBorn(
            **cause,
            gene=f"{skill.name}.{number}",
            capsule=skill.name,
            title=section.title,
            lines=section.lines,
            triggers=triggers[number - 1] if triggers else (),
        )
        for number, section in enumerate(skill.sections, start=1)
    ]
    version = CapsuleVersioned(
        **cause,
        capsule=skill.name,
        version=1,
        genes=tuple(Pin(gene=gene.gene, version=1) for gene in genes),
        cause="import",
        summary=f"imported from {skill.source}",
        stamped=False,
    )
    return [folder, *genes, version]
