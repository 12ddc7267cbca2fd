"""The second look: of every so many promotions one, drawn at random, that a person is asked to look at."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class SpotCheckCandidate(Protocol):
    """As much of a candidate as a draw looks at (registry/state/candidate.py)."""

    @property
    def judged(self) -> int:
        """The position of its last verdict."""
        ...

    @property
    def version(self) -> int | None:
        """The version that it became, if it did."""
        ...

    @property
    def reviewed(self) -> object:
        """What a person decided, None where nobody did."""
        ...

    @property
    def looked_over(self) -> object:
        """A later opinion of a person on it, None where nobody has one."""
        ...


TriedT = TypeVar("TriedT", bound=SpotCheckCandidate)


def drawn(candidates: Iterable[TriedT], *, every: int, seed: int) -> list[TriedT]:
    """Draw one of every `every` promotions that the gate made by itself, in the order of the log; 0 draws none.

    Which one is decided by the seed and by where the last of them is: nobody knows it while they are made, and
    everybody draws the same one later. What a person approved was looked at already.
    """
    made = sorted(
        (candidate for candidate in candidates if candidate.version and not candidate.reviewed),
        key=lambda candidate: candidate.judged,
    )
    if every < 1:
        return []
    whole = (made[at : at + every] for at in range(0, len(made) - every + 1, every))
    return [random.Random(f"{seed}:{few[-1].judged}").choice(few) for few in whole]  # noqa: S311 - a seeded draw


def second_looks(candidates: Iterable[TriedT], *, every: int, seed: int) -> list[TriedT]:
    """List the promotions that were drawn and that nobody looked over, the newest first."""
    return [look for look in reversed(drawn(candidates, every=every, seed=seed)) if not look.looked_over]
