"""Provenance: the one event that each line comes from, and everything that led to it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from events.errors import NotFoundError
from registry import travel
from registry.claimed import claims_of
from registry.erasing import ErasedEvidence, erasure_of
from registry.evidence import Evidence
from registry.rendering import projected_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.candidate_events import CandidateScored
    from events.claims import Claim
    from events.envelope import Envelope, Origin
    from registry.asked import Asked
    from registry.candidate import Candidate
    from registry.capsule import Capsule
    from registry.gene import Line
    from registry.library import Library, Raised
    from registry.line import ProjectedLine
    from registry.versions import VersionRow


class KeptEvidence(NamedTuple):
    """A piece of evidence with its id (the hash of its blob)."""

    id: str
    evidence: Evidence


class Earlier(NamedTuple):
    """What a line said in an earlier version, and the event that made it say so."""

    version: int
    text: str
    event: int


class Why(NamedTuple):
    """Everything there is to say about one line of a skill.

    `origin` is the event that wrote the line, `row` the version it came with. `previous` is what it said before,
    newest first; `tried` what else was proposed for its signal and is not live; `erased` the evidence whose text
    was removed; `taken_back` the version that went back to before the line came; `asked` the prompt to the model
    that suggested it. The rest is None or empty for
    what no candidate brought: an import, a hand edit.
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
    erased: tuple[ErasedEvidence, ...] = ()
    taken_back: VersionRow | None = None
    asked: Asked | None = None


def blame(library: Library, capsule: Capsule) -> list[tuple[ProjectedLine, Origin]]:
    """Pair every projected line with the event that wrote it."""
    lines = projected_lines(capsule)
    origins = library.origins({line.origin for line in lines})
    return [(line, origins[line.origin]) for line in lines]


def why(library: Library, capsule: Capsule, number: int, *, earlier: int | None = None) -> Why:
    """Explain one line of a skill, with at most so many `earlier` forms of it: each is a look at an old version.

    Raises: NotFoundError where the skill has no such line.
    """
    lines = projected_lines(capsule)
    if not 1 <= number <= len(lines):
        raise NotFoundError(
            f"{capsule.name}@{capsule.version} has {len(lines)} lines; there is no line {number}",
            hint=f"germline show {capsule.name}@{capsule.version} --blame",
        )
    line = lines[number - 1]
    origin = library.event(line.origin)
    candidate = library.candidate(getattr(origin.event, "candidate", ""))
    signal = library.signal(candidate.proposed.fingerprint) if candidate else None
    return Why(
        capsule=capsule,
        line=line,
        origin=origin,
        row=library.version(capsule.name, line.version),
        candidate=candidate,
        claim=_claim(capsule, line),
        signal=signal,
        evidence=evidence_of(library, signal),
        previous=tuple(islice(_previous(library, capsule, line), earlier)),
        tried=_tried(library, candidate) if candidate else (),
        erased=erased_of(library, signal),
        taken_back=_taken_back(library, capsule.name, line.version),
        asked=asked_by(library, candidate) if candidate else None,
    )


def _taken_back(library: Library, name: str, version: int) -> VersionRow | None:
    made = library.outline(name).taken_back_by(version)
    return library.version(name, made) if made else None


def _claim(capsule: Capsule, line: ProjectedLine) -> Claim | None:
    """Find the claim that a line carries; one that stands for several names the first, which is judged."""
    gene = capsule.gene(line.gene)
    claims = claims_of(gene, line) if gene else ()
    return claims[0] if claims else None


def evidence_of(library: Library, signal: Raised | None) -> tuple[KeptEvidence, ...]:
    """Fetch the evidence of a signal that the registry still keeps."""
    kept = []
    for name in signal.event.evidence if signal else ():
        body = library.log.get_blob(name)
        if body is not None:
            kept.append(KeptEvidence(name, Evidence.from_bytes(body)))
    return tuple(kept)


def erased_of(library: Library, signal: Raised | None) -> tuple[ErasedEvidence, ...]:
    """Tell which evidence of a signal was erased, when and why."""
    names = signal.event.evidence if signal else ()
    return tuple(found for name in names if (found := erasure_of(library, name)) is not None)


def asked_by(library: Library, candidate: Candidate) -> Asked | None:
    """Find the prompt that a model answered with a candidate; None where no model proposed it."""
    kind, _, prompt = candidate.actor.partition("#")
    if not kind.startswith("model:"):
        return None
    from registry.asked import asked_with  # noqa: PLC0415 - for what a model proposed

    answered = [one for one in asked_with(library, prompt) if one.event.outcome == "ok"]
    before = [one for one in answered if one.position < candidate.position]
    return before[-1] if before else None


def _tried(library: Library, candidate: Candidate) -> tuple[Candidate, ...]:
    """List what else was proposed for the same signal and did not become a version, or was taken back."""
    return tuple(
        other
        for other in library.answers(candidate.proposed.fingerprint)
        if other.proposed.capsule == candidate.proposed.capsule
        and other.id != candidate.id
        and (other.verdict != "promote" or other.reverted)
    )


def _previous(library: Library, capsule: Capsule, line: ProjectedLine) -> Iterator[Earlier]:
    """Walk back through what the line with this identity said before, newest first; the stamp has no past."""
    version = line.version - 1 if line.id else 0
    while version:
        past = travel.at_version(library.log, capsule.name, version)
        old = _find(past, line) if past else None
        if old is None:
            return
        yield Earlier(version, old.text, old.origin)
        version = min(old.version, version) - 1


def _find(past: Capsule, line: ProjectedLine) -> Line | None:
    gene = past.gene(line.gene)
    lines = gene.lines if gene else () if line.gene else past.front
    return next((old for old in lines if old.id == line.id), None)


def endpoint_of(scored: CandidateScored | None) -> str:
    """Say what a candidate was judged by where that was not how tasks ended, "" where it was."""
    effect = scored.effect if scored else None
    if effect is None or effect.endpoint == "outcome":
        return ""
    outcome = scored.outcome_effect if scored else None
    if outcome is None:
        return "`recovered` alone: whether the next attempt works, not how the task ended"
    known = f"{outcome.risk_difference:+.2f} [{outcome.low:+.2f}, {outcome.high:+.2f}]"
    return f"`recovered`: whether the next attempt works; where it is known how tasks ended, {known}"


def actor_of(envelope: Envelope) -> str:
    """Say who caused an event, in words."""
    kind, _, name = envelope.actor.partition(":")
    return {
        "person": f"by {name}",
        "miner": f"mined from logs by {name}, no model",
        "model": f"by model {name.partition('#')[0]}",
    }.get(kind, f"by {envelope.actor}")
