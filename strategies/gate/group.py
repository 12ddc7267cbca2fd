"""Versions of one skill that compete on the same runs: how far each stands above the group."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

from events.runs import Advantage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALIKE: Final = 1e-9
"""A spread below this is rounding: outcomes are means of a few grades."""


def advantages(groups: Iterable[Mapping[str, float | None]]) -> tuple[Advantage, ...]:
    """Compute each version's mean advantage over the groups that it took part in, best first.

    Shapes: a group holds the outcomes of one task in one round by version, None where a run is void.
    In a group where all did alike, or fewer than two ran, nobody has an advantage; the others count in standard
    deviations of their group, so that a hard task weighs no less than an easy one.
    Source: group-relative advantages, Shao et al. 2024 (GRPO).
    """
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for group in groups:
        ran = {version: value for version, value in group.items() if value is not None}
        for version, value in standardised(ran).items():
            sums[version] = sums.get(version, 0.0) + value
            counts[version] = counts.get(version, 0) + 1
    found = [Advantage(version=name, value=sums[name] / counts[name], runs=counts[name]) for name in sums]
    return tuple(sorted(found, key=lambda one: (-one.value, one.version)))


def standardised(ran: Mapping[str, float]) -> dict[str, float]:
    """Give how far each of a group stands above its mean, in standard deviations; nothing for a group of one."""
    if len(ran) < 2:  # noqa: PLR2004 - a group of one competes with nobody
        return {}
    mean = sum(ran.values()) / len(ran)
    spread = sqrt(sum((value - mean) ** 2 for value in ran.values()) / len(ran))
    return {version: (value - mean) / spread if spread > ALIKE else 0.0 for version, value in ran.items()}
