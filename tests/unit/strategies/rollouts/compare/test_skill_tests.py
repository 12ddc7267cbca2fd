"""Skills tested by runs: by the rule of the gate held both ways, so that noise is rarely called help or harm."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from strategies.gate.rollout_rule import LOOKS, look
from strategies.policy.written_rules import ROLLOUT_RULE
from strategies.rollouts.compare.skill_tests import verdict_on

if TYPE_CHECKING:
    from strategies.rollouts.compare.skill_tests import SkillVerdict


def verdict(seed: int, effect: float) -> SkillVerdict:
    """Run thirty tasks of unequal difficulty with a skill that moves their pass rate, and without it."""
    draws = random.Random(f"{seed} {effect}")
    rates = [min(max(draws.gauss(0.5, 0.25), 0.1), 0.9) for _ in range(30)]
    pairs: list[list[float | None]] = [
        [float(draws.random() < rate + effect) - float(draws.random() < rate) for _ in range(LOOKS[-1])]
        for rate in rates
    ]
    looks = (verdict_on(pairs, look(pairs, rounds, ROLLOUT_RULE), ROLLOUT_RULE) for rounds in LOOKS)
    return next(filter(None, looks), "unclear")


def test_a_skill_that_does_nothing_is_rarely_called_helpful_or_harmful() -> None:
    counts = Counter(verdict(seed, 0.0) for seed in range(100))
    assert counts["helps"] + counts["harms"] <= 8, counts


def test_what_helps_and_what_harms_is_found_alike() -> None:
    assert Counter(verdict(seed, 0.25) for seed in range(20)) == {"helps": 20}
    assert Counter(verdict(seed, -0.25) for seed in range(20)) == {"harms": 20}
