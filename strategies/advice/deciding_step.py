"""The step that most likely decided how a session ended, by how sessions ended that did otherwise there."""

from __future__ import annotations

from collections import defaultdict
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.claims.applicability import hands_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from strategies.episodes.episode import EpisodeRecord

LEAST: Final = 5
"""Sessions on either side from which they can be compared (a guess)."""
_Z: Final = 1.28
"""How surely those that did otherwise must have ended better: one-sided 90 %."""
_WORKED: Final = "worked"
_START: Final = "start"

Place = tuple[str, str]
"""What an agent had just done and what it saw: the class of its last action, and the template of its error."""


class DecidingStep(NamedTuple):
    """A step (an index) after which sessions ended worse than those that did something else in its place.

    `same` and `other` hold for both sides how many succeeded, and of how many; outcomes between are added up.
    """

    step: int
    place: Place
    action: str
    same: tuple[float, int]
    other: tuple[float, int]
    low: float


def deciding_step(record: EpisodeRecord, others: Iterable[EpisodeRecord]) -> DecidingStep | None:
    """Find the step of a session that failed which most likely decided that; None where no step differs.

    A choice is compared with the other choices of sessions with an outcome that had just seen the same, each
    session once for each place. The step counts for which the difference is largest for sure. What was decided by
    what an agent knew, and no log shows, cannot be found so.
    """
    sums: defaultdict[Place, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    for other in others:
        if other.outcome is None or other.id == record.id:
            continue
        for place, action in {(place, action) for _, place, action in _choices(other)}:
            sums[place][action][0] += other.outcome.value
            sums[place][action][1] += 1
    steps = [step for choice in _choices(record) if (step := _compared(choice, sums)) is not None]
    return max(steps, key=lambda step: (step.low, -step.step), default=None)


def _choices(record: EpisodeRecord) -> Iterator[tuple[int, Place, str]]:
    """List what an agent chose to do, each with what it had just seen."""
    place: Place = (_START, "")
    for at, step in enumerate(record.steps):
        if step.actor != "agent" or step.kind != "call" or hands_in(record, at):
            continue
        yield at, place, step.action
        place = (step.action, step.template if step.error else _WORKED)


def _compared(
    choice: tuple[int, Place, str], sums: defaultdict[Place, defaultdict[str, list[float]]]
) -> DecidingStep | None:
    """Compare a choice with the others at its place; None where they did not surely end better."""
    at, place, action = choice
    if place not in sums:
        return None
    won, count = sums[place][action]
    rest: Sequence[list[float]] = [both for other, both in sums[place].items() if other != action]
    won_other, count_other = sum(both[0] for both in rest), sum(both[1] for both in rest)
    if min(count, count_other) < LEAST:
        return None
    mean, mean_other = (won + 1) / (count + 2), (won_other + 1) / (count_other + 2)
    error = sqrt(mean * (1 - mean) / (count + 2) + mean_other * (1 - mean_other) / (count_other + 2))
    low = mean_other - mean - _Z * error
    return (
        DecidingStep(at, place, action, (won, int(count)), (won_other, int(count_other)), low) if low > 0 else None
    )
