"""What `germline audit --json` prints."""

from typing import TYPE_CHECKING, Literal

from events.types.audit_events import AuditJudged, AuditResult, ReadBy
from strategies.audit.evaluators.evaluator_types import TaskRequirements
from strategies.rollouts.tasks.check_types import Check
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.facts.audits import evaluator_table

if TYPE_CHECKING:
    from strategies.audit.audit_record import AuditRecord
    from strategies.audit.interpret_tasks import InterpretedTask


class AnchoredTaskPart(Part):
    """A task with the checks that are locked for it, their hash, and those that were dropped, with the reason."""

    task: str
    by: ReadBy
    locked: str
    anchors: tuple[Check, ...]
    dropped: tuple[str, ...]

    @classmethod
    def of(cls, known: "InterpretedTask") -> "AnchoredTaskPart":
        """Describe an interpreted task."""
        return cls.described(known, task=known.task.id, anchors=known.task.anchors)


class EvaluatorPart(Part):
    """How often one evaluator reported each result, over tasks and pairs, for each of the `drafts` in turn."""

    evaluator: str
    counts: tuple[dict[AuditResult, int], ...]


class AuditPart(Part):
    """An audit as far as it went: the table of evaluators by iterations, and the drafts."""

    audit: str
    skill: str
    version: int
    tasks: int
    agent: str
    model: str
    evaluators: tuple[EvaluatorPart, ...]
    drafts: tuple[AuditJudged, ...]
    because: str
    candidate: str
    runs: int
    reused: int
    cost_usd: float

    @classmethod
    def of(cls, record: "AuditRecord") -> "AuditPart":
        """Read it from the log's record."""
        ended = record.ended
        return cls.described(
            record.started,
            skill=record.started.capsule,
            evaluators=tuple(EvaluatorPart.described(row) for row in evaluator_table(record, record.judged)),
            drafts=record.judged,
            because=ended.because if ended else "",
            candidate=ended.candidate if ended else "",
            runs=ended.runs if ended else 0,
            reused=ended.reused if ended else 0,
            cost_usd=ended.cost_usd if ended else 0.0,
        )


class AuditDocument(Document):
    """Audit a skill without ground truth: runs with it and without, twelve evaluators, drafts.

    A dry run says what would be run, with the anchors as compiled; `requirements` can be edited and handed to
    `--requirements`. `result` is that of the last good draft; `version` what `--promote` made of it, `written` the
    files of `--out`, `stopped` which cap ended the runs.
    """

    schema_: Literal["germline/audit/1"] = "germline/audit/1"
    dry_run: Rehearsed = False
    skill: str
    audits: tuple[AuditPart, ...] = ()
    result: Absent[AuditResult] = ABSENT
    version: Absent[int] = ABSENT
    written: Absent[tuple[str, ...]] = ABSENT
    stopped: Absent[str] = ABSENT
    most_runs: Absent[int] = ABSENT
    tasks: Absent[tuple[AnchoredTaskPart, ...]] = ABSENT
    requirements: Absent[tuple[TaskRequirements, ...]] = ABSENT
