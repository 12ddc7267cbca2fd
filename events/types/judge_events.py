"""What is made of runs beside any verdict: judges are measured, runs scored and looked over, advice is given."""

from typing import Literal

from events.types.frozen import Frozen
from events.types.judgements import Assessment, FailureFigures, LengthBias, Preferred, Reading, Rung, Track
from events.types.parts import Reason


class JudgeCalibrated(Frozen):
    """A model judge is measured against labelled items of one family of tasks, those with mixed results alone.

    It holds for this model, this prompt (the hash of it) and this family. `agreement` has an exact 95 % interval,
    for `items` of `tasks`; `correlation` is Pearson's r of verdicts and labels, `table` counts items by label and
    verdict (a, tie, b). `labels` is the hash of the file. Units: cost in US dollars.
    """

    type: Literal["JudgeCalibrated"] = "JudgeCalibrated"
    judge: str
    items: int
    agreement: float
    agreement_low: float
    swap_consistency: float
    model: str = ""
    prompt: str = ""
    family: str = ""
    tasks: int = 0
    agreement_high: float = 1.0
    correlation: float = 0.0
    table: tuple[tuple[int, int, int], ...] = ()
    length: LengthBias | None = None
    preferred: Preferred | None = None
    labels: str = ""
    unusable: int = 0
    cost_usd: float = 0.0


class RunsScored(Frozen):
    """A model scores single runs by five criteria: a note beside them, which no verdict looks at.

    `scores` names the blob with the scores by episode; it holds no text of a log. Units: cost in US dollars.
    """

    type: Literal["RunsScored"] = "RunsScored"
    model: str
    prompt: str
    runs: int
    scores: str
    unusable: int = 0
    cost_usd: float = 0.0


class RolloutsReviewed(Frozen):
    """A person looks over finished runs, and says whether they may leave the registry.

    The last word on a run counts. `listing` names the blob that lists them, as JSON: the names of their blobs.
    """

    type: Literal["RolloutsReviewed"] = "RolloutsReviewed"
    decision: Literal["approve", "reject"]
    runs: int
    listing: str
    reason: Reason


class SessionsReviewed(Frozen):
    """A person looks over sessions from logs, and says whether they may be training data.

    The last word on a session counts. `listing` names the blob that lists them, as JSON: their ids.
    """

    type: Literal["SessionsReviewed"] = "SessionsReviewed"
    decision: Literal["approve", "reject"]
    sessions: int
    listing: str
    reason: Reason


class AdviceGiven(Frozen):
    """What would help a skill, by rule from how its runs failed, and beside it what a model makes of the same.

    `capsule` is "" for advice on all episodes; `reasons` are the rules that spoke, with their figures. Only what a
    proposer may see went into it. `started` is the rung of the ladder on which work was begun by it, if any.
    """

    type: Literal["AdviceGiven"] = "AdviceGiven"
    capsule: str
    track: Track
    reasons: tuple[str, ...]
    figures: FailureFigures
    reading: Reading | None = None
    assessment: Assessment | None = None
    started: Rung | None = None
