"""Documents on judges: how they agree with labels, what they may do, and what scores of runs are worth."""

from typing import TYPE_CHECKING, Literal

from events.types.judge_events import JudgeCalibrated
from strategies.judge.calibration_rule import Power, missing_from
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.judge.calibration_rule import JudgeStanding
    from strategies.judge.run_scores import Tested


class CalibrationRow(JudgeCalibrated):
    """A calibration, with what it lacks for a judge that may promote."""

    may_promote: bool
    missing: tuple[str, ...]

    @classmethod
    def of(cls, calibrated: JudgeCalibrated) -> "CalibrationRow":
        """Read it from the event of the calibration."""
        missing = missing_from(calibrated)
        return cls(**dict(calibrated), may_promote=not missing, missing=tuple(missing))


class LabelledPairs(Part):
    """Pairs of one family of tasks, and how many of them have a label."""

    pairs: int
    labelled: int


class JudgeCalibrateDocument(Document):
    """Measure a judge against pairs that people compared: may its verdict count?"""

    schema_: Literal["germline/judge-calibrate/1"] = "germline/judge-calibrate/1"
    dry_run: Rehearsed = False
    calibrations: Absent[tuple[CalibrationRow, ...]] = ABSENT
    model: Absent[str] = ABSENT
    families: Absent[dict[str, LabelledPairs]] = ABSENT
    requests: Absent[int] = ABSENT
    events: Absent[tuple[EventRow, ...]] = ABSENT


class JudgeScoreDocument(Document):
    """Score single runs by five criteria, as a note beside them: no verdict looks at it."""

    schema_: Literal["germline/judge-score/1"] = "germline/judge-score/1"
    dry_run: Rehearsed = False
    model: Absent[str] = ABSENT
    runs: int
    gone: Absent[int] = ABSENT
    failed: Absent[int] = ABSENT
    cost_usd: Absent[float] = ABSENT
    requests: Absent[int] = ABSENT
    events: Absent[tuple[EventRow, ...]] = ABSENT


class FamilyPowers(Part):
    """What a judge may do for a family of tasks, and why no more than that."""

    family: str
    powers: tuple[Power, ...]
    reasons: tuple[str, ...]
    calibration: CalibrationRow | None

    @classmethod
    def of(cls, family: str, standing: "JudgeStanding") -> "FamilyPowers":
        """Read it from how the judge did for the family."""
        calibration = standing.calibration
        return cls(
            family=family,
            powers=tuple(sorted(standing.powers)),
            reasons=standing.reasons,
            calibration=CalibrationRow.of(calibration) if calibration else None,
        )


class AssociationRow(Part):
    """A correlation with its 95 % interval and two-sided p."""

    r: float
    low: float
    high: float
    p: float
    runs: int
    tasks: int


class CriterionRow(Part):
    """One criterion: its mean mark, and how it goes with outcomes."""

    criterion: str
    mean: float
    outcomes: AssociationRow | None


class ScoredRuns(Part):
    """What the scores of one model and one prompt are worth."""

    model: str
    prompt: str
    runs: int
    criteria: tuple[CriterionRow, ...]
    length: AssociationRow | None

    @classmethod
    def of(cls, tested: "Tested") -> "ScoredRuns":
        """Read it from the scores that were compared with outcomes."""
        criteria = (
            CriterionRow.model_validate(
                {"criterion": criterion.name, "mean": criterion.mean, "outcomes": criterion.association}
            )
            for criterion in tested.criteria
        )
        length = AssociationRow.model_validate(tested.length) if tested.length else None
        return cls(
            model=tested.model, prompt=tested.prompt, runs=tested.runs, criteria=tuple(criteria), length=length
        )


class JudgeShowDocument(Document):
    """Show what judges may do, how they stand to labels, and what scores of runs are worth."""

    schema_: Literal["germline/judge-show/1"] = "germline/judge-show/1"
    model: str | None
    prompt: str
    rubric: str | None
    families: tuple[FamilyPowers, ...]
    calibrations: tuple[CalibrationRow, ...]
    criteria: tuple[ScoredRuns, ...]

    @classmethod
    def of(
        cls,
        judge: tuple[str, str, str],
        standings: "Mapping[str, JudgeStanding]",
        known: "Sequence[JudgeCalibrated]",
        scores: "Sequence[Tested]",
    ) -> "JudgeShowDocument":
        """Describe the judge of the settings (model, prompt, rubric), all calibrations and all scores."""
        model, prompt, rubric = judge
        return cls(
            model=model or None,
            prompt=prompt,
            rubric=rubric or None,
            families=tuple(FamilyPowers.of(family, standing) for family, standing in standings.items()),
            calibrations=tuple(map(CalibrationRow.of, known)),
            criteria=tuple(map(ScoredRuns.of, scores)),
        )
