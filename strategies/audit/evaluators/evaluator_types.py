"""What evaluators of an audit read and report: two runs of one task, with the skill and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, Literal, Protocol, TypeVar

from pydantic import Field

from events.types.audit_events import AuditResult
from events.types.frozen import Frozen

if TYPE_CHECKING:
    from pydantic import JsonValue

Action = Literal["harmful", "noise", "swap", "gap"]
"""What should happen to a passage: it harms, it does nothing, it can be replaced by a right one, or is missing."""


class SkillPassage(Frozen):
    """A line of the skill, by its gene and number there, or a line of another file of it (`gene` is "")."""

    file: str
    gene: str
    line: int
    text: str
    section: str = ""


class Deliverable(Frozen):
    """A file that a task asks for: its format (csv, json, …), its header or keys in order, values it may hold."""

    path: str
    format: str = ""
    header: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class TableColumns(Frozen):
    """A table of the workspace and its columns, as they are written there."""

    path: str
    table: str
    columns: tuple[str, ...]


class RequirementConflict(Frozen):
    """A passage of the skill that says otherwise than the task: its words, and what the task says."""

    quote: str
    requirement: str


class TaskRequirements(Frozen):
    """What a task asks for, read once: requirements as sentences, the files it wants, its steps in order.

    `conflicts` and `covered` are about the skill, by the word of a person: passages against the task, requirements
    that a passage covers (task-alignment, data-consistency and coverage find the others).
    """

    task: str
    requirements: tuple[str, ...] = ()
    deliverables: tuple[Deliverable, ...] = ()
    workflow: tuple[str, ...] = ()
    tables: tuple[TableColumns, ...] = ()
    conflicts: tuple[RequirementConflict, ...] = ()
    covered: tuple[str, ...] = ()


class RunAction(Frozen):
    """One step of an agent: the tool, what it was called with, what came back, and whether that was a failure."""

    tool: str
    call: str
    output: str = ""
    failed: bool = False


class RunRecord(Frozen):
    """What one run left: its answer, the text files it made or changed, its steps, and what its anchors say.

    `changed` names the other files that it made or changed. `anchors` holds each check by name, and whether it
    holds. `tokens` are the output tokens that the agent reported, None where it did not. `attempts` is what it
    tried and the sandbox did not let it do.
    """

    answer: str = ""
    files: dict[str, str] = Field(default_factory=dict)
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    actions: tuple[RunAction, ...] = ()
    anchors: dict[str, bool] = Field(default_factory=dict)
    ended: Literal["done", "stopped"] = "done"
    note: str = ""
    tokens: int | None = None
    attempts: tuple[str, ...] = ()


class AuditMaterial(Frozen):
    """All that an evaluator may read of one task: the task, the skill, and one run with it and one without."""

    task: str
    prompt: str
    workspace: dict[str, str]
    requirements: TaskRequirements
    skill: tuple[SkillPassage, ...]
    with_skill: RunRecord
    without_skill: RunRecord


class ActionSignal(Frozen):
    """What should happen to one passage, by its own words: `quote` is found verbatim in the skill, "" for a gap.

    `file`, `gene` and `line` name which one is meant, where the quote is there more than once. `replacement` is
    the text that a swap or a gap puts there, "" where there is none; `section` the title of the section that a gap
    belongs to, or the `gene:line` behind which a constraint goes; `move` the operation that makes the edit.
    `suspects` counts the passages that may be meant alike by one loss: one alone is sure.
    """

    action: Action
    quote: str = ""
    file: str = ""
    gene: str = ""
    line: int = 0
    reason: Annotated[str, Field(min_length=1)]
    replacement: str = ""
    section: str = ""
    move: str = ""
    suspects: int = Field(default=1, ge=1)
    by_model: bool = False


Kept = TypeVar("Kept")


class SameObject(Generic[Kept]):
    """An object by its identity, as the key of a cache: all evaluators look at one that cannot change."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self.kept is other.kept

    def __hash__(self) -> int:
        return id(self.kept)


QuoteFault = Literal["not in the skill", "paraphrased", "repeated", "two sections", "untrusted"]
"""Why a signal is void: its quote is no passage of the skill, or its replacement instructs as strangers do."""


class VoidSignal(Frozen):
    """A signal that counts for nothing: its quote, and what is wrong with it."""

    quote: str
    fault: QuoteFault


class EvaluatorReport(Frozen):
    """What one evaluator found on one task; `read` names what it looked at, `protected` quotes what must stay.

    `traced` quotes the passages that show in what the agent did, whether or not that did any good. `by_model`
    tells that a model was asked. `figures` are what it computed, by name.
    """

    evaluator: str
    task: str
    result: AuditResult
    reason: str = ""
    signals: tuple[ActionSignal, ...] = ()
    protected: tuple[str, ...] = ()
    traced: tuple[str, ...] = ()
    void: tuple[VoidSignal, ...] = ()
    read: tuple[str, ...] = ()
    figures: dict[str, float] = Field(default_factory=dict)
    by_model: bool = False


class AskModel(Protocol):
    """Asks a model one question of an evaluator."""

    def __call__(self, evaluator: str, question: str, shown: JsonValue) -> JsonValue | None:
        """Ask, showing what is to be looked at; None where no answer is of use."""
        ...


class AuditEvaluator(Protocol):
    """One evaluator of an audit."""

    name: str

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether it has anything to look at here."""
        ...

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Look at the two runs of one task; without `ask` only what can be computed counts."""
        ...
