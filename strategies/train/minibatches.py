"""Minibatches: the attempts that a proposer is shown together, failures apart from successes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.models.tasks.training_case import Minibatch, TaskAttempt
from strategies.train.training_plan import MOST_BATCHES

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence


def minibatches(attempts: Sequence[TaskAttempt], size: int, draws: random.Random) -> tuple[Minibatch, ...]:
    """Divide attempts into minibatches of failures and of successes, at random; failures come first."""
    failed = [attempt for attempt in attempts if not attempt.passed]
    passed = [attempt for attempt in attempts if attempt.passed]
    draws.shuffle(failed)
    draws.shuffle(passed)
    of_failures = [Minibatch(kind="failures", attempts=tuple(part)) for part in _parts(failed, size)]
    of_successes = [Minibatch(kind="successes", attempts=tuple(part)) for part in _parts(passed, size)]
    room = MOST_BATCHES - bool(of_successes)
    return (*of_failures[:room], *of_successes[: MOST_BATCHES - len(of_failures[:room])])


def _parts(attempts: Sequence[TaskAttempt], size: int) -> list[Sequence[TaskAttempt]]:
    """Divide evenly into as few parts as the size allows: a last one of a single run would show little."""
    count = -(-len(attempts) // size)
    return [attempts[at * len(attempts) // count : (at + 1) * len(attempts) // count] for at in range(count)]
