"""Retiring a skill: its files leave the disk and its history stays; restoring it writes them again."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from events.errors import OvertakenError
from registry.actions.publish import look_at, own_folder, require_unedited, still_projected
from registry.decide.commands import RestoreSkill, RetireSkill
from registry.skill_md.disk import write_skill
from registry.skill_md.skill_files import write_place

if TYPE_CHECKING:
    from events.store.protocol import Receipt
    from registry.query.library import Library
    from registry.registry import Registry


def retire(registry: Registry, name: str, reason: str) -> Receipt:
    """Record that a skill is projected no longer; `take_away` removes its files then.

    Raises: RefusedError where a person edited the files, for instructions, and where lines are on trial.
    """
    require_unedited(registry, name)
    return registry.execute(RetireSkill(name, reason))


def restore(registry: Registry, name: str, reason: str) -> Receipt:
    """Record that a retired skill is projected again; `publish` writes its files then."""
    registry.capsule(name)  # which says what names are near
    return registry.execute(RestoreSkill(name, reason))


def take_away(library: Library, name: str) -> tuple[str, ...]:
    """Remove the files of a retired skill that are exactly what was projected; return their paths.

    What a person put beside them, or saves meanwhile, stays, and its folder with it.
    Raises: UntrustedError where its place lies outside the project and nobody confirmed it.
    """
    capsule = library.capsule(name)
    library.places.require(write_place(name, capsule.source), name)
    folder = own_folder(library, capsule)
    seen = look_at(capsule)
    ours = still_projected(capsule)
    if not ours:
        return ()
    with suppress(OvertakenError):  # saved this moment: it is a person's now
        write_skill(folder, {}, remove=tuple(ours), seen=seen)
    removed = tuple(path for path in ours if not folder.joinpath(path).exists())
    with suppress(OSError):  # a folder that is not empty stays
        folder.rmdir()
    return removed
