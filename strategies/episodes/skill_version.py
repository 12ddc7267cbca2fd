"""Attribution: which version of a skill an episode ran under, worked out when episodes are read, never stored.

In this order: what the log itself says; the version whose body is in the
transcript; the version in the projected file when the episode began. Else the version is "":
nothing is guessed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.projection.live_versions import placed_versions
from registry.query.trials import trials_of
from strategies.episodes.episode import moment_s
from strategies.episodes.episode_records import with_skills
from strategies.episodes.skill_use import BODY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.skill_use import Version

UNSURE: Final = 0
"""No version: more than one was offered then, or a person was editing the files."""


class Made(NamedTuple):
    """A version as it was made: of which skill, which number, and when (seconds since 1970)."""

    skill: str
    version: int
    at_s: float


class ProjectedFrom(NamedTuple):
    """The version in the projected file of a skill from a moment on, in seconds since 1970."""

    since_s: float
    version: int


@dataclass(frozen=True)
class KnownVersions:
    """Every version of every skill of a registry: by the hash of its body, and by when it was projected.

    `bodies` holds all versions of one body, oldest first: a version that went back repeats an earlier one.
    `projected` has an entry for each skill, in time.
    """

    bodies: Mapping[str, Sequence[Made]] = field(default_factory=dict)
    projected: Mapping[str, Sequence[ProjectedFrom]] = field(default_factory=dict)


def under_versions(library: Library, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Give the records of a registry's episodes with the versions that they ran under, as far as that is known."""
    return (
        attributed(records, known_versions(library)) if any(record.skills for record in records) else list(records)
    )


def lineages(library: Library) -> dict[str, list[tuple[str, ...]]]:
    """Give, for each skill, the versions that its live one comes from, oldest first; equal ones are grouped."""
    return {name: [tuple(map(str, same)) for same in library.outline(name).lineage()] for name in library.names()}


def known_versions(library: Library) -> KnownVersions:
    """Read every version that a registry ever made."""
    bodies: dict[str, list[Made]] = defaultdict(list)
    projected: dict[str, list[ProjectedFrom]] = {}
    for name in library.names():
        offers: list[ProjectedFrom] = []
        of_last = 0
        for placed in placed_versions(library.log, name):
            at_s = moment_s(placed.at) or 0.0
            if placed.body:
                bodies[placed.body].append(Made(name, placed.version, at_s))
                if placed.cause == "adoption":  # since when a person's edit was there is not known
                    offers[of_last:] = [offer._replace(version=UNSURE) for offer in offers[of_last:]]
                of_last = len(offers)
            offers.append(ProjectedFrom(at_s, placed.version if placed.sole else UNSURE))
        projected[name] = _unsure_under_trial(library, name, offers)
    return KnownVersions(bodies, projected)


def _unsure_under_trial(library: Library, name: str, offers: Sequence[ProjectedFrom]) -> list[ProjectedFrom]:
    """Take back what a folder held while a trial switched it: its arms are known by their text alone."""
    switched = [
        (moment_s(trial.started.starts_at) or 0.0, moment_s(trial.ended_at) or inf)
        for trial in trials_of(library, name)
        if trial.by_block
    ]
    for began_s, ended_s in switched:
        after = next((offer.version for offer in reversed(offers) if offer.since_s <= ended_s), UNSURE)
        during = [offer._replace(version=UNSURE) for offer in offers if began_s <= offer.since_s < ended_s]
        kept = [offer for offer in offers if not began_s <= offer.since_s < ended_s]
        offers = sorted([*kept, ProjectedFrom(began_s, UNSURE), *during, ProjectedFrom(ended_s, after)])
    return list(offers)


def attributed(records: Iterable[EpisodeRecord], known: KnownVersions) -> list[EpisodeRecord]:
    """Give records with the versions that they ran under; ids stay, for the episodes are the same."""
    return [with_skills(record, _resolved(record, known)) if record.skills else record for record in records]


def _resolved(record: EpisodeRecord, known: KnownVersions) -> tuple[Version, ...]:
    """Give each skill once; one of which an episode shows two versions ran under neither for sure."""
    began_s = moment_s(record.started_at)
    versions: dict[str, str] = {}
    for name, logged in record.skills:
        skill, version = _version(name, logged, began_s, known)
        versions[skill] = version if versions.get(skill, version) == version else ""
    return tuple(versions.items())


def _version(name: str, logged: str, began_s: float | None, known: KnownVersions) -> Version:
    if logged.startswith(BODY):
        made = _of_body(known.bodies.get(logged.removeprefix(BODY), ()), name, began_s)
        if made is not None:
            return made.skill, str(made.version)
        return (name, "") if name in known.projected else (name, logged)
    if logged:
        return name, logged.removeprefix(f"{name}@")  # as the stamp of a projected file writes it
    return name, _version_at(known.projected.get(name, ()), began_s)


def _of_body(made: Sequence[Made], name: str, began_s: float | None) -> Made | None:
    """Choose among the versions of one body: of the skill's own name, the last one when the episode began."""
    own = [candidate for candidate in made if candidate.skill == name] or made
    if len({candidate.skill for candidate in own}) > 1:
        return None
    before = [candidate for candidate in own if began_s is not None and candidate.at_s <= began_s]
    return before[-1] if before else next(iter(own), None)


def _version_at(projected: Sequence[ProjectedFrom], began_s: float | None) -> str:
    if began_s is None:
        return ""
    place = bisect_right(projected, began_s, key=lambda offer: offer.since_s)
    version = projected[place - 1].version if place else UNSURE
    return str(version) if version else ""
