"""The proposer `pareto`: a population of variants, parents picked by task, lines of two members crossed.

After GEPA (Agrawal and others, 2025). There the front decides; here it is what is proposed, and the gate decides.
A variant is run on the explore tasks that its changes are for, once each.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.models.tasks.training_case import TrainingCase, TrainingChange
    from strategies.train.explore_front import Variant
    from strategies.train.explore_variants import ExploreVariants

GENERATIONS: Final = 2
"""Parents that are asked about in an epoch, beside the live version (a guess: each is a prompt and some runs)."""
_MOST_TASKS: Final = 8
"""Explore tasks that a variant is run on at most (a guess: as many as a minibatch)."""


def propose(case: TrainingCase, variants: ExploreVariants) -> list[TrainingChange]:
    """Search from the live version, and give the changes that did better than without, the largest gain first."""
    front = variants.front
    draws = random.Random(f"pareto:{case.seed}:{case.epoch}")  # noqa: S311 - a seeded draw, no secret
    kept = list(_children(variants, ()))
    for _ in range(GENERATIONS):
        parent = _crossed(variants, _drawn(variants, draws), _drawn(variants, draws))
        kept += _children(variants, parent) if parent else ()
    ranked = sorted(kept, key=lambda variant: -front.gain(variant, variant[:-1]))
    return list(dict.fromkeys(variant[-1] for variant in ranked))


def _children(variants: ExploreVariants, parent: Variant) -> Iterator[Variant]:
    """Have ideas about a variant, run each where it should show, and give those that did better than it."""
    front = variants.front
    attempts = front.attempts.get(parent, {})
    for idea in variants.ideas(parent, list(attempts.values()) if parent else ()):
        child = (*parent, idea)
        if child not in front.attempts and variants.fits(child):
            tasks = _tasks_for(variants, idea)
            variants.run(parent, [task for task in tasks if task not in attempts])
            variants.run(child, tasks)
            if front.gain(child, parent) > 0:
                yield child


def _tasks_for(variants: ExploreVariants, idea: TrainingChange) -> list[str]:
    """Name the explore tasks that an idea is for: those with its tags, else those that the live version fails."""
    live = variants.front.attempts[()].values()
    own = [attempt.task for attempt in live if set(attempt.tags) & set(idea.tags)]
    return (own or [attempt.task for attempt in live if not attempt.passed])[:_MOST_TASKS]


def _drawn(variants: ExploreVariants, draws: random.Random) -> Variant:
    """Draw a place of the front where variants are better than the live version, and one that is best there."""
    led = list(variants.front.led().values())
    return draws.choice(draws.choice(led)) if led else ()


def _crossed(variants: ExploreVariants, first: Variant, second: Variant) -> Variant:
    """Put the lines of two variants together; where both together lose what one gains, give that one."""
    front = variants.front
    better = max(first, second, key=front.gain)
    both = tuple(dict.fromkeys((*first, *second)))
    if both in {first, second} or not variants.fits(both):
        return better
    tasks = dict.fromkeys(task for variant in (first, second) for task in front.attempts[variant])
    variants.run(both, list(tasks))
    return both if front.gain(both) >= front.gain(better) else better
