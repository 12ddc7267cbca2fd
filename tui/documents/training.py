"""The documents of `germline train`: the epochs of a training, what it would take, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from events.types.score import Delta
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.train.training_record import EpochRow, TrainingRecord


class EpochPart(Part):
    """One epoch; `runs` and `cost_usd` are of the training so far, the deltas those of its last promotion."""

    epoch: int
    version: int
    explored: float | None
    delta: Delta | None
    audit_delta: Delta | None
    promoted: tuple[str, ...]
    held: tuple[str, ...]
    rejected: tuple[str, ...]
    lines: int
    tokens: int
    runs: int
    cost_usd: float
    because: str


class TrainingPart(Part):
    """A training with the tasks of each split, and its epochs."""

    training: str
    skill: str
    began_with: int
    proposer: str
    agent: str
    evaluator: str
    explore: int
    sealed: int
    audit: int
    epochs: tuple[EpochPart, ...]

    @classmethod
    def of(cls, record: TrainingRecord, rows: Iterable[EpochRow]) -> TrainingPart:
        """Read it from the log's record."""
        started = record.started
        epochs = [EpochPart.described(row.epoch, delta=row.sealed, audit_delta=row.audit) for row in rows]
        return cls.described(started, skill=started.capsule, began_with=started.version, epochs=tuple(epochs))


class TrainDocument(Document):
    """Train a skill on tasks: propose from runs on explore tasks, test on sealed ones, promote, again.

    A dry run says how many runs there may be at most; `why` says why there are no more epochs.
    """

    schema_: Literal["germline/train/1"] = "germline/train/1"
    dry_run: Rehearsed = False
    skill: str
    trainings: tuple[TrainingPart, ...]
    why: Absent[str] = ABSENT
    explore_tasks: Absent[int] = ABSENT
    sealed_tasks: Absent[int] = ABSENT
    audit_tasks: Absent[int] = ABSENT
    agent: Absent[str] = ABSENT
    proposer: Absent[str] = ABSENT
    most_runs: Absent[int] = ABSENT
