"""Tiers of a learned line: what its support is, each with its own figures and its own error.

One ladder, seen < supported < proven; a figure of one tier is never counted for another.
"""

from typing import Annotated, Literal

from pydantic import Field

from events.types.frozen import Frozen
from events.types.runs import Count
from events.types.score import Unit

Tier = Literal["seen", "supported", "proven"]


class SeenFigures(Frozen):
    """It worked `worked` of `tried` times; nothing was compared.

    `low` bounds the chance that it works the next time: one-sided 95 %, beside the `compared` alternatives that it
    was chosen from, itself counted; where it barely sufficed to be offered, 0. `runs` names where it was seen. An
    earlier germline did not count: `tried` is 0 then.
    """

    tier: Literal["seen"] = "seen"
    worked: Count
    tried: Count
    low: Unit
    tasks: Count = 0
    compared: Annotated[int, Field(ge=1)] = 1
    runs: tuple[str, ...] = ()


class SupportedFigures(Frozen):
    """Logs support it: who did it ended better on episodes that its proposer never saw, and all checks passed.

    Units: difference in outcome per episode with its 95 % interval, over `episodes` that did it or did not, in
    `tasks`. `robustness` is the risk ratio that something unseen would need to explain it, `times_as_strong` as
    all that was seen before the decision it would have to be, None where that is too weak to measure by; `scope`
    names the runs that show it.
    """

    tier: Literal["supported"] = "supported"
    difference: float
    low: float
    high: float
    episodes: Count
    tasks: Count
    robustness: float
    scope: tuple[str, ...] = ()
    times_as_strong: float | None = None


class ProvenFigures(Frozen):
    """Chance in the assignment proves it: a trial, or runs of an agent with and without the line.

    Units: difference in outcome with its 95 % interval, over `sessions` of a trial, or pairs of runs. `source` is
    the id of the trial, or the hash of the comparison.
    """

    tier: Literal["proven"] = "proven"
    by: Literal["trial", "rollouts"]
    difference: float
    low: float
    high: float
    sessions: Count
    source: str


TierFigures = Annotated[SeenFigures | SupportedFigures | ProvenFigures, Field(discriminator="tier")]
