"""Signals that were raised: their figures by now, the evidence that is kept, and what was erased of it."""

from __future__ import annotations

import json
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

from events.clock import rfc3339
from events.errors import NotFoundError, UsageError
from registry.projection.stored_documents import fields, read_back
from registry.query.versions import event_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.store.protocol import StoredDocument
    from events.types.registry_events import SignalRaised
    from registry.evidence.record import EvidenceRecord
    from registry.query.library import Library, Raised

FIGURES: Final = "signals"
"""The map that keeps the figures of the last look, by fingerprint: count, episodes, severity, runs."""

_LEAST_CHARS: Final = 4
_SHOWN_CHARS: Final = 12
"""How much of an id is written where several are named."""


def as_counted(library: Library, signals: Iterable[SignalRaised]) -> list[SignalRaised]:
    """Give signals with their figures by now; one that the last look did not find keeps those of its event."""
    body = library.log.get_map(FIGURES)
    figures = json.loads(body) if body else {}
    return [
        _with(signal, *figures[signal.fingerprint]) if signal.fingerprint in figures else signal
        for signal in signals
    ]


def raised_as_counted(library: Library) -> list[Raised]:
    """List the signals that were raised, oldest first, with their figures by now."""
    raised = library.signals()
    counted = as_counted(library, [signal.event for signal in raised])
    return [signal._replace(event=event) for signal, event in zip(raised, counted, strict=True)]


def _with(signal: SignalRaised, count: int, episodes: int, severity: float, runs: list[str]) -> SignalRaised:
    figures = {"count": count, "episodes": episodes, "severity": severity, "runs": tuple(runs)}
    return signal.model_copy(update=figures)


class Assignment(NamedTuple):
    """Which skill a person gave a signal to: who, when, and by which event."""

    skill: str
    actor: str
    at: str
    position: int


def assignments(library: Library) -> dict[str, Assignment]:
    """Tell which signals a person assigned, by fingerprint; the last word counts, and one withdrawn is none."""
    known: dict[str, Assignment] = {}
    for envelope in library.log.read(types=("SignalAssigned",)):
        event = event_of("SignalAssigned", envelope)
        known.pop(event.fingerprint, None)
        if not event.withdrawn:
            known[event.fingerprint] = Assignment(event.capsule, envelope.actor, envelope.at, envelope.position)
    return known


def named_signal(library: Library, stated: str) -> Raised:
    """Find a signal by its fingerprint, or the beginning of one.

    Raises: NotFoundError where there is none, with the nearest; UsageError where several begin so.
    """
    raised, asked = library.signals(), stated.casefold()
    matches = [signal for signal in raised if asked and signal.event.fingerprint.casefold().startswith(asked)]
    if not matches:
        begun = [signal.event.fingerprint[: max(len(asked), _LEAST_CHARS)] for signal in raised]
        near = get_close_matches(asked, begun, n=1, cutoff=0.6) if asked else []
        hint = f"did you mean {near[0]}?    germline signals" if near else "germline signals"
        raise NotFoundError(f"no signal {stated or '(empty)'} was raised", hint=hint)
    whole = [signal for signal in matches if signal.event.fingerprint.casefold() == asked]
    if len(matches) > 1 and not whole:
        begun = [signal.event.fingerprint[:_SHOWN_CHARS] for signal in matches[:3]]
        more = " …" if len(matches) > len(begun) else ""
        raise UsageError(
            f"{len(matches)} signals begin with {stated}: {', '.join(begun)}{more}",
            hint=f"write more of it: germline signals {begun[0]}",
        )
    return (whole or matches)[0]


class ErasedEvidence(NamedTuple):
    """A piece of evidence that was erased: when and why; `record` names what it kept, "" where unknown."""

    id: str
    at: str
    reason: str
    record: str = ""


class ErasureReach(NamedTuple):
    """What goes when evidence is erased, and what is reported about it.

    `names` are all pieces that keep the same records, for whichever signal; `evidence` those of them whose text
    is still kept. `alike` are other pieces that say the same. `templates` of their signals stand in events.
    """

    names: tuple[str, ...]
    evidence: tuple[EvidenceRecord, ...]
    alike: tuple[str, ...]
    templates: tuple[str, ...]


