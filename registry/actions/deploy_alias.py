"""Deploying: a folder that follows a name of versions, so that who loads it gets what the name points at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from events.errors import RefusedError
from registry.actions.publish import (
    Standing,
    edits_in_folder,
    folder_standing,
    look_at,
    write_version,
)
from registry.query.deployed_folders import deployed_folders
from registry.skill_md.skill_files import write_place

if TYPE_CHECKING:
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.capsule import Capsule


class Deployment(NamedTuple):
    """A folder that follows a name of versions, and what it holds: `projected` where that is what the name says.

    `folder` is the one that SKILL.md is in.
    """

    alias: str
    version: int
    folder: str
    standing: Standing


def deployments(library: Library, name: str) -> list[Deployment]:
    """List the folders that follow a name of a skill, and what they hold."""
    deployed = []
    for alias, folder in deployed_folders(library, name).items():
        capsule = _in_folder(library, name, alias, folder)
        deployed.append(Deployment(alias, capsule.version, folder, folder_standing(library, capsule)))
    return deployed


def deployed_at(library: Library, name: str, version: int) -> Path | None:
    """Return a folder that holds a version because a name that points at it is deployed there."""
    there = (each for each in deployments(library, name) if each.version == version)
    return next((Path(each.folder) for each in there if each.standing == "projected"), None)


def require_deployable(library: Library, name: str, ref: str, alias: str, folder: str) -> None:
    """Raise RefusedError for a folder that holds a person's edit, or that something else of the registry writes.

    Raises UntrustedError for one outside the project that nobody confirmed.
    """
    capsule = _in_folder(library, name, ref, folder)
    place = write_place(name, folder).resolve()
    for other in library.names():
        if place == write_place(other, library.capsule(other).source).resolve():
            raise RefusedError(
                f"{place} is where the live version of {other} is written", hint="--to ANOTHER-FOLDER"
            )
        for taken, where in deployed_folders(library, other).items():
            if place == write_place(other, where).resolve() and (other, taken) != (name, alias):
                raise RefusedError(f"{place} follows {other}@{taken} already", hint="--to ANOTHER-FOLDER")
    if folder_standing(library, capsule) == "edited":
        paths = ", ".join(edit.path for edit in edits_in_folder(capsule)[:3])
        raise RefusedError(
            f"{folder} was edited by hand, and is not written over: {paths}",
            hint=f"make the edit in {library.capsule(name).source}, move {folder} away, and set the name again",
        )


def write_deployed(registry: Registry, name: str, alias: str) -> tuple[str, ...]:
    """Write what a name points at to the folder that follows it; returns the paths that changed.

    Raises: as `require_deployable`; OvertakenError where a file changed meanwhile.
    """
    folder = deployed_folders(registry, name)[alias]
    registry.places.require(write_place(name, folder), name)
    capsule = _in_folder(registry, name, alias, folder)
    seen = look_at(capsule)
    require_deployable(registry, name, alias, alias, folder)
    return write_version(registry, capsule, seen=seen)


def _in_folder(library: Library, name: str, ref: str, folder: str) -> Capsule:
    return replace(library.capsule(name, ref), source=folder)
