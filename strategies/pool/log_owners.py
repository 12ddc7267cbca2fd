"""Log owners: whose word an episode is, by the settings, the user whom its file belongs to, and git."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from registry.evidence.log_paths import paths_of
from strategies.episodes.episode_records import plain, read_from
from strategies.files.git_index import git_above, paths_in_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.episodes.episode import EpisodeRecord, Trust


def from_their_origins(
    records: Sequence[EpisodeRecord], trust: Trust, *, by_project: bool = False
) -> tuple[EpisodeRecord, ...]:
    """Give the records with whose word they are: a team's at best, where another user wrote them.

    So are logs that a clone or a pull may have brought, where a project is what names them.
    """
    sources = {record.source for record in records}
    owners = {source: _other_owner(source) for source in sources}
    brought = _brought_by_git(sources) if by_project and trust == "mine" else set[str]()
    if trust == "mine" and not brought and not any(owners.values()):
        return tuple(records)
    others: Trust = "team" if trust == "mine" else trust
    return tuple(
        read_from(
            record, others if owners[record.source] or record.source in brought else trust, owners[record.source]
        )
        for record in records
    )


def _brought_by_git(sources: Iterable[str]) -> set[str]:
    """Give the logs that a clone or a pull may have brought: git tracks them, or that is unknown."""
    trees = cache(git_above)
    indexes = cache(paths_in_index)
    brought = set()
    for source in sources:
        for path in map(Path.resolve, paths_of(source)):
            git = trees(path.parent)
            index = indexes(git) if git else b""
            if git and (index is None or os.fsencode(path.relative_to(git.parent)) in index):
                brought.add(source)
    return brought


def _other_owner(source: str) -> str:
    """Name the user whom a log belongs to, "" for who reads it, for root, and for what is no file any more.

    To root all users are one: in a container the logs of a mounted folder have the owner that they have outside.
    """
    reader = os.geteuid()
    for path in paths_of(source):
        try:
            owner = path.stat().st_uid
        except OSError:
            continue
        if reader and owner not in {reader, 0}:
            return _name(owner)
    return ""


def _name(user: int) -> str:
    import pwd  # noqa: PLC0415 - logs of other users are rare

    try:
        return plain(pwd.getpwuid(user).pw_name)
    except KeyError:
        return f"user {user}"
