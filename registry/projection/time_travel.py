"""Time travel: a capsule at any version, from the snapshot before it and the few events between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.projection.fold import apply
from registry.projection.promise import as_promised, folded_from_events
from registry.projection.snapshots import thaw
from registry.projection.stored_documents import damaged, events_in, position_in, read_back, row
from registry.state.capsule import is_capsule_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.envelope import Envelope
    from events.store.protocol import StoredDocument
    from events.store.sql_log import EventLog
    from registry.state.capsule import Capsule

_PAGE: Final = 256
"""Versions looked at in one go when looking for a time."""


class LatestCapsule:
    """Gives capsules as they are now; the one that was read last is not made again where nothing changed it."""

    def __init__(self) -> None:
        self._read: tuple[StoredDocument, Envelope, Capsule] | None = None

    def of(self, log: EventLog, name: str) -> Capsule | None:
        """Return a capsule as it is now, None where there is none of that name.

        Raises: StorageError where it is not the last version, or does not project what that one promised.
        """
        document = log.document("live", name)
        while document is not None:
            versions = log.read(stream=f"capsule:{name}", types=("CapsuleVersioned",), newest_first=True, limit=1)
            made = next(iter(versions), None)
            if self._read and self._read[:2] == (document, made):
                return self._read[2]
            capsule = read_back(log, document, thaw)
            if made and made.position == capsule.position:
                self._read = document, made, as_promised(log, capsule, document, made)
                return self._read[2]
            last, document = document, log.document("live", name)
            if document == last:  # no other process made a version meanwhile
                raise damaged(log, document)
        return None


def latest(log: EventLog, name: str) -> Capsule | None:
    """Return a capsule as it is now, for who asks for it once; raises as `LatestCapsule.of`."""
    return LatestCapsule().of(log, name)


def live(log: EventLog, name: str) -> Capsule | None:
    """Return a capsule as its document has it, to fold further events on; what leaves is read by `latest`."""
    document = log.document("live", name)
    capsule = read_back(log, document, thaw) if document else None
    if document and capsule and (capsule.name != name or not is_capsule_name(name)):
        raise damaged(log, document)
    return capsule


def at_version(log: EventLog, name: str, version: int) -> Capsule | None:
    """Return a capsule as one of its versions had it, None where there is no such version.

    Raises: StorageError where it does not project what the version promised.
    """
    document = _made(log, name, version)
    if document is None:
        return None
    capsule, made = _folded(log, name, read_back(log, document, _position_in))
    if capsule is None or capsule.version != version:  # the position of something else
        raise damaged(log, document)
    return as_promised(log, capsule, document, made)


def at_position(log: EventLog, name: str, position: int) -> Capsule | None:
    """Return a capsule as it stood right after the event at a position: its version by then, and the events since.

    Raises: StorageError where that version does not project what it promised.
    """
    capsule, made = _folded(log, name, position)
    if capsule is None or not capsule.version:  # no version yet that promised anything
        return next((state for at, state in folded_from_events(log, name) if at.position == position), capsule)
    version: Capsule | None = capsule
    if capsule.position != position:
        version, made = _folded(log, name, capsule.position)
    document = _made(log, name, capsule.version)
    if document is None or version is None:
        raise damaged(log, f"the place of version {capsule.version} of {name}")
    promised = as_promised(log, version, document, made)
    return _with_changes(log, promised, name, after=version.position, upto=position)[0]


def _folded(log: EventLog, name: str, position: int) -> tuple[Capsule | None, Envelope | None]:
    """Fold a capsule up to the event at a position, from the snapshot before it; gives that event as well."""
    snapshot = log.document("snapshot", name, at=position)
    capsule = read_back(log, snapshot, thaw) if snapshot else None
    return _with_changes(log, capsule, name, after=snapshot.seq if snapshot else 0, upto=position)


def _with_changes(
    log: EventLog, capsule: Capsule | None, name: str, *, after: int, upto: int
) -> tuple[Capsule | None, Envelope | None]:
    changes = {change.seq for change in log.documents("touch", name, after=after, upto=upto)}
    last = None
    for envelope in log.at(sorted(changes | {upto})):
        if envelope.position in changes:
            capsule = apply(capsule, envelope.event, envelope)
        if envelope.position == upto:
            last = envelope
    return capsule, last


def position_of(log: EventLog, name: str, version: int) -> int:
    """Return where a version was made, 0 where there is no such version."""
    document = _made(log, name, version)
    return read_back(log, document, _position_in) if document else 0


def events_of_versions(log: EventLog, documents: Sequence[StoredDocument]) -> dict[int, Envelope]:
    """Return the events that made versions, by number, as the documents of versions of one skill say."""
    return events_in(log, documents, "CapsuleVersioned", _position_in)


def last_version(log: EventLog, name: str, *, until: str) -> int:
    """Return the last version made up to a moment (RFC 3339, UTC), 0 where there was none yet."""
    upto: int | None = None
    while page := log.documents("version", name, upto=upto, limit=_PAGE, newest_first=True):
        for document in page:
            if read_back(log, document, _place_in)[1] <= until:
                return document.seq
        upto = page[-1].seq - 1
    return 0


def version_body(envelope: Envelope) -> bytes:
    """Write the body of a version's document: where and when it was made."""
    return f'[{envelope.position},"{envelope.at}"]'.encode()


def _made(log: EventLog, name: str, version: int) -> StoredDocument | None:
    """Find what says where and when a version was made."""
    document = log.document("version", name, at=version)
    return document if document and document.seq == version else None


def _place_in(body: bytes) -> tuple[int, str]:
    position, at = row(body, int, str)
    return position_in(b"%d" % position), at


def _position_in(body: bytes) -> int:
    return _place_in(body)[0]
