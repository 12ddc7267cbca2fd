"""Reading on: formats that are read line by line can take up where an earlier reading ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from strategies.logs.telling import reduced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.logs.episode import EpisodeRecord, Tally
    from strategies.logs.outcome_rules import OutcomeRule
    from strategies.logs.readers import Reader
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


@runtime_checkable
class EachLine(Protocol):
    """A reader of a format whose lines may have nothing to do with each other: then the next ones are enough."""

    def each_line(self, log: LogFile) -> bool:
        """Tell by its first bytes whether every line of a log holds whole episodes."""
        ...


LINES: Final = b"lines"
"""The state of a log whose lines have nothing to do with each other."""


class Lines:
    """Follows a log in which every line holds whole episodes."""

    def __init__(self, reader: Reader, place: Place, rules: Sequence[OutcomeRule]) -> None:
        self.place = place
        self._reader = reader
        self._rules = rules
        self._drafts: list[EpisodeRecord] = []

    def learn(self, log: LogFile, tally: Tally) -> None:
        """Read a log from its start place to its end."""
        reduced(self._reader.read(log, tally), self._drafts, self._reader, log, self._rules)
        self.place = log.reached

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the episodes of the lines that were read."""
        yield from self._drafts

    def state(self) -> bytes:
        """Give what tells that reading can go on."""
        return LINES
