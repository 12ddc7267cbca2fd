"""Log owners: whose word an episode is, by the settings and by the user whom its file belongs to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from registry.evidence.log_paths import paths_of
from strategies.episodes.episode_records import plain, read_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord, Trust


def from_their_origins(records: Sequence[EpisodeRecord], trust: Trust) -> tuple[EpisodeRecord, ...]:
    """Give the records with whose word they are: what another user wrote is a team's at best, never one's own."""
    owners = {source: _other_owner(source) for source in {record.source for record in records}}
    if trust == "mine" and not any(owners.values()):
        return tuple(records)
    others: Trust = "team" if trust == "mine" else trust
    return tuple(
        read_from(record, others if owners[record.source] else trust, owners[record.source]) for record in records
    )


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
