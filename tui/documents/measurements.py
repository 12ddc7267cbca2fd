"""Documents on measurements: scores of versions, models compared, the gate's own errors, advice."""

from typing import TYPE_CHECKING, Literal

from events.types.judgements import FailureFigures, Reading, Track
from events.types.score import Score, Split
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.evolve import TierMoveRow

if TYPE_CHECKING:
    from strategies.gate.rollout_rule import RolloutFigures
    from strategies.rollouts.compare.models import ComparedModel, ModelsCompared


class EvaluatorRow(Part):
    """The evaluator that measured; `new` if it was frozen just now; `hints` stand for labels in it."""

    id: str
    new: bool
    hints: tuple[str, ...] = ()


class VersionValue(Part):
    """The score of a version under the same evaluator."""

    version: int
    value: float


class ScoreDocument(Document):
    """Measure a version by replay, and record it; lines of the skill whose tier no longer holds lose it."""

    schema_: Literal["germline/score/1"] = "germline/score/1"
    skill: str
    version: int
    score: Score
    audit: Score | None
    audit_unmeasured: str | None
    evaluator: EvaluatorRow
    best: int | None
    versions: tuple[VersionValue, ...]
    recorded: bool
    tier_moves: tuple[TierMoveRow, ...]
    dry_run: bool
    events: tuple[EventRow, ...]


class MeanScore(Part):
    """A mean over tasks with its 95 % interval."""

    value: float
    low: float
    high: float


class FirstDifference(Part):
    """The difference to the first row, on the tasks that both finished."""

    difference: float
    low: float
    high: float
    tasks: int
    detectable: float


class ModelRow(Part):
    """One version under one model."""

    model: str
    version: str
    evaluator: str
    score: MeanScore | None
    tasks: int
    against_first: FirstDifference | None
    runs: int
    missing: int
    cost_usd: float
    unpriced: int

    @classmethod
    def of(cls, row: "ComparedModel") -> "ModelRow":
        """Read it from the comparison."""
        return cls.described(
            row,
            score=_mean(row.score),
            tasks=row.score.tasks,
            against_first=FirstDifference.model_validate(row.against)
            if row.against is not None and row.against.tasks
            else None,
        )


def _mean(figures: "RolloutFigures") -> MeanScore | None:
    if not figures.tasks:
        return None
    return MeanScore(value=figures.difference, low=max(figures.low, 0.0), high=figures.high)


class CompareDocument(Document):
    """Run the same sealed tasks under several models and versions."""

    schema_: Literal["germline/compare/1"] = "germline/compare/1"
    dry_run: Rehearsed = False
    skill: Absent[str] = ABSENT
    sealed_tasks: int
    most_runs: Absent[int] = ABSENT
    rounds: Absent[int] = ABSENT
    runs: Absent[int] = ABSENT
    reused: Absent[int] = ABSENT
    stopped: Absent[str | None] = ABSENT
    rows: Absent[tuple[ModelRow, ...]] = ABSENT
    events: Absent[tuple[EventRow, ...]] = ABSENT

    @classmethod
    def of(cls, skill: str, compared: "ModelsCompared") -> "CompareDocument":
        """Describe a comparison that was made."""
        return cls(
            skill=skill,
            sealed_tasks=compared.tasks,
            rounds=compared.rounds,
            runs=compared.made,
            reused=compared.reused,
            stopped=compared.stopped or None,
            rows=tuple(map(ModelRow.of, compared.rows)),
        )


class TaskRow(Part):
    """A task of a set; `in_logs` where logs show it, so that its split is the one it has there."""

    task: str
    split: Split
    in_logs: bool
    prompt: str


class TasksListDocument(Document):
    """List the tasks of a set by split, and how many each split has."""

    schema_: Literal["germline/tasks-list/1"] = "germline/tasks-list/1"
    explore: int
    sealed: int
    audit: int
    tasks: tuple[TaskRow, ...]


class GateSelftestCheck(Part):
    """How often the gate was wrong in comparisons of one kind; `limit` is null where no rate is stated."""

    kind: str
    wrong: int
    n: int
    rate: float
    low: float
    high: float
    sources: int
    limit: float | None
    ok: bool
    says: str


class GateSelftestDocument(Document):
    """Measure the gate's real error rates, where nothing changed and where nothing can have."""

    schema_: Literal["germline/gate-selftest/1"] = "germline/gate-selftest/1"
    kind: str
    preset: str
    seed: int
    episodes: int
    sources: int
    false_promotion_rate: float
    n: int
    low: float
    high: float
    mean_rises: float
    allowed: float
    checks: tuple[GateSelftestCheck, ...]
    unknown: str
    ok: bool


class AdviceCheckRow(Part):
    """One measured figure, and whether it passes the threshold that it is held to."""

    name: str
    value: int | float | None
    threshold: int | float
    fires: bool
    why: str


class ModelReading(Reading):
    """What a model makes of the same, in its own words too."""

    rationale: str
    next_steps: tuple[str, ...]


class AdviseDocument(Document):
    """Say what to work on, from how runs failed."""

    schema_: Literal["germline/advise/1"] = "germline/advise/1"
    skill: str | None
    track: Track
    reasons: tuple[str, ...]
    commands: tuple[str, ...]
    figures: FailureFigures
    checks: tuple[AdviceCheckRow, ...]
    model: ModelReading | None
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]
