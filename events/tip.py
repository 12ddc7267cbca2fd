"""Where the log and its streams stand: what every append has to know before it can write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from events.envelope import GENESIS
from events.log import Head

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from events.envelope import Envelope

    Standing = Callable[[Sequence[str]], tuple[Head, dict[str, int]]]
    """Reads the head, and the version of each stream, 0 for one that does not exist."""


class Undoing(Protocol):
    """A connection that counts what came to nothing."""

    @property
    def undone(self) -> int:
        """How many transactions, or parts of one, came to nothing: what was read inside them may be void."""
        ...


class Tip:
    """Remembers where the log stood after our own last append, which is a good guess for the next one.

    A guess needs no proof: the database takes no event but at the next position, so one that is behind is
    refused. Looking first would cost an append a tenth of its time (16 of 160 µs on SQLite, measured 2026-11-21).
    """

    def __init__(self, session: Undoing, standing: Standing) -> None:
        self._session = session
        self._standing = standing
        self._undone = session.undone
        self._head = Head(0, GENESIS)
        self._versions: dict[str, int] = {}

    def guess(self, expected: Mapping[str, int]) -> Head | None:
        """Return the head, if as far as we know the streams still have these versions."""
        if self._undone == self._session.undone and expected.items() <= self._versions.items():
            return self._head
        return None

    def look(self, streams: Sequence[str]) -> tuple[Head, dict[str, int]]:
        """Return the head and the version of each stream as they stand in the open transaction."""
        head, found = self._standing(streams)
        self.see(head, found)
        return head, found

    def see(self, head: Head, versions: Mapping[str, int]) -> None:
        """Take note of where the log and some streams stand in the open transaction."""
        if head != self._head:
            self._versions.clear()  # somebody else wrote, or something of ours was undone
        self._head, self._undone = head, self._session.undone
        self._versions.update(versions)

    def move(self, envelopes: Sequence[Envelope]) -> None:
        """Take note of events that were just written behind the head."""
        if envelopes:
            self._head = Head(envelopes[-1].position, envelopes[-1].hash)
        for envelope in envelopes:
            self._versions[envelope.stream] = envelope.version
