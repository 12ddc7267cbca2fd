"""Time travel: a capsule at any version, from the snapshot before it and the few events between."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Final, TypeVar

from events.errors import StorageError
from events.plain import is_plain
from registry.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.envelope import Envelope
    from events.log import Document, EventLog
    from registry.capsule import Capsule

T = TypeVar("T")

_PAGE: Final = 256
"""Versions looked at in one go when looking for a time."""


def latest(log: EventLog, name: str) -> Capsule | None:
    """Return a capsule as it is now, None where there is none of that name."""
    document = log.document("live", name)
    return _thawed(log, document) if document else None


def latest_sheet(log: EventLog, name: str) -> Sheet | None:
    """Return what the text of a capsule is written from as it is now, None where there is none of that name."""
    document = log.document("live", name)
    return read_state(log, document, Sheet.from_bytes) if document else None


def at_version(log: EventLog, name: str, version: int) -> Capsule | None:
    """Return a capsule as one of its versions had it, None where there is no such version."""
    position = position_of(log, name, version)
    return at_position(log, name, position) if position else None


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
    row = log.document("version", name, at=version)
    return _place(row.body)[0] if row and row.seq == version else 0


def last_version(log: EventLog, name: str, *, until: str) -> int:
    """Return the last version made up to a moment (RFC 3339, UTC), 0 where there was none yet."""
    upto: int | None = None
    while page := log.documents("version", name, upto=upto, limit=_PAGE, newest_first=True):
        for row in page:
            if _place(row.body)[1] <= until:
                return row.seq
        upto = page[-1].seq - 1
    return 0


def version_body(envelope: Envelope) -> bytes:
    """Write the body of a version's document: where and when it was made."""
    return f'[{envelope.position},"{envelope.at}"]'.encode()


def read_state(log: EventLog, document: Document, read: Callable[[bytes], T]) -> T:
    """Read a state out of its document; raises StorageError for one that is damaged."""
    try:
        return read(document.body)
    except (zlib.error, KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"the state of {document.key} that is kept beside its events is damaged",
            hint=f"germline copy {log.location} NEW folds it again",
        ) from error


def _thawed(log: EventLog, document: Document) -> Capsule:
    """Read a state back, plainly where the events of the log are read so: in one fold all parts are of a kind."""
    if is_plain(log):
        from registry.thawing import thaw_plainly as thaw  # noqa: PLC0415 - for reading commands
    else:
        from registry.snapshots import thaw  # noqa: PLC0415 - pydantic, which reading commands do without
    return read_state(log, document, thaw)


def _place(body: bytes) -> tuple[int, str]:
    position, at = json.loads(body)
    return position, at
