"""A research as it was asked for: what may change, what measures it, who proposes, and what it may take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from strategies.policy.canonical_json import digest

if TYPE_CHECKING:
    from strategies.research.research_surface import ResearchTarget
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.compare.metric import Metric
    from strategies.sandbox.confined_run import SandboxPolicy
    from strategies.train.training_proposers import CommandProposer, PythonProposer, ReflectProposer

EXPERIMENTS: Final = 20
TIME_SETTING: Final = "--minutes"
"""What sets the time that each experiment may take."""
MINUTE_S: Final = 60.0
HOUR_S: Final = 60 * MINUTE_S


def rig_of_experiments(rig: Rig) -> Rig:
    """Give a rig that holds experiments to their own rule: so it is another evaluator."""
    harness = replace(rig.harness, evaluator=digest(["experiments", rig.harness.evaluator]))
    return replace(rig, experiments=True, harness=harness)


@dataclass(frozen=True)
class ResearchPlan:
    """What is researched, and until when; `metric` is None where tasks decide.

    Units: `hours` is how long this command may go on, `minutes` how long an experiment is measured, `usd` what the
    command may cost, its proposer too; 0 is no cap.
    """

    target: ResearchTarget
    rig: Rig
    proposer: ReflectProposer | PythonProposer | CommandProposer
    policy: SandboxPolicy
    metric: Metric | None = None
    own_steering: str = ""
    experiments: int = EXPERIMENTS
    hours: float = 0.0
    minutes: float = 0.0
    usd: float = 0.0

    @property
    def steering(self) -> str:
        """What the person wants, in their own words: the text of the metric, and the one given to the command."""
        return "\n\n".join(filter(None, (self.rig.harness.steering, self.own_steering)))

    @property
    def experiment_s(self) -> float:
        """How long an experiment may be measured: what was asked for, else its share of the hours; 0 is no cap."""
        return self.minutes * MINUTE_S or self.hours * HOUR_S / self.experiments

    @property
    def measured_by(self) -> str:
        """The metric, or the agent on its tasks, in words."""
        if self.metric is None:
            return f"{self.rig.harness.agent.name} on {len(self.rig.harness.divided.sealed)} sealed tasks"
        return f"{self.metric.file.name}, {self.metric.file.direction} is better"

    @cached_property
    def research(self) -> str:
        """The hash of what makes this the same research when the command is typed again."""
        target, evaluator = self.target, self.rig.harness.evaluator
        asked = [target.name, *target.patterns], evaluator, self.proposer.name, self.steering, self.rig.seed
        return digest(["research", *asked])
