"""What runs of an agent showed: the figures that a measurement by rollouts carries beside its scores."""

from typing import Annotated, Literal

from pydantic import Field

from events.types.frozen import Frozen
from events.types.score import Delta, Unit

Count = Annotated[int, Field(ge=0)]


class TagFigures(Frozen):
    """How the sealed tasks of one tag went under the incumbent (`before`) and the candidate (`after`)."""

    tag: str
    tasks: Count
    before: Unit
    after: Unit


class JudgeFigures(Frozen):
    """What a judge made of the sealed work in one layer: its mean verdict of both versions, .5 for a tie.

    Where it does not `count` it is a note, and no part of any score; where it shows that the candidate is `worse`
    it vetoes all the same. Units: `difference` is candidate minus incumbent, over `pairs` of runs.
    """

    layer: str
    before: Unit
    after: Unit
    difference: float
    low: float
    high: float
    pairs: Count
    counts: bool
    worse: bool = False


class Advantage(Frozen):
    """How far a version stood above the mean of those that competed, in their standard deviations.

    `version` is the id of a candidate, or `skill@version` of the incumbent; `runs` counts those it rests on.
    """

    version: str
    value: float
    runs: Count


class AgainstNoSkill(Frozen):
    """The paired audit: the candidate against no skill at all, on the same sealed tasks.

    `nulls` counts the pairs that say nothing, because the run without a skill never got going.
    """

    effect: Literal["helped", "hurt", "inert"]
    difference: float
    low: float
    high: float
    tasks: Count
    nulls: Count


class Attribution(Frozen):
    """What one edit of a bundle brought: all of it, against all of it but this edit.

    `edit` counts the proposal's edits from 0. `delta` is null where the edit was dropped with others and never
    measured alone.
    """

    edit: Count
    delta: Delta | None
    passenger: bool


class FreshFigures(Frozen):
    """What fresh runs of both versions on all sealed tasks showed of a change that its own tasks had shown first.

    Units: `evidence` is the e-value on the tasks that the change is for, `harm` that of the opposite on the rest;
    `difference` is candidate minus incumbent over all tasks, with `low`, its one-sided 95 % bound, which errs over
    runs: these tasks, not others like them.
    """

    rounds: Count
    evidence: float
    harm: float
    difference: float
    low: float


class AimFigures(Frozen):
    """What runs showed of a change on the sealed tasks that it is for, those with one of its `tags`.

    Units: of `sealed` tasks in all; `difference` is candidate minus incumbent per pair, `error` its standard error
    over runs; `without_best` is the e-value without the task that gained most. `fresh` is None where the first
    runs did not show enough.
    """

    tags: tuple[str, ...]
    tasks: Count
    sealed: Count
    rounds: Count
    evidence: float
    without_best: float
    difference: float
    error: float
    fresh: FreshFigures | None = None


class Rollouts(Frozen):
    """What the runs of one comparison came to; `comparison` is the hash of all that was frozen before the first.

    Units: differences in outcome, candidate minus incumbent, paired by task and round; of all `pairs`, `void`
    ones were lost to infrastructure; `runs` were made for this verdict, `reused` came from the bank, and what
    `unpriced` ones have no known cost. `lenient_*` are shares of the runs in which three of four layers of grading
    passed; the scores beside are the averages over layers. `versions` holds the advantages of all that competed,
    `judges` what judges made of the work, `stopped` says which cap ended it. With an `aim` the figures are of
    fresh runs on all sealed tasks, or of the tasks that it is for where it came no further.
    """

    comparison: str
    rounds: Count
    tasks: Count
    pairs: Count
    void: Count
    evidence: float
    p: float
    difference: float
    low: float
    high: float
    detectable: float
    runs: Count
    reused: Count
    cost_usd: float
    seconds: float
    unpriced: Count = 0
    lenient_before: Unit = 0.0
    lenient_after: Unit = 0.0
    tags: tuple[TagFigures, ...] = ()
    judges: tuple[JudgeFigures, ...] = ()
    versions: tuple[Advantage, ...] = ()
    no_skill: AgainstNoSkill | None = None
    lost_anchors: tuple[str, ...] = ()
    tampered: tuple[str, ...] = ()
    stopped: str = ""
    aim: AimFigures | None = None
