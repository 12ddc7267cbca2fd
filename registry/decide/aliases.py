"""Offering: which versions of a skill have a name, and which are offered to agents no longer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from events.errors import NotFoundError, UsageError
from events.types.capsule_events import AliasDeployed, AliasMoved, VersionRetired

if TYPE_CHECKING:
    from collections.abc import Collection

    from events.types.frozen import Frozen
    from registry.decide.commands import DeployAlias, MoveAlias, RetireVersion
    from registry.state.capsule import Capsule

_ALIAS: Final = re.compile(r"(?!best$)[a-z][a-z0-9._-]{0,63}")
"""A name that no number, no date and no other way to say a version can be taken for."""


def move_alias(capsule: Capsule, command: MoveAlias) -> list[Frozen]:
    """List the events that let a name point at a version; none where it points there already."""
    if not _ALIAS.fullmatch(command.alias):
        raise UsageError(
            f"{command.alias!r} is no name for a version",
            hint="begin with a lowercase letter, go on with letters, digits, dots and hyphens; `best` is taken",
        )
    if command.version:
        require_version(capsule, command.version)
    previous = dict(capsule.aliases).get(command.alias, 0)
    if previous == command.version:
        return []
    event = AliasMoved(
        capsule=capsule.name,
        alias=command.alias,
        version=command.version,
        previous=previous,
        reason=command.reason,
    )
    return [event]


def deploy_alias(capsule: Capsule, command: DeployAlias) -> list[Frozen]:
    """List the events that let a folder follow a name; none where it does already."""
    if command.alias not in dict(capsule.aliases):
        raise NotFoundError(
            f"{capsule.name} has no version named {command.alias}", hint=f"germline alias list {capsule.name}"
        )
    return [] if command.folder == command.previous else [AliasDeployed(**command._asdict())]


def retire_version(capsule: Capsule, command: RetireVersion, retired: Collection[int]) -> list[Frozen]:
    """List the events after which a version is offered no longer; none where that is so already."""
    require_version(capsule, command.version)
    if command.version in retired:
        return []
    return [VersionRetired(capsule=capsule.name, version=command.version, reason=command.reason)]


def require_version(capsule: Capsule, version: int) -> None:
    """Raise NotFoundError where a skill has no such version."""
    if not 1 <= version <= capsule.version:
        raise NotFoundError(
            f"{capsule.name} has no version {version}; it has 1 to {capsule.version}",
            hint=f"germline log {capsule.name}",
        )
