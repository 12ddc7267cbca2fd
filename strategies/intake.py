"""Intake: what a scan found goes into the registry: episodes, split groups, signals with their evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.clock import new_salt
from events.log import StoredEpisode
from events.registry_events import SignalRaised
from registry.commands import Record
from registry.evidence import Record as LogRecord
from registry.evidence import keep
from strategies.gate.splits import form_groups
from strategies.logs.places import read_places
from strategies.logs.records import decode, encode
from strategies.signals.detect import detect

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.library import Library
    from registry.registry import Registry
    from strategies.logs.episode import EpisodeRecord
    from strategies.signals.signal import Occurrence, Signal

GROUPS: Final = "split-groups"
"""The checkpoint that keeps which tasks belong together, for ever."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What came in: how many episodes were new, and the signals that newly crossed their threshold."""

    new_episodes: int
    signals: tuple[SignalRaised, ...]


def take_in(registry: Registry, records: Sequence[EpisodeRecord]) -> Intake:
    """Keep the episodes of a scan, extend the split groups, and raise the signals that are new.

    All in one transaction: episodes, groups, evidence and signals come together or not at all.
    """
    known = {raised.event.fingerprint for raised in registry.signals()}
    with registry.log.transaction():
        stored = [StoredEpisode(record.id, record.source, encode(record)) for record in records]
        new = registry.log.put_episodes(stored)
        everything = all_episodes(registry) if new else []
        if new:
            groups = form_groups(split_groups(registry), everything)
            registry.log.put_checkpoint(GROUPS, json.dumps(groups, separators=(",", ":")).encode())
        crossed = [signal for signal in detect(everything) if signal.fingerprint not in known]
        kept = _keep_evidence(registry, crossed, everything)
        raised = tuple(_raised(signal, kept) for signal in crossed)
        if raised:
            registry.execute(Record(raised), actor="germline")
    return Intake(new, raised)


def all_episodes(library: Library) -> list[EpisodeRecord]:
    """Return every episode that the registry knows, ordered by content hash."""
    return [decode(stored.body) for stored in library.log.episodes()]


def split_groups(library: Library) -> dict[str, str]:
    """Return which split group each known task belongs to."""
    body = library.log.checkpoints().get(GROUPS)
    groups: dict[str, str] = json.loads(body) if body else {}
    return groups


def _keep_evidence(
    registry: Registry, signals: Sequence[Signal], records: Iterable[EpisodeRecord]
) -> dict[Occurrence, str]:
    """Keep the records that signals refer to, redacted, and return their ids; each log is read once.

    A record whose file is gone since the scan is left out.
    """
    by_id = {record.id: record for record in records}
    wanted = sorted({at for signal in signals for at in signal.occurrences})
    places = [(by_id[at.episode].source, by_id[at.episode].steps[at.step].span) for at in wanted]
    kept: dict[Occurrence, str] = {}
    for at, (source, span), (raw, text) in zip(wanted, places, read_places(places), strict=True):
        if raw:
            found = LogRecord(source, span.line, span.byte_start, span.byte_end, raw, text, at.episode)
            kept[at] = registry.log.put_blob(keep(found, salt=new_salt()).to_bytes(), kind="evidence")
    return kept


def _raised(signal: Signal, kept: dict[Occurrence, str]) -> SignalRaised:
    return SignalRaised(
        fingerprint=signal.fingerprint,
        kind=signal.kind,
        calls_for=signal.calls_for,
        template=signal.template,
        action=signal.action,
        count=signal.count,
        episodes=signal.episodes,
        runs=signal.runs,
        severity=signal.severity,
        evidence=tuple(kept[at] for at in signal.occurrences if at in kept),
    )
