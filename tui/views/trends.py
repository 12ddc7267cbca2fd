"""Trends of a skill over its versions: scores, tasks, obedience and size, as plain rows and series; pure.

What draws them comes after: the report as charts and tables, a screen as rows. Scores of different evaluators
never share a series, for they are never compared.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from events.score import Score
    from strategies.gate.track_record import TrackRecord

MarkOfCell = Literal["passed", "failed", "mixed"]
TrendSplit = Literal["sealed", "audit"]
SPLITS: Final[tuple[TrendSplit, ...]] = ("sealed", "audit")


class Measurement(NamedTuple):
    """A score of a version, and the event that recorded it; `as_base` where a candidate was the point."""

    position: int
    version: int
    score: Score
    as_base: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """The scores of one split under one evaluator, by version; the last one where a version has several."""

    split: TrendSplit
    scores: Mapping[int, Score]


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything that one evaluator measured: what may be drawn over one axis, and compared."""

    evaluator: str
    series: tuple[Series, ...]

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that it measured, in order."""
        return tuple(sorted({version for one in self.series for version in one.scores}))

    def score(self, split: TrendSplit, version: int) -> Score | None:
        """Return what it measured of a version on a split, None where it did not."""
        return next((one.scores.get(version) for one in self.series if one.split == split), None)

    @property
    def example(self) -> Score:
        """One of its scores: what they all share stands there (kind, endpoint)."""
        return next(score for one in self.series for score in one.scores.values())


def panels(measurements: Iterable[Measurement]) -> tuple[Panel, ...]:
    """Sort scores by evaluator, in the order in which they first measured: between two panels there is a seam.

    What was measured of a version for its own sake counts before what was measured of it as a base.
    """
    found: dict[str, dict[TrendSplit, dict[int, Measurement]]] = {}
    for one in sorted(measurements, key=lambda one: (one.position, one.version)):
        split = one.score.split
        if split == "explore":
            continue
        of_split = found.setdefault(one.score.evaluator, {}).setdefault(split, {})
        if one.version not in of_split or of_split[one.version].as_base or not one.as_base:
            of_split[one.version] = one
    return tuple(
        Panel(
            evaluator,
            tuple(
                Series(split, {version: one.score for version, one in sorted(by_split[split].items())})
                for split in SPLITS
                if split in by_split
            ),
        )
        for evaluator, by_split in found.items()
    )


class TaskRun(NamedTuple):
    """One run of a task under a version: an episode of a log with an outcome, or a run that germline made.

    `run` says under which configuration, or in which round; `name` and `source` where to find it.
    """

    task: str
    version: int
    passed: bool
    id: str
    run: str
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Cell:
    """What became of a task under a version."""

    runs: tuple[TaskRun, ...]

    @property
    def passed(self) -> int:
        """How many of its runs passed."""
        return sum(one.passed for one in self.runs)

    @property
    def mark(self) -> MarkOfCell:
        """Whether all of its runs passed, or none did."""
        return "passed" if self.passed == len(self.runs) else "mixed" if self.passed else "failed"


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One task with its cells, by version."""

    task: str
    cells: Mapping[int, Cell]

    @property
    def changes(self) -> int:
        """How often its mark changes from one version that ran it to the next."""
        return sum(one != other for one, other in pairwise(self.cells[at].mark for at in sorted(self.cells)))


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Tasks by versions: which passed under which; `left_out` counts the tasks that have no row."""

    versions: tuple[int, ...]
    rows: tuple[HeatRow, ...]
    left_out: int


def heat_map(runs: Iterable[TaskRun], versions: Iterable[int], *, most_tasks: int) -> HeatMap:
    """Sort runs into tasks by versions; tasks that changed most come first, the last ones are left out.

    Versions under which nothing ran have no column.
    """
    wanted = set(versions)
    cells: dict[str, dict[int, list[TaskRun]]] = defaultdict(lambda: defaultdict(list))
    for one in sorted(runs, key=lambda one: (one.source, one.name, one.id)):
        if one.version in wanted:
            cells[one.task][one.version].append(one)
    every = [
        HeatRow(task, {version: Cell(tuple(found)) for version, found in sorted(by_version.items())})
        for task, by_version in cells.items()
    ]
    every.sort(key=lambda row: (-row.changes, all(c.mark != "mixed" for c in row.cells.values()), row.task))
    rows = tuple(every[:most_tasks])
    columns = tuple(sorted({version for row in rows for version in row.cells}))
    return HeatMap(columns, rows, len(every) - len(rows))


class Obedience(NamedTuple):
    """How often the episodes under a version obeyed its claims, with a 95 % interval (Wilson); shares in [0, 1].

    `exposed` counts the episodes that reached the moment of a claim: the rest says nothing either way.
    """

    version: int
    exposed: int
    obeyed: int
    share: float
    low: float
    high: float


def obedience(records: Mapping[int, TrackRecord]) -> tuple[Obedience, ...]:
    """Give obedience by version, where any episode reached the moment of a claim."""
    return tuple(
        Obedience(version, one.exposed, one.obeyed, one.obeyed / one.exposed, *wilson(one.obeyed, one.exposed))
        for version, one in sorted(records.items())
        if one.exposed
    )


class Size(NamedTuple):
    """How many lines a version says something in, and how many of them carry a claim."""

    version: int
    lines: int
    claimed: int

    @property
    def share(self) -> float:
        """The share of claimed lines, in [0, 1]."""
        return self.claimed / self.lines if self.lines else 0.0


@dataclass(frozen=True, slots=True)
class Trends:
    """All trends of one skill over the versions `first` to `last`; shapes: `sizes` has one entry for each."""

    first: int
    last: int
    panels: tuple[Panel, ...]
    tasks: HeatMap
    obedience: tuple[Obedience, ...]
    sizes: tuple[Size, ...]
