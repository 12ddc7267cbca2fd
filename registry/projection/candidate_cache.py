"""Candidates folded so far: a turn of evolution asks for all of them several times, and reads only new ones."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from events.store.envelope import GENESIS
from events.store.protocol import Head
from registry.state.candidate import EVENTS, Candidate, fold_into

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.store.sql_log import EventLog


class FoldedCandidates:
    """Every candidate of a log by its stream, in the order they were proposed, up to the head of the last look.

    The hash at that head binds all before it: while it is there, what was folded holds. A transaction that
    was rolled back, a rehearsal say, took it away, and the fold starts over. Measured 2026-11-22 (two cores, in
    use by others), 10,000 candidates: first 1.3 s, then 20 ms.
    """

    def __init__(self) -> None:
        self._upto = Head(0, GENESIS)
        self._candidates: dict[str, Candidate] = {}

    def of(self, log: EventLog) -> Iterable[Candidate]:
        """Return the candidates as they are now; always those of one log.

        Raises: CorruptLogError if the stream of a candidate does not begin with a proposal.
        """
        head = log.head()
        if not self._leads_to(head, log):
            self._upto, self._candidates = Head(0, GENESIS), {}
        if head != self._upto:
            candidates = dict(self._candidates)
            newer = log.read(after=self._upto.position, types=EVENTS)
            fold_into(candidates, takewhile(lambda envelope: envelope.position <= head.position, newer))
            self._upto, self._candidates = head, candidates
        return self._candidates.values()

    def _leads_to(self, head: Head, log: EventLog) -> bool:
        upto = self._upto
        if upto.position in {0, head.position}:
            return upto.position == 0 or upto == head
        return upto.position < head.position and log.at([upto.position])[0].hash == upto.hash
