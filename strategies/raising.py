"""Raising signals: what newly crosses its threshold becomes an event, with the records that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from events.clock import new_salt
from events.registry_events import SignalRaised
from registry.commands import Record
from registry.erasing import erased_records
from registry.evidence import Record as LogRecord
from registry.evidence import keep
from registry.gitleaks import leaks_in
from strategies.attribution import lineages, under_versions
from strategies.logs.places import read_places
from strategies.logs.records import place_key
from strategies.recounting import keep_figures
from strategies.signals.abandoned import Abandoned
from strategies.signals.detect import DEFAULTS, detect
from strategies.signals.streaks import stagnation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from registry.library import Library
    from registry.registry import Registry
    from strategies.logs.episode import EpisodeRecord
    from strategies.logs.outcome_rules import OutcomeRule
    from strategies.signals.signal import Occurrence, Signal
    from strategies.signals.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class IntakePolicy:
    """What a person decided about what comes in.

    `rules` read outcomes from episodes whose log tells none; `thresholds` say from when an observation is a
    signal. `gitleaks` is the binary that is asked for secrets beside the built-in rules, "" for none.
    """

    thresholds: Thresholds = DEFAULTS
    gitleaks: str = ""
    rules: tuple[OutcomeRule, ...] = ()


DEFAULT_POLICY = IntakePolicy()


def found_signals(library: Library, records: Sequence[EpisodeRecord], thresholds: Thresholds) -> list[Signal]:
    """Find every signal of these episodes, under the versions they ran under, and of the cycles so far."""
    found = detect(
        under_versions(library, records), thresholds, answered=_answered(library), lineages=lineages(library)
    )
    return found + stagnation(library.cycles(), thresholds)


def raise_signals(
    registry: Registry,
    records: Sequence[EpisodeRecord],
    policy: IntakePolicy,
    *,
    running: AbstractSet[str] = frozenset(),
) -> tuple[SignalRaised, ...]:
    """Append an event for each signal whose fingerprint was not raised before; inside a transaction.

    The figures of all of them are kept, as they stand now.
    `running` are episodes that were just written to: that they broke off cannot be told yet.
    """
    found = found_signals(registry, records, policy.thresholds)
    keep_figures(registry, found)
    told = [one for one in found if not (one.kind == Abandoned.kind and one.seen_in <= running)]
    return raise_found(registry, told, records, policy)


def raise_found(
    registry: Registry, found: Iterable[Signal], records: Iterable[EpisodeRecord], policy: IntakePolicy
) -> tuple[SignalRaised, ...]:
    """Append an event, with evidence, for each of these signals that was not raised before."""
    with registry.log.transaction():
        known = {raised.event.fingerprint for raised in registry.signals()}
        crossed = [one for one in found if one.fingerprint not in known]
        kept = _keep_evidence(registry, crossed, records, policy)
        raised = tuple(_raised(signal, kept) for signal in crossed)
        if raised:
            registry.execute(Record(raised), actor="germline")
    return raised


def _answered(library: Library) -> frozenset[str]:
    """Name the signals that a gene answers."""
    capsules = map(library.capsule, library.names())
    return frozenset(
        trigger.fingerprint for capsule in capsules for gene in capsule.genes for trigger in gene.triggers
    )


def _keep_evidence(
    registry: Registry, signals: Sequence[Signal], records: Iterable[EpisodeRecord], policy: IntakePolicy
) -> dict[Occurrence, str]:
    """Keep the records that signals refer to, redacted, and return their ids; each log is read once.

    A record whose file is gone since the scan is left out, and so is one whose text a person had erased.
    """
    by_id = {record.id: record for record in records}
    every = sorted({at for signal in signals for at in signal.occurrences})
    erased = erased_records(registry) if every else ()
    wanted = [at for at in every if not (erased and _key_of(by_id[at.episode], at) in erased)]
    places = [(by_id[at.episode].source, by_id[at.episode].steps[at.step].span) for at in wanted]
    read = read_places(places)
    leaks = leaks_in((text for _, text in read), policy.gitleaks) if policy.gitleaks else ()
    kept: dict[Occurrence, str] = {}
    for at, (source, span), (raw, text) in zip(wanted, places, read, strict=True):
        if raw:
            found = LogRecord(source, span.line, span.byte_start, span.byte_end, raw, text, at.episode)
            evidence = keep(found, salt=new_salt(), leaks=leaks)
            kept[at] = registry.log.put_blob(evidence.to_bytes(), kind="evidence")
    return kept


def _key_of(record: EpisodeRecord, at: Occurrence) -> str:
    return place_key(record, record.steps[at.step].span)


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
