"""Provenance: the one event that each line comes from, and everything that led to it."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, get_args

from events.errors import NotFoundError
from events.types.capsule_events import MERGED, MERGER
from events.types.tiers import Tier
from registry.projection import time_travel
from registry.projection.stored_documents import damaged
from registry.query.audits import moves_behind, moves_bringing
from registry.query.signals import Assignment, ErasedEvidence, assignments, erasures_of, kept_evidence
from registry.query.trials import TrialFinding, trials_of, trials_with
from registry.query.versions import event_of
from registry.skill_md.render import label, projected_lines
from registry.state.line_claims import claims_of
from registry.state.tiers import line_tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from events.store.envelope import Envelope
    from events.types.audit_events import AuditMove
    from events.types.candidate_events import CandidateScored
    from events.types.capsule_events import VersionMerged
    from events.types.claims import Claim
    from events.types.frozen import Frozen
    from registry.evidence.record import EvidenceRecord
    from registry.query.library import Library, Raised
    from registry.query.model_prompts import ModelPrompt
    from registry.query.versions import VersionRow
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from registry.state.gene import LiveClaim
    from registry.state.line import ProjectedLine, SkillLine
    from registry.state.tiers import LineTier
    from registry.state.trial import SkillTrial
    from registry.state.version_outline import Outline


class KeptEvidence(NamedTuple):
    """A piece of evidence with its id (the hash of its blob)."""

    id: str
    evidence: EvidenceRecord


class Earlier(NamedTuple):
    """The text of a line in an earlier version, and the event that wrote it."""

    version: int
    text: str
    event: int


class Why(NamedTuple):
    """Everything there is to say about one line of a skill.

    `origin` is the event that wrote the line, `row` the version it came with. `previous` is its earlier texts,
    newest first; `tried` the other proposals for its signal that are not live; `erased` the evidence whose text
    was removed; `taken_back` the version that went back to before the line came; `asked` the prompt to the model
    that suggested it; `assigned` where a person put its signal; `trials` what coins showed of it; `moves` those of
    an audit that brought it; `merged` the version of another registry that it came with. The rest is None or empty
    for what no candidate brought: an import, a hand edit.
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
    asked: ModelPrompt | None = None
    assigned: Assignment | None = None
    trials: tuple[TrialFinding, ...] = ()
    moves: tuple[AuditMove, ...] = ()
    merged: VersionMerged | None = None

    @property
    def tier(self) -> LineTier:
        """The tier of the line, or whose word it rests on."""
        return line_tier(self.line, self.candidate)


def blame(library: Library, capsule: Capsule) -> list[tuple[ProjectedLine, Envelope]]:
    """Pair every projected line with the event that wrote it."""
    lines = projected_lines(capsule)
    origins = origins_of(library, capsule, lines)
    return [(line, origins[line.origin]) for line in lines]


def line_tiers(library: Library, blamed: Sequence[tuple[ProjectedLine, Envelope]]) -> list[LineTier]:
    """Name the tier of each projected line, given with the event that wrote it."""
    names = {getattr(origin.event, "candidate", "") for _, origin in blamed}
    known = library.candidates_of(names - {""})
    return [line_tier(line, known.get(getattr(origin.event, "candidate", ""))) for line, origin in blamed]


def tier_counts(library: Library, capsule: Capsule) -> dict[Tier, int]:
    """Count the lines of a skill in each tier that has any."""
    tiers = Counter(line_tiers(library, blame(library, capsule)))
    return {tier: tiers[tier] for tier in get_args(Tier) if tiers[tier]}


def live_candidates(library: Library, capsule: Capsule) -> list[Candidate]:
    """List the candidates whose lines are in a skill, in the order of the lines."""
    origins = (getattr(origin.event, "candidate", "") for line, origin in blame(library, capsule) if line.id)
    return list(library.candidates_of(name for name in origins if name).values())


def lines_of(library: Library, capsule: Capsule, candidate: str) -> list[ProjectedLine]:
    """List the lines of a skill that a candidate brought and that say something; no heading."""
    blamed = blame(library, capsule)
    brought = [line for line, origin in blamed if getattr(origin.event, "candidate", "") == candidate]
    worded = [line for line in brought if line.gene and line.id and line.text.strip()]
    return [line for line in worded if not line.text.lstrip().startswith("#")]


