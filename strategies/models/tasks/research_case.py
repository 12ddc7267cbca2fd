"""What a proposer of experiments is shown, and what it answers; the shapes of its JSON."""

from __future__ import annotations

from events.types.frozen import Frozen
from events.types.research_events import ExperimentVerdict
from strategies.models.tasks.training_case import TaskAttempt


class SurfaceFile(Frozen):
    """A file that an experiment may change, and how many of its characters; one line may always change."""

    path: str
    text: str
    most_changed: int


class PastExperiment(Frozen):
    """An experiment that has ended; what was measured is null where nothing was, or where tasks decide."""

    experiment: int
    paths: tuple[str, ...]
    reason: str
    verdict: ExperimentVerdict
    why: str
    before: float | None
    after: float | None


class ResearchCase(Frozen):
    """All that a proposer may know: `attempts` are runs on explore tasks, none where a metric decides."""

    target: str
    experiment: int
    seed: int
    measured_by: str
    steering: str
    files: tuple[SurfaceFile, ...]
    attempts: tuple[TaskAttempt, ...]
    past: tuple[PastExperiment, ...]


class TextReplacement(Frozen):
    """One replacement: `find` is there exactly once in the file, and becomes `replace`."""

    path: str
    find: str
    replace: str


class SuggestedExperiment(Frozen):
    """One experiment, the reason first; without replacements there is nothing left to try."""

    reason: str
    edits: tuple[TextReplacement, ...]
