"""Runs inside a turn of evolution: what was mined is tried out for the skills that have a harness."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from strategies.rollouts.compare.comparison import Rig, runs_of
from strategies.rollouts.compare.judge_group import record
from strategies.rollouts.compare.settle import settled
from strategies.rollouts.run.runner import Meter

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.types.candidate_events import CandidateProposed
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.policy.presets import Preset
    from strategies.rollouts.compare.harness import Harness
    from strategies.rollouts.compare.settle import Settled
    from strategies.rollouts.run.runner import RunProgress


class Trials(Protocol):
    """Tries candidates out by runs, where a person set that up for their skill.

    With `deferred` no runs are made now: nobody is there to pay for them.
    """

    @property
    def deferred(self) -> bool:
        """Whether candidates are held instead of run."""
        ...

    def covers(self, skill: str) -> bool:
        """Tell whether runs decide on a skill."""
        ...

    def settle(
        self, registry: Registry, capsule: Capsule, proposed: CandidateProposed, preset: Preset, seed: int
    ) -> Settled:
        """Run a candidate that was proposed already, and give what came of it; the verdict is not recorded."""
        ...


@dataclass(frozen=True)
class ConfiguredTrials:
    """Makes the runs that settings ask for; with `deferred` none are made now, as in a watch or a dry run."""

    configured: Callable[[str], bool]
    harness_of: Callable[[str], Harness]
    deferred: bool = False
    on_progress: Callable[[RunProgress], None] = lambda _: None
    meter: Meter = field(default_factory=Meter)

    def covers(self, skill: str) -> bool:
        """Tell whether runs decide on a skill."""
        return self.configured(skill)

    def settle(
        self, registry: Registry, capsule: Capsule, proposed: CandidateProposed, preset: Preset, seed: int
    ) -> Settled:
        """Run a candidate; what a bundle becomes without its passengers is recorded before this returns."""
        rig = Rig(registry, self.harness_of(capsule.name), preset, seed, self.on_progress, meter=self.meter)
        with runs_of(rig) as runs:
            candidates = settled(rig, runs, capsule, [proposed])
        for other in candidates:
            if other.proposed.candidate != proposed.candidate:
                record(rig, capsule, other)
        return next(candidate for candidate in candidates if candidate.proposed.candidate == proposed.candidate)
