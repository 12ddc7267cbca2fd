"""Every log format that is known, and which of them a file is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from events.errors import NotFoundError
from strategies.logs.action_observation import ActionObservationReader
from strategies.logs.chat import ChatReader
from strategies.logs.claude_code import ClaudeCodeReader
from strategies.logs.steps import StepsReader
from strategies.logs.swe_agent import SweAgentReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import Episode, Tally
    from strategies.logs.stream import LogFile


class Reader(Protocol):
    """One log format. Stateless: all state of a pass lives in the generator and the tally.

    `sniff` sees the first 64 KiB of the decompressed stream and answers whether this format is meant. `read`
    yields episodes in the order of the file; for a bad record it raises nothing but counts it in `tally`, and
    raises UnreadableLogError only when the file as a whole cannot be read.
    """

    @property
    def name(self) -> str:
        """The name of the format, as `--format` takes it."""
        ...

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the first bytes look like this format."""
        ...

    def read(self, log: LogFile, tally: Tally) -> Iterator[Episode]:
        """Read a log into episodes."""
        ...


READERS: Final[tuple[Reader, ...]] = (
    # The most particular shape first: chat would take most of the others.
    StepsReader(),
    ClaudeCodeReader(),
    ActionObservationReader(),
    SweAgentReader(),
    ChatReader(),
)


def reader_names() -> tuple[str, ...]:
    """Give the names of the known formats."""
    return tuple(reader.name for reader in READERS)


def reader_named(name: str) -> Reader:
    """Give the reader of a format; raises NotFoundError for a name that is none."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise NotFoundError(f"no log format {name!r}", hint=f"known formats: {', '.join(reader_names())}")


def reader_for(log: LogFile) -> Reader | None:
    """Give the first reader that takes the file for its own, None if it is no log."""
    head = log.head()
    return next((reader for reader in READERS if reader.sniff(head, log.source)), None)
