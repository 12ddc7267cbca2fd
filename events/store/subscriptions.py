"""Subscriptions: a subscriber folds events into documents, and keeps beside them how far it has come.

Documents and offset change in one transaction. Whatever is killed, and whenever, no event is folded twice or left
out; and since the offset is a document too, deleting the documents only lets the subscriber start over.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from events.store.protocol import StoredDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from events.store.envelope import Envelope
    from events.store.sql_log import EventLog
    from events.store.sql_tables import Tables

    Fold = Callable[[Iterable[Envelope]], Sequence[StoredDocument]]
    """Turns events, the next ones in the order of positions, into the documents that they change.

    It may keep what it has read or made for as long as the transaction lasts that it is called in: a fresh one is
    made for each.
    """

VIEW: Final = "taken"
"""The view of offsets: the key is the subscriber, the body the last position that it took in."""


def taken_in(tables: Tables, subscriber: str) -> int:
    """Return the last position that a subscriber took in, 0 for none, and where it is kept unreadably."""
    document = tables.document(VIEW, subscriber)
    return int(document.body) if document and document.body.isdigit() else 0


def catch_up(log: EventLog, subscriber: str, fold: Fold, *, page: int = 8_000) -> int:
    """Let a subscriber take in every event beyond its offset, in one transaction; returns how many."""
    with log.transaction():
        seen = _Seen(taken_in(log, subscriber))
        events = seen.pass_on(log.read(after=seen.position))
        while True:
            before = seen.events
            documents = fold(islice(events, page))  # not as a list: events that are held make the collector work
            if seen.events == before:
                return before
            log.put_documents([*documents, _offset(subscriber, seen.position)])


class _Seen:
    """How far a reading has come."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.events = 0

    def pass_on(self, envelopes: Iterable[Envelope]) -> Iterator[Envelope]:
        """Pass events on, and count them."""
        for envelope in envelopes:
            self.position = envelope.position
            self.events += 1
            yield envelope


def with_appends(
    log: EventLog, subscriber: str, fold: Fold
) -> Callable[[Sequence[Envelope]], Sequence[StoredDocument]]:
    """Let a subscriber take in events as they are appended: what `EventLog.append` takes as `project`.

    Events that were appended without it, before these, are taken in first.
    """

    def project(envelopes: Sequence[Envelope]) -> list[StoredDocument]:
        if not envelopes:
            return []
        at = taken_in(log, subscriber)
        due = envelopes if envelopes[0].position == at + 1 else list(log.read(after=at))
        return [*fold(due), _offset(subscriber, due[-1].position)]

    return project


def _offset(subscriber: str, position: int) -> StoredDocument:
    return StoredDocument(VIEW, subscriber, 0, b"%d" % position)
