"""What happens to a registry as a whole: presets, evaluators, signals, cycles, evidence."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from events.base import Frozen
from events.judgements import FailureFigures, LengthBias, Preferred, Reading, Track
from events.parts import Reason, Strategy


class RegistryCreated(Frozen):
    """A registry begins, with the key that divides tasks into splits for ever."""

    type: Literal["RegistryCreated"] = "RegistryCreated"
    split_key: str
    preset: str


class PresetSwitched(Frozen):
    """Another preset binds the strategies from here on."""

    type: Literal["PresetSwitched"] = "PresetSwitched"
    preset: str
    previous: str
    reason: Reason


class PresetDefined(Frozen):
    """A person defines a preset of their own, in the TOML they wrote."""

    type: Literal["PresetDefined"] = "PresetDefined"
    preset: str
    definition: str


class EvaluatorRegistered(Frozen):
    """An evaluator is frozen: from here on its hash names one way to score, on one set of episodes.

    `scope` is `pool` for all episodes known then, `named` for those of logs that a person named, `claim` for
    those that reach the moment of one claim and are judged by its own endpoint, `tasks` for runs on a task set.
    """

    type: Literal["EvaluatorRegistered"] = "EvaluatorRegistered"
    evaluator: str
    kind: Literal["replay", "rollout", "judge"]
    scope: Literal["pool", "named", "claim", "tasks"]
    method: str
    policy: str
    episodes: int
    tasks: int
    sealed_tasks: int


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


class AdviceGiven(Frozen):
    """What would help a skill, by rule from how its runs failed, and beside it what a model makes of the same.

    `capsule` is "" for advice on all episodes; `reasons` are the rules that spoke, with their figures. Only what a
    proposer may see went into it.
    """

    type: Literal["AdviceGiven"] = "AdviceGiven"
    capsule: str
    track: Track
    reasons: tuple[str, ...]
    figures: FailureFigures
    reading: Reading | None = None


class SignalRaised(Frozen):
    """A fingerprint newly crosses its threshold; one event for the signal, not one per occurrence."""

    type: Literal["SignalRaised"] = "SignalRaised"
    fingerprint: str
    kind: str
    calls_for: Strategy
    template: str = ""
    action: str = ""
    count: int
    episodes: int
    runs: tuple[str, ...]
    severity: float
    evidence: tuple[str, ...] = ()


class OutcomeRecorded(Frozen):
    """The truth about an episode arrives late."""

    type: Literal["OutcomeRecorded"] = "OutcomeRecorded"
    episode: str
    value: Annotated[float, Field(ge=0.0, le=1.0)]
    source: Literal["reward", "tests", "ci", "merge", "deploy", "user"]


class CycleFinished(Frozen):
    """One turn of evolution ends: what was picked, tried and decided.

    `offered` names the kinds of change that had something to offer; `needed_tasks` how many tasks the strongest
    claim would need, null where none applies. `preset` is the one that bound this turn; where `auto` chose it,
    `because` says why.
    """

    type: Literal["CycleFinished"] = "CycleFinished"
    preset: str
    seed: int
    strategy: Strategy
    fingerprint: str
    capsule: str
    evaluator: str
    candidate: str | None
    verdict: Literal["promote", "reject", "hold"]
    reasons: tuple[str, ...]
    tried: int
    offered: tuple[Strategy, ...]
    needed_tasks: int | None = None
    because: str = ""


class EvidenceErased(Frozen):
    """A person's text is removed; the event stays, and says why.

    `record` is a hash that names the record of the log, so that its text is not kept again for another signal.
    """

    type: Literal["EvidenceErased"] = "EvidenceErased"
    evidence: str
    reason: Reason
    record: str = ""
