"""What the report tells, read from a library in one go and within bounds; what is left out is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.query.provenance import erased_of, evidence_of
from registry.state.line_claims import claims_of
from strategies.monitor.agreement import agreement_of
from strategies.rollouts.run.store import kept_runs
from strategies.train.training_record import records, table_of
from tui.reads.evidence import still_there
from tui.reads.skills import read_blame
from tui.reads.trends import attributed_episodes, read_trends
from tui.reads.usage import read_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.store.envelope import Envelope
    from events.store.protocol import Head
    from events.types.claims import Claim
    from registry.query.library import Library, Raised
    from registry.query.provenance import KeptEvidence
    from registry.query.signals import ErasedEvidence
    from registry.query.versions import VersionRow
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord, WorldSource
    from strategies.monitor.agreement import Agreement
    from strategies.rollouts.run.store import KeptRun
    from strategies.scope.log_globs import LogGlobs
    from strategies.train.training_record import EpochRow, TrainingRecord
    from strategies.usage.line_usage import FileUsage
    from tui.reads.skills import BlameLine
    from tui.reads.trend_series import Trends

LAST: Final = 50
"""Versions of a skill that are told in full, unless a person says otherwise (a guess: a year of a busy skill)."""
EVENTS: Final = 200
"""Events of a skill that are listed, the newest."""
REFUSED: Final = 100
"""Candidates that were rejected, held or not judged: so many of each, the newest."""
EVIDENCE: Final = 12
"""Pieces of evidence of one signal whose text is shown."""
WIDE_TYPES: Final = (
    "RegistryCreated",
    "PresetSwitched",
    "PresetDefined",
    "EvaluatorRegistered",
    "JudgeCalibrated",
    "EvidenceErased",
)
"""Events that belong to no skill, and to the timeline of all of them."""


@dataclass(frozen=True, slots=True)
class LineContent:
    """A line of a skill with what it claims, and the candidate that brought it, if one did."""

    blame: BlameLine
    claims: tuple[Claim, ...]
    candidate: Candidate | None


@dataclass(frozen=True, slots=True)
class SignalContent:
    """A signal with its evidence; `there` says of each piece whether its bytes still stand in their log.

    `more` counts the pieces whose text is kept and not shown here.
    """

    raised: Raised
    evidence: tuple[KeptEvidence, ...]
    there: tuple[bool, ...]
    erased: tuple[ErasedEvidence, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Summed:
    """Versions that are not listed one by one: how many, when they came, and how often by which cause."""

    versions: int
    since: str
    until: str
    causes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SkillContent:
    """Everything that the report tells of a skill: `versions` oldest first, the rest newest first.

    `summed` sums the versions before, None where there are none; `total` counts all events and candidates.
    """

    capsule: Capsule
    lines: tuple[LineContent, ...]
    versions: tuple[VersionRow, ...]
    summed: Summed | None
    events: tuple[Envelope, ...]
    events_total: int
    candidates: tuple[Candidate, ...]
    candidates_total: int
    signals: tuple[SignalContent, ...]
    trends: Trends
    trainings: tuple[tuple[TrainingRecord, list[EpochRow]], ...]
    usage: FileUsage


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The whole report, as the registry was right after event `head`; `now` is when it was written (RFC 3339).

    `agreement` says how often people agreed with the gate, of all skills.
    """

    skills: tuple[SkillContent, ...]
    events: tuple[Envelope, ...]
    preset: str
    agreement: Agreement
    head: Head
    now: str


@dataclass(frozen=True)
class _Ran:
    """Every run and every training that is known: read once for all skills."""

    under: Sequence[EpisodeRecord]
    runs: Mapping[str, KeptRun]
    trainings: Mapping[str, Sequence[TrainingRecord]]


