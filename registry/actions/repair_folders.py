"""Repairing folders: what a crash left between an event and the last file is put right at the next start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from events.errors import RefusedError, UntrustedError
from registry.actions.deploy_alias import deployments, write_deployed
from registry.actions.publish import standing, write_unedited
from registry.actions.retire_skill import take_away
from registry.state.capsule import is_skill_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from registry.registry import Registry


class FolderRepair(NamedTuple):
    """A skill whose folder a crash left behind its events: what changed there, or why nothing did."""

    skill: str
    folder: str
    written: tuple[str, ...]
    refused: str = ""


def repair(registry: Registry) -> list[FolderRepair]:
    """Rewrite folders that a crash left at an earlier version, and remove what is left of retired skills.

    Folders that follow a name as well; all only where their place is trusted. Instructions are left alone: they
    lie under git, and an earlier version of theirs may be what a person checked out.
    """
    skills = filter(is_skill_name, registry.names())
    stale = [registry.capsule(name) for name in skills if standing(registry, name) == "stale"]
    own = [
        _repaired(
            registry,
            capsule.name,
            capsule.source,
            partial(take_away if capsule.retired else write_unedited, registry, capsule.name),
        )
        for capsule in stale
    ]
    return [*own, *_deployed_repaired(registry)]


def _deployed_repaired(registry: Registry) -> Iterator[FolderRepair]:
    deployed = {envelope.fields["capsule"] for envelope in registry.log.read(types=("AliasDeployed",))}
    for name in sorted(filter(is_skill_name, deployed)):
        for alias, _, folder, state in deployments(registry, name):
            if state == "stale":
                write = partial(write_deployed, registry, name, alias)
                yield _repaired(registry, f"{name}@{alias}", folder, write)


def _repaired(registry: Registry, name: str, folder: str, write: Callable[[], tuple[str, ...]]) -> FolderRepair:
    try:
        return FolderRepair(name, folder, write())
    except UntrustedError as error:
        return FolderRepair(name, folder, (), f"{error.message}: {registry.places.ask()}")
    except RefusedError:  # edited a moment ago: a command that needs it unedited says so
        return FolderRepair(name, folder, ())
