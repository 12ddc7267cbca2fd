"""Stretches: a long log is cut into parts that are checked side by side, and then fitted to each other.

A stretch can be checked alone, because each event carries the hash of the one before it: all that a stretch takes
on trust is where it begins, and at which versions the streams stood there. Both are compared when it is fitted to
the stretches before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from events.checking import Chain
from events.log import Head

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.checking import Row


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a part of the log says of itself.

    `begins` holds the version of every stream that it takes up from before, `ends` that of all streams in it.
    """

    behind: Head
    head: Head
    events: int
    begins: dict[bytes, int]
    ends: dict[bytes, int]
    is_whole: bool


class _Alone(Chain):
    """Follows a stretch, believing each stream where it is met first."""

    def __init__(self, behind: Head) -> None:
        super().__init__([], behind=behind)
        self.begins: dict[bytes, int] = {}

    def _blame(self, row: Row, computed: bytes) -> None:
        position, _, stream, version, *_, previous, stored, _ = row
        fits = computed == stored and previous == self.stored and position == self.position + 1
        if fits and stream not in self.versions:
            self.begins[stream] = version - 1
        else:
            super()._blame(row, computed)


def check_alone(rows: Iterable[Row], behind: Head) -> Stretch:
    """Check the events behind a head, as far as that can be done without those before it."""
    chain = _Alone(behind)
    chain.follow(rows)
    head = Head(chain.position, chain.stored.decode(errors="replace"))
    return Stretch(behind, head, chain.events, chain.begins, chain.versions, is_whole=not chain.problems)


def fit(chain: Chain, stretch: Stretch) -> bool:
    """Let a chain go on over a stretch; tells whether it holds and begins exactly where the chain stands."""
    known = stretch.ends.keys() & chain.versions.keys()
    before = {stream: chain.versions[stream] for stream in known}
    if not stretch.is_whole or stretch.begins != before:
        return False
    if (stretch.behind.position, stretch.behind.hash.encode()) != (chain.position, chain.stored):
        return False
    chain.events += stretch.events
    chain.position, chain.stored = stretch.head.position, stretch.head.hash.encode()
    chain.computed = chain.stored
    chain.versions |= stretch.ends
    return True
