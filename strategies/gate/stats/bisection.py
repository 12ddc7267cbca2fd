"""The search for the place in an interval where something stops being true, by halving."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def halved(holds: Callable[[float], bool], first: float, last: float, halvings: int) -> tuple[float, float]:
    """Give the last place known to hold, coming from `first`, and the next known not to, coming from `last`."""
    for _ in range(halvings):
        middle = (first + last) / 2
        first, last = (middle, last) if holds(middle) else (first, middle)
    return first, last
