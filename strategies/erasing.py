"""Erasing a person's text wherever it is kept: the evidence, and what readers remember of the logs it stands in.

What stays is what events and episodes may hold: the templates of errors, redacted and with their values masked,
and hashes. The logs themselves are not ours to change; when they are read again, neither evidence nor a reader
keeps the record's text.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from registry.erasing import erase, erased_records, kept_evidence
from strategies.logs.checkpoint import PREFIX, forgotten
from strategies.logs.episode import Span
from strategies.logs.forgetting import without_texts
from strategies.logs.records import decode, place_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.log import Receipt
    from registry.evidence import Evidence
    from registry.library import Library
    from registry.registry import Registry
    from strategies.logs.episode import EpisodeRecord


def erase_text(registry: Registry, names: Sequence[str], reason: str) -> Receipt:
    """Erase evidence, and the half-read errors and hashes of texts in the checkpoints of its logs; all or nothing.

    `EventLog.scrub` then clears the files. Shapes: names are whole ids. Raises: UsageError without a reason.
    """
    with registry.log.transaction():
        kept = kept_evidence(registry, names)
        receipt = erase(registry, names, reason, _records(registry, kept))
        files = {one.file for one in kept.values()}
        for name, body in forgotten(registry.log.checkpoints(), files).items():
            registry.log.put_checkpoint(name, body)
    return receipt


def without_erased(
    library: Library, checkpoints: Mapping[str, bytes], records: Iterable[EpisodeRecord]
) -> Mapping[str, bytes]:
    """Give the checkpoints of a scan without what its readers remember of erased texts that they met again.

    Shapes: `records` are those of the scan, checkpoints its own, by name.
    """
    erased = erased_records(library) if checkpoints else frozenset()
    met: dict[str, dict[Span, str]] = defaultdict(dict)
    for record in records if erased else ():
        for step in record.steps:
            if place_key(record, step.span) in erased:
                met[PREFIX + record.source][step.span] = step.template
    mended = {name: without_texts(checkpoints[name], met[name]) for name in met if name in checkpoints}
    return {**checkpoints, **mended}


def _records(library: Library, kept: Mapping[str, Evidence]) -> dict[str, str]:
    """Name the record of a log that each piece keeps."""
    wanted = {one.episode for one in kept.values()}
    known = {stored.episode: stored for stored in library.log.episodes() if stored.episode in wanted}
    return {
        name: place_key(decode(known[one.episode].body), Span(one.byte_start, one.byte_end, one.line))
        for name, one in kept.items()
        if one.episode in known
    }