def read_report(
    library: Library,
    names: Iterable[str],
    *,
    last: int | None,
    now: str,
    seed: int = 0,
    logs: LogGlobs | None = None,
    sources: tuple[WorldSource, ...] = (),
) -> ReportContent:
    """Read the report of some skills, all of them where none is named; `last` versions in full, None for all.

    What lines are worth is measured as `read_usage` says. Raises: NotFoundError for a skill that is not there.
    """
    chosen = tuple(dict.fromkeys(names)) or tuple(library.names())
    head = library.log.head()
    trainings: dict[str, list[TrainingRecord]] = {}
    for record in records(library) if chosen else ():
        trainings.setdefault(record.started.capsule, []).append(record)
    ran = _Ran(attributed_episodes(library), kept_runs(library.log), trainings) if chosen else _Ran((), {}, {})
    by_skill: dict[str, list[Candidate]] = {}
    for candidate in library.candidates() if chosen else ():
        by_skill.setdefault(candidate.proposed.capsule, []).append(candidate)
    used = read_usage(library, chosen, now, seed=seed, logs=logs, sources=sources)
    wide = library.log.read(types=WIDE_TYPES, newest_first=True, limit=EVENTS)
    return ReportContent(
        skills=tuple(_skill(library, usage, by_skill.get(usage.capsule.name, ()), ran, last) for usage in used),
        events=tuple(wide),
        preset=library.about().preset,
        agreement=agreement_of(library),
        head=head,
        now=now,
    )


def _skill(
    library: Library, usage: FileUsage, candidates: Sequence[Candidate], ran: _Ran, last: int | None
) -> SkillContent:
    capsule, name = usage.capsule, usage.capsule.name
    rows = library.versions(name)
    shown = rows[-last:] if last else rows
    events = EVENTS if last else -1
    positions = library.log.documents("mention", name, limit=events, newest_first=True)
    lines = _lines(library, capsule, {candidate.id: candidate for candidate in candidates})
    listed = _shown(candidates, shown, lines, last)
    return SkillContent(
        capsule=capsule,
        lines=lines,
        versions=tuple(shown),
        summed=_summed(rows[: len(rows) - len(shown)]),
        events=tuple(reversed(library.log.at([position.seq for position in positions]))),
        events_total=len(library.log.documents("mention", name)),
        candidates=listed,
        candidates_total=len(candidates),
        signals=_signals(library, listed),
        trends=read_trends(library, name, shown, candidates, under=ran.under, runs=ran.runs),
        trainings=tuple((record, table_of(library, record)) for record in ran.trainings.get(name, ())),
        usage=usage,
    )


def _lines(library: Library, capsule: Capsule, candidates: Mapping[str, Candidate]) -> tuple[LineContent, ...]:
    contents = []
    for line in read_blame(library, capsule.name, "").lines:
        gene = capsule.gene(line.line.gene)
        claims = claims_of(gene, line.line) if gene and line.line.id else ()
        contents.append(LineContent(line, claims, candidates.get(line.row.candidate) if line.line.id else None))
    return tuple(contents)


def _summed(rows: Sequence[VersionRow]) -> Summed | None:
    if not rows:
        return None
    causes = Counter(row.cause for row in rows).most_common()
    return Summed(len(rows), rows[0].at, rows[-1].at, tuple(causes))


def _shown(
    candidates: Sequence[Candidate], rows: Sequence[VersionRow], lines: Sequence[LineContent], last: int | None
) -> tuple[Candidate, ...]:
    """Choose candidates, newest first: of the versions shown, of live lines, and the last that did not get in."""
    wanted = {row.candidate for row in rows} | {line.candidate.id for line in lines if line.candidate}
    left: Counter[str | None] = Counter()
    shown = []
    for candidate in reversed(candidates):
        if candidate.verdict != "promote":
            left[candidate.verdict] += 1
        if candidate.id in wanted or (
            candidate.verdict != "promote" and (not last or left[candidate.verdict] <= REFUSED)
        ):
            shown.append(candidate)
    return tuple(shown)


def _signals(library: Library, candidates: Sequence[Candidate]) -> tuple[SignalContent, ...]:
    """Read the signals that candidates answer, oldest first, each with its first pieces of evidence."""
    fingerprints = dict.fromkeys(candidate.proposed.fingerprint for candidate in candidates)
    raised = [signal for name in fingerprints if (signal := library.signal(name))]
    contents = []
    for signal in sorted(raised, key=lambda signal: signal.position):
        kept = evidence_of(library, signal)
        first = kept[:EVIDENCE]
        there = still_there([record.evidence for record in first], library.log.maps)
        contents.append(
            SignalContent(signal, first, there, erased_of(library, signal, kept), len(kept) - len(first))
        )
    return tuple(contents)
