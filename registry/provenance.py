"""Provenance: the one event that each line comes from, and everything that led to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from events.errors import NotFoundError
from events.gene_events import GeneBorn, GeneMutated
from registry import travel
from registry.evidence import Evidence
from registry.rendering import projected_lines

if TYPE_CHECKING:
    from events.claims import Claim
    from events.envelope import Envelope
    from registry.candidate import Candidate
    from registry.capsule import Capsule, ProjectedLine
    from registry.library import Library, Raised, VersionRow


@dataclass(frozen=True, slots=True)
class KeptEvidence:
    """A piece of evidence with its id (the hash of its blob)."""

    id: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a line said in an earlier version, and the event that made it say so."""

    version: int
    text: str
    event: int


@dataclass(frozen=True, slots=True)
class Why:
    """Everything there is to say about one line of a skill.

    `origin` is the event that wrote the line, `row` the version it came with. The rest is None or empty for
    what no candidate brought: an import, a hand edit, the stamp.
    """

    capsule: Capsule
    line: ProjectedLine
    origin: Envelope
    row: VersionRow
    candidate: Candidate | None
    claim: Claim | None
    signal: Raised | None
    evidence: tuple[KeptEvidence, ...]
    previous: tuple[Earlier, ...]
    tried: tuple[Candidate, ...]


def blame(library: Library, capsule: Capsule) -> list[tuple[ProjectedLine, Envelope]]:
    """Pair every projected line with the event that wrote it."""
    lines = projected_lines(capsule)
    events = {e.position: e for e in library.log.at(sorted({line.origin for line in lines}))}
    return [(line, events[line.origin]) for line in lines]


def why(library: Library, capsule: Capsule, number: int) -> Why:
    """Explain one line of a skill; raises NotFoundError where the skill has no such line."""
    lines = projected_lines(capsule)
    if not 1 <= number <= len(lines):
        raise NotFoundError(
            f"{capsule.name}@{capsule.version} has {len(lines)} lines; there is no line {number}",
            hint=f"germline show {capsule.name}@{capsule.version} --blame",
        )
    line = lines[number - 1]
    (origin,) = library.log.at([line.origin])
    event = origin.event
    candidate = library.candidate(getattr(event, "candidate", ""))
    claims = (
        event.claims_added
        if isinstance(event, GeneMutated)
        else event.claims
        if isinstance(event, GeneBorn)
        else ()
    )
    fingerprint = candidate.proposed.fingerprint if candidate else ""
    signal = library.signal(fingerprint) if fingerprint else None
    return Why(
        capsule=capsule,
        line=line,
        origin=origin,
        row=library.version(capsule.name, line.version or 1),
        candidate=candidate,
        claim=claims[0] if claims else None,
        signal=signal,
        evidence=evidence_of(library, signal),
        previous=_previous(library, capsule, line),
        tried=_tried(library, capsule, fingerprint, candidate),
    )


def evidence_of(library: Library, signal: Raised | None) -> tuple[KeptEvidence, ...]:
    """Fetch the evidence of a signal that the registry still keeps."""
    kept = []
    for name in signal.event.evidence if signal else ():
        body = library.log.get_blob(name)
        if body is not None:
            kept.append(KeptEvidence(name, Evidence.from_bytes(body)))
    return tuple(kept)


def _tried(
    library: Library, capsule: Capsule, fingerprint: str, candidate: Candidate | None
) -> tuple[Candidate, ...]:
    """List what else was proposed for the same signal and did not become a version."""
    if not fingerprint or candidate is None:
        return ()
    return tuple(
        other
        for other in library.candidates(capsule.name)
        if other.proposed.fingerprint == fingerprint and other.id != candidate.id and other.verdict != "promote"
    )


def _previous(library: Library, capsule: Capsule, line: ProjectedLine) -> tuple[Earlier, ...]:
    """Walk back through what the line with this identity said before, newest first."""
    if not line.gene or not line.id:
        return ()
    earlier: list[Earlier] = []
    version = line.version - 1
    while version >= 1:
        past = travel.at_version(library.log, capsule.name, version)
        gene = past.gene(line.gene) if past else None
        old = next((row for row in gene.lines if row.id == line.id), None) if gene else None
        if old is None:
            break
        earlier.append(Earlier(version, old.text, old.origin))
        version = min(old.version, version) - 1
    return tuple(earlier)


def actor_of(envelope: Envelope) -> str:
    """Say who caused an event, in words."""
    kind, _, name = envelope.actor.partition(":")
    return {
        "person": f"by {name}",
        "miner": f"mined from logs by {name}, no model",
        "model": f"by model {name.partition('#')[0]}",
    }.get(kind, f"by {envelope.actor}")
