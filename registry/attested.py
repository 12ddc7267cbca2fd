"""What an attestation says of a version: its files, and everything in the log that they came from."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from events.proofs import prove_events
from registry.attestation import (
    Digests,
    NamedCandidate,
    NamedEvidence,
    NamedSignal,
    Predicate,
    ProvenEvent,
    Statement,
    Subject,
)
from registry.erasing import erasure_of
from registry.evidence import Evidence
from registry.provenance import asked_by
from registry.publish import expected_hashes
from registry.rendering import projected_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.checkpoint import Checkpoint
    from registry.candidate import Candidate
    from registry.capsule import Capsule
    from registry.library import Library, Raised


def statement_on(library: Library, capsule: Capsule, checkpoint: Checkpoint) -> Statement:
    """State where a version of a skill comes from, with every event proven against a checkpoint.

    Raises: NotFoundError where an event came after the checkpoint; CorruptLogError for a log with a gap.
    """
    lines = Counter(line.origin for line in projected_lines(capsule))
    wrote = {*lines, *(file.origin for file in capsule.files), capsule.position, capsule.born}
    candidates = _candidates(library, sorted(wrote))
    signals = _signals(library, candidates)
    scores = [(one.scored.before, one.scored.after) for one in candidates if one.scored]
    row = library.version(capsule.name, capsule.version)
    measured = [row.score, *(score for pair in scores for score in pair)]
    evaluators = sorted({name for score in measured if (name := getattr(score, "evaluator", ""))})
    positions = {
        *wrote,
        *(at for one in candidates for at in _stream(library, one)),
        *(raised.position for raised in signals),
        *([row.rescored_at] if row.rescored_at else []),
        *(one.position for name in evaluators if (one := library.registration(name))),
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
        candidates=tuple(_named(one) for one in candidates),
        signals=tuple(_named_signal(library, raised) for raised in signals),
        lines=dict(sorted(lines.items())),
        events=_proven(library, positions, checkpoint),
        checkpoint=checkpoint.fields(),
    )
    subjects = tuple(
        Subject(name=f"{capsule.name}/{path}", digest=Digests(sha256=digest)) for path, (digest, _) in files
    )
    return Statement(subject=subjects, predicate=predicate)


def _candidates(library: Library, positions: Sequence[int]) -> list[Candidate]:
    """Find the candidates that these events carry out, in the order of their lines' events."""
    names = [getattr(envelope.event, "candidate", "") for envelope in library.log.at(positions)]
    found = (library.candidate(name) for name in dict.fromkeys(names) if name)
    return [candidate for candidate in found if candidate]


def _stream(library: Library, candidate: Candidate) -> list[int]:
    """Name the events of a candidate, and the one that asked a model for it."""
    asked = asked_by(library, candidate)
    own = [envelope.position for envelope in library.log.read(stream=f"candidate:{candidate.id}")]
    return [*own, asked.position] if asked else own


def _signals(library: Library, candidates: Sequence[Candidate]) -> list[Raised]:
    names = dict.fromkeys(one.proposed.fingerprint for one in candidates)
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
    return NamedEvidence(id=name, hmac=Evidence.from_bytes(body).hmac if body else "")


def _proven(library: Library, positions: set[int], checkpoint: Checkpoint) -> tuple[ProvenEvent, ...]:
    proofs = prove_events(library.log, positions, checkpoint)
    return tuple(
        ProvenEvent(
            position=one.position,
            id=one.event_id,
            type=one.type,
            at=one.at,
            actor=one.actor,
            hash=one.hash,
            proof=proofs[one.position],
        )
        for one in library.log.at(sorted(positions))
    )
