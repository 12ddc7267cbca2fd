"""What a proposer is shown while a skill is trained on tasks, and what it answers; the shapes of its JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue, field_validator

from events.types.frozen import Frozen
from events.types.score import Unit
from strategies.models.answer_schema import without_misfits


class FailedLayer(Frozen):
    """A layer of grading that a run did not pass, with the note of its grader."""

    name: str
    value: Unit
    threshold: float
    note: str = ""


class TaskAttempt(Frozen):
    """One run of an agent on one explore task, with the live version of the skill.

    `work` is what the agent did, as a transcript, "" where nothing of it is known; `note` says why it ended early.
    """

    task: str
    prompt: str
    tags: tuple[str, ...]
    value: Unit
    passed: bool
    failed_layers: tuple[FailedLayer, ...] = ()
    failed_anchors: tuple[str, ...] = ()
    note: str = ""
    work: str = ""


class Minibatch(Frozen):
    """Some attempts that went alike, to be looked at together; a skill measured by a metric has none in it."""

    kind: Literal["failures", "successes", "metric"]
    attempts: tuple[TaskAttempt, ...]


class SkillLineShown(Frozen):
    """One line of the skill, by the ids that edits name: its gene, and its number there; no ending."""

    gene: str
    line: int
    text: str
    protected: bool = False


class TriedChange(Frozen):
    """A change that was proposed before, and the gate's one word for it; nothing measured on sealed tasks."""

    lines: tuple[str, ...]
    verdict: Literal["promote", "reject", "hold"]


class TrainingCase(Frozen):
    """All that a proposer may know: nothing of it comes from sealed tasks or from the audit.

    `steering` is the person's own text on what is wanted; `most_edits` is how many edits one change may have.
    """

    skill: str
    epoch: int
    seed: int
    lines: tuple[SkillLineShown, ...]
    batches: tuple[Minibatch, ...]
    tried: tuple[TriedChange, ...]
    steering: str
    notes: str
    most_edits: int
    most_changes: int


class TrainingEdit(Frozen):
    """One edit of one gene, by the ids that the proposer was shown; `text` is one line, "" for `delete`."""

    op: Literal["append", "insert_after", "replace", "delete"]
    gene: str
    target: tuple[int, ...] = ()
    text: str = ""


class TrainingChange(Frozen):
    """Edits that are tested together, because none makes sense without the others; and why.

    `tags` are those of the tasks that it is for, none where it is for all: it is looked for there first.
    """

    reason: str
    tags: tuple[str, ...] = ()
    edits: tuple[TrainingEdit, ...] = Field(min_length=1)


class TrainingReflection(Frozen):
    """What one look at a minibatch came to, the most important first."""

    changes: tuple[TrainingChange, ...]

    @field_validator("changes", mode="before")
    @classmethod
    def _without_misfits(cls, given: JsonValue) -> JsonValue:
        """Leave out changes that are none; not if all are."""
        return without_misfits(given, TrainingChange)
