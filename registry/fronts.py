"""Fronts: the few fields that the projection needs of events that change no skill, off the front of the payload.

Most events of a busy registry are such. To read all of a candidate's scores only to learn which skill it is about
was a fifth of a rebuild (measured 2026-11-22). The documents are the same as if all had been read; what is wrong
further behind is for verification to say, and for whoever reads it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from events.upcasters import schema_of

if TYPE_CHECKING:
    from events.envelope import Envelope

_WANTED: Final = r'"([ !#-\[\]-~]*)"'
"""A text in plain letters, with nothing escaped: all that names of skills and hashes are made of."""
_OTHER: Final = r'(?:"[^"\\]*"|-?\d+)'
"""No object and no list, so that what is found behind is a field of the event itself."""


def _front(kind: str, fields: str = "candidate capsule", *, wanted: str = "capsule") -> re.Pattern[bytes]:
    """Match the first fields of a type of event, as they are written (events.envelope.encode)."""
    needed = wanted.split()
    values = [f',"{name}":{_WANTED if name in needed else _OTHER}' for name in fields.split()]
    return re.compile(rf'\{{"type":"{kind}"{"".join(values)}'.encode())


_PROPOSED: Final = "candidate capsule base_version strategy preset proposer fingerprint"

FRONTS: Final = {
    "SignalRaised": _front("SignalRaised", "fingerprint", wanted="fingerprint"),
    "CandidateProposed": _front("CandidateProposed", _PROPOSED, wanted="candidate capsule fingerprint"),
    "ComparisonFrozen": _front("ComparisonFrozen"),
    "CandidateScored": _front("CandidateScored"),
    "CandidateReviewed": _front("CandidateReviewed"),
    "PromotionReviewed": _front("PromotionReviewed"),
    "CandidatePromoted": _front("CandidatePromoted"),
    "CandidateRejected": _front("CandidateRejected"),
    "CandidateHeld": _front("CandidateHeld"),
    "CycleFinished": _front("CycleFinished", "preset seed strategy fingerprint capsule"),
}
"""The types of which the projection needs these fields and no other, in the order in which they are written."""


def front(envelope: Envelope) -> tuple[str, ...]:
    """Give the fields of an event that FRONTS names; none where it must be read as a whole."""
    pattern = FRONTS.get(envelope.type)
    if pattern is None or envelope.schema != schema_of(envelope.type):
        return ()
    found = pattern.match(envelope.payload)
    return tuple([text.decode() for text in found.groups()]) if found else ()
