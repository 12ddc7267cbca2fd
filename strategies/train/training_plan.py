"""A training as it was asked for: skill, runs, proposer, and what it may take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from strategies.gate.aimed_rule import FRESH
from strategies.gate.rollout_rule import LOOKS
from strategies.policy.canonical_json import digest

if TYPE_CHECKING:
    from strategies.rollouts.compare.comparison import Rig
    from strategies.train.training_proposers import PopulationProposer, TrainingProposer

EPOCHS: Final = 8
MINIBATCH: Final = 8
PATIENCE: Final = 2
"""Epochs in a row without a change after which a training rests (a guess): one alone is often bad luck."""
MOST_CHANGES: Final = 8
"""Changes that a proposer may bring to one epoch (a guess)."""
EPOCHS_A_ROUND: Final = 3
"""Epochs that look at one version for each of its rounds of explore runs, all of which are shown (measured over 46
seeds of bench/train after 3,000 runs: .85, where two epochs and the last round alone come to .83)."""
LEAST_COMPANY: Final = 6
"""Changes that are confirmed together at least while they may wait for each other, fewer where there are fewer
tags (measured over thirty other seeds of bench/train after 1,000 runs: .72, with five .69)."""
MOST_WAITED: Final = 3
"""Epochs in a row after which changes that wait for company, and were joined by none, are confirmed (a guess)."""
MOST_BATCHES: Final = 6
"""Minibatches that an epoch looks at: each is a prompt to a model (a guess)."""


@dataclass(frozen=True)
class TrainingCaps:
    """What a training may take in all, and for how long this command may go on; 0 is no cap.

    Units: runs, US dollars, hours.
    """

    runs: int = 0
    usd: float = 0.0
    hours: float = 0.0


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained, by whom, and until when; `rig` says what runs are made with, and what judges them."""

    skill: str
    rig: Rig
    proposer: TrainingProposer | PopulationProposer
    epochs: int = EPOCHS
    minibatch: int = MINIBATCH
    patience: int = PATIENCE
    caps: TrainingCaps = TrainingCaps()
    own_steering: str = ""

    @property
    def steering(self) -> str:
        """What the person wants, in their own words: the text of the metric, and the one given to the command."""
        return "\n\n".join(filter(None, (self.rig.harness.steering, self.own_steering)))

    @cached_property
    def training(self) -> str:
        """The hash of what makes this the same training when the command is typed again."""
        evaluator, proposer = self.rig.harness.evaluator, self.proposer.name
        return digest(["training", self.skill, evaluator, proposer, self.steering, self.minibatch, self.rig.seed])

    @property
    def most_runs(self) -> int:
        """How many runs it may take at most: its cap, else what the gate could ask for in every epoch.

        Not counted are those that look for passengers in changes of several edits, and those that a search of a
        population makes on explore tasks.
        """
        divided, looks = self.rig.harness.divided, LOOKS[-1] + len(FRESH)
        groups = range(1, MOST_CHANGES + 1)  # the best of a group is promoted, the others meet again
        tested = sum((arms + 2) * len(divided.sealed) + (arms + 1) * len(divided.audit) for arms in groups) * looks
        most = self.epochs * (len(divided.explore) + tested)
        return min(most, self.caps.runs) if self.caps.runs else most
