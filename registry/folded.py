"""Candidates folded so far: a turn of evolution asks for all of them several times, and reads only new ones."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from events.envelope import GENESIS
from events.log import Head
from registry.candidate import EVENTS, Candidate, fold_into

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.log import EventLog


class FoldedCandidates:
    """Every candidate of a log by its stream, in the order they were proposed, up to the head of the last look.

    The hash at that head binds all before it: where it still stands, what was folded holds. A transaction that
    was rolled back, a rehearsal say, took it away, and the fold begins anew. Measured 2026-11-22 (two cores, in
    use by others), 10,000 candidates: anew 1.3 s, again 20 ms.
    """

    def __init__(self) -> None:
        self._upto = Head(0, GENESIS)
        self._found: dict[str, Candidate] = {}

    def of(self, log: EventLog) -> Iterable[Candidate]:
        """Return the candidates as they are now; always those of one log.

        Raises: CorruptLogError if the stream of a candidate does not begin with a proposal.
        """
        head = log.head()
        if not self._leads_to(head, log):
            self._upto, self._found = Head(0, GENESIS), {}
        if head != self._upto:
            found = dict(self._found)
            newer = log.read(after=self._upto.position, types=EVENTS)
            fold_into(found, takewhile(lambda one: one.position <= head.position, newer))
            self._upto, self._found = head, found
        return self._found.values()

    def _leads_to(self, head: Head, log: EventLog) -> bool:
        upto = self._upto
        if upto.position in {0, head.position}:
            return upto.position == 0 or upto == head
        return upto.position < head.position and log.at([upto.position])[0].hash == upto.hash
