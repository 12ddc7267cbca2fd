"""Documents on exports: skills, attestations, and finished runs for trainers."""

from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from events.types.score import Split
from strategies.interchange.dataset_rows import DatasetFormat
from strategies.rollouts.run.agent_templates import SkillMode
from strategies.rollouts.run.messages_trial import RunTranscript
from tui.documents.checkpoints import CheckpointDocument
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from strategies.interchange.training_traces import TrainingTrace
    from strategies.rollouts.run.export import FinishedRun


class ExportSkillDocument(Document):
    """Write a skill at a version into a folder, or a zip."""

    schema_: Literal["germline/export-skill/1"] = "germline/export-skill/1"
    dry_run: bool
    skill: str
    version: int
    place: str
    files: dict[str, int]


class ExportLogDocument(Document):
    """Write the whole log as lines for git, a file for each skill."""

    schema_: Literal["germline/export-log/1"] = "germline/export-log/1"
    dry_run: bool
    folder: str
    events: int
    others: int
    written: tuple[str, ...]
    head: str


class ExportAttestDocument(Document):
    """Write where a version comes from, with proofs."""

    schema_: Literal["germline/export-attest/1"] = "germline/export-attest/1"
    skill: str
    version: int
    file: str | None
    files: dict[str, str]
    events: tuple[int, ...]
    key: str | None
    checkpoint: CheckpointDocument
    attestation: dict[str, JsonValue]


class FinishedRunRow(Part):
    """A finished run of a model; `decision` is a person's word on it."""

    run: str
    task: str
    split: Split
    version: str
    model: str
    skill_mode: SkillMode
    round: int
    status: str
    score: float
    tampered: bool
    decision: Literal["approve", "reject"] | None
    transcript: Absent[RunTranscript] = ABSENT

    @classmethod
    def of(cls, run: "FinishedRun", *, whole: bool) -> "FinishedRunRow":
        """Read it from the run, with its messages where it is wanted `whole`."""
        transcript = run.transcript
        return cls.described(
            transcript,
            run=run.name,
            version=run.kept.arm,
            round=run.kept.round,
            status=run.kept.trial.status,
            score=run.score,
            tampered=not run.sound,
            decision=run.decision or None,
            **({"transcript": transcript} if whole else {}),
        )


class TrainingSessionRow(Part):
    """A session that training could use; its messages, as they would be written, where it was asked for."""

    id: str
    outcome: float
    model: str
    decision: Literal["approve", "reject"] | None
    prompt: Absent[str] = ABSENT
    messages: Absent[tuple[dict[str, JsonValue], ...]] = ABSENT

    @classmethod
    def of(
        cls, trace: "TrainingTrace", decided: "Mapping[str, Literal['approve', 'reject']]", *, whole: bool
    ) -> "Self":
        """Describe a session, the whole of it where that was asked for."""
        own = {"prompt": trace.prompt, "messages": tuple(trace.messages)} if whole else {}
        decision = decided.get(trace.record.id)
        return cls(id=trace.record.id, outcome=trace.outcome, model=trace.model, decision=decision, **own)


class ExportReviewDocument(Document):
    """List finished runs or sessions, print one, and say which may be exported; a decision needs --reason."""

    schema_: Literal["germline/export-review/1"] = "germline/export-review/1"
    dry_run: Rehearsed = False
    decision: Absent[Literal["approve", "reject"]] = ABSENT
    runs: Absent[tuple[FinishedRunRow, ...] | int] = ABSENT
    sessions: Absent[tuple[TrainingSessionRow, ...] | int] = ABSENT
    events: Absent[tuple[EventRow, ...]] = ABSENT


class ExportRolloutsDocument(Document):
    """Write approved runs of a model for trainers: good ones as examples, or all as groups with advantages."""

    schema_: Literal["germline/export-rollouts/1"] = "germline/export-rollouts/1"
    format: Literal["sft", "grpo"]
    file: str
    lines: int
    approved: int
    runs: int
    warning: str | None
    dry_run: Rehearsed = False


class ExportDatasetDocument(Document):
    """Write sessions with an outcome for trainers; the manifest beside the file is the same.

    `sha256` is that of the file, `distilled_from` the model whose best sessions are kept, "" for all; `left_out`
    counts sessions on explore tasks by why they are not in it. With `approved` a person let each of them go.
    """

    schema_: Literal["germline/export-dataset/1"] = "germline/export-dataset/1"
    format: DatasetFormat
    file: str
    rows: int
    sha256: str
    license: str
    consent: str
    made_at: str
    skill: str
    approved: bool
    split: Literal["explore"] = "explore"
    sessions: tuple[str, ...]
    tasks: int
    distilled_from: str
    left_out: dict[str, int]
    dry_run: bool
