"""An audit as it was asked for: the skill or draft, its tasks with their anchors, the runs, who is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from events.types.audit_events import METHOD, MOST_ITERATIONS, MOST_TRIES
from strategies.audit.passage_trials import MOST_SEARCHES, MOST_TRIALS
from strategies.policy.canonical_json import digest
from strategies.rollouts.run.arms import version_arm

if TYPE_CHECKING:
    from registry.state.capsule import Capsule
    from strategies.audit.audit_model import AskingModel
    from strategies.audit.interpret_tasks import InterpretedTask
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.run.arms import Arm

PAIRS: Final = 4
"""Pairs of runs of each task at most, where runs differ (a guess; bench.audit measures with it)."""
_BESIDE: Final = 5
"""What a search runs beside its trials: no skill in three further rounds of pairs, what was kept twice more."""
_STANDING: Final = "audit"
"""Runs of a text belong to the text, whichever audit or iteration asks for them."""


@dataclass(frozen=True)
class AuditPlan:
    """What is audited, on what, and how long; `version` is 0 for a draft that no registry holds.

    `asking` asks a model, None where none is set. `pairs` is how often each task is run at most.
    """

    base: Capsule
    version: int
    rig: Rig
    tasks: tuple[InterpretedTask, ...]
    asking: AskingModel | None = None
    iterations: int = MOST_ITERATIONS
    pairs: int = PAIRS

    @property
    def skill(self) -> str:
        """The name of the skill."""
        return self.base.name

    @property
    def model(self) -> str:
        """The name of the model that is asked, "" for none."""
        return self.asking.name if self.asking else ""

    def arm(self, draft: Capsule) -> Arm:
        """Give a draft as a version that is run."""
        return version_arm(self.rig.registry.log, draft, name=f"draft of {self.skill}", standing=_STANDING)

    @cached_property
    def audit(self) -> str:
        """The hash of what makes this the same audit when the command is typed again."""
        tasks = [[known.task.model_dump_json(), known.requirements.model_dump_json()] for known in self.tasks]
        base = self.arm(self.base).digest
        harness = self.rig.harness.digest
        return digest(["audit", METHOD, self.skill, base, tasks, harness, self.model, self.pairs, self.rig.seed])

    @property
    def most_runs(self) -> int:
        """How many runs it may take at most: the skill as given, no skill, what iterations and searches try."""
        return len(self.tasks) * self.pairs * (2 + MOST_TRIES * self.iterations) + self.search_runs

    @property
    def search_runs(self) -> int:
        """How many of them searches for passages may take at most."""
        return len(self.tasks) * self.pairs * MOST_SEARCHES * (2 * MOST_TRIALS + _BESIDE)
