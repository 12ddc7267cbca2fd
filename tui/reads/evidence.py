"""The evidence behind an event or a candidate, and where each piece of it is by now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.evidence import record as kept
from registry.query.provenance import erased_of, evidence_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from registry.evidence.record import EvidenceRecord
    from registry.query.library import Library, Raised
    from registry.query.provenance import KeptEvidence
    from registry.query.signals import ErasedEvidence
    from strategies.pool.evidence_context import EvidenceContext


@dataclass(frozen=True, slots=True)
class SignalEvidence:
    """A signal with its evidence: the records that are kept, and those whose text was removed."""

    signal: Raised | None
    evidence: tuple[KeptEvidence, ...]
    erased: tuple[ErasedEvidence, ...]


def read_grounds(library: Library, *, candidate: str = "", fingerprint: str = "") -> SignalEvidence | None:
    """Read the evidence behind a candidate, else behind a signal; None where there is none."""
    proposal = library.candidate(candidate) if candidate else None
    signal = library.signal(proposal.proposed.fingerprint if proposal else fingerprint)
    evidence = evidence_of(library, signal)
    grounds = SignalEvidence(signal, evidence, erased_of(library, signal, evidence))
    return grounds if grounds.evidence or grounds.erased else None


def place_words(file: str, line: int) -> str:
    """Say where in its file a record is: in an archive of samples no line can be counted."""
    return f"message {line:,} of a packed sample" if in_packed_sample(file) else f"line {line:,}"


def in_packed_sample(file: str) -> bool:
    """Tell whether the records of a log are messages inside of packed samples, as in the archives of Inspect."""
    return file.endswith(".eval")


def parts_beside(piece: EvidenceRecord, context: EvidenceContext | None) -> list[tuple[str, str]]:
    """Give what is beside a piece, a word for each text: the steps that are kept around a person's words.

    Of another piece it is what its log says, but for what it quotes: a record may hold more than the answer.
    """
    if piece.around:
        return [(f"{step.offset:+d}", f"{step.about}\n{step.text}".strip()) for step in piece.around]
    if context is None:
        return []
    quoted = piece.text
    quotes_answer = context.answer.strip() in quoted
    return [
        (word, text)
        for word, text in context.parts()
        if text.strip() != quoted.strip() and not (quotes_answer and text == context.answer)
    ]


def still_there(
    evidence: Sequence[EvidenceRecord], maps: Callable[[], Mapping[str, bytes]] = dict
) -> tuple[bool, ...]:
    """Tell, for each record, whether its bytes are in their log as they were, however that is called by now."""
    return tuple(map(bool, lying_in(evidence, maps)))


def lying_in(evidence: Sequence[EvidenceRecord], maps: Callable[[], Mapping[str, bytes]]) -> tuple[str, ...]:
    """Give the path where each record still is as it was, "" where it is gone.

    `maps` gives how far logs were read. They are asked for where a record is not at its place, and tell
    under which name its log lies by now.
    """
    there = _at_their_places(evidence)
    if all(there) or not (stored := maps()):
        return tuple(record.file if stays else "" for record, stays in zip(evidence, there, strict=True))
    from strategies.files.reread import read_ranges  # noqa: PLC0415 - not for every `why`
    from strategies.pool.moved_logs import evidence_as_it_lies  # noqa: PLC0415 - the same

    moved = evidence_as_it_lies(evidence, stored)
    lying = kept.still_there(moved, read_ranges)
    now = (record.file if still else "" for record, still in zip(moved, lying, strict=True))
    return tuple(record.file if still else at for record, still, at in zip(evidence, there, now, strict=True))


def _at_their_places(evidence: Sequence[EvidenceRecord]) -> tuple[bool, ...]:
    if not any(record.file.endswith(".zst") for record in evidence):
        return kept.still_there(evidence)
    from strategies.files.reread import read_ranges  # noqa: PLC0415 - zstd and msgspec are not for every `why`

    return kept.still_there(evidence, read_ranges)
