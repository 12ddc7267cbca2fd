"""A rule of a gate, applied: what it looks at, what it asks for, and the verdict that several of them come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Decision = Literal["promote", "reject", "hold"]


@dataclass(frozen=True)
class Rule:
    """One rule, applied: the figure that it looks at, and what it asks of it.

    `otherwise` is the verdict where it does not hold, and `missing` says so in words. A `decisive` rule that does
    not hold is the whole verdict; of the others all that fail are named. `needed_tasks` is how many tasks would
    do if the figures stayed as they are; None where it holds, and where more tasks promise nothing.
    """

    name: str
    figure: str
    asks: str
    holds: bool
    missing: str
    otherwise: Decision = "hold"
    decisive: bool = False
    needed_tasks: int | None = None


def failed(rules: Iterable[Rule]) -> tuple[Decision, tuple[str, ...]]:
    """Sum rules up: the verdict, and what is missing; nothing is where all of them hold."""
    missed = [rule for rule in rules if not rule.holds]
    named = [rule for rule in missed if rule.decisive][:1] or missed
    return named[0].otherwise if named else "promote", tuple(rule.missing for rule in named)
