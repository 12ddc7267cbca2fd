"""What the trends of a skill rest on, read from a library: measurements, runs, obedience and sizes by version."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from events.types.capsule_events import CapsuleVersioned, VersionScored
from events.types.score import Score
from registry.projection import time_travel
from registry.projection.fold import apply
from registry.state.line_claims import claims_of
from strategies.claims.applicability import live_claims
from strategies.episodes.skill_version import under_versions
from strategies.gate.track_record import track_record
from strategies.pool.known_episodes import all_episodes
from strategies.rollouts.run.store import kept_runs
from strategies.signals.survey import truth
from tui.reads.trend_series import ScorePoint, Size, TaskRun, Trends, heat_map, obedience, panels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from events.types.score import Measured
    from registry.query.library import Library
    from registry.query.versions import VersionRow
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord
    from strategies.rollouts.run.store import KeptRun

LAST: Final = 60
"""Versions that the screen looks back on: more than it has columns for, at 140 cells."""


MOST_TASKS: Final = 60
"""Rows of a heat map: more than a person compares at one look (a guess)."""
_CHUNK: Final = 1_024
"""Events folded in one go, of about a kilobyte each."""


def read_trends(
    library: Library,
    skill: str,
    rows: Sequence[VersionRow],
    candidates: Sequence[Candidate],
    *,
    under: Iterable[EpisodeRecord] | None = None,
    runs: Mapping[str, KeptRun] | None = None,
) -> Trends:
    """Read the trends of a skill over versions that follow one another.

    Shapes: `rows` oldest first, at least one; `candidates` those of the skill; `under` all episodes with the
    versions they ran under, `runs` all finished runs by name: they are read where they are not given.
    """
    first, last = rows[0].version, rows[-1].version
    ran = _by_version(skill, attributed_episodes(library) if under is None else under)
    kept = kept_runs(library.log) if runs is None else runs
    sizes, records = [], {}
    for capsule in capsules_between(library, skill, first, last):
        sizes.append(size_of(capsule))
        if episodes := ran.get(capsule.version):
            records[capsule.version] = track_record(live_claims(capsule), episodes)
    every = [*_episode_runs(ran), *_made_runs(skill, kept, candidates)]
    return Trends(
        first=first,
        last=last,
        panels=panels(
            measurement for measurement in measurements(library, rows, candidates) if measurement.version >= first
        ),
        tasks=heat_map(every, range(first, last + 1), most_tasks=MOST_TASKS),
        obedience=obedience(records),
        sizes=tuple(sizes),
    )


def attributed_episodes(library: Library) -> list[EpisodeRecord]:
    """Read all episodes, with the versions that they ran under."""
    return under_versions(library, all_episodes(library))


def _by_version(skill: str, under: Iterable[EpisodeRecord]) -> dict[int, list[EpisodeRecord]]:
    by_version: dict[int, list[EpisodeRecord]] = defaultdict(list)
    for record in under:
        version = dict(record.skills).get(skill, "")
        if version.isdecimal():
            by_version[int(version)].append(record)
    return by_version


def capsules_between(library: Library, skill: str, first: int, last: int) -> Iterator[Capsule]:
    """Yield a skill at each of its versions from one to another, folded in one go."""
    capsule = library.capsule(skill, str(first))
    yield capsule
    end = time_travel.position_of(library.log, skill, last)
    changes = [
        document.seq for document in library.log.documents("touch", skill, after=capsule.position, upto=end)
    ]
    for at in range(0, len(changes), _CHUNK):
        for envelope in library.log.at(changes[at : at + _CHUNK]):
            capsule = apply(capsule, envelope.event, envelope)
            if isinstance(envelope.event, CapsuleVersioned):
                yield capsule


def size_of(capsule: Capsule) -> Size:
    """Count the lines of a skill that say something, front matter left out, and those that carry a claim."""
    lines = [(gene, line) for gene in capsule.genes for line in gene.lines if line.text.strip()]
    return Size(capsule.version, len(lines), sum(bool(claims_of(gene, line)) for gene, line in lines))


def measurements(
    library: Library, rows: Sequence[VersionRow], candidates: Sequence[Candidate]
) -> Iterator[ScorePoint]:
    """Yield every score of some versions, on sealed and on audit; one that a revert repeats was not measured."""
    scored = {candidate.id: candidate.scored for candidate in candidates}
    for row in rows:
        if row.cause == "revert":
            continue
        candidate_scored = scored.get(row.candidate)
        audits = (candidate_scored.audit_before, candidate_scored.audit_after) if candidate_scored else ()
        bases, own = (row.before, *audits[:1]), (row.after, *audits[1:])
        if row.candidate:
            yield from _scores(row.position, row.version - 1, bases, as_base=True)
        yield from _scores(row.position, row.version, own)
    shown = {row.version for row in rows}
    for envelope in library.log.read(stream=f"capsule:{rows[0].capsule}", types=("VersionScored",)):
        event = envelope.event
        if isinstance(event, VersionScored) and event.version in shown:
            yield from _scores(envelope.position, event.version, (event.score, event.audit))


def _scores(
    position: int, version: int, measured: Iterable[Measured], *, as_base: bool = False
) -> Iterator[ScorePoint]:
    return (ScorePoint(position, version, score, as_base) for score in measured if isinstance(score, Score))


def _episode_runs(ran: Mapping[int, Sequence[EpisodeRecord]]) -> Iterator[TaskRun]:
    for version, records in ran.items():
        for record in records:
            value = truth(record)
            if value is not None:
                yield TaskRun(record.task, version, value >= 1, record.id, record.run, record.name, record.source)


def _made_runs(skill: str, runs: Mapping[str, KeptRun], candidates: Sequence[Candidate]) -> Iterator[TaskRun]:
    """Yield the runs that germline made of a skill; those of a candidate stand under the version it became."""
    became = {candidate.id: candidate.version for candidate in candidates if candidate.version}
    for name, kept in runs.items():
        of, _, number = kept.arm.rpartition("@")
        version = int(number) if of == skill and number.isdecimal() else became.get(kept.arm)
        if version and kept.trial.status != "infrastructure" and not kept.trial.tampered:
            yield TaskRun(kept.trial.task, version, _passed(kept), name, f"round {kept.round + 1}", name, "")


def _passed(kept: KeptRun) -> bool:
    """Tell whether a run was graded and every layer that counts reached its threshold, with no anchor lost."""
    trial = kept.trial
    layers = [layer.passed for layer in trial.layers if layer.counts]
    return trial.status == "done" and bool(layers) and all(layers) and not trial.failed_anchors


def read_last_trends(library: Library, skill: str) -> Trends:
    """Read the trends of a skill over its last versions; raises NotFoundError for an unknown one."""
    newest = library.capsule(skill).version
    rows = list(library.version_rows(skill, range(max(newest - LAST, 0) + 1, newest + 1)).values())
    return read_trends(library, skill, rows, library.candidates(skill))
