"""The documents of `germline evolve` and `germline train`: turns and epochs, and what they came to."""

from typing import TYPE_CHECKING, Literal

from events.types.capsule_events import DescriptionJudged, RetirementProposed
from events.types.claims import Claim
from events.types.runs import Rollouts
from events.types.score import Delta, Effect, Score
from events.types.tiers import TierFigures
from tui.documents.document import ABSENT, Absent, Document, OrNull, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.scores import AuditScores, score_of
from tui.documents.signals import PickReason, RestingSignal, SignalRow
from tui.documents.status import AutoPreset
from tui.facts.scores import why_unmeasured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.evolve.guidance import Guidance
    from strategies.evolve.loop import Evolution
    from strategies.evolve.results import CycleResult, ModelReport
    from strategies.monitor.rollback import TakenBack
    from strategies.tiers.rejudge import TierMove
    from strategies.train.training_record import EpochRow, TrainingRecord


class EditRow(Part):
    """An edit: where its text begins in the projected file, and the text."""

    op: str
    line: int
    text: str


class CycleCandidate(Part):
    """The candidate of a turn."""

    id: str
    edits: tuple[EditRow, ...]
    claims: tuple[Claim, ...]


class CycleRow(Part):
    """What one turn came to."""

    strategy: str
    skill: str
    signal: SignalRow
    candidate: CycleCandidate | None
    effect: Effect | None
    verdict: str
    reasons: tuple[str, ...]
    before: Score | None
    after: Score | None
    unmeasured: str | None
    delta: Delta | None
    audit: AuditScores | None
    rollouts: Rollouts | None
    tier: TierFigures | None
    version: int | None
    tried: int
    known_tasks: int | None
    needed_tasks: int | None
    proposer: OrNull[str]
    remembered: bool
    preset: str
    because: OrNull[str]
    pick: PickReason | None

    @classmethod
    def of(cls, cycle: "CycleResult") -> "CycleRow":
        """Read it from the turn."""
        audit = AuditScores(
            before=score_of(cycle.audit_before), after=score_of(cycle.audit_after), delta=cycle.audit_delta
        )
        return cls.described(
            cycle,
            skill=cycle.capsule,
            signal=SignalRow.model_validate(cycle.signal),
            candidate=CycleCandidate.model_validate(cycle.candidate) if cycle.candidate else None,
            before=score_of(cycle.before),
            after=score_of(cycle.after),
            unmeasured=why_unmeasured(cycle.after),
            audit=audit if cycle.candidate else None,
            known_tasks=cycle.needed.known if cycle.needed else None,
            needed_tasks=cycle.needed.needed if cycle.needed else None,
            pick=PickReason.of(cycle.pick) if cycle.pick else None,
        )


class FallenVersion(Part):
    """A version under which outcomes fell; `made` is the version that went back, null where it is held."""

    skill: str
    version: int
    to: int
    made: int | None
    won: int
    outcomes: int
    won_before: int
    outcomes_before: int
    p: float
    reason: str
    held: str | None
    command: str | None

    @classmethod
    def of(cls, back: "TakenBack") -> "FallenVersion":
        """Read it from what became of the version."""
        fall = back.fall
        return cls.described(
            fall,
            skill=back.skill,
            version=int(fall.version),
            to=back.to,
            made=back.version,
            reason=back.reason,
            held=back.held or None,
            command=back.command if back.held else None,
        )


class TierMoveRow(Part):
    """A live line that climbed to another tier, was seen again, or fell: figures before and after, and why.

    `version` is the one without it; `held` says why it was not taken out of its skill.
    """

    skill: str
    candidate: str
    text: str
    before: TierFigures | None
    after: TierFigures | None
    reason: str
    version: int | None
    held: OrNull[str]

    @classmethod
    def of(cls, move: "TierMove") -> "TierMoveRow":
        """Read it from what became of the line."""
        return cls.described(move)


class EvolveCounts(Part):
    """What became of the candidates of a run, those that an earlier run had judged as well."""

    promoted: int
    held: int
    rejected: int
    without_candidate: int
    known: int

    @classmethod
    def of(cls, cycles: "Sequence[CycleResult]") -> "EvolveCounts":
        """Count the turns of a run."""
        judged = [cycle.verdict for cycle in cycles if cycle.candidate]
        return cls(
            promoted=judged.count("promote"),
            held=judged.count("hold"),
            rejected=judged.count("reject"),
            without_candidate=len(cycles) - len(judged),
            known=sum(cycle.remembered for cycle in cycles),
        )


class GuidedTasks(Part):
    """The same explore tasks under the first and the last version of a run."""

    improved: tuple[str, ...]
    regressed: tuple[str, ...]
    still_failing: tuple[str, ...]
    still_fine: tuple[str, ...]


