"""What happens while files are researched: where it began, its noise, its experiments and their ends."""

from typing import Final, Literal

from events.types.frozen import Frozen
from events.types.parts import FileEntry
from events.types.runs import Count

RESEARCHER: Final = "researcher"
"""The proposer of all candidates of a research; their actor names the model or program that had the idea."""

ExperimentVerdict = Literal["kept", "reverted", "refused", "held"]


class ResearchStarted(Frozen):
    """The research of a skill's files, or of one file outside of any skill, begins.

    `research` is the hash of what makes it the same research when the command is typed again: target, surface,
    metric or tasks, proposer, steering and seed. `target` names the skill, or the file by its path below the
    project; `surface` the files that may be changed, `measured_by` the metric, or the agent on its tasks.
    """

    type: Literal["ResearchStarted"] = "ResearchStarted"
    research: str
    target: str
    kind: Literal["skill", "file"]
    surface: tuple[str, ...]
    measured_by: str
    proposer: str


class NoiseMeasured(Frozen):
    """The metric was measured on the files as they were, again and again, before anything was changed in them.

    `content` is the hash of these files. Units of `middle`, the median, and of the `deviation`, which is estimated
    from the median distance to it: those of the metric.
    """

    type: Literal["NoiseMeasured"] = "NoiseMeasured"
    research: str
    content: str
    runs: Count
    middle: float
    deviation: float


class ExperimentProposed(Frozen):
    """An experiment is proposed: what files would be, beside what they were.

    `after` is empty where the proposal could not be applied. `reason` is that of who had the idea, in their words.
    `candidate` is empty for a file outside of any skill.
    """

    type: Literal["ExperimentProposed"] = "ExperimentProposed"
    research: str
    experiment: Count
    before: tuple[FileEntry, ...]
    after: tuple[FileEntry, ...]
    reason: str
    candidate: str = ""


class ExperimentEnded(Frozen):
    """An experiment ends: what it changed is kept, or is not; held is what a person has to see first.

    `before` and `after` are what was measured, in the units of the metric (outcome on tasks), null where nothing
    was. `version` is null for a file outside of any skill.
    """

    type: Literal["ExperimentEnded"] = "ExperimentEnded"
    research: str
    experiment: Count
    verdict: ExperimentVerdict
    reasons: tuple[str, ...]
    before: float | None
    after: float | None
    e_value: float | None
    runs: Count
    version: int | None = None


class ExperimentUndone(Frozen):
    """A person takes a kept experiment back: the file outside of any skill is again what it was before."""

    type: Literal["ExperimentUndone"] = "ExperimentUndone"
    research: str
    experiment: Count
    reason: str
