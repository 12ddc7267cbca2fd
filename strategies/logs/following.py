"""Reading on: formats that are read line by line can take up where an earlier reading ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import EpisodeRecord, Tally
    from strategies.logs.stream import LogFile, Place


class Follower(Protocol):
    """One log while it is read, perhaps over many readings."""

    @property
    def place(self) -> Place:
        """Where the last line that was learned ends."""
        ...

    def learn(self, log: LogFile, tally: Tally) -> None:
        """Read a log from its start to its end."""
        ...

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the episodes that this reading may have changed, as far as they were read."""
        ...

    def state(self) -> bytes:
        """Give what is to be known when reading goes on: hashes and places, never text of the log."""
        ...


@runtime_checkable
class Following(Protocol):
    """A reader that can read on."""

    def follow(self, source: str, state: bytes = b"", place: Place = ...) -> Follower:
        """Begin a log, or go on with it."""
        ...
