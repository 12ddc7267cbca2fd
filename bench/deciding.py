"""How often the step that decided a failed session is found, beside always naming one and the same step.

The sessions are generated: who looks after a failed test succeeds, who runs it again fails, but for noise. Counted
are sessions that failed and whose answer loses them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from strategies.advice.deciding_step import deciding_step
from tests.worlds.deciding import LOSES, decided_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.worlds.deciding import Decided


def steps_named(lived: Sequence[Decided]) -> dict[str, float]:
    """Give the share of sessions whose step is found, by each way of finding it."""
    failed = [
        session
        for session in lived
        if session.record.outcome
        and session.record.outcome.value == 0
        and session.record.steps[session.step].action == LOSES
    ]
    every = [session.record for session in lived]
    commonest = Counter(session.step for session in failed).most_common(1)[0][1]
    steps = [(session.step, deciding_step(session.record, every)) for session in failed]
    errors = [[at for at, step in enumerate(session.record.steps) if step.error] for session in failed]
    share = 1 / len(failed)
    return {
        "found": share * sum(step is not None and step.step == at for at, step in steps),
        "named wrongly": share * sum(step is not None and step.step != at for at, step in steps),
        "always the same": share * commonest,
        "after the first error": share * _agreeing(failed, [places[0] + 1 for places in errors]),
        "after the last error": share * _agreeing(failed, [places[-1] + 1 for places in errors]),
    }


def _agreeing(failed: Sequence[Decided], named: Sequence[int]) -> int:
    return sum(session.step == step for session, step in zip(failed, named, strict=True))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sessions", type=int, nargs="+", default=[20, 60, 200])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.2, 0.5, 0.8])
    asked = parser.parse_args()
    for sessions in asked.sessions:
        for noise in asked.noise:
            shares: Counter[str] = Counter()
            for seed in range(asked.seeds):
                shares.update(steps_named(decided_sessions(seed, sessions, noise=noise)))
            means = ", ".join(f"{name} {share / asked.seeds:.2f}" for name, share in shares.items())
            print(f"{sessions:>5,} sessions, noise {noise}: {means}", flush=True)


if __name__ == "__main__":
    main()
