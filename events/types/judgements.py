"""What measuring a model judge showed, and what advice on a skill rests on: figures that events carry."""

from typing import Annotated, Literal

from pydantic import Field

from events.types.frozen import Frozen
from events.types.score import Unit

Count = Annotated[int, Field(ge=0)]
Level = Literal["low", "medium", "high"]
Track = Literal["none", "prompt", "skill", "both", "code", "knowledge", "fine-tune", "knowledge + fine-tune"]
"""What would help a skill, by what has to be worked on; `none` where nothing has to, or too little is known."""


Rung = Literal["prompt", "skill", "code", "knowledge", "fine-tune"]
"""A step of the ladder that work on a skill climbs, the cheapest first."""


class LengthBias(Frozen):
    """How much more often a judge prefers the longer of two outputs than the labels do, ties counting half.

    Units: `longer` and `labelled` are shares of `items`; `excess` is their difference with its 95 % interval; p is
    two-sided, from the exact sign test over the items on which judge and label differ about the longer one.
    """

    items: Count
    longer: Unit
    labelled: Unit
    excess: float
    low: float
    high: float
    p: Unit


class Preferred(Frozen):
    """How far output b is preferred to output a, from few labels and many judged items together; .5 is neither.

    Units: a share with its 95 % interval; `weight` is how far the judge was trusted, from 0 (labels alone) to 1.
    """

    value: float
    low: float
    high: float
    weight: Unit
    labels: Count
    judged: Count


class FailureFigures(Frozen):
    """How the runs that a proposer may see failed; shares are of the failed ones, null where nobody can tell.

    `persistent` is the share of tasks that failed before the skill's last rounds and failed again after them;
    `despite_skill` of failures in which the skill was used; `knowledge_gap` of those that met something unknown;
    `tool_faults` of those in which a tool itself broke; `one_type` of those of the most frequent type of task,
    `type_name`. `good_…` are the same shares of the other runs. `examples` are the runs that training could use.
    `corpus` tells whether the skill has knowledge, null where no skill is named.
    """

    runs: Count
    failed: Count
    mean: Unit
    persistent: Unit | None = None
    rounds: Count = 0
    repeated: Count = 0
    despite_skill: Unit | None = None
    knowledge_gap: Unit | None = None
    good_knowledge_gap: Unit | None = None
    tool_faults: Unit | None = None
    good_tool_faults: Unit | None = None
    one_type: Unit | None = None
    good_one_type: Unit | None = None
    type_name: str = ""
    examples: Count = 0
    corpus: bool | None = None


class Assessment(Frozen):
    """How sure a rule is of its track, and what the track takes.

    `confidence` is the chance that other runs of the same kind would leave the deciding signals on the same side
    of their thresholds; it says nothing of whether the track will help.
    """

    confidence: Unit
    effort: Level
    risk: Level


class Reading(Frozen):
    """What a model makes of the same. Its words stay in `reply`, an erasable blob, and never come into the event.

    `prompt` is the hash of what it was asked. Units: cost in US dollars, null where no price is known.
    """

    track: Track
    confidence: Unit
    effort: Level
    risk: Level
    model: str
    prompt: str
    reply: str
    cost_usd: Annotated[float, Field(ge=0)] | None = None