def reach_of(library: Library, names: Sequence[str]) -> ErasureReach:
    """Find everything that keeps the records of these pieces: a record may be evidence of several signals."""
    signals = library.signals()
    kept = kept_evidence(library, (name for raised in signals for name in raised.event.evidence))
    places = {_place(kept[name]) for name in names if name in kept}
    texts = {kept[name].text for name in names if name in kept}
    copies = [name for name, record in kept.items() if not places.isdisjoint(_places(record))]
    every = tuple(dict.fromkeys((*names, *copies)))
    return ErasureReach(
        names=every,
        evidence=tuple(kept[name] for name in every if name in kept),
        alike=tuple(name for name, record in kept.items() if record.text in texts and name not in every),
        templates=tuple(
            dict.fromkeys(
                raised.event.template
                for raised in signals
                if raised.event.template and not set(every).isdisjoint(raised.event.evidence)
            )
        ),
    )


def kept_evidence(library: Library, names: Iterable[str]) -> dict[str, EvidenceRecord]:
    """Read the pieces of evidence that the registry still keeps, by id."""
    from registry.evidence.record import EvidenceRecord  # noqa: PLC0415 - redaction comes with it: 6 ms

    asked = list(dict.fromkeys(names))
    kept = library.log.get_blobs(asked)
    return {name: EvidenceRecord.from_bytes(kept[name]) for name in asked if name in kept}


def _place(record: EvidenceRecord) -> tuple[str, int, int, int]:
    return record.file, record.byte_start, record.byte_end, record.line


def _places(record: EvidenceRecord) -> list[tuple[str, int, int, int]]:
    """Give the place of a piece, and those of the steps that are kept with it."""
    beside = ((record.file, step.byte_start, step.byte_end, step.line) for step in record.around)
    return [_place(record), *beside]


def erasure_of(library: Library, name: str) -> ErasedEvidence | None:
    """Tell when and why a piece of evidence was erased, None where it was not."""
    return erasures_of(library, [name]).get(name)


def erasures_of(library: Library, names: Iterable[str]) -> dict[str, ErasedEvidence]:
    """Tell when and why pieces of evidence were erased, by id; those that were not are left out."""
    asked = list(dict.fromkeys(names))
    documents = library.log.documents_at("erased", [(name, 0) for name in asked]) if asked else []
    erased = {document.key: _erasure_in(library, document) for document in documents}
    return {name: erased[name] for name in asked if name in erased}


def erased_records(library: Library) -> frozenset[str]:
    """Name the records of logs whose text was erased: it is not to be kept again."""
    records = (_erasure_in(library, document).record for document in library.log.documents("erased"))
    return frozenset(filter(None, records))


def _erasure_in(library: Library, document: StoredDocument) -> ErasedEvidence:
    return ErasedEvidence(document.key, *read_back(library.log, document, _erasure_fields))


def _erasure_fields(body: bytes) -> tuple[str, str, str]:
    """Read when evidence was erased, why, and which record it kept."""
    erasure = {"record": "", **fields(body, at=str, reason=str)}
    if rfc3339(datetime.fromisoformat(erasure["at"])) != erasure["at"] or not isinstance(erasure["record"], str):
        raise ValueError(body)
    return erasure["at"], erasure["reason"], erasure["record"]


def signals_with(library: Library, name: str) -> list[Raised]:
    """List the signals that refer to a piece of evidence."""
    return [raised for raised in library.signals() if name in raised.event.evidence]


def named_evidence(library: Library, stated: str) -> str:
    """Resolve the id of a piece of evidence, or the beginning of one; erased ones are known too.

    Raises: NotFoundError where there is none; UsageError where several begin so.
    """
    every = {name for raised in library.signals() for name in raised.event.evidence}
    matches = sorted(name for name in every if stated and name.startswith(stated.lower()))
    if not matches:
        raise NotFoundError(
            f"no evidence {stated or '(empty)'} is known", hint="germline signals --json lists the ids"
        )
    if len(matches) > 1:
        begun = ", ".join(name[:_SHOWN_CHARS] for name in matches[:3])
        raise UsageError(
            f"{len(matches)} pieces of evidence begin with {stated}: {begun} …", hint="write more of it"
        )
    return matches[0]


def lost_evidence(library: Library) -> tuple[str, ...]:
    """Name the evidence that signals refer to, that is gone, and that no event erased."""
    named = list(dict.fromkeys(name for raised in library.signals() for name in raised.event.evidence))
    accounted = library.log.get_blobs(named).keys() | erasures_of(library, named).keys()
    return tuple(name for name in named if name not in accounted)
