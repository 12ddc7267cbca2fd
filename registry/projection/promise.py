"""Promised text: what a capsule projects is compared with the event of its version before it leaves.

Documents are a cache that every writer of the database can change, and events are not. A version of schema 1
promised nothing: its text is folded again from its events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.errors import SkillFormatError
from registry.projection.fold import apply, changes_capsule
from registry.projection.stored_documents import damaged
from registry.skill_md.render import label, projected_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.store.envelope import Envelope
    from events.store.protocol import StoredDocument
    from events.store.sql_log import EventLog
    from registry.state.capsule import Capsule

_HASHES: Final[dict[str, str]] = {}
"""What versions of schema 1 project, by the hash of their event, as far as that was asked."""
_LAST: Final[dict[str, Capsule]] = {}
"""The versions of the capsule that was folded last, by the hash of their event."""


def as_promised(log: EventLog, capsule: Capsule, document: StoredDocument, made: Envelope | None) -> Capsule:
    """Return a capsule that projects what the event of its version promised; `document` is what it was read from.

    `made` is the event where its document has the version made.
    Raises: StorageError for any other; CorruptLogError where the event is not what was hashed.
    """
    if (
        made is None
        or made.position != capsule.position
        or made.type != "CapsuleVersioned"
        or capsule.name != document.key
    ):
        raise damaged(log, document)
    event = made.event
    if (event.capsule, event.version) != (capsule.name, capsule.version):  # type: ignore[attr-defined]
        raise damaged(log, document)
    promised: str = event.projected_hash or _folded_hash(log, capsule.name, made)  # type: ignore[attr-defined]
    if not promised or _hash_of(capsule) != promised:
        raise damaged(log, f"the text of {label(capsule)}, which event {made.position} promised,")
    return capsule


def folded_from_events(log: EventLog, name: str) -> Iterator[tuple[Envelope, Capsule]]:
    """Yield each event that changes a capsule, and the capsule after it, from the events alone."""
    own = list(log.read(stream=f"capsule:{name}"))
    pins = [pin.gene for made in own if made.type == "CapsuleVersioned" for pin in made.event.genes]  # type: ignore[attr-defined]
    genes = log.of_streams(f"gene:{gene}" for gene in dict.fromkeys(pins))
    capsule: Capsule | None = None
    for envelope in sorted((*own, *genes), key=lambda envelope: envelope.position):
        if envelope.is_known and changes_capsule(envelope.type):
            capsule = apply(capsule, envelope.event, envelope)
            yield envelope, capsule


def _folded_hash(log: EventLog, name: str, made: Envelope) -> str:
    """Hash what a version of schema 1 projects, as its events say."""
    if made.hash not in _HASHES:
        state = _LAST.get(made.hash)
        if state is None:
            states = {at.hash: after for at, after in folded_from_events(log, name) if at.type == made.type}
            state = states.get(made.hash)
            _LAST.clear()
            _LAST.update(states)
        _HASHES[made.hash] = _hash_of(state) if state else ""
    return _HASHES[made.hash]


def _hash_of(capsule: Capsule) -> str:
    """Hash what a capsule projects, "" where damage left nothing that could be."""
    try:
        return projected_hash(capsule)
    except (LookupError, SkillFormatError, TypeError, ValueError):
        return ""
