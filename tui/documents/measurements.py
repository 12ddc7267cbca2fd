"""Documents on measurements: scores of versions, models compared, the gate's own errors, advice, experiments."""

from typing import TYPE_CHECKING, Literal

from events.types.judgements import Assessment, FailureFigures, Reading, Rung, Track
from events.types.parts import FileEntry
from events.types.research_events import ExperimentVerdict
from events.types.score import Score, Split
from tui.documents.document import ABSENT, Absent, Document, OrNull, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.evolve import TierMoveRow

if TYPE_CHECKING:
    from strategies.gate.rollout_rule import RolloutFigures
    from strategies.research.research_record import Experiment, ResearchRecord
    from strategies.rollouts.compare.models import ComparedModel, ModelsCompared
    from tui.reads.researched_files import ResearchedLine


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


class TasksExportDocument(Document):
    """Write the tasks of a set as the evals of a skill: where, and how many tasks and files they are."""

    schema_: Literal["germline/tasks-export/1"] = "germline/tasks-export/1"
    dry_run: bool
    skill: str
    place: str
    tasks: int
    files: int


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


class LadderPart(Part):
    """The rung to work on next, null where work stops; the rounds begun there, and why it is this one."""

    rung: Rung | None
    rounds: int
    why: str


class AdviseDocument(Document):
    """Say what to work on, from how runs failed."""

    schema_: Literal["germline/advise/1"] = "germline/advise/1"
    skill: str | None
    track: Track
    reasons: tuple[str, ...]
    commands: tuple[str, ...]
    figures: FailureFigures
    checks: tuple[AdviceCheckRow, ...]
    assessment: Assessment
    ladder: LadderPart
    model: ModelReading | None
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]


class NoisePart(Part):
    """The metric on files as they were: how often it was measured, its median, and the deviation from that."""

    content: str
    runs: int
    middle: float
    deviation: float


class ExperimentPart(Part):
    """One experiment; `before` and `after` of `files` are contents by hash, of the measure its numbers."""

    experiment: int
    actor: str
    reason: str
    files_before: tuple[FileEntry, ...]
    files_after: tuple[FileEntry, ...]
    candidate: OrNull[str]
    verdict: ExperimentVerdict | None
    reasons: tuple[str, ...]
    before: float | None
    after: float | None
    e_value: float | None
    runs: int
    version: int | None
    undone: bool

    @classmethod
    def of(cls, known: "Experiment") -> "ExperimentPart":
        """Read it from the log's record; one that goes on has no verdict."""
        proposed, ended = known.proposed, known.ended
        return cls(
            experiment=proposed.experiment,
            actor=known.actor,
            reason=proposed.reason,
            files_before=proposed.before,
            files_after=proposed.after,
            candidate=proposed.candidate,
            verdict=ended.verdict if ended else None,
            reasons=ended.reasons if ended else (),
            before=ended.before if ended else None,
            after=ended.after if ended else None,
            e_value=ended.e_value if ended else None,
            runs=ended.runs if ended else 0,
            version=ended.version if ended else None,
            undone=known.undone,
        )


class ResearchPart(Part):
    """A research: what may change, what measures it, and its experiments."""

    research: str
    target: str
    kind: Literal["skill", "file"]
    surface: tuple[str, ...]
    measured_by: str
    proposer: str
    noise: tuple[NoisePart, ...]
    experiments: tuple[ExperimentPart, ...]

    @classmethod
    def of(cls, record: "ResearchRecord") -> "ResearchPart":
        """Read it from the log's record."""
        noise = tuple(NoisePart.described(each) for each in record.noise.values())
        return cls.described(
            record.started, noise=noise, experiments=tuple(map(ExperimentPart.of, record.experiments))
        )


class ResearchDocument(Document):
    """Research files by experiments: propose, measure beside what there is, keep or put back, again.

    A dry run says what may change and how many runs there may be at most; `why` says why there are no more
    experiments, `undone` which one was taken back.
    """

    schema_: Literal["germline/research/1"] = "germline/research/1"
    dry_run: Rehearsed = False
    target: str
    researches: tuple[ResearchPart, ...]
    why: Absent[str] = ABSENT
    undone: Absent[int] = ABSENT
    surface: Absent[tuple[str, ...]] = ABSENT
    measured_by: Absent[str] = ABSENT
    proposer: Absent[str] = ABSENT
    most_runs: Absent[int] = ABSENT


class WhyResearchedDocument(Document):
    """Explain a line of a file outside of any skill: the kept experiment that it is from, null for none."""

    schema_: Literal["germline/why-researched/1"] = "germline/why-researched/1"
    path: str
    line: int
    text: str
    experiment: ExperimentPart | None

    @classmethod
    def of(cls, path: str, number: int, line: "ResearchedLine") -> "WhyResearchedDocument":
        """Describe a line."""
        experiment = ExperimentPart.of(line.experiment) if line.experiment else None
        return cls(path=path, line=number, text=line.text.rstrip("\r\n"), experiment=experiment)
