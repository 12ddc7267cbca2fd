"""Copies a registry into an empty one, on whichever backends: the same bytes, so the same hashes.

What is there already is not written again: a copy that was cut off goes on where it stopped, and one of a registry
that is in use catches up until both hold the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Final

from events.errors import ConflictError, CorruptLogError
from events.store.contents import BLOB_KINDS
from events.store.envelope import holds

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.store.protocol import Head
    from events.store.sql_log import EventLog

    Advance = Callable[[int, int], None]
    """Takes how many events are there, and of how many."""

_EVENTS: Final = 2_000
"""Events in one transaction: some 2 MB, and a sync is then a hundredth of the time (guess)."""
_ROWS: Final = 200
"""Episodes in one transaction; blobs go one by one, whatever their size."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a source holds and its copy does not (yet); `there` is how many events the copy has already."""

    head: Head
    there: int
    blobs: tuple[str, ...]
    erased: tuple[str, ...]
    episodes: int
    maps: int

    @property
    def events(self) -> int:
        """How many events are to come."""
        return self.head.position - self.there

    def __bool__(self) -> bool:
        return bool(self.events or self.blobs or self.erased or self.episodes or self.maps)


def lacking(source: EventLog, target: EventLog | None) -> Lacking:
    """Compare a source with its copy, None for one that is not begun.

    Raises: ConflictError where the target holds what the source does not, so that it is no copy of it.
    """
    head = source.head()
    blobs = source.blob_kinds().keys()
    episodes = {episode.episode for episode in source.episodes()}
    maps = source.maps()
    if target is None:
        return Lacking(head, 0, tuple(blobs), (), len(episodes), len(maps))
    there = target.head()
    if there.position:
        same = [envelope.hash for envelope in source.at([there.position])]
        if same != [there.hash]:
            raise ConflictError(
                f"{target.location} is no copy of {source.location}: its event {there.position:,} is another one",
                hint="copy into an empty registry",
            )
    known = {episode.episode for episode in target.episodes()}
    if known - episodes:
        raise ConflictError(
            f"{target.location} holds {len(known - episodes):,} episodes that {source.location} does not hold",
            hint="copy into an empty registry",
        )
    kept = target.blob_kinds().keys()
    read = target.maps()
    return Lacking(
        head,
        there.position,
        tuple(sorted(blobs - kept)),
        tuple(sorted(kept - blobs)) if there.position else (),
        len(episodes - known),
        sum(read.get(name) != body for name, body in maps.items()),
    )


def copy_log(source: EventLog, target: EventLog, *, advance: Advance | None = None) -> Lacking:
    """Bring a copy up to its source, verify it, and return what it lacked at first.

    Raises: CorruptLogError where an event of the source, or a row of the copy, is not what was hashed;
    ConflictError where the target is something else than a copy.
    """
    first = lack = lacking(source, target)
    while lack:
        _copy_events(source, target, lack, advance)
        _copy_blobs(source, target, lack)
        _copy_episodes(source, target)
        with target.transaction():
            for name, body in source.maps().items():
                target.put_map(name, body)
        lack = lacking(source, target)
    _verify(source, target)
    return replace(first, head=lack.head)


def _copy_events(source: EventLog, target: EventLog, lack: Lacking, advance: Advance | None) -> None:
    events = source.read(after=lack.there)
    done = lack.there
    while page := list(islice(events, _EVENTS)):
        for envelope in page:
            if not holds(envelope):
                raise CorruptLogError(
                    f"event {envelope.position} of {source.location} is not what was hashed",
                    position=envelope.position,
                    hint="germline verify",
                )
        target.take_over(page)
        done += len(page)
        if advance:
            advance(done, max(done, lack.head.position))


def _copy_blobs(source: EventLog, target: EventLog, lack: Lacking) -> None:
    kinds = source.blob_kinds()
    for name in lack.blobs:
        body = source.get_blob(name)
        if body is None or name not in kinds:
            continue  # erased since
        if sha256(body).hexdigest() != name:
            raise CorruptLogError(
                f"blob {name} of {source.location} does not hold what its name says", hint="germline verify"
            )
        if kinds[name] not in BLOB_KINDS:
            raise CorruptLogError(
                f"blob {name} of {source.location} is kept as {kinds[name]!r}, which nothing is",
                hint="germline verify   or   germline doctor --repair --dry-run",
            )
        target.put_blob(body, kind=kinds[name])
    for name in lack.erased:
        target.erase_blob(name)
    if lack.erased:
        target.scrub()


def _copy_episodes(source: EventLog, target: EventLog) -> None:
    episodes = source.episodes()
    while page := list(islice(episodes, _ROWS)):
        target.put_episodes(page)


def _verify(source: EventLog, target: EventLog) -> None:
    """See that the copy holds, and that its other rows are those of the source."""
    integrity = target.verify()
    if integrity.problems:
        worst = integrity.problems[0]
        raise CorruptLogError(
            f"the copy {target.location} does not hold: {worst.what}",
            position=worst.position,
            hint="germline verify",
        )
    for kept, copied in zip_longest(source.episodes(), target.episodes()):
        if kept != copied:
            raise ConflictError(
                f"the copy {target.location} holds another reading of an episode",
                hint="run the command again: what was read meanwhile is copied too",
            )
