"""Where the log and its streams stand: what every append has to know before it can write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.store.envelope import GENESIS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.store.envelope import Envelope
    from events.store.protocol import Head
    from events.store.sql_session import SqlSession


class Tip:
    """Remembers where the log stood after our own last append, which is a good guess for the next one.

    A guess needs no proof: the database takes no event but at the next position, so one that is behind is
    refused. Looking first would cost an append a tenth of its time (16 of 160 µs on SQLite, measured 2026-11-21).

    The head is kept as two fields and the versions are compared one by one: after a sync the caches are cold, and
    making a `Head` takes 4 µs there, comparing the items of two dicts 2.7 (measured 2026-11-22).
    """

    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._doubts = session.doubts
        self._versions: dict[str, int] = {}
        self.position = 0
        self.hash = GENESIS
        self.alone = True
        """Whether the last look found the log where we had left it: else others write too, and a guess fails."""

    def fits(self, expected: Mapping[str, int]) -> bool:
        """Tell whether, as far as we know, the log is at our position and the streams at these versions."""
        for stream, version in expected.items():
            if self._versions.get(stream) != version:
                return False
        return self._doubts == self._session.doubts

    def see(self, head: Head, versions: Mapping[str, int]) -> None:
        """Take note of where the log and some streams stand in the open transaction."""
        self.alone = (head.position, head.hash) == (self.position, self.hash)
        if not self.alone:
            self._versions.clear()  # somebody else wrote, or something of ours was undone
        self.position, self.hash, self._doubts = head.position, head.hash, self._session.doubts
        self._versions.update(versions)

    def move(self, envelopes: Sequence[Envelope]) -> None:
        """Take note of events that were just written behind the head."""
        for envelope in envelopes:
            self._versions[envelope.stream] = envelope.version
            self.position, self.hash = envelope.position, envelope.hash
