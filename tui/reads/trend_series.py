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

    from events.types.score import Score
    from strategies.gate.track_record import TrackRecord

MarkOfCell = Literal["passed", "failed", "mixed"]
TrendSplit = Literal["sealed", "audit"]
SPLITS: Final[tuple[TrendSplit, ...]] = ("sealed", "audit")


class ScorePoint(NamedTuple):
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
class EvaluatorPanel:
    """Everything that one evaluator measured: what may be drawn over one axis, and compared."""

    evaluator: str
    series: tuple[Series, ...]

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that it measured, in order."""
        return tuple(sorted({version for series in self.series for version in series.scores}))

    def score(self, split: TrendSplit, version: int) -> Score | None:
        """Return what it measured of a version on a split, None where it did not."""
        return next((series.scores.get(version) for series in self.series if series.split == split), None)

    @property
    def example(self) -> Score:
        """One of its scores: what they all share is in it (kind, endpoint)."""
        return next(score for series in self.series for score in series.scores.values())


def panels(measurements: Iterable[ScorePoint]) -> tuple[EvaluatorPanel, ...]:
    """Sort scores by evaluator, in the order in which they first measured: between two panels there is a seam.

    What was measured of a version for its own sake counts before what was measured of it as a base.
    """
    by_evaluator: dict[str, dict[TrendSplit, dict[int, ScorePoint]]] = {}
    for point in sorted(measurements, key=lambda point: (point.position, point.version)):
        split = point.score.split
        if split == "explore":
            continue
        of_split = by_evaluator.setdefault(point.score.evaluator, {}).setdefault(split, {})
        if point.version not in of_split or of_split[point.version].as_base or not point.as_base:
            of_split[point.version] = point
    return tuple(
        EvaluatorPanel(
            evaluator,
            tuple(
                Series(split, {version: point.score for version, point in sorted(by_split[split].items())})
                for split in SPLITS
                if split in by_split
            ),
        )
        for evaluator, by_split in by_evaluator.items()
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
class HeatCell:
    """What became of a task under a version."""

    runs: tuple[TaskRun, ...]

    @property
    def passed(self) -> int:
        """How many of its runs passed."""
        return sum(run.passed for run in self.runs)

    @property
    def mark(self) -> MarkOfCell:
        """Whether all of its runs passed, or none did."""
        return "passed" if self.passed == len(self.runs) else "mixed" if self.passed else "failed"


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One task with its cells, by version."""

    task: str
    cells: Mapping[int, HeatCell]

    @property
    def changes(self) -> int:
        """How often its mark changes from one version that ran it to the next."""
        return sum(mark != other for mark, other in pairwise(self.cells[at].mark for at in sorted(self.cells)))


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
    for run in sorted(runs, key=lambda run: (run.source, run.name, run.id)):
        if run.version in wanted:
            cells[run.task][run.version].append(run)
    every = [
        HeatRow(task, {version: HeatCell(tuple(cell_runs)) for version, cell_runs in sorted(by_version.items())})
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
        Obedience(
            version,
            record.exposed,
            record.obeyed,
            record.obeyed / record.exposed,
            *wilson(record.obeyed, record.exposed),
        )
        for version, record in sorted(records.items())
        if record.exposed
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
    panels: tuple[EvaluatorPanel, ...]
    tasks: HeatMap
    obedience: tuple[Obedience, ...]
    sizes: tuple[Size, ...]
