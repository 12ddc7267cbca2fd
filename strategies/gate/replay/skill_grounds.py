"""The grounds of single skills: the part of a ground that belongs to each, under an evaluator of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from strategies.engines.share import HERE
from strategies.gate.replay.evaluation_set import Ground, ground_of, prepare, register
from strategies.gate.replay.measure import evaluator_id
from strategies.pool.splits import Division
from strategies.scope.scope import scope_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import WorldSource
    from strategies.scope.log_globs import LogGlobs
    from strategies.scope.scope import Scope


@dataclass(frozen=True)
class SkillGrounds:
    """A ground, and by skill the part of it that counts for the skill: all of it where nothing is another's."""

    whole: Ground
    scope: Scope
    _parts: dict[str, Ground] = field(default_factory=dict, compare=False, repr=False)

    def of(self, library: Library, skill: str) -> Ground:
        """Give the ground of a skill, whether or not its evaluator is registered; the same one every time."""
        if skill not in self._parts:
            self._parts[skill] = self._part(library, skill)
        return self._parts[skill]

    def prepared(self, registry: Registry, skill: str, signal: str = "") -> Ground:
        """Give the ground of a skill, its evaluator frozen: with the outcomes that the whole was frozen with.

        For a signal that a person assigned to the skill, by its fingerprint, no action is another skill's.
        """
        ground = self.of(registry, skill)
        if ground.within and ground.division.everything:
            register(registry, ground, scope="skill")
        given = self.scope.assigned.get(signal)
        if given is not None and given.skill == skill and ground.other_work.actions:
            return replace(ground, other_work=ground.other_work._replace(actions=frozenset()))
        return ground

    def evaluators(self, library: Library) -> frozenset[str]:
        """Name the evaluator of the whole and those of all its parts."""
        names = (*self.scope.skills, *self.scope.others)
        return frozenset({self.whole.evaluator, *(self.of(library, name).evaluator for name in names)})

    def _part(self, library: Library, skill: str) -> Ground:
        whole = self.whole.division
        parts = (self.scope.restricted(skill, split) for split in (whole.explore, whole.sealed, whole.audit))
        division = Division(*map(tuple, parts))
        other = self.scope.other_work(skill, division.explore)
        if division == whole:
            return replace(self.whole, other_work=other) if other.actions else self.whole
        evaluator = evaluator_id(division, library.about().split_key)
        part = replace(self.whole, division=division, evaluator=evaluator, within=self.whole.evaluator)
        own = (any(record.trust == "mine" for record in held.sealed) for held in (division, whole))
        return replace(part, other_work=other, others_alone=tuple(own) == (False, True))


def grounds_of(
    library: Library, logs: LogGlobs | None = None, *, sources: tuple[WorldSource, ...] | None = None
) -> SkillGrounds:
    """Tell what skills would be judged on now; writes nothing."""
    return _divided(library, ground_of(library, sources=sources), logs)


def prepare_grounds(
    registry: Registry,
    logs: LogGlobs | None = None,
    *,
    only: Collection[str] | None = None,
    refresh: bool = False,
    sharing: Sharing = HERE,
    sources: tuple[WorldSource, ...] | None = None,
) -> SkillGrounds:
    """Find or register the evaluator for all skills, as `prepare` does, and divide its episodes among them."""
    return _divided(
        registry, replace(prepare(registry, only=only, refresh=refresh, sources=sources), sharing=sharing), logs
    )


def _divided(library: Library, ground: Ground, logs: LogGlobs | None) -> SkillGrounds:
    return SkillGrounds(ground, scope_of(library, ground.division.everything, logs))
