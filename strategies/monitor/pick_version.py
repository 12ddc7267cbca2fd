"""Drawing: which version of a skill to give to the next agent, and which are surely not the best one any more."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from events.errors import RefusedError
from registry.actions.deploy_alias import deployed_at
from registry.actions.publish import write_out
from registry.decide.commands import RetireVersion
from registry.decide.retirement import require_live
from registry.skill_md.skill_files import SKILL_FILE, contained
from strategies.episodes.episode import in_time
from strategies.episodes.skill_version import under_versions
from strategies.gate.stats.thompson import EpisodeEnd, chances_of_being_best, dominated, draw, posteriors
from strategies.pool.known_episodes import all_episodes
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.version_outline import Outline
    from strategies.gate.stats.thompson import Posterior

ACTOR: Final = "germline"
FOLDER: Final = "versions"
"""Where the versions that were drawn stand, beside the registry."""


@dataclass(frozen=True, slots=True)
class VersionOffer:
    """A version on offer, what is known of its chance to win, and its chance of being the best."""

    version: int
    newest: bool
    names: tuple[str, ...]
    posterior: Posterior
    chance: float


@dataclass(frozen=True, slots=True)
class Retired:
    """A version that is offered no longer, and why."""

    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """The version that was drawn, among these offers; `retired` went out just before."""

    skill: str
    version: int
    offers: tuple[VersionOffer, ...]
    retired: tuple[Retired, ...]


def draw_version(registry: Registry, skill: str, seed: int) -> Drawn:
    """Retire the versions that are surely not the best, by an event each, and draw among the others.

    Versions that say the same are one, under the newest number. Raises: NotFoundError for an unknown skill;
    RefusedError where no version is offered.
    """
    require_live(registry.capsule(skill))
    outline = registry.outline(skill)
    same = {version: group[-1] for group in outline.lineage() for version in group}
    names = _names(outline, same)
    if not names:
        raise RefusedError(
            f"every version of {skill} was retired",
            hint=f"germline alias set {skill} NAME VERSION offers one again",
        )
    known = posteriors(_ended(registry, skill, same), names)
    chances, going = chances_of_being_best(known), dominated(known)
    retired = tuple(Retired(version, _why(known, version, chances)) for version in sorted(going))
    for version_row in retired:
        registry.execute(RetireVersion(skill, version_row.version, version_row.reason), actor=ACTOR)
    left = {version: posterior for version, posterior in known.items() if version not in going}
    return Drawn(
        skill,
        draw(left, Random(seed)),  # noqa: S311 - a choice among versions, no secret
        tuple(
            VersionOffer(version, version == outline.version, names[version], left[version], chances[version])
            for version in sorted(left)
        ),
        retired,
    )


def folder_of(library: Library, skill: str, version: int) -> Path:
    """Name the folder in which a version that was drawn is; called like the skill, as the format asks.

    That is one which a name that points at it is deployed to, else one beside the registry.
    Raises: SkillFormatError where a name, or a link beside the registry, leads elsewhere.
    """
    return deployed_at(library, skill, version) or _beside_registry(library, skill, version)


def _beside_registry(library: Library, skill: str, version: int) -> Path:
    return contained(library.log.beside.parent, f"{FOLDER}/{skill}@{version}/{skill}/{SKILL_FILE}").parent


def written(library: Library, skill: str, version: int) -> Path:
    """Write a version to its folder, unless it is there already, and name the folder."""
    if deployed := deployed_at(library, skill, version):
        return deployed
    folder = _beside_registry(library, skill, version)
    write_out(library, library.capsule(skill, str(version)), folder)
    return folder


def _names(outline: Outline, same: Mapping[int, int]) -> dict[int, tuple[str, ...]]:
    """Give the names of each version on offer; the newest one may have none."""
    named: dict[int, list[str]] = {same.get(version, version): [] for version in outline.offered()}
    for name, version in outline.aliases:
        if (spoken := same.get(version, version)) in named:
            named[spoken].append(name)
    return {version: tuple(names) for version, names in sorted(named.items())}


def _ended(library: Library, skill: str, same: Mapping[int, int]) -> Iterator[EpisodeEnd]:
    """Yield the episodes that ended under a version of a skill, in time."""
    known = [record for record in all_episodes(library) if record.skills and truth(record) is not None]
    for record in in_time(under_versions(library, known)):
        version = dict(record.skills).get(skill, "")
        if version.isdecimal():
            yield EpisodeEnd(same.get(int(version), int(version)), truth(record) or 0.0, record.run)


def _why(known: Mapping[int, Posterior], version: int, chances: Mapping[int, float]) -> str:
    best = max(chances, key=lambda version: chances[version])
    return (
        f"its chance of being the best is {chances[version]:.2g}: it is expected to win {known[version].mean:.0%} "
        f"after {known[version].episodes:,} episodes, @{best} {known[best].mean:.0%}"
    )
