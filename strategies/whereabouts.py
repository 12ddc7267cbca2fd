"""Where the logs of stored episodes lie by now: a rotation renames a file after it was read, or empties it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.log_paths import paths_of
from strategies.kept_map import body_of, map_in
from strategies.logs.checkpoint import Checkpoints
from strategies.logs.compressed import SUFFIXES
from strategies.logs.records import moved_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from registry.evidence import Evidence
    from registry.registry import Registry
    from strategies.logs.episode import EpisodeRecord

_NAME: Final = "whereabouts"
"""The checkpoint that keeps the kept path of each episode whose log was moved, "" where nobody knows it."""


def note_moves(registry: Registry, moved: Mapping[str, str], read: Iterable[EpisodeRecord]) -> None:
    """Keep where episodes lie whose logs were moved; inside a transaction, before the new ones are kept.

    `moved` says of files what `strategies.logs.scan.Scan` does. What lay in a file that holds something else now,
    and was not found under another name, lies nowhere, until it is `read` again.
    """
    known, found = whereabouts(registry.log.checkpoints()), dict[str, str]()
    again = {record.id: record.source for record in read if known.get(record.id) == ""}
    if not moved and not again:
        return
    now_at = {before: path for path, before in sorted(moved.items(), reverse=True) if before}
    for stored in registry.log.episodes():
        at = known.get(stored.episode, stored.source)
        at = again.get(stored.episode) or now_at.get(at, "" if at in moved else at)
        if at != stored.source:
            found[stored.episode] = at
    registry.log.put_checkpoint(_NAME, body_of(found))


def whereabouts(checkpoints: Mapping[str, bytes]) -> dict[str, str]:
    """Read the kept path of each episode whose log was moved out of the checkpoints of a registry."""
    return map_in(checkpoints.get(_NAME))


def as_they_lie(records: Iterable[EpisodeRecord], known: Mapping[str, str]) -> Iterator[EpisodeRecord]:
    """Give the records with the paths where their logs lie by now."""
    for record in records:
        yield moved_to(record, known.get(record.id, record.source))


def evidence_as_it_lies(evidence: Iterable[Evidence], checkpoints: Mapping[str, bytes]) -> list[Evidence]:
    """Give evidence with the paths where its logs lie by now.

    That is where the last scan found them, or where they were renamed or compressed to since.
    """
    known, logs = whereabouts(checkpoints), Checkpoints(checkpoints)
    lying = [(one, known.get(one.episode) or one.file) for one in evidence]
    return [one._replace(file=logs.renamed(at) or _compressed(at)) for one, at in lying]


def _compressed(at: str) -> str:
    """Give the path under which a file is kept once it was compressed, its own path where it was not."""
    packed = (at + suffix for suffix in SUFFIXES)
    return next((path for path in packed if any(one.is_file() for one in paths_of(path))), at)
