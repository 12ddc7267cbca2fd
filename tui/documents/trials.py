"""The documents of `germline trial`: what is tried, what it could find, and what it shows."""

from typing import TYPE_CHECKING, Literal

from events.types.trial_events import TrialDecision, TrialFigures, TrialOutcome, TrialUnit
from registry.query.trials import TrialFinding, shown_by
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow

if TYPE_CHECKING:
    from registry.state.trial import SkillTrial
    from strategies.trials.trial_sessions import Compliance
    from strategies.trials.trial_terms import TrialPlan


class TrialPower(Part):
    """What a trial could find: how often it would prove its gain, and in how many weeks; block_s in seconds."""

    unit: TrialUnit
    block_s: int
    outcome: TrialOutcome
    budget: int
    gain: float
    base_rate: float
    sessions_before: int
    sessions_a_week: float
    proven: float
    weeks: float
    crossing: float

    @classmethod
    def of(cls, plan: "TrialPlan") -> "TrialPower":
        """Read it from the plan."""
        started, history, power = plan
        return cls.described(
            started,
            base_rate=history.base_rate,
            sessions_before=len(history.sessions),
            sessions_a_week=history.a_week,
            proven=power.proven,
            weeks=power.weeks,
            crossing=power.crossing,
        )


class TrialLine(Part):
    """What a trial shows of one line, or of one version against another."""

    name: str
    candidate: str | None
    decision: TrialDecision
    shows: str
    result: TrialFigures | None

    @classmethod
    def of(cls, finding: TrialFinding) -> "TrialLine":
        """Read it from what a trial shows of a factor."""
        trial, factor, result = finding
        return cls(
            name=factor.name,
            candidate=factor.candidate or None,
            decision=result.decision if result else "stopped" if trial.ended else "running",
            shows=shown_by(result, trial.started.outcome),
            result=result,
        )


class TrialRow(Part):
    """A trial as far as it went; `loaded` of sessions showed their text, `as_meant` that of their arm."""

    trial: str
    skill: str
    unit: TrialUnit
    block_s: int
    outcome: TrialOutcome
    budget: int
    gain: float
    started_at: str
    ended_at: str | None
    ended_because: str | None
    lines: tuple[TrialLine, ...]
    sessions: int
    assigned: int
    missed: int
    problem: str | None
    loaded: Absent[int] = ABSENT
    as_meant: Absent[int] = ABSENT

    @classmethod
    def of(cls, trial: "SkillTrial", complied: "Compliance | None" = None) -> "TrialRow":
        """Read it from the trial."""
        started = trial.started
        figures = trial.results or (None,) * len(started.factors)
        factors = zip(started.factors, figures, strict=True)
        return cls(  # not `described`: `loaded` of a start is whether only such sessions count, no number of them
            trial=trial.id,
            skill=started.capsule,
            unit=started.unit,
            block_s=started.block_s,
            outcome=started.outcome,
            budget=started.budget,
            gain=started.gain,
            started_at=trial.at,
            ended_at=trial.ended_at or None,
            ended_because=trial.ended.reason if trial.ended else None,
            lines=tuple(TrialLine.of(TrialFinding(trial, factor, result)) for factor, result in factors),
            sessions=sum(sum(unit.sessions) for unit in trial.counted),
            assigned=len(trial.assigned),
            missed=trial.missed,
            problem=trial.problem or None,
            **({"loaded": complied.shown, "as_meant": complied.as_meant} if complied else {}),
        )


class TrialStartDocument(Document):
    """Let a coin give lines of a skill to some sessions and deny them to others."""

    schema_: Literal["germline/trial-start/1"] = "germline/trial-start/1"
    skill: str
    power: TrialPower
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]


class TrialStatusDocument(Document):
    """Show what trials show, the running one first."""

    schema_: Literal["germline/trial-status/1"] = "germline/trial-status/1"
    trials: tuple[TrialRow, ...]


class TrialStepDocument(Document):
    """Switch folders that are due, count sessions that are over, end trials that are decided."""

    schema_: Literal["germline/trial-step/1"] = "germline/trial-step/1"
    trials: tuple[TrialRow, ...]
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]


class TrialStopDocument(Document):
    """End a trial before it is decided."""

    schema_: Literal["germline/trial-stop/1"] = "germline/trial-stop/1"
    trial: Absent[TrialRow] = ABSENT
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]
