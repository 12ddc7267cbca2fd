"""Balanced rounds: several changes run at once, each in one of the two versions of every round.

In a block of rounds any two changes are as often in the same version as in opposite ones. So what the others do
cancels out of the difference "with it minus without it", and each change is measured on all runs of all of them.
What three others do together and no two of them, such as mend the same task, cancels over two blocks in a row
of up to four.
Source: orthogonal arrays, Plackett & Burman 1946; several candidates as one factorial trial.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_TOGETHER: Final = 4
"""Changes that are run together: more need longer blocks, and a look after each is what ends runs early."""
MOST_CONFIRMED: Final = 8
"""Changes that are confirmed together, most of which will pass: a block of eight rounds tells that of each."""


def balanced_signs(changes: int, number: int = 0) -> tuple[tuple[int, ...], ...]:
    """Give a block of rounds, each the sign of every change: 1 where the first version holds it, -1 the second.

    Shapes: 1, 2, 4 or 8 rounds of up to as many changes; `number` counts the blocks from 0, and of four changes
    the last has the opposite signs in every second one.
    """
    block: tuple[tuple[int, ...], ...] = ((1,),)
    while len(block) < changes:
        block = (*((*row, *row) for row in block), *((*row, *(-sign for sign in row)) for row in block))
    last = -1 if changes == MOST_TOGETHER and number % 2 else 1
    return tuple((*row[: changes - 1], last * row[changes - 1]) for row in block)


def noise_beside(pairs: Sequence[float | None], signs: Sequence[tuple[int, ...]], at: int) -> list[float]:
    """Take out of a task's differences what other changes explain; squares are scaled to what is left of freedom.

    Shapes: `pairs` holds one block of rounds of the change `at`, with it minus without it, and `signs` are those
    of the block. Where a pair is void the others do not cancel, and the differences stay as they are.
    """
    whole = [pair for pair in pairs if pair is not None]
    others = [change for change in range(len(signs[0])) if change != at]
    if not others or len(whole) < len(signs):
        return whole
    beside = [[row[at] * row[other] for row in signs] for other in others]
    effects = [sum(s * pair for s, pair in zip(each, whole, strict=True)) / len(whole) for each in beside]
    scale = sqrt(len(whole) / (len(whole) - len(others)))
    return [
        scale * (pair - sum(each[number] * effect for each, effect in zip(beside, effects, strict=True)))
        for number, pair in enumerate(whole)
    ]
