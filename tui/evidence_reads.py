"""The evidence behind an event or a candidate: that of the signal which it raises or answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.provenance import erased_of, evidence_of

if TYPE_CHECKING:
    from registry.erasing import ErasedEvidence
    from registry.library import Library, Raised
    from registry.provenance import KeptEvidence


@dataclass(frozen=True, slots=True)
class Grounds:
    """A signal with its evidence: the records that are kept, and those whose text was removed."""

    signal: Raised | None
    evidence: tuple[KeptEvidence, ...]
    erased: tuple[ErasedEvidence, ...]


def read_grounds(library: Library, *, candidate: str = "", fingerprint: str = "") -> Grounds | None:
    """Read the evidence behind a candidate, else behind a signal; None where there is none."""
    found = library.candidate(candidate) if candidate else None
    signal = library.signal(found.proposed.fingerprint if found else fingerprint)
    grounds = Grounds(signal, evidence_of(library, signal), erased_of(library, signal))
    return grounds if grounds.evidence or grounds.erased else None
