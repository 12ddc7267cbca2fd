"""Scores: what was measured, by whom, on what, and how sure it is."""

from typing import Annotated, Literal

from pydantic import Field

from events.types.frozen import Frozen

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Split = Literal["explore", "sealed", "audit"]
Endpoint = Literal["outcome", "recovered"]


class Score(Frozen):
    """One measurement of one version; `low` and `high` bound its 95 % interval.

    Units: value in [0, 1], higher is better; n episodes (replay) or runs (rollout); coverage is the share of
    disobedient episodes that could be imputed. `evaluator` is the hash that makes two scores comparable.
    """

    value: Unit
    n: Annotated[int, Field(ge=0)]
    low: Unit
    high: Unit
    kind: Literal["replay", "rollout", "judge"]
    endpoint: Endpoint
    evaluator: str
    split: Split
    coverage: Unit
    measured_at: str


class Unmeasured(Frozen):
    """No score, and why there is none; a mutation that carries it is marked unproven."""

    reason: str


Measured = Annotated[Score | Unmeasured, Field(union_mode="left_to_right")]


class Delta(Frozen):
    """The difference between two versions, paired by task; `low` and `high` bound its 95 % interval."""

    value: float
    low: float
    high: float
    tasks: int


class OriginShare(Frozen):
    """An origin of episodes, by the end of its path or its user, and how many of them reach a claim's moment."""

    name: str
    episodes: int


class Replication(Frozen):
    """Whether a claim holds without the logs of any single origin.

    `own` of the origins are the person's own logs; `shares` names the heaviest. `new` marks what others' logs obey
    and none of one's own. `risk_difference` and `low` are the least that is left without one of them, `p` the
    largest beside the `most_p` that it may be, without `left_out`; that is "" where no rest could answer.
    """

    origins: int
    own: int
    new: bool
    shares: tuple[OriginShare, ...]
    left_out: str
    risk_difference: float
    low: float
    p: float
    most_p: float


class DecisionEffect(Frozen):
    """What a decision goes with among like decisions, in outcome per decision, and its standard error."""

    value: float
    error: float


class Balance(Frozen):
    """How unlike those who obeyed were to those who did not, in what was seen before, in standard deviations.

    `before` is the largest difference within runs, `of` what it is in; `after` the largest among like decisions,
    in the squares of what is `left`: none is left in what was fitted itself. `error` is its standard error.
    """

    before: float
    of: str
    after: float
    left: str
    error: float


class Confounding(Frozen):
    """What an effect comes to among like decisions, and what speaks of a common cause.

    Units: risk_difference in outcome per decision of the sealed split (least squares within run, turn and what was
    seen before; where tasks repeat, beside how often all who try the task do it, and, with `same_task`, against
    what the other attempts came to; error clustered by task). `others` is what the decision goes with in those,
    which it cannot have changed, None where tasks do not repeat. `mined` is the same as the first on explore, None
    where explore may not count, and `chosen_of` the number of claims that explore chose this one of. `later` is
    what doing the same elsewhere in the episode goes with, each time, beside the decision, 0 with an error of 1
    where it cannot be measured; `beyond` and `mined_beyond` are what the decision goes with more than that, where
    it is noticed. `against` names a run, or what was seen before, where obeying surely goes with the opposite.
    `balance` is how alike both sides were on both splits, and `times_as_strong` as all that was seen before
    something unseen would have to be to explain the effect, None where that is too weak to measure by. `decisions`
    is 0 for a claim about no action, which nothing is like.
    """

    decisions: int
    same_task: bool
    risk_difference: float
    error: float
    p: float
    later: float
    later_error: float
    against: str
    mined: DecisionEffect | None = None
    beyond: DecisionEffect | None = None
    mined_beyond: DecisionEffect | None = None
    chosen_of: int = 0
    balance: Balance | None = None
    times_as_strong: float | None = None
    others: DecisionEffect | None = None


class RunEffect(Frozen):
    """What obeying a claim goes with in one run configuration; `low` and `high` bound its 95 % interval."""

    run: str
    risk_difference: float
    low: float
    high: float
    obeyed: int
    disobeyed: int


class RunSpread(Frozen):
    """The effects of several runs as draws from one distribution.

    `low` and `high` bound the mean, `predicted_low` and `predicted_high` the effect of a run that was not seen,
    None where fewer than three runs can tell. Units: q is Cochran's, with its p; `share` (I²) is how much of what
    the runs differ by is more than chance.
    """

    runs: int
    risk_difference: float
    low: float
    high: float
    predicted_low: float | None
    predicted_high: float | None
    q: float
    p: float
    share: Unit


class Replicates(Frozen):
    """What each run shows of a claim, on explore and sealed together, and for which of them it holds.

    `runs` are the largest of those with both arms, `more` counts the others, `silent` those that reach the moment
    with one arm only. `left_low` is the least one-sided 95 % lower limit without one run, `left_out`, None where
    the others cannot answer without it; `left_out` is "" where no run carries enough to be left out. `scope` names
    the runs that show the claim by themselves where it is not shown without one of them, or one shows the
    opposite. `harmed` is a run that is surely harmed; `turned` a kind of task, or thing seen just before, or
    without any scope a run, that shows the opposite and surely differs from the rest; "" where there is none.
    """

    runs: tuple[RunEffect, ...]
    more: int
    silent: int
    spread: RunSpread | None
    left_out: str
    left_low: float | None
    scope: tuple[str, ...]
    harmed: str
    turned: str


class Effect(Frozen):
    """What obeying a claim goes with, on the sealed split.

    Units: risk_difference in outcome per episode (Mantel-Haenszel, 95 % interval by Sato's variance); obeyed
    and disobeyed count episodes in strata that hold both arms; p is one-sided; e_value is the robustness value of
    the risk ratio's lower limit, no evidence by betting as that of runs is. `scope` names the run configurations
    that carry the figure; `replication`, `confounding` and `replicates` are None where they were not asked for, or
    by an older germline.
    """

    risk_difference: float
    low: float
    high: float
    obeyed: int
    disobeyed: int
    tasks: int
    p: float
    e_value: float
    endpoint: Endpoint
    scope: tuple[str, ...]
    replication: Replication | None = None
    confounding: Confounding | None = None
    replicates: Replicates | None = None


class Censoring(Frozen):
    """The share of each arm without any further attempt, which the endpoint `recovered` leaves out."""

    obeyed: Unit
    disobeyed: Unit
