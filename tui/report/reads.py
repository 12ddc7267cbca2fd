"""What the report tells, read from a library in one go and within bounds; what is left out is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.claimed import claims_of
from registry.provenance import erased_of, evidence_of
from strategies.rollouts.bank import kept_runs
from tui.reads import read_blame
from tui.rereading import still_there
from tui.trend_reads import attributed_episodes, read_trends

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.claims import Claim
    from events.envelope import Envelope
    from events.log import Head
    from registry.candidate import Candidate
    from registry.capsule import Capsule
    from registry.erasing import ErasedEvidence
    from registry.library import Library, Raised
    from registry.provenance import KeptEvidence
    from registry.versions import VersionRow
    from strategies.logs.episode import EpisodeRecord
    from strategies.rollouts.bank import KeptRun
    from tui.reads import BlameLine
    from tui.views.trends import Trends

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
class LineTold:
    """A line of a skill with what it claims, and the candidate that brought it, if one did."""

    blame: BlameLine
    claims: tuple[Claim, ...]
    candidate: Candidate | None


@dataclass(frozen=True, slots=True)
class SignalTold:
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
    """Versions that are not told one by one: how many, when they came, and how often by which cause."""

    versions: int
    since: str
    until: str
    causes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SkillTold:
    """Everything that the report tells of a skill: `versions` oldest first, the rest newest first.

    `summed` stands for the versions before, None where there are none; `total` counts all events and candidates.
    """

    capsule: Capsule
    lines: tuple[LineTold, ...]
    versions: tuple[VersionRow, ...]
    summed: Summed | None
    events: tuple[Envelope, ...]
    events_total: int
    candidates: tuple[Candidate, ...]
    candidates_total: int
    signals: tuple[SignalTold, ...]
    trends: Trends


@dataclass(frozen=True, slots=True)
class ReportTold:
    """The whole report, as the registry was right after event `head`; `now` is when it was written (RFC 3339)."""

    skills: tuple[SkillTold, ...]
    events: tuple[Envelope, ...]
    preset: str
    head: Head
    now: str


@dataclass(frozen=True)
class _Ran:
    """Every run that is known: read once for all skills."""

    under: Sequence[EpisodeRecord]
    runs: Mapping[str, KeptRun]


def read_report(library: Library, names: Iterable[str], *, last: int | None, now: str) -> ReportTold:
    """Read what is told of some skills, all of them where none is named; `last` versions in full, None for all.

    Raises: NotFoundError for a skill that is not there.
    """
    chosen = tuple(dict.fromkeys(names)) or tuple(library.names())
    capsules = [library.capsule(name) for name in chosen]
    head = library.log.head()
    ran = _Ran(attributed_episodes(library), kept_runs(library.log)) if capsules else _Ran((), {})
    by_skill: dict[str, list[Candidate]] = {}
    for one in library.candidates() if capsules else ():
        by_skill.setdefault(one.proposed.capsule, []).append(one)
    wide = library.log.read(types=WIDE_TYPES, newest_first=True, limit=EVENTS)
    return ReportTold(
        skills=tuple(_skill(library, one, by_skill.get(one.name, ()), ran, last) for one in capsules),
        events=tuple(wide),
        preset=library.about().preset,
        head=head,
        now=now,
    )


def _skill(
    library: Library, capsule: Capsule, candidates: Sequence[Candidate], ran: _Ran, last: int | None
) -> SkillTold:
    name = capsule.name
    rows = library.versions(name)
    shown = rows[-last:] if last else rows
    events = EVENTS if last else -1
    positions = library.log.documents("mention", name, limit=events, newest_first=True)
    lines = _lines(library, capsule, {one.id: one for one in candidates})
    told = _shown(candidates, shown, lines, last)
    return SkillTold(
        capsule=capsule,
        lines=lines,
        versions=tuple(shown),
        summed=_summed(rows[: len(rows) - len(shown)]),
        events=tuple(reversed(library.log.at([one.seq for one in positions]))),
        events_total=len(library.log.documents("mention", name)),
        candidates=told,
        candidates_total=len(candidates),
        signals=_signals(library, told),
        trends=read_trends(library, name, shown, candidates, under=ran.under, runs=ran.runs),
    )


def _lines(library: Library, capsule: Capsule, candidates: Mapping[str, Candidate]) -> tuple[LineTold, ...]:
    told = []
    for one in read_blame(library, capsule.name, "").lines:
        gene = capsule.gene(one.line.gene)
        claims = claims_of(gene, one.line) if gene and one.line.id else ()
        told.append(LineTold(one, claims, candidates.get(one.row.candidate) if one.line.id else None))
    return tuple(told)


def _summed(rows: Sequence[VersionRow]) -> Summed | None:
    if not rows:
        return None
    causes = Counter(row.cause for row in rows).most_common()
    return Summed(len(rows), rows[0].at, rows[-1].at, tuple(causes))


def _shown(
    candidates: Sequence[Candidate], rows: Sequence[VersionRow], lines: Sequence[LineTold], last: int | None
) -> tuple[Candidate, ...]:
    """Choose candidates, newest first: of the versions shown, of live lines, and the last that did not get in."""
    wanted = {row.candidate for row in rows} | {one.candidate.id for one in lines if one.candidate}
    left: Counter[str | None] = Counter()
    shown = []
    for one in reversed(candidates):
        if one.verdict != "promote":
            left[one.verdict] += 1
        if one.id in wanted or (one.verdict != "promote" and (not last or left[one.verdict] <= REFUSED)):
            shown.append(one)
    return tuple(shown)


def _signals(library: Library, candidates: Sequence[Candidate]) -> tuple[SignalTold, ...]:
    """Read the signals that candidates answer, oldest first, each with its first pieces of evidence."""
    fingerprints = dict.fromkeys(one.proposed.fingerprint for one in candidates)
    found = [signal for name in fingerprints if (signal := library.signal(name))]
    told = []
    for signal in sorted(found, key=lambda one: one.position):
        kept = evidence_of(library, signal)
        first = kept[:EVIDENCE]
        there = still_there([one.evidence for one in first], library.log.checkpoints)
        told.append(SignalTold(signal, first, there, erased_of(library, signal), len(kept) - len(first)))
    return tuple(told)
