"""Attribution: which version of a skill an episode ran under, worked out when episodes are read, never stored.

In this order (replay_and_gate.md, After promotion): what the log itself says; the version whose body stands in the
transcript; the version that stood where the skill is projected when the episode began. Else the version is "":
nothing is guessed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.placed import placed_versions
from strategies.logs.records import with_skills
from strategies.logs.skill_use import BODY
from strategies.signals.moments import moment_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.library import Library
    from strategies.logs.episode import EpisodeRecord
    from strategies.logs.skill_use import Version

UNSURE: Final = 0
"""No version: more than one was offered then, or a person was editing the files."""


class Made(NamedTuple):
    """A version as it was made: of which skill, which number, and when (seconds since 1970)."""

    skill: str
    version: int
    at_s: float


class Stood(NamedTuple):
    """From a moment on (seconds since 1970) this version stood where the skill is projected."""

    since_s: float
    version: int


@dataclass(frozen=True)
class KnownVersions:
    """Every version of every skill of a registry: by the hash of its body, and by when it stood where.

    `bodies` holds all versions of one body, oldest first: a version that went back says again what an earlier one
    said. `stood` has an entry for each skill, in time.
    """

    bodies: Mapping[str, Sequence[Made]] = field(default_factory=dict)
    stood: Mapping[str, Sequence[Stood]] = field(default_factory=dict)


def under_versions(library: Library, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Give the records of a registry's episodes with the versions that they ran under, as far as that is known."""
    return attributed(records, known_versions(library)) if any(one.skills for one in records) else list(records)


def lineages(library: Library) -> dict[str, list[tuple[str, ...]]]:
    """Give, for each skill, the versions that its live one comes from, oldest first; equal ones stand together."""
    return {name: [tuple(map(str, same)) for same in library.outline(name).lineage()] for name in library.names()}


def known_versions(library: Library) -> KnownVersions:
    """Read every version that a registry ever made."""
    bodies: dict[str, list[Made]] = defaultdict(list)
    stood: dict[str, list[Stood]] = {}
    for name in library.names():
        offers: list[Stood] = []
        of_last = 0
        for placed in placed_versions(library.log, name):
            at_s = moment_s(placed.at) or 0.0
            if placed.body:
                bodies[placed.body].append(Made(name, placed.version, at_s))
                if placed.cause == "adoption":  # since when a person's edit stood there, nobody saw
                    offers[of_last:] = [one._replace(version=UNSURE) for one in offers[of_last:]]
                of_last = len(offers)
            offers.append(Stood(at_s, placed.version if placed.sole else UNSURE))
        stood[name] = offers
    return KnownVersions(bodies, stood)


def attributed(records: Iterable[EpisodeRecord], known: KnownVersions) -> list[EpisodeRecord]:
    """Give records with the versions that they ran under; ids stay, for the episodes are the same."""
    return [with_skills(one, _resolved(one, known)) if one.skills else one for one in records]


def _resolved(record: EpisodeRecord, known: KnownVersions) -> tuple[Version, ...]:
    """Give each skill once; one of which an episode shows two versions ran under neither for sure."""
    began_s = moment_s(record.started_at)
    found: dict[str, str] = {}
    for name, told in record.skills:
        skill, version = _version(name, told, began_s, known)
        found[skill] = version if found.get(skill, version) == version else ""
    return tuple(found.items())


def _version(name: str, told: str, began_s: float | None, known: KnownVersions) -> Version:
    if told.startswith(BODY):
        made = _of_body(known.bodies.get(told.removeprefix(BODY), ()), name, began_s)
        if made is not None:
            return made.skill, str(made.version)
        return (name, "") if name in known.stood else (name, told)
    if told:
        return name, told.removeprefix(f"{name}@")  # as the stamp of a projected file writes it
    return name, _standing(known.stood.get(name, ()), began_s)


def _of_body(made: Sequence[Made], name: str, began_s: float | None) -> Made | None:
    """Choose among the versions of one body: of the skill's own name, the last one when the episode began."""
    own = [one for one in made if one.skill == name] or made
    if len({one.skill for one in own}) > 1:
        return None
    before = [one for one in own if began_s is not None and one.at_s <= began_s]
    return before[-1] if before else next(iter(own), None)


def _standing(stood: Sequence[Stood], began_s: float | None) -> str:
    if began_s is None:
        return ""
    place = bisect_right(stood, began_s, key=lambda one: one.since_s)
    version = stood[place - 1].version if place else UNSURE
    return str(version) if version else ""
