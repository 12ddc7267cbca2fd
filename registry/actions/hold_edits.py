"""Edits of projected files that nobody adopted: kept aside, so that agents load what the registry holds."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from events.errors import ConflictError, NotFoundError, OvertakenError
from registry.actions.publish import differences, look_at, write_out
from registry.actions.trial_arms import in_folder
from registry.skill_md.skill_files import main_file, walk, write_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.skill_md.disk import FileSnapshot

HELD: Final = "held"
"""The folder beside a registry that holds them, one folder for each edit."""
_LOOKS: Final = 3
"""How often a folder is looked at because somebody wrote to it meanwhile, as for publishing."""
_HASH_DIGITS: Final = 8


def hold_back(registry: Registry, name: str) -> Path | None:
    """Keep what was made of the projected files aside, and write the live version; None where nothing differs.

    Files that came beside it go too. What is none of a skill, as a link that leads out, is left as it is, and
    permissions that git does not keep hold nothing back. Returns the folder that holds the edit.

    Raises: UntrustedError where the skill may not be written; ConflictError where its files change all the time.
    """
    capsule = in_folder(registry, name)
    registry.places.require(write_place(name, capsule.source), name)
    for _ in range(_LOOKS):
        seen = look_at(capsule)
        changes = [change for change in differences(registry, name) if not change.minor]
        if not changes:
            return None
        aside = _copied(registry, name, seen)
        added = [change.path for change in changes if change.kind == "added"]
        try:
            write_out(registry, capsule, seen=seen, remove=added)
        except OvertakenError:
            continue
        registry.witness()
        return aside
    raise ConflictError(f"the files of {name} changed whenever they were to be held back", hint="germline status")


def held_edits(library: Library, name: str) -> list[Path]:
    """List the folders that hold edits of a skill, the oldest first."""
    folder = library.log.beside.parent / HELD
    held = folder.glob(f"{_folder_name(name)}@*") if folder.is_dir() else ()
    return sorted(held, key=lambda aside: (aside.stat().st_mtime_ns, aside.name))


def latest_held(library: Library, name: str) -> Path:
    """Give the folder of the edit that was held back last; raises NotFoundError where there is none."""
    held = held_edits(library, name)
    if not held:
        raise NotFoundError(f"no edit of {name} was held back", hint="germline status")
    return held[-1]


def let_go(held: Path) -> None:
    """Remove an edit that was adopted or given up."""
    shutil.rmtree(held)


def _folder_name(name: str) -> str:
    return quote(name, safe="")  # the name of instructions is a path


def _copied(library: Library, name: str, seen: Mapping[str, FileSnapshot]) -> Path:
    """Copy the files of a skill as they are, whole or not at all; links as links."""
    capsule = library.capsule(name)
    folder = Path(capsule.source)
    state = sha256(repr(sorted(seen.items())).encode()).hexdigest()[:_HASH_DIGITS]
    held = library.log.beside.parent / HELD
    aside = held / f"{_folder_name(name)}@{capsule.version}-{state}"
    half = held / f".{aside.name}"
    for left in (half, aside):
        shutil.rmtree(left, ignore_errors=True)
    half.mkdir(parents=True, mode=0o700)
    for file in walk(folder, main_file(name) if capsule.is_instructions else "") if folder.is_dir() else ():
        target = half / file.path
        if file.path in seen and (file.at.is_file() or file.at.is_symlink()):  # no pipe, which would be waited for
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file.at, target, follow_symlinks=not file.refused)
    half.rename(aside)
    return aside
