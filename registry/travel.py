"""Time travel: a capsule at any version, from the snapshot before it and the few events between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.plain import is_plain
from registry.documents import damaged, event_in, position_in, read_back, row
from registry.sheet import Sheet

if TYPE_CHECKING:
    from events.envelope import Envelope
    from events.log import Document, EventLog
    from registry.capsule import Capsule

_PAGE: Final = 256
"""Versions looked at in one go when looking for a time."""


def latest(log: EventLog, name: str) -> Capsule | None:
    """Return a capsule as it is now, None where there is none of that name."""
    document = log.document("live", name)
    return _thawed(log, document) if document else None


def latest_sheet(log: EventLog, name: str) -> Sheet | None:
    """Return what the text of a capsule is written from as it is now, None where there is none of that name."""
    document = log.document("live", name)
    return read_back(log, document, Sheet.from_bytes) if document else None


def at_version(log: EventLog, name: str, version: int) -> Capsule | None:
    """Return a capsule as one of its versions had it, None where there is no such version."""
    document = _made(log, name, version)
    if document is None:
        return None
    capsule = at_position(log, name, read_back(log, document, _position_in))
    if capsule is None or capsule.version != version:  # the position of something else
        raise damaged(log, document)
    return capsule


def at_position(log: EventLog, name: str, position: int) -> Capsule | None:
    """Return a capsule as it stood right after the event at a position."""
    from registry.apply import apply  # noqa: PLC0415 - the fold, which the latest version is read without

    snapshot = log.document("snapshot", name, at=position)
    capsule = _thawed(log, snapshot) if snapshot else None
    after = snapshot.seq if snapshot else 0
    changes = log.documents("touch", name, after=after, upto=position)
    for envelope in log.at([change.seq for change in changes]):
        capsule = apply(capsule, envelope.event, envelope)
    return capsule


def position_of(log: EventLog, name: str, version: int) -> int:
    """Return where a version was made, 0 where there is no such version."""
    document = _made(log, name, version)
    return read_back(log, document, _position_in) if document else 0


def event_of_version(log: EventLog, name: str, version: int) -> Envelope | None:
    """Return the event that made a version, None where there is no such version."""
    document = _made(log, name, version)
    return event_in(log, document, "CapsuleVersioned", _position_in) if document else None


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


def _thawed(log: EventLog, document: Document) -> Capsule:
    """Read a state back, plainly where the events of the log are read so: in one fold all parts are of a kind."""
    if is_plain(log):
        from registry.thawing import thaw_plainly as thaw  # noqa: PLC0415 - for reading commands
    else:
        from registry.snapshots import thaw  # noqa: PLC0415 - pydantic, which reading commands do without
    return read_back(log, document, thaw)


def _made(log: EventLog, name: str, version: int) -> Document | None:
    """Find what says where and when a version was made."""
    document = log.document("version", name, at=version)
    return document if document and document.seq == version else None


def _place_in(body: bytes) -> tuple[int, str]:
    position, at = row(body, int, str)
    return position_in(b"%d" % position), at


def _position_in(body: bytes) -> int:
    return _place_in(body)[0]
