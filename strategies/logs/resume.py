"""Go on reading a log where an earlier reading ended, without the texts that were erased since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import msgspec

from strategies.episodes.step_records import StepDraft
from strategies.episodes.text_hash import bytes_key
from strategies.files.read_offsets import ReadOffset
from strategies.logs.outcomes_by_rule import add_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.outcome_rules import OutcomeRule
    from strategies.files.log_file import LogFile, LogPosition
    from strategies.files.log_records import ReadTally, Span
    from strategies.logs.formats_table import LogReader


class Follower(Protocol):
    """One log while it is read, perhaps over many readings."""

    @property
    def place(self) -> LogPosition:
        """Where the last line that was learned ends."""
        ...

    def learn(self, log: LogFile, tally: ReadTally) -> None:
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

    def follow(self, source: str, state: bytes = b"", place: LogPosition = ...) -> Follower:
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


class LineFollower:
    """Follows a log in which every line holds whole episodes."""

    def __init__(self, reader: LogReader, place: LogPosition, rules: Sequence[OutcomeRule]) -> None:
        self.place = place
        self._reader = reader
        self._rules = rules
        self._drafts: list[EpisodeRecord] = []

    def learn(self, log: LogFile, tally: ReadTally) -> None:
        """Read a log from its start place to its end."""
        add_records(self._reader.read(log, tally), self._drafts, self._reader, log, self._rules)
        self.place = log.reached

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the episodes of the lines that were read."""
        yield from self._drafts

    def state(self) -> bytes:
        """Give what tells that reading can go on."""
        return LINES


_DECODER: Final = msgspec.msgpack.Decoder(ReadOffset)


def without_texts(stored: bytes, templates: Mapping[Span, str]) -> bytes:
    """Give an offset in whose state nothing is left of the texts at these places.

    A step there keeps the template that is given instead of its masked text, and keys of its place instead of
    those of its texts: a reading that goes on from there finds the same steps.
    """
    offset = _DECODER.decode(stored)
    if offset.state in {b"", LINES}:
        return stored
    state = _without_texts(msgspec.msgpack.decode(offset.state), templates)
    return msgspec.msgpack.encode(msgspec.structs.replace(offset, state=msgspec.msgpack.encode(state)))


def _without_texts(state: object, templates: Mapping[Span, str]) -> object:
    """Walk the state of whichever reader: all of them keep their steps as drafts."""
    if isinstance(state, dict):
        return {key: _without_texts(value, templates) for key, value in state.items()}
    if not isinstance(state, list):
        return state
    try:
        draft = msgspec.convert(state, StepDraft)
    except msgspec.ValidationError:
        return [_without_texts(value, templates) for value in state]
    if draft.span in templates:
        draft.template = templates[draft.span]
        draft.words, draft.flags = (), ()
        draft.text_key, draft.result_key = (bytes_key(f"{of} at {draft.span}") for of in ("text", "result"))
    return draft