class GuidedCandidate(Part):
    """The candidate that slow guidance led to."""

    id: str
    claims: tuple[Claim, ...]


class GuidanceRow(Part):
    """What a run did to the same tasks, and the candidate with its verdict, if that led to one."""

    skill: str
    first: int
    last: int
    tasks: GuidedTasks
    candidate: GuidedCandidate | None
    verdict: str | None
    reasons: tuple[str, ...]
    version: int | None

    @classmethod
    def of(cls, guidance: "Guidance") -> "GuidanceRow":
        """Read it from the guidance."""
        result = guidance.result
        candidate = result.candidate if result else None
        return cls(
            skill=guidance.skill,
            first=guidance.first,
            last=guidance.last,
            tasks=GuidedTasks.model_validate(guidance.changes),
            candidate=GuidedCandidate.model_validate(candidate) if candidate else None,
            verdict=result.verdict if result else None,
            reasons=result.reasons if result else (),
            version=result.version if result else None,
        )


class RefutedCount(Part):
    """Candidates that logs speak against, by the logs that do, or `runs` of an agent."""

    explore: int
    sealed: int
    runs: int


class ModelUse(Part):
    """What a model was asked in a run, and what its suggestions were worth."""

    models: tuple[str, ...]
    prompts: int
    replayed: int
    tokens: int
    cost_usd: float | None
    suggested: int
    misfit: int
    repeated: int
    refused: int
    contradicting: int
    clipped: int
    refuted: RefutedCount
    quarantined: int
    written: int
    failures: tuple[str, ...]

    @classmethod
    def of(cls, report: "ModelReport") -> "ModelUse":
        """Read it from the report on the model."""
        return cls.described(
            report,
            **report.tally._asdict(),
            refuted=RefutedCount(
                explore=report.refuted_on_explore, sealed=report.refuted_on_sealed, runs=report.refuted_by_runs
            ),
        )


class EvolveRun(Part):
    """A run of evolution."""

    preset: str
    auto: AutoPreset | None
    seed: int
    cycles: tuple[CycleRow, ...]
    tried: int
    known_tasks: int | None
    needed_tasks: int | None
    unrouted: tuple[SignalRow, ...]
    resting: tuple[RestingSignal, ...]
    taken_back: tuple[FallenVersion, ...]
    retirements: tuple[RetirementProposed, ...]
    misfits: tuple[SignalRow, ...]
    descriptions: tuple[DescriptionJudged, ...]
    tier_moves: tuple[TierMoveRow, ...]
    counts: EvolveCounts
    guidance: tuple[GuidanceRow, ...]
    model: ModelUse | None
    stopped: str
    settled: bool

    @classmethod
    def of(cls, run: "Evolution") -> "EvolveRun":
        """Read it from what the run came to."""
        bound = run.bound
        return cls(
            preset=run.preset,
            auto=AutoPreset(preset=bound.preset.name, because=bound.because) if bound.because else None,
            seed=run.seed,
            cycles=tuple(map(CycleRow.of, run.cycles)),
            tried=run.tried,
            known_tasks=run.needed.known if run.needed else None,
            needed_tasks=run.needed.needed if run.needed else None,
            unrouted=tuple(map(SignalRow.model_validate, run.unrouted)),
            resting=tuple(map(RestingSignal.model_validate, run.resting)),
            taken_back=tuple(map(FallenVersion.of, run.taken_back)),
            retirements=run.retirements,
            misfits=tuple(map(SignalRow.model_validate, run.misfits)),
            descriptions=run.descriptions,
            tier_moves=tuple(map(TierMoveRow.of, run.moves)),
            counts=EvolveCounts.of(run.cycles),
            guidance=tuple(map(GuidanceRow.of, run.guidance)),
            model=ModelUse.of(run.model) if run.model else None,
            stopped=run.stop.why,
            settled=run.stop.settled,
        )


class EvolveDocument(EvolveRun, Document):
    """Take turns of evolution: scan, select, propose, gate, project."""

    schema_: Literal["germline/evolve/1"] = "germline/evolve/1"
    dry_run: Rehearsed = False
    events: Absent[tuple[EventRow, ...]] = ABSENT

    @classmethod
    def of_run(cls, run: "Evolution", events: tuple[EventRow, ...] | None) -> "EvolveDocument":
        """Describe a run; `events` are those of a dry run."""
        rehearsed = {} if events is None else {"dry_run": True, "events": events}
        return cls(**dict(EvolveRun.of(run)), **rehearsed)


class EpochPart(Part):
    """One epoch; `runs` and `cost_usd` are of the training so far, the deltas the sums of its promotions'."""

    epoch: int
    version: int
    explored: float | None
    delta: float | None
    audit_delta: float | None
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
    def of(cls, record: "TrainingRecord", rows: "Iterable[EpochRow]") -> "TrainingPart":
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
