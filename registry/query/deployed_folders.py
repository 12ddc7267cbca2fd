"""Deployed folders: which folder follows which name of a skill's versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.capsule_events import AliasDeployed, AliasMoved

if TYPE_CHECKING:
    from registry.query.library import Library


def deployed_folders(library: Library, name: str) -> dict[str, str]:
    """Return the folder of each deployed name of a skill, on this machine; a name that was removed has none."""
    folders: dict[str, str] = {}
    for envelope in library.log.read(stream=f"capsule:{name}", types=("AliasDeployed", "AliasMoved")):
        event = envelope.event
        if isinstance(event, AliasDeployed) and event.folder:
            folders[event.alias] = library.place_here(event.folder)
        elif isinstance(event, AliasDeployed) or (isinstance(event, AliasMoved) and not event.version):
            folders.pop(event.alias, None)
    return folders