def uncounted_claims(library: Library, capsule: Capsule) -> frozenset[Claim]:
    """List the live claims that no score counts: of lines that are only seen or fell, and the untested."""
    return frozenset(live.claim for live, brought in _brought(library, capsule) if not brought.counts)


def untested_claims(library: Library, capsule: Capsule) -> dict[str, tuple[Claim, ...]]:
    """List the live claims that no log was asked about, by gene.

    An earlier germline let such claims live where runs or a person spoke for their lines.
    """
    untested = {live for live, brought in _brought(library, capsule) if not brought.claims_tested}
    by_gene: dict[str, tuple[Claim, ...]] = {}
    for gene in capsule.genes:
        tested = {live.claim for live in gene.claims if live not in untested}
        dropped = [live.claim for live in gene.claims if live in untested and live.claim not in tested]
        if dropped:
            by_gene[gene.id] = tuple(dict.fromkeys(dropped))
    return by_gene


def _brought(library: Library, capsule: Capsule) -> list[tuple[LiveClaim, Candidate]]:
    """Pair the live claims of a skill that candidates brought with those."""
    live = [live for gene in capsule.genes for live in gene.claims]
    origins = library.origins({claim.origin for claim in live})
    names = {claim: getattr(origins[claim.origin].event, "candidate", "") for claim in live}
    known = library.candidates_of(set(names.values()) - {""})
    return [(claim, known[name]) for claim, name in names.items() if name in known]


def brought_lines(event: Frozen) -> list[str]:
    """List the lines that an event brought."""
    fields = vars(event)  # a model looks long for an attribute that it has not
    edited = [text for edit in fields.get("edits", ()) for text in edit.text]
    return [*fields.get("front", ()), *fields.get("lines", ()), *edited]


def origins_of(library: Library, capsule: Capsule, lines: Iterable[ProjectedLine]) -> Mapping[int, Envelope]:
    """Read the events that lines say they come from; raises StorageError where one never brought its line.

    A line that another is put behind may get the ending that it lacked.
    """
    named: dict[int, set[str]] = {}
    for line in lines:
        named.setdefault(line.origin, set()).update([line.text.rstrip("\r\n")] if line.id else [])
    origins = library.origins(named.keys())
    for position, texts in named.items():
        if texts.difference([text.rstrip("\r\n") for text in brought_lines(origins[position].event)]):
            raise damaged(library.log, f"the origin of lines of {label(capsule)} in event {position}")
    return origins


class SkillHistory(NamedTuple):
    """What the lines of a skill have in common: outline, versions, signals that people assigned, and trials."""

    outline: Outline
    rows: Mapping[int, VersionRow]
    assigned: Mapping[str, Assignment]
    trials: Sequence[SkillTrial]


def history_of(library: Library, name: str, versions: Iterable[int]) -> SkillHistory:
    """Read what explains lines that came with these versions."""
    return SkillHistory(
        library.outline(name),
        library.version_rows(name, set(versions)),
        assignments(library),
        trials_of(library, name),
    )


def why(
    library: Library,
    capsule: Capsule,
    number: int,
    *,
    earlier: int | None = None,
    history: SkillHistory | None = None,
) -> Why:
    """Explain one line of a skill, with at most so many `earlier` forms of it: each is a look at an old version.

    `history` is what was read of the skill already; it is read here where nothing was.
    Raises: NotFoundError where the skill has no such line.
    """
    lines = projected_lines(capsule)
    if not 1 <= number <= len(lines):
        raise NotFoundError(
            f"{capsule.name}@{capsule.version} has {len(lines)} lines; there is no line {number}",
            hint=f"germline show {capsule.name}@{capsule.version} --blame",
        )
    line = lines[number - 1]
    origin = origins_of(library, capsule, [line])[line.origin]
    history = history or history_of(library, capsule.name, [line.version])
    outlines = {capsule.name: history.outline}
    proposal: str = getattr(origin.event, "candidate", "")
    candidate = library.candidates_of([proposal], outlines=outlines).get(proposal)
    signal = library.signal(candidate.proposed.fingerprint) if candidate else None
    evidence = evidence_of(library, signal)
    taken_back = history.outline.taken_back_by(line.version)
    return Why(
        capsule=capsule,
        line=line,
        origin=origin,
        row=history.rows.get(line.version) or library.version(capsule.name, line.version),
        candidate=candidate,
        claim=_claim(capsule, line),
        signal=signal,
        evidence=evidence,
        previous=tuple(islice(_previous(library, capsule, line), earlier)),
        tried=_tried(library, candidate, outlines) if candidate else (),
        erased=erased_of(library, signal, evidence),
        taken_back=library.version(capsule.name, taken_back) if taken_back else None,
        asked=asked_by(library, candidate) if candidate else None,
        assigned=history.assigned.get(signal.event.fingerprint) if signal else None,
        trials=tuple(trials_with(history.trials, proposal)),
        moves=moves_bringing(moves_behind(library, candidate), line.text),
        merged=_merged(library, capsule.name, line.version, origin.event, candidate),
    )


