"""Raising signals: what newly crosses its threshold becomes an event, with the records that show it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from events.clock import new_salt
from events.types.registry_events import SignalRaised
from registry.decide.commands import RecordFact
from registry.evidence.gitleaks import leaks_in
from registry.evidence.record import LogRecord, keep
from registry.query.signals import FIGURES, erased_records
from strategies.episodes.episode_records import place_key
from strategies.episodes.skill_version import lineages, under_versions
from strategies.files.reread import read_places
from strategies.logs.transcripts import read_transcripts
from strategies.pool.evidence_context import telling_text
from strategies.pool.person_steps import PersonSteps, person_places
from strategies.pool.person_words import known_wishes, note_person_words
from strategies.signals.abandonment import Abandoned
from strategies.signals.detect import detect
from strategies.signals.streaks import stagnation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from strategies.pool.intake_policy import IntakePolicy
    from strategies.signals.signal import Occurrence, Signal


def found_signals(
    library: Library, records: Sequence[EpisodeRecord], policy: IntakePolicy, *, steps: PersonSteps | None = None
) -> list[Signal]:
    """Find every signal of these episodes, under the versions they ran under, and of the cycles so far.

    `steps` are those at which persons spoke, as far as their sessions were read already.
    """
    known = under_versions(library, records)
    wishes = known_wishes(
        library, known, gitleaks=policy.gitleaks, personal_data=policy.personal_data, steps=steps
    )
    signals = detect(
        known, policy.thresholds, answered=_answered(library), lineages=lineages(library), wishes=wishes
    )
    return signals + stagnation(library.cycles(), policy.thresholds)


def raise_signals(
    registry: Registry,
    records: Sequence[EpisodeRecord],
    policy: IntakePolicy,
    *,
    running: AbstractSet[str] = frozenset(),
) -> tuple[SignalRaised, ...]:
    """Append an event for each signal whose fingerprint was not raised before; inside a transaction.

    The figures of all of them are kept, as they are now.
    `running` are episodes that were just written to: whether they broke off is not known yet.
    """
    steps = PersonSteps(erased_records(registry))
    note_person_words(registry, records, steps)
    signals = found_signals(registry, records, policy, steps=steps)
    keep_figures(registry, signals)
    certain = [signal for signal in signals if not (signal.kind == Abandoned.kind and signal.seen_in <= running)]
    return raise_found(registry, certain, records, policy, steps=steps)


def raise_found(
    registry: Registry,
    signals: Iterable[Signal],
    records: Iterable[EpisodeRecord],
    policy: IntakePolicy,
    *,
    steps: PersonSteps | None = None,
) -> tuple[SignalRaised, ...]:
    """Append an event, with evidence, for each of these signals that was not raised before; `steps` as above."""
    with registry.log.transaction():
        known = {raised.event.fingerprint for raised in registry.signals()}
        crossed = [signal for signal in signals if signal.fingerprint not in known]
        steps = steps or PersonSteps(erased_records(registry))
        kept = _keep_evidence(registry, crossed, records, policy, steps)
        raised = tuple(_raised(signal, kept) for signal in crossed)
        if raised:
            registry.execute(RecordFact(raised), actor="germline")
    return raised


def _answered(library: Library) -> frozenset[str]:
    """Name the signals that a gene answers."""
    capsules = map(library.capsule, library.live_names())
    return frozenset(
        trigger.fingerprint for capsule in capsules for gene in capsule.genes for trigger in gene.triggers
    )


def _keep_evidence(
    registry: Registry,
    signals: Sequence[Signal],
    records: Iterable[EpisodeRecord],
    policy: IntakePolicy,
    steps: PersonSteps,
) -> dict[Occurrence, str]:
    """Keep the records that signals refer to, redacted, and return their ids; each log is read once.

    A record whose file is gone since the scan is left out, and so is one whose text a person had erased.
    """
    by_id, erased = {record.id: record for record in records}, steps.erased
    every = sorted({at for signal in signals for at in signal.occurrences})
    wanted = [at for at in every if not (erased and _key_of(by_id[at.episode], at) in erased)]
    places = [(by_id[at.episode].source, by_id[at.episode].steps[at.step].span) for at in wanted]
    spoken = steps.of(by_id[at.episode] for at in wanted if at.step in person_places(by_id[at.episode]))
    persons = {at: spoken[at.episode][at.step] for at in wanted if at.step in spoken.get(at.episode, ())}
    whole = _read_whole([at for at in wanted if at not in persons], by_id, erased)
    read = [
        (raw, persons[at].text or text, persons[at].around) if at in persons else (raw, whole.get(at) or text, ())
        for at, (raw, text) in zip(wanted, read_places(places), strict=True)
    ]
    texts = [text for _, own, around in read for text in (own, *(step.text for step in around))]
    leaks = leaks_in(texts, policy.gitleaks, personal_data=policy.personal_data)
    kept: dict[Occurrence, str] = {}
    for at, (source, span), (raw, text, around) in zip(wanted, places, read, strict=True):
        if raw:
            place = (span.line, span.byte_start, span.byte_end)
            evidence = keep(LogRecord(source, *place, raw, text, at.episode, around), salt=new_salt(), leaks=leaks)
            kept[at] = registry.log.put_blob(evidence.to_bytes(), kind="evidence")
    return kept


def _read_whole(
    wanted: Sequence[Occurrence], by_id: Mapping[str, EpisodeRecord], erased: AbstractSet[str]
) -> dict[Occurrence, str]:
    """Read the steps of episodes whose steps share one place, such as a line of chat: the text of each."""
    asked = [at for at in wanted if _at_one_place(by_id[at.episode])]
    records = {at.episode: by_id[at.episode] for at in asked}
    read = dict(zip(records, read_transcripts(list(records.values()), erased), strict=True))
    return {at: telling_text(transcript.steps[at.step]) for at in asked if (transcript := read[at.episode])}


def _at_one_place(record: EpisodeRecord) -> bool:
    return len(record.steps) > 1 and len({step.span for step in record.steps}) == 1


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


def keep_figures(registry: Registry, signals: Iterable[Signal]) -> None:
    """Keep the figures of all signals that a scan found, so that no reader counts again.

    Call it inside the transaction that keeps the episodes they come from.
    """
    figures = {
        signal.fingerprint: (signal.count, signal.episodes, signal.severity, signal.runs) for signal in signals
    }
    body = json.dumps(figures, sort_keys=True, separators=(",", ":")).encode()
    registry.log.put_map(FIGURES, body)
