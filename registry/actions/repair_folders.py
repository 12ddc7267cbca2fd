"""Repairing folders: what a crash left between an event and the last file is put right at the next start."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from events.errors import RefusedError, UntrustedError
from registry.actions.publish import standing, write_unedited
from registry.actions.retire_skill import take_away
from registry.state.capsule import is_skill_name

if TYPE_CHECKING:
    from registry.registry import Registry


class FolderRepair(NamedTuple):
    """A skill whose folder a crash left behind its events: what changed there, or why nothing did."""

    skill: str
    folder: str
    written: tuple[str, ...]
    refused: str = ""


def repair(registry: Registry) -> list[FolderRepair]:
    """Rewrite skills whose folder a crash left at an earlier version, and remove what is left of retired ones.

    Only where their place is trusted. Instructions are left alone: they lie under git, and an earlier version of
    theirs may be what a person checked out.
    """
    skills = filter(is_skill_name, registry.names())
    return [_repaired(registry, name) for name in skills if standing(registry, name) == "stale"]


def _repaired(registry: Registry, name: str) -> FolderRepair:
    capsule = registry.capsule(name)
    folder = capsule.source
    try:
        changed = take_away(registry, name) if capsule.retired else write_unedited(registry, name)
        return FolderRepair(name, folder, changed)
    except UntrustedError as error:
        return FolderRepair(name, folder, (), f"{error.message}: {registry.places.ask}")
    except RefusedError:  # edited a moment ago: a command that needs it unedited says so
        return FolderRepair(name, folder, ())
