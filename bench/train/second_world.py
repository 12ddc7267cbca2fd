"""A second world, kept aside: what is decided on the first one is only reported here.

Seven kinds of very unequal size; a third of the tasks have a second tag that says nothing of them, a tenth the tag
of another kind. Lines gain less (60 % of the room, where .43 pass without any), lures cost a little everywhere,
and of the ideas fewer are true, one in seven names the wrong tag and as many none.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from bench.train.world import Ideas, LiveLines, World, task_of

if TYPE_CHECKING:
    from strategies.rollouts.tasks.task import RolloutTask

SIZES: Final = {"invoices": 8, "charts": 6, "emails": 5, "code": 4, "tests": 3, "layout": 2, "maps": 2}
"""Kinds of tasks, by how many of thirty are of each."""
WORDINGS: Final = (
    "Before anything else mind the {}, and say in one sentence what was done about them.",
    "Whatever the request looks like, mind the {}.",
    "Take the time to mind the {} and only then write the answer down.",
)
MISTAGGED: Final = 0.1
TWICE_TAGGED: Final = 1 / 3


@dataclass(frozen=True)
class SecondWorld(World):
    """The tasks of one seed; what a task is about is in its prompt, and mostly in its first tag."""

    kinds: ClassVar[tuple[str, ...]] = tuple(SIZES)
    gains: ClassVar[float] = 0.6
    base: ClassVar[tuple[float, float]] = (1.5, 2.0)

    @classmethod
    def of(cls, seed: int, tasks: int, held_out: int = 240) -> SecondWorld:
        """Draw kinds by their sizes, and tags that are not always right."""
        draws = random.Random(f"second {seed}")
        return cls(
            seed,
            tuple(_drawn(f"task-{number:03}", draws) for number in range(tasks)),
            tuple(_drawn(f"unseen-{number:03}", draws) for number in range(held_out)),
        )

    def rate(self, lines: LiveLines, task: RolloutTask) -> float:
        """Tell how often a task passes with these lines."""
        if task.id in lines.by_heart:
            return 1.0
        kind, rate = self.kind_of(task), self.rate_before(task)
        if kind in lines.true:
            rate += self.gains * (1 - rate)
        if kind in lines.lures:
            rate += 0.5 * (1 - rate)
        return rate * 0.85 ** len(lines.lures - {kind})


def _drawn(name: str, draws: random.Random) -> RolloutTask:
    kind, other = (draws.choices(list(SIZES), list(SIZES.values()))[0] for _ in range(2))
    tags = (other if draws.random() < MISTAGGED else kind,)
    return task_of(name, kind, tuple(dict.fromkeys((*tags, other))) if draws.random() < TWICE_TAGGED else tags)


@dataclass
class SecondIdeas(Ideas):
    """Has fewer ideas that are true, in longer words, and names tags that are wrong, or none."""

    shares: ClassVar[dict[str, float]] = {"true": 0.2, "lure": 0.15, "heart": 0.25, "filler": 0.4}
    kinds: ClassVar[tuple[str, ...]] = tuple(SIZES)
    lured: ClassVar[tuple[str, ...]] = tuple(SIZES)[:4]
    wordings: ClassVar[tuple[str, ...]] = WORDINGS
    no_tag: ClassVar[float] = 1 / 7
    wrong_tag: ClassVar[float] = 1 / 7

    def true_line(self, wording: str, about: str) -> str:
        """Write a line that helps a kind."""
        return f"- {wording.format(about)}"
