"""Candidates folded so far: a turn of evolution asks for all of them several times, and reads only what is new."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from events.store.envelope import GENESIS
from events.store.protocol import Head
from registry.state.candidate import EVENTS, Candidate, fold_into

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from events.store.sql_log import EventLog

T = TypeVar("T")

_AT_ONCE: Final = 128
"""Candidates folded together: where little is kept of each, no more of them are held as a whole."""


class FoldedCandidates(Generic[T]):
    """What `keep` keeps of every candidate of a log, in the order they were proposed, up to the last look.

    The hash of the head at that look binds all before it: while it is there, what was folded holds. A transaction
    that was rolled back, a rehearsal say, took it away, and the fold starts over. A candidate with new events is
    folded again, from its own stream.
    """

    def __init__(self, keep: Callable[[Candidate], T]) -> None:
        self._keep = keep
        self._upto = Head(0, GENESIS)
        self._kept: dict[str, T] = {}

    def of(self, log: EventLog) -> Iterable[T]:
        """Return what is kept of the candidates as they are now; always those of one log.

        Raises: CorruptLogError if the stream of a candidate does not begin with a proposal.
        """
        head = log.head()
        if not self._leads_to(head, log):
            self._upto, self._kept = Head(0, GENESIS), {}
        if head != self._upto:
            newer = log.read(after=self._upto.position, types=EVENTS)
            named = takewhile(lambda envelope: envelope.position <= head.position, newer)
            streams, kept = list(dict.fromkeys(envelope.stream for envelope in named)), dict(self._kept)
            for at in range(0, len(streams), _AT_ONCE):
                candidates: dict[str, Candidate] = {}
                fold_into(candidates, log.of_streams(streams[at : at + _AT_ONCE]))
                kept |= {stream: self._keep(candidate) for stream, candidate in candidates.items()}
            self._upto, self._kept = head, kept
        return self._kept.values()

    def _leads_to(self, head: Head, log: EventLog) -> bool:
        upto = self._upto
        if upto.position in {0, head.position}:
            return upto.position == 0 or upto == head
        return upto.position < head.position and log.at([upto.position])[0].hash == upto.hash
