"""What happens to a registry as a whole: presets, evaluators, signals, cycles, evidence."""

from typing import Annotated, Final, Literal

from pydantic import Field

from events.types.claims import Claim
from events.types.frozen import Frozen
from events.types.parts import Reason, Strategy


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

    `scope` is `pool` for all episodes known then, `named` for those of logs that a person named, `skill` for those
    of them that belong to a skill, `claim` for those that reach the moment of one claim and are judged by its own
    endpoint, `tasks` for runs on a task set. One for a skill is `within` another, and shares its error rate.
    `hints` names the sources from the world that stand for labels in it.
    """

    type: Literal["EvaluatorRegistered"] = "EvaluatorRegistered"
    evaluator: str
    kind: Literal["replay", "rollout", "judge"]
    scope: Literal["pool", "named", "skill", "claim", "tasks"]
    method: str
    policy: str
    episodes: int
    tasks: int
    sealed_tasks: int
    within: str = ""
    hints: tuple[str, ...] = ()


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


class SignalAssigned(Frozen):
    """A person says which skill a signal belongs to; where it is `withdrawn`, the rules decide again."""

    type: Literal["SignalAssigned"] = "SignalAssigned"
    fingerprint: str
    capsule: str
    withdrawn: bool = False


class ReadingCorrected(Frozen):
    """A person says what a hand-written line asks for, in words of logs, or that it asks for nothing they hold.

    The claim is measured and shown beside the line, never promoted and never part of a score.
    """

    type: Literal["ReadingCorrected"] = "ReadingCorrected"
    capsule: str
    gene: str
    line: int
    claim: Claim | None = None


LOOKED_UP: Final = frozenset(["commit", "merged"])
"""Sources of outcomes that were looked up in git: hints, kept beside what is known of an episode, never labels."""


class OutcomeRecorded(Frozen):
    """The truth about an episode arrives late, or what git tells of its commits: `commit` or `merged`, a hint."""

    type: Literal["OutcomeRecorded"] = "OutcomeRecorded"
    episode: str
    value: Annotated[float, Field(ge=0.0, le=1.0)]
    source: Literal["reward", "tests", "ci", "merge", "deploy", "user", "commit", "merged"]


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
