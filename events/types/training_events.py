"""What happens while a skill is trained on a set of tasks: where it began, and what each epoch came to."""

from typing import Literal

from events.types.frozen import Frozen
from events.types.runs import Count
from events.types.score import Unit


class TrainingStarted(Frozen):
    """The training of a skill on a set of tasks begins.

    `training` is the hash of what makes it the same training when the command is typed again: skill, tasks, agent,
    proposer, steering and seed. Of the tasks only `explore` ones are shown to the proposer. The registry held
    `banked_runs` finished runs by then, which cost `banked_usd`: they are not counted as this training's.
    """

    type: Literal["TrainingStarted"] = "TrainingStarted"
    training: str
    capsule: str
    version: int
    evaluator: str
    agent: str
    proposer: str
    explore: Count
    sealed: Count
    audit: Count
    banked_runs: Count
    banked_usd: float


class TrainingEpochEnded(Frozen):
    """One epoch of a training ends: the live version was run on explore tasks, changes were proposed and tested.

    `explored` is the mean outcome of the explore runs, null where none were made; `version` is the live one now,
    with its size in lines and estimated tokens. The lists name candidates. `runs` and `cost_usd` are those of the
    training so far, with what the proposer cost. `because` says why nothing was tested, where nothing was.
    """

    type: Literal["TrainingEpochEnded"] = "TrainingEpochEnded"
    training: str
    capsule: str
    epoch: int
    version: int
    explored: Unit | None
    promoted: tuple[str, ...]
    held: tuple[str, ...]
    rejected: tuple[str, ...]
    lines: Count
    tokens: Count
    runs: Count
    cost_usd: float
    because: str = ""
