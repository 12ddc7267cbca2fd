"""What a proposer hands over: lines with their claims, or the reason there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from strategies.gate.policy import WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.claims import Claim
    from strategies.gate.contrast import Contrast
    from strategies.logs.episode import EpisodeRecord


@dataclass(frozen=True)
class LearnedLine:
    """A line for a skill, without its ending, and the claim that logs can refute."""

    text: str
    claim: Claim


@dataclass(frozen=True)
class Proposal:
    """Lines that answer one signal; the claim of the first is what they are judged by."""

    proposer: str
    lines: tuple[LearnedLine, ...]
    reason: str

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of its lines, the judged one first."""
        return tuple(line.claim for line in self.lines)

    def keeping(self, claims: Sequence[Claim]) -> Proposal:
        """Give the proposal with only the lines whose claims stay (`Evidence.kept`)."""
        return Proposal(self.proposer, tuple(line for line in self.lines if line.claim in claims), self.reason)


@dataclass(frozen=True)
class Mined:
    """What mining one signal came to: how many claims were tried, and the strongest of them, if any applied.

    The strongest is counted even where its arms are too small to be tried.
    """

    proposal: Proposal | None
    tried: int
    strongest: Contrast | None

    @property
    def needed_tasks(self) -> int | None:
        """The tasks that would be needed to settle the strongest claim; None where no claim applies."""
        return None if self.strongest is None else needed_tasks(self.strongest)


class Proposer(Protocol):
    """Turns a signal's template and the explore split into a proposal; never sees another split."""

    def __call__(self, template: str, explore: Sequence[EpisodeRecord]) -> Mined:
        """Fit claims on explore and keep what survives."""
        ...


def needed_tasks(strongest: Contrast) -> int | None:
    """Tell how many tasks the strongest claim would need, from explore's informative strata.

    Enough for both arms, for the least number of tasks, and for a z of 2.33 (one-sided 1 %), all growing in
    proportion. None where an arm is empty or the claim shows nothing. Source: replay_and_gate.md.
    """
    z = abs(strongest.z)
    if not (strongest.obeyed and strongest.disobeyed and z):
        return None
    rule, tasks = WRITTEN_RULE, strongest.tasks
    growth = max(
        rule.least_arm / strongest.obeyed,
        rule.least_arm / strongest.disobeyed,
        rule.least_tasks / tasks,
        (2.33 / z) ** 2,
    )
    return math.ceil(tasks * growth)
