"""Runs, changes and decisions of the made-up candidates of bench/gate.py and bench/gate_lines.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strategies.gate.rollout_rule import LOOKS, decide, figures_of
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strategies.gate.rollout_rule import Pairs

    Rates = NDArray[np.float64]

HARM = -0.05
"""What a harmful candidate changes the mean pass rate by."""


class Decided(NamedTuple):
    """One decision: whether it promoted, and how many runs of the candidate it cost."""

    promoted: bool
    runs: int


def rule_now(pairs: Pairs, tasks: int) -> Decided:
    """Decide by the shipped rule; candidate minus incumbent by task and round."""
    verdict = decide(pairs)
    return Decided(verdict.decision == "promote", verdict.figures.rounds * tasks)


def rule_before(pairs: Pairs, tasks: int) -> Decided:
    """Decide by the rule of method rollout-1: a point estimate rejects from the first round on."""
    for rounds in LOOKS:
        figures, rule = figures_of(pairs, rounds), ROLLOUT_RULE
        enough = figures.e_value >= rule.least_e and figures.p <= rule.most_p
        if enough and figures.difference >= rule.least_difference and figures.tasks >= rule.least_tasks:
            return Decided(promoted=True, runs=rounds * tasks)
        if figures.difference <= 0 or figures.difference + 1.28 * figures.error < rule.futile_below:
            break
    return Decided(promoted=False, runs=rounds * tasks)


def runs_of(rates: Rates, rounds: int, draws: np.random.Generator) -> Rates:
    """Run every task so many times: 1 where it passes, 0 where not; rounds by tasks."""
    passed: Rates = (draws.random((rounds, len(rates))) < rates).astype(np.float64)
    return passed


def changed(rates: Rates, points: float, *, clip: bool) -> Rates:
    """Move all pass rates, by the room that each has or equally, so that their mean moves by `points`."""
    room = np.ones_like(rates) if clip else (1 - rates if points > 0 else rates)
    after: Rates = np.clip(rates + points * room / max(float(room.mean()), 1e-9), 0, 1)
    return after
