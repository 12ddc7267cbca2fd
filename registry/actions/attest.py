"""What an attestation says of a version: its files, and everything in the log that they came from."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from events.integrity.proofs import prove_events
from registry.actions.attestation_file import (
    Digests,
    NamedCandidate,
    NamedEvidence,
    NamedSignal,
    Predicate,
    ProvenEvent,
    Statement,
    Subject,
)
from registry.evidence.record import EvidenceRecord
from registry.query.provenance import asked_by, origins_of
from registry.query.signals import erasure_of
from registry.skill_md.render import expected_hashes, projected_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.integrity.checkpoint import Checkpoint
    from registry.query.library import Library, Raised
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule


def statement_on(library: Library, capsule: Capsule, checkpoint: Checkpoint) -> Statement:
    """State where a version of a skill comes from, with every event proven against a checkpoint.

    Raises: NotFoundError where an event came after the checkpoint; CorruptLogError for a log with a gap;
    StorageError where a line is not from the event that it names.
    """
    projected = projected_lines(capsule)
    lines = Counter(line.origin for line in projected)
    origins_of(library, capsule, projected)
    wrote = {*lines, *(file.origin for file in capsule.files), capsule.position, capsule.born}
    candidates = _candidates(library, sorted(wrote))
    signals = _signals(library, candidates)
    scores = [(candidate.scored.before, candidate.scored.after) for candidate in candidates if candidate.scored]
    row = library.version(capsule.name, capsule.version)
    measured = [row.score, *(score for pair in scores for score in pair)]
    evaluators = sorted({name for score in measured if (name := getattr(score, "evaluator", ""))})
    positions = {
        *wrote,
        *(at for candidate in candidates for at in _stream(library, candidate)),
        *(raised.position for raised in signals),
        *([row.rescored_at] if row.rescored_at else []),
        *(registered.position for name in evaluators if (registered := library.registration(name))),
    }
    files = sorted(expected_hashes(capsule).items())
    predicate = Predicate(
        skill=capsule.name,
        version=capsule.version,
        at=capsule.at,
        actor=row.actor,
        cause=capsule.cause,
        summary=row.summary,
        unproven=capsule.unproven,
        score=row.score,
        evaluators=tuple(evaluators),
        candidates=tuple(_named(candidate) for candidate in candidates),
        signals=tuple(_named_signal(library, raised) for raised in signals),
        lines=dict(sorted(lines.items())),
        events=_proven(library, positions, checkpoint),
        checkpoint=checkpoint.fields(),
    )
    folder = capsule.name.replace("/", "%2F")  # a subject's path begins behind its first slash
    subjects = tuple(
        Subject(name=f"{folder}/{path}", digest=Digests(sha256=digest)) for path, (digest, _) in files
    )
    return Statement(subject=subjects, predicate=predicate)


def _candidates(library: Library, positions: Sequence[int]) -> list[Candidate]:
    """Find the candidates that these events carry out, in the order of their lines' events."""
    names = [getattr(envelope.event, "candidate", "") for envelope in library.log.at(positions)]
    candidates = (library.candidate(name) for name in dict.fromkeys(names) if name)
    return [candidate for candidate in candidates if candidate]


def _stream(library: Library, candidate: Candidate) -> list[int]:
    """Name the events of a candidate, and the one that asked a model for it."""
    asked = asked_by(library, candidate)
    own = [envelope.position for envelope in library.log.read(stream=f"candidate:{candidate.id}")]
    return [*own, asked.position] if asked else own


def _signals(library: Library, candidates: Sequence[Candidate]) -> list[Raised]:
    names = dict.fromkeys(candidate.proposed.fingerprint for candidate in candidates)
    return [raised for name in names if (raised := library.signal(name))]


def _named(candidate: Candidate) -> NamedCandidate:
    proposed, scored = candidate.proposed, candidate.scored
    return NamedCandidate(
        candidate=candidate.id,
        strategy=proposed.strategy,
        preset=proposed.preset,
        proposer=proposed.proposer,
        fingerprint=proposed.fingerprint,
        before=scored.before if scored else None,
        after=scored.after if scored else None,
        delta=scored.delta if scored else None,
    )


def _named_signal(library: Library, raised: Raised) -> NamedSignal:
    signal = raised.event
    return NamedSignal(
        fingerprint=signal.fingerprint,
        kind=signal.kind,
        episodes=signal.episodes,
        evidence=tuple(_named_evidence(library, name) for name in signal.evidence),
    )


def _named_evidence(library: Library, name: str) -> NamedEvidence:
    if erased := erasure_of(library, name):
        return NamedEvidence(id=name, erased=f"{erased.at}: {erased.reason}")
    body = library.log.get_blob(name)
    return NamedEvidence(id=name, hmac=EvidenceRecord.from_bytes(body).hmac if body else "")


def _proven(library: Library, positions: set[int], checkpoint: Checkpoint) -> tuple[ProvenEvent, ...]:
    proofs = prove_events(library.log, positions, checkpoint)
    return tuple(
        ProvenEvent(
            position=envelope.position,
            id=envelope.event_id,
            type=envelope.type,
            at=envelope.at,
            actor=envelope.actor,
            hash=envelope.hash,
            proof=proofs[envelope.position],
        )
        for envelope in library.log.at(sorted(positions))
    )
