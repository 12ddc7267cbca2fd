"""A rule of a gate, applied: what it looks at, what it asks for, and the verdict that several of them come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Decision = Literal["promote", "reject", "hold"]


class NeededTasks(NamedTuple):
    """How many tasks there are, and how many would do if the figures stayed as they are, by the same count."""

    known: int
    needed: int

    @property
    def words(self) -> str:
        """Say both: `25 of about 53 tasks`."""
        return f"{self.known:,} of about {self.needed:,} tasks"


@dataclass(frozen=True)
class Rule:
    """One rule, applied: the figure that it looks at, and what it asks of it.

    `otherwise` is the verdict where it does not hold, and `missing` says so in words. A `decisive` rule that does
    not hold is the whole verdict; of the others all that fail are named. `needed_tasks` is how many tasks would
    do if the figures stayed as they are, where there are `known_tasks` now; None where it holds, and where more
    tasks promise nothing.
    """

    name: str
    figure: str
    asks: str
    holds: bool
    missing: str
    otherwise: Decision = "hold"
    decisive: bool = False
    needed_tasks: int | None = None
    known_tasks: int | None = None

    @property
    def needed(self) -> NeededTasks | None:
        """How many tasks there are of how many that would do; None where that is not known."""
        if self.needed_tasks is None or self.known_tasks is None:
            return None
        return NeededTasks(self.known_tasks, self.needed_tasks)


def failed(rules: Iterable[Rule]) -> tuple[Decision, tuple[str, ...]]:
    """Sum rules up: the verdict, and what is missing; nothing is where all of them hold."""
    missed = [rule for rule in rules if not rule.holds]
    named = [rule for rule in missed if rule.decisive][:1] or missed
    return named[0].otherwise if named else "promote", tuple(rule.missing for rule in named)
