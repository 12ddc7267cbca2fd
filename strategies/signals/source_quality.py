"""How far each source of outcomes from the world can be trusted: its agreement with labels, task by task."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from strategies.episodes.episode import WORLD_SOURCES
from strategies.signals.proportion import wilson
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from strategies.episodes.episode import EpisodeRecord, WorldSource
    from strategies.episodes.world_outcomes import World

LEAST_TASKS: Final = 10
"""Labelled tasks on which a source speaks, below which its agreement says nothing (a guess)."""


class TaskShare(NamedTuple):
    """A share of episodes in which each task counts once, however many trials it has; 95 % Wilson interval."""

    value: float
    low: float
    high: float
    episodes: int
    tasks: int


@dataclass(frozen=True, kw_only=True)
class SourceQuality:
    """What one source says, and how often labels say the same.

    `sessions` and `tasks` are those it speaks on, `labelled` and `labelled_tasks` those of them that have a label.
    `precision` is the share of what it calls a success (a failure) that is one, `recall` the share of all labelled
    successes (failures) that it calls so: its silence misses. None where there is nothing to count.
    """

    source: WorldSource | Literal["recovered"]
    sessions: int
    tasks: int
    labelled: int
    labelled_tasks: int
    agreement: TaskShare | None = None
    success_precision: TaskShare | None = None
    success_recall: TaskShare | None = None
    failure_precision: TaskShare | None = None
    failure_recall: TaskShare | None = None

    @property
    def enough(self) -> bool:
        """Tell whether there are enough labelled tasks to say anything."""
        return self.labelled_tasks >= LEAST_TASKS


def source_quality(
    records: Sequence[EpisodeRecord], world: Mapping[str, World], recovered: Mapping[str, float]
) -> tuple[SourceQuality, ...]:
    """Measure every source that speaks against labels; a hint is no label, and a label below 1 is a failure.

    `recovered` says by session whether the next attempt of what failed first worked: it is measured like a source.
    """
    by_source = {source: {name: world[name].get(source) for name in world} for source in WORLD_SOURCES}
    rows = [_of_source(source, records, outcomes) for source, outcomes in by_source.items()]
    rows.append(_of_source("recovered", records, recovered))
    return tuple(row for row in rows if row.sessions)


def _of_source(
    source: WorldSource | Literal["recovered"],
    records: Sequence[EpisodeRecord],
    outcomes: Mapping[str, float | None],
) -> SourceQuality:
    values = {record.id: outcomes.get(record.id) for record in records}
    labels = {record.id: value == 1 for record in records if (value := truth(record)) is not None}
    speaks = [record for record in records if values[record.id] is not None]
    both = [record for record in speaks if record.id in labels]
    called = {record.id: values[record.id] == 1 for record in both}

    def agreement(of: Iterable[EpisodeRecord]) -> TaskShare | None:
        return _task_share((record.task, labels[record.id] is called[record.id]) for record in of)

    def recall(*, label: bool) -> TaskShare | None:
        of = (record for record in records if labels.get(record.id) is label)
        return _task_share((record.task, called.get(record.id) is label) for record in of)

    successes = [record for record in both if called[record.id]]
    failures = [record for record in both if not called[record.id]]
    return SourceQuality(
        source=source,
        sessions=len(speaks),
        tasks=len({record.task for record in speaks}),
        labelled=len(both),
        labelled_tasks=len({record.task for record in both}),
        agreement=agreement(both),
        success_precision=agreement(successes),
        success_recall=recall(label=True) if successes else None,
        failure_precision=agreement(failures),
        failure_recall=recall(label=False) if failures else None,
    )


def _task_share(hits: Iterable[tuple[str, bool]]) -> TaskShare | None:
    """Count hits by task: trials of one task are copies, and no further evidence."""
    by_task: dict[str, list[bool]] = defaultdict(list)
    for task, hit in hits:
        by_task[task].append(hit)
    if not by_task:
        return None
    value = fmean(fmean(each) for each in by_task.values())
    low, high = wilson(value * len(by_task), len(by_task))
    return TaskShare(value, low, high, sum(map(len, by_task.values())), len(by_task))
