"""What happens in a trial: lines of a skill that a coin gives to some sessions and denies to others."""

from typing import Annotated, Literal

from pydantic import Field

from events.types.frozen import Frozen
from events.types.parts import Reason
from events.types.runs import Count
from events.types.score import Unit

TrialOutcome = Literal["outcome", "recovered", "corrections", "errors"]
"""What is counted: labels; whether the next attempt works; sessions that no person corrects; calls that work."""
TrialUnit = Literal["session", "block"]
TrialDecision = Literal["running", "proven", "harmful", "futile", "undecided", "stopped"]


class TrialFactor(Frozen):
    """What one coin switches: the lines of a candidate, or version `given` in the place of version `denied`.

    `live` tells that the candidate's lines were in the skill already: they are then taken out where denied.
    """

    name: str
    candidate: str = ""
    live: bool = False
    given: int = 0
    denied: int = 0


class TrialStarted(Frozen):
    """A trial begins; everything that decides it is written down before its first session.

    The coin of every unit follows from `seed`. Units: block_s seconds; budget sessions; gain, the least difference
    worth finding, in outcome per session; spread, the variance that sessions are expected to have around what was
    expected of them. With `loaded` only sessions that loaded the skill count. `adaptive` tells that the shares of
    the arms follow what came of them.
    """

    type: Literal["TrialStarted"] = "TrialStarted"
    trial: str
    capsule: str
    base_version: int
    factors: tuple[TrialFactor, ...]
    unit: TrialUnit
    block_s: Count
    starts_at: str
    budget: Count
    outcome: TrialOutcome
    gain: Unit
    base_rate: Unit
    spread: Annotated[float, Field(ge=0)]
    loaded: bool
    adaptive: bool
    seed: str


class TrialAssigned(Frozen):
    """A session, or a block of time, has its arm: for each factor whether it is given, and how likely that was.

    `unit` is the session's id or the block's number. `problem` says why the folder was not switched, "" where it
    was; `missed` counts the blocks before this one in which nobody switched.
    """

    type: Literal["TrialAssigned"] = "TrialAssigned"
    trial: str
    capsule: str
    unit: str
    given: tuple[bool, ...]
    shares: tuple[Unit, ...]
    problem: str = ""
    missed: Count = 0


class CountedUnit(Frozen):
    """A session, or a pair of blocks in their order in time, as it entered the figures, once and for ever.

    `given` tells for each factor whether the session, or the first block of the pair, had it. `sessions`,
    `outcomes` (means) and `expected` (means of what was expected before) have one entry, or one for each block.
    """

    unit: str
    given: tuple[bool, ...]
    shares: tuple[Unit, ...]
    sessions: tuple[Count, ...]
    outcomes: tuple[float, ...]
    expected: tuple[float, ...]


class TrialArm(Frozen):
    """The sessions that were given a line, or denied it: how many, and their mean outcome."""

    sessions: Count
    mean: float | None


class TrialFigures(Frozen):
    """What a trial shows of one factor.

    `difference` is given less denied, `low` and `high` are each passed by the truth in at most 1 of 20 trials,
    whenever one looks. `proof` and `harm` are the e-values against "no gain" and "no loss", the highest so far;
    `chance` is that of a gain as planned to be proven within what is left of the budget.
    """

    factor: str
    decision: TrialDecision
    given: TrialArm
    denied: TrialArm
    difference: float | None
    low: float
    high: float
    proof: float
    harm: float
    chance: Unit


class TrialLooked(Frozen):
    """Units enter the figures of a trial; what they lead to, factor by factor."""

    type: Literal["TrialLooked"] = "TrialLooked"
    trial: str
    capsule: str
    counted: tuple[CountedUnit, ...]
    results: tuple[TrialFigures, ...]


class TrialEnded(Frozen):
    """A trial ends with the figures of its last look."""

    type: Literal["TrialEnded"] = "TrialEnded"
    trial: str
    capsule: str
    results: tuple[TrialFigures, ...]
    reason: Reason
