"""What a proposer hands over: lines with their claims, or the reason there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from strategies.gate.policy import WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.claims import Claim
    from events.registry_events import SignalRaised
    from events.score import Endpoint
    from registry.capsule import Capsule
    from strategies.gate.contrast import Contrast
    from strategies.logs.episode import EpisodeRecord


@dataclass(frozen=True)
class LearnedLine:
    """A line for a skill, without its ending, and the claim that logs can refute."""

    text: str
    claim: Claim


@dataclass(frozen=True)
class Removed:
    """Lines of a gene that go, by their ids, with the live claim that they carry.

    Without a claim nothing can be measured: a person decides.
    """

    gene: str
    lines: tuple[int, ...]
    claim: Claim | None


@dataclass(frozen=True)
class Proposal:
    """What answers one signal: lines to write, of which the first's claim is judged, or lines to take away.

    `endpoint` is what explore had to go by, and what the gate judges by. A `general` rule stands before the
    learned lines of its gene: of two claims with one moment replay goes by the first.
    """

    proposer: str
    lines: tuple[LearnedLine, ...]
    reason: str
    endpoint: Endpoint = "outcome"
    removed: Removed | None = None
    general: bool = False

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of its lines, the judged one first."""
        return tuple(line.claim for line in self.lines)

    def keeping(self, claims: Sequence[Claim]) -> Proposal:
        """Give the proposal with only the lines whose claims stay (`Evidence.kept`)."""
        return replace(self, lines=tuple(line for line in self.lines if line.claim in claims))


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


@dataclass(frozen=True)
class Ask:
    """What a proposer may look at: one signal, the explore split, and the skills as they stand.

    `others` are the capsules beside the one that is to change; `tried` counts the claims that proposers before
    this one tried in the same cycle, all without success: it must be as strict as if it had tried them too.
    """

    signal: SignalRaised
    explore: Sequence[EpisodeRecord]
    capsule: Capsule | None = None
    others: tuple[Capsule, ...] = ()
    tried: int = 0


class Proposer(Protocol):
    """Turns a signal and the explore split into a proposal; never sees another split."""

    def __call__(self, ask: Ask) -> Mined:
        """Fit claims on explore and keep what survives."""
        ...


def answer(ask: Ask, proposers: Iterable[Proposer]) -> Mined:
    """Let proposers try one after the other until one has something to propose."""
    tried = ask.tried
    strongest: list[Contrast] = []
    for proposer in proposers:
        mined = proposer(replace(ask, tried=tried))
        tried += mined.tried
        strongest += [mined.strongest] if mined.strongest else []
        if mined.proposal is not None:
            return replace(mined, tried=tried)
    return Mined(None, tried, max(strongest, key=lambda figures: abs(figures.z), default=None))


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
