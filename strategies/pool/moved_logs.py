"""Where the logs of stored episodes lie by now: a rotation renames a file after it was read, or empties it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from registry.evidence.log_paths import paths_of
from strategies.episodes.episode_records import moved_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from registry.evidence.record import EvidenceRecord
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord


WHEREABOUTS: Final = "whereabouts"
"""The stored map that says the kept path of each episode whose log was moved, "" where nobody knows it."""


def note_moves(registry: Registry, moved: Mapping[str, str], read: Iterable[EpisodeRecord]) -> None:
    """Keep where episodes lie whose logs were moved; inside a transaction, before the new ones are kept.

    `moved` says of files what `strategies.logs.scan.Scan` does. What lay in a file that holds something else now,
    and was not found under another name, lies nowhere, until it is `read` again.
    """
    known, places = map_in(registry.log.get_map(WHEREABOUTS)), dict[str, str]()
    again = {record.id: record.source for record in read if known.get(record.id) == ""}
    if not moved and not again:
        return
    now_at = {before: path for path, before in sorted(moved.items(), reverse=True) if before}
    for stored in registry.log.episodes():
        at = known.get(stored.episode, stored.source)
        at = again.get(stored.episode) or now_at.get(at, "" if at in moved else at)
        if at != stored.source:
            places[stored.episode] = at
    registry.log.put_map(WHEREABOUTS, body_of(places))


def whereabouts(stored: Mapping[str, bytes]) -> dict[str, str]:
    """Read the kept path of each episode whose log was moved from what a registry keeps."""
    return map_in(stored.get(WHEREABOUTS))


def as_they_lie(
    records: Iterable[EpisodeRecord], known: Mapping[str, str], *, with_folders: bool = False
) -> Iterator[EpisodeRecord]:
    """Give the records with the paths where their logs lie by now.

    Where nobody knows it the path is "", or `with_folders` that of the folder where the log was, with a `/`.
    """
    if not known:
        yield from records
        return
    for record in records:
        at = known.get(record.id, record.source)
        yield moved_to(record, at or (f"{record.source.rpartition('/')[0]}/" if with_folders else ""))


def evidence_as_it_lies(evidence: Iterable[EvidenceRecord], stored: Mapping[str, bytes]) -> list[EvidenceRecord]:
    """Give evidence with the paths where its logs lie by now.

    That is where the last scan found them, or where they were renamed or compressed to since.
    """
    from strategies.files.read_offsets import ReadOffsets  # noqa: PLC0415 - episodes alone are read without it

    known, logs = whereabouts(stored), ReadOffsets(stored)
    lying = [(piece, known.get(piece.episode) or piece.file) for piece in evidence]
    return [piece._replace(file=logs.renamed(at) or _compressed(at)) for piece, at in lying]


def _compressed(at: str) -> str:
    """Give the path under which a file is kept once it was compressed, its own path where it was not."""
    from strategies.files.compression import SUFFIXES  # noqa: PLC0415 - episodes alone are read without it

    packed = (at + suffix for suffix in SUFFIXES)
    return next((path for path in packed if any(file.is_file() for file in paths_of(path))), at)


def map_in(body: bytes | None) -> dict[str, str]:
    """Read a map from its stored bytes, an empty one where none is kept."""
    known: dict[str, str] = json.loads(body) if body else {}
    return known


def body_of(known: Mapping[str, str]) -> bytes:
    """Write a map as bytes, the same for the same map."""
    return json.dumps(known, sort_keys=True, separators=(",", ":")).encode()