def _merged(
    library: Library, name: str, version: int, origin: Frozen, candidate: Candidate | None
) -> VersionMerged | None:
    """Find the version of another registry that an event came with, or that its candidate was made of."""
    is_merged = candidate.proposed.proposer == MERGER if candidate else getattr(origin, "after", None) == MERGED
    if not is_merged:
        return None
    made = library.log.read(stream=f"capsule:{name}", types=("VersionMerged",), newest_first=True)
    events = (event_of("VersionMerged", envelope) for envelope in made)
    if candidate:
        return next((event for event in events if event.candidate == candidate.id), None)
    return next((event for event in events if event.outcome == "version" and event.version == version), None)


def _claim(capsule: Capsule, line: ProjectedLine) -> Claim | None:
    """Find the claim that a line carries; a merged claim names the first of them, which is judged."""
    gene = capsule.gene(line.gene)
    claims = claims_of(gene, line) if gene else ()
    return claims[0] if claims else None


def evidence_of(library: Library, signal: Raised | None) -> tuple[KeptEvidence, ...]:
    """Fetch the evidence of a signal that the registry still keeps."""
    kept = kept_evidence(library, signal.event.evidence) if signal else {}
    return tuple(KeptEvidence(name, record) for name, record in kept.items())


def erased_of(library: Library, signal: Raised | None, kept: Iterable[KeptEvidence]) -> tuple[ErasedEvidence, ...]:
    """Tell which evidence of a signal was erased, when and why, beside what is kept."""
    gone = set(signal.event.evidence if signal else ()).difference(evidence.id for evidence in kept)
    names = [name for name in signal.event.evidence if name in gone] if signal else []
    return tuple(erasures_of(library, names).values())


def asked_by(library: Library, candidate: Candidate) -> ModelPrompt | None:
    """Find the prompt that a model answered with a candidate; None where no model proposed it."""
    kind, _, prompt = candidate.actor.partition("#")
    if not kind.startswith("model:"):
        return None
    from registry.query.model_prompts import asked_with  # noqa: PLC0415 - for what a model proposed

    answered = [asked for asked in asked_with(library, prompt) if asked.event.outcome == "ok"]
    before = [asked for asked in answered if asked.position < candidate.position]
    return before[-1] if before else None


def _tried(library: Library, candidate: Candidate, outlines: Mapping[str, Outline]) -> tuple[Candidate, ...]:
    """List the other proposals for the same signal that did not become a version, or were taken back."""
    return tuple(
        other
        for other in library.answers(candidate.proposed.fingerprint, outlines=outlines, read=(candidate,))
        if other.proposed.capsule == candidate.proposed.capsule
        and other.id != candidate.id
        and (other.verdict != "promote" or other.reverted)
    )


def _previous(library: Library, capsule: Capsule, line: ProjectedLine) -> Iterator[Earlier]:
    """Walk back through the earlier texts of the line with this identity, newest first; the stamp has no past."""
    version = line.version - 1 if line.id else 0
    while version:
        past = time_travel.at_version(library.log, capsule.name, version)
        old = _find(past, line) if past else None
        if old is None:
            return
        yield Earlier(version, old.text, old.origin)
        version = min(old.version, version) - 1


def _find(past: Capsule, line: ProjectedLine) -> SkillLine | None:
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
