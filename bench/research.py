"""How often the rule for experiments keeps what does nothing, and finds what gains: `python -m bench.research`."""

from __future__ import annotations

import random
from typing import Final

from strategies.gate.rollout_rule import LOOKS, look
from strategies.policy.written_rules import ROLLOUT_RULE
from strategies.rollouts.compare.metric import LEAST_REPEATS

GAINS: Final = {0.0: 2_000, 0.3: 400, 0.5: 400, 0.7: 400, 1.0: 400, 2.0: 400}
"""How many experiments are drawn of each gain, in deviations of the noise."""


def experiment(gain: float, seed: int) -> tuple[bool, int]:
    """Draw one experiment; gives whether it is kept, and its runs."""
    draws = random.Random(f"{gain}:{seed}")
    rounds = LOOKS[-1]
    differences = [[draws.gauss(gain, 1) - draws.gauss(0, 1) for _ in range(rounds)] for _ in range(LEAST_REPEATS)]
    pairs = [[1.0 if difference > 0 else -1.0 for difference in task] for task in differences]
    for at in LOOKS:
        decision = look(pairs, at, ROLLOUT_RULE.of_experiments).decision
        if decision is not None:
            break
    return decision == "promote", 2 * LEAST_REPEATS * at


def main() -> None:
    """Print a row for each gain."""
    for gain, count in GAINS.items():
        ended = [experiment(gain, seed) for seed in range(count)]
        kept, runs = (sum(each[part] for each in ended) / count for part in (0, 1))
        print(f"gain {gain:g}  kept {kept:.1%}  runs {runs:.0f}")


if __name__ == "__main__":
    main()
