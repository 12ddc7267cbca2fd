"""Erasing a person's text wherever it is kept: the evidence, and what readers remember of its logs.

What stays is what events and episodes may hold: the templates of errors, redacted and with their values masked,
and hashes. The logs themselves are not ours to change; when they are read again, neither evidence nor a reader
keeps the record's text.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from registry.actions.erase_evidence import erase
from registry.query.signals import erased_records, kept_evidence
from strategies.episodes.episode_records import decode, place_key
from strategies.files.log_records import Span
from strategies.files.read_offsets import PREFIX, forgotten
from strategies.logs.resume import without_texts
from strategies.pool.person_words import forget_person_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.store.protocol import Receipt
    from registry.evidence.record import EvidenceRecord
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord


def erase_text(registry: Registry, names: Sequence[str], reason: str) -> Receipt:
    """Erase evidence, and what readers remember of its logs: half-read errors, hashes of texts and words.

    `EventLog.scrub` then clears the files. Shapes: names are whole ids. Raises: UsageError without a reason.
    """
    with registry.log.transaction():
        kept = kept_evidence(registry, names)
        receipt = erase(registry, names, reason, _records(registry, kept))
        files = {evidence.file for evidence in kept.values()}
        for name, body in forgotten(registry.log.maps(), files).items():
            registry.log.put_map(name, body)
        forget_person_words(registry, frozenset(evidence.episode for evidence in kept.values()))
    return receipt


def without_erased(
    library: Library, offsets: Mapping[str, bytes], records: Iterable[EpisodeRecord]
) -> Mapping[str, bytes]:
    """Give the offsets of a scan without what its readers remember of erased texts that they met again.

    Shapes: `records` are those of the scan, offsets its own, by name.
    """
    erased = erased_records(library) if offsets else frozenset()
    met: dict[str, dict[Span, str]] = defaultdict(dict)
    for record in records if erased else ():
        for step in record.steps:
            if place_key(record, step.span) in erased:
                met[PREFIX + record.source][step.span] = step.template
    mended = {name: without_texts(offsets[name], met[name]) for name in met if name in offsets}
    return {**offsets, **mended}


def _records(library: Library, kept: Mapping[str, EvidenceRecord]) -> dict[str, str]:
    """Name the record of a log that each piece keeps."""
    wanted = {piece.episode for piece in kept.values()}
    known = {stored.episode: stored for stored in library.log.episodes() if stored.episode in wanted}
    return {
        name: place_key(
            decode(known[evidence.episode].body), Span(evidence.byte_start, evidence.byte_end, evidence.line)
        )
        for name, evidence in kept.items()
        if evidence.episode in known
    }
