"""Episodes reduced to counts by task and course, which the replay score is refitted on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import repeat
from operator import add, itemgetter, mul
from struct import unpack
from typing import TYPE_CHECKING, NamedTuple

from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.exposure import course_at, moments_of_each
from strategies.gate.stats.mantel_haenszel import stratifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from events.types.claims import Claim
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.exposure import Inverse
    from strategies.gate.stats.mantel_haenszel import Stratum

    MomentsByClaim = Mapping[Claim | Inverse, Sequence[Moment | None]]
    """Of several claims, the moment in each episode."""

Course = tuple[tuple[int, bool], ...]
"""What an episode is judged by: the place of each claim in its stratum, and whether it obeyed there."""


class ReplayCell(NamedTuple):
    """Episodes of one task and one course: the number of the course, how many, and the sum of their outcomes."""

    course: int
    n: int
    total: float


class PanelPlace(NamedTuple):
    """One claim in one stratum: the courses that meet it, by what was done there."""

    obeyed: tuple[int, ...]
    disobeyed: tuple[int, ...]


class PackedDraws(NamedTuple):
    """How often each of several draws counts each task.

    `packed` holds the same numbers by task, those of all draws side by side in one whole number, which is added
    and multiplied as one: a twentieth of the time (measured).
    """

    weights: tuple[Sequence[int], ...]
    packed: tuple[int, ...]

    def unpacked(self, sums: int) -> Sequence[int]:
        """Give the sum of each draw; episodes drawn are less than 2**32."""
        count = len(self.weights)
        return unpack(f"<{count}I", sums.to_bytes(4 * count, "little"))


class _Addends(NamedTuple):
    """What some tasks add to a sum each time they are drawn; `amounts` is None where that is 1 for each.

    `pick` names their weights in one go: a third of the time of a loop (measured 2026-11-22).
    """

    pick: Callable[[Sequence[int]], Sequence[int]]
    amounts: tuple[int, ...] | tuple[float, ...] | None

    @property
    def whole(self) -> bool:
        """Whether all amounts are whole numbers: sums of them are exact, in whatever order."""
        return self.amounts is None or isinstance(self.amounts[0], int)

    def sum(self, weights: Sequence[int]) -> float:
        """Add up what was drawn.

        Whole amounts are added as such, which is exact. Others are added one by one: `sum` rounds floats
        differently from Python 3.12 on, and a score must not.
        """
        drawn = self.pick(weights)
        if self.amounts is None:
            return sum(drawn)
        added = map(mul, drawn, self.amounts)
        return sum(added) if self.whole else reduce(add, added, 0.0)

    def sums(self, draws: PackedDraws) -> Sequence[float]:
        """Add up each of several draws, whole amounts for all of them at once."""
        if not self.whole:
            return [self.sum(weights) for weights in draws.weights]
        return draws.unpacked(int(self.sum(draws.packed)))


class _Column(NamedTuple):
    """The cells of one course: what they add to its number of episodes, and to its sum of outcomes."""

    course: int
    n: _Addends
    total: _Addends


@dataclass(frozen=True)
class ReplayPanel:
    """Episodes reduced to counts, so that a refit costs one addition for each task and course.

    Shapes: `cells` aligns with the sorted tasks; `places` holds those of each claim, in gene order, where some
    obeyed it and others did not.
    """

    cells: tuple[tuple[ReplayCell, ...], ...]
    courses: tuple[Course, ...]
    places: tuple[tuple[PanelPlace, ...], ...]

    @cached_property
    def disobedient(self) -> list[int]:
        """The courses on which some claim was not obeyed."""
        return [at for at, course in enumerate(self.courses) if not all(obeyed for _, obeyed in course)]

    @cached_property
    def columns(self) -> tuple[_Column, ...]:
        """The same counts by course: a refit adds up columns, each of them in one go."""
        cells_of: dict[int, list[tuple[int, int, float]]] = {}
        for place, cells in enumerate(self.cells):
            for course, n, total in cells:
                cells_of.setdefault(course, []).append((place, n, total))
        return tuple(
            _Column(
                course,
                _addends([(place, n) for place, n, _ in cells]),
                _addends([(place, total) for place, _, total in cells]),
            )
            for course, cells in cells_of.items()
        )


def _addends(amounts: Sequence[tuple[int, float]]) -> _Addends:
    """Lay out what tasks add, each by its place among them; what is 0 adds nothing."""
    places = [place for place, amount in amounts if amount]
    added = [amount for _, amount in amounts if amount]
    if all(amount == int(amount) for amount in added):
        added = [int(amount) for amount in added]
    few = slice(places[0], places[0] + 1) if places else slice(0)  # of one place, `itemgetter` gives no sequence
    pick = itemgetter(*places) if len(places) > 1 else itemgetter(few)
    return _Addends(pick, None if set(added) <= {1} else tuple(added))


def panel_of(
    records: Sequence[EpisodeRecord], claims: Sequence[Claim | Inverse], known: MomentsByClaim | None = None
) -> ReplayPanel:
    """Reduce episodes to counts by task and course.

    Shapes: claims in gene order; episodes with an outcome, at least one. `known` are the moments of these claims,
    where they are known already.
    """
    known = moments_of_each(claims, records) if known is None else known
    moments = zip(*(known[claim] for claim in claims), strict=True) if claims else repeat((), len(records))
    stratum_of = stratifier(records)
    numbers: dict[tuple[int, Stratum], int] = {}
    courses: dict[Course, int] = {}
    tasks: dict[str, dict[int, list[float]]] = {task: {} for task in sorted({r.task for r in records})}
    for record, met in zip(records, moments, strict=True):
        stratum = stratum_of(record)
        course = tuple(
            [(numbers.setdefault((claim, stratum), len(numbers)), obeyed) for claim, obeyed in course_at(met)]
        )
        number = courses.setdefault(course, len(courses))
        tasks[record.task].setdefault(number, []).append(outcome_of(record))
    cells = tuple(
        tuple(ReplayCell(course, len(ys), sum(ys)) for course, ys in sorted(ended.items()))
        for ended in tasks.values()
    )
    arms: list[tuple[list[int], list[int]]] = [([], []) for _ in numbers]
    for course, number in courses.items():
        for place, obeyed in course:
            arms[place][not obeyed].append(number)
    of_claim: list[list[PanelPlace]] = [[] for _ in claims]
    for (claim, _), place in numbers.items():
        if all(arms[place]):
            of_claim[claim].append(PanelPlace(*map(tuple, arms[place])))
    return ReplayPanel(cells, tuple(courses), tuple(map(tuple, of_claim)))
