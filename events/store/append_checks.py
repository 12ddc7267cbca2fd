"""Checks of an append that every backend makes: the conflict in its way, or the receipt of the first attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import ConflictError, UsageError
from events.store.protocol import Receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from events.store.envelope import Envelope, EventDraft
    from events.store.protocol import Head


def check_versions(expected: Mapping[str, int], actual: Mapping[str, int]) -> None:
    """Refuse an append whose streams are not at the versions it expects; raises ConflictError with both."""
    for stream, version in expected.items():
        if actual[stream] != version:
            raise ConflictError(
                f"{stream} is at version {actual[stream]}, not at {version} as expected",
                stream=stream,
                expected=version,
                actual=actual[stream],
                hint="run the command again",
            )


def first_receipt(
    encoded: Sequence[tuple[EventDraft, bytes]],
    conflict: ConflictError,
    find: Callable[[list[str]], list[Envelope]],
) -> Receipt:
    """Return what an earlier append of the same events wrote, or raise the conflict that led here.

    Shapes: find returns the stored events with these ids, in the order of positions.
    """
    if len({draft.event_id for draft, _ in encoded}) < len(encoded):
        raise UsageError("two events of one append have the same id")
    wanted = {draft.event_id: (draft.stream, type(draft.event).__name__, payload) for draft, payload in encoded}
    known = find(list(wanted))
    if not known:
        raise conflict
    same = [
        envelope
        for envelope in known
        if (envelope.stream, envelope.type, envelope.payload) == wanted[envelope.event_id]
    ]
    if len(same) < len(wanted):
        raise ConflictError(
            f"{len(known)} of {len(wanted)} event ids are in the log already, {len(same)} for the same event"
        ) from conflict
    return Receipt(tuple(known), repeated=True)


def check_follows(head: Head, envelopes: Sequence[Envelope]) -> None:
    """Refuse events of another log that do not follow the head of this one; raises ConflictError."""
    if envelopes and (envelopes[0].position, envelopes[0].previous_hash) != (head.position + 1, head.hash):
        raise ConflictError(
            f"event {envelopes[0].position} of the other log does not follow event {head.position} of this one"
        )
