"""Documents on usage: what became of each line, and of skills as a whole; their tests by runs and retirement."""

from typing import TYPE_CHECKING, Literal

from events.types.capsule_events import DescriptionJudged, RetirementProposed, SkillModelsCompared, SkillTested
from events.types.claims import Claim
from events.types.score import Delta, Effect
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow
from tui.facts.usage import worth_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.usage.line_usage import FileUsage, LineUsage
    from strategies.usage.skill_ledger import SkillLedger
    from strategies.usage.trigger_audit import TriggerAudit


class LineWitnessRow(Part):
    """What can show that a line is wrong (`kind` and `what`); of "" `what` says what would."""

    kind: Literal["claim", "anchor", "evaluator", ""]
    what: str


class LineUsageRow(Part):
    """A line: sessions that loaded it, came to its moment, obeyed and ignored it; its effect where both did.

    Units: tokens are estimated, at four characters each. `claim` is null where it is read as nothing that logs
    hold; `claim_from` says whether it was `learned`, read from its `words`, or given by a `person`.
    """

    line: int
    text: str
    verdict: Literal["helps", "hurts", "inert", "unknown", "unwitnessed"]
    why: str
    would_tell: str
    claim: Claim | None
    claim_from: Literal["learned", "words", "person", ""]
    tokens: int
    loaded: int
    applied: int
    obeyed: int
    ignored: int
    effect: Effect | None
    witness: LineWitnessRow

    @classmethod
    def of(cls, usage: "LineUsage") -> "LineUsageRow":
        """Describe what became of a line."""
        return cls.described(
            usage,
            line=usage.line.number,
            text=usage.line.text.rstrip("\r\n"),
            verdict=usage.worth.verdict,
            why=usage.worth.why,
            would_tell=usage.worth.tell,
            claim_from=usage.origin,
            effect=usage.worth.effect,
            witness=LineWitnessRow.model_validate(usage.witness),
        )


class FileUsageRow(Part):
    """A skill or a file of instructions: sessions that count for it, and that loaded it, as far as is known.

    `evolvability` is the share of its lines that something can show to be wrong, null where it has none.
    """

    skill: str
    version: int
    sessions: int
    loaded: int
    presumed: int
    evolvability: float | None
    verdicts: dict[str, int]
    lines: tuple[LineUsageRow, ...]


class UsageDocument(Document):
    """Say which lines earn their place: how often each was loaded, met and obeyed, and what that went with."""

    schema_: Literal["germline/usage/1"] = "germline/usage/1"
    summary: str
    files: tuple[FileUsageRow, ...]

    @classmethod
    def of(cls, files: "Sequence[FileUsage]") -> "UsageDocument":
        """Describe the lines of some files."""
        rows = (
            FileUsageRow(
                skill=file.capsule.name,
                version=file.capsule.version,
                sessions=file.sessions,
                loaded=file.loaded,
                presumed=file.presumed,
                evolvability=file.evolvability,
                verdicts=dict(file.verdicts),
                lines=tuple(map(LineUsageRow.of, file.lines)),
            )
            for file in files
        )
        return cls(summary=worth_sentence(files), files=tuple(rows))


class UsageCorrectDocument(Document):
    """Say what a line asks for, as logs can hold it; saying the same again adds nothing."""

    schema_: Literal["germline/usage-correct/1"] = "germline/usage-correct/1"
    previous: Absent[Claim | None] = ABSENT
    line: Absent[LineUsageRow] = ABSENT
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]


class FileUseRow(Part):
    """A file beside SKILL.md, and in how many sessions it was opened or run."""

    path: str
    sessions: int
    last_used: str


class SkillLedgerRow(Part):
    """What became of a skill: `effect` is observed, and not what loading it did; tokens are estimated."""

    skill: str
    version: int
    sessions: int
    loads: int
    uses: int
    success: float | None
    low: float
    high: float
    heuristic: bool
    effect: Delta | None
    last_used: str
    tokens: int
    offered_tokens: int
    files: tuple[FileUseRow, ...]
    proposal: RetirementProposed | None

    @classmethod
    def of(cls, row: "SkillLedger", proposal: RetirementProposed | None) -> "SkillLedgerRow":
        """Read it from a ledger, with the open question whether to retire the skill."""
        return cls.described(
            row,
            skill=row.capsule.name,
            version=row.capsule.version,
            files=tuple(map(FileUseRow.model_validate, row.files)),
            proposal=proposal,
        )


class SkillLedgerDocument(Document):
    """Say how often each skill was loaded, how that ended, and what it costs."""

    schema_: Literal["germline/skill-ledger/1"] = "germline/skill-ledger/1"
    sessions: int
    telling: int
    skills: tuple[SkillLedgerRow, ...]
    retired: tuple[str, ...]


class SkillTestDocument(Document):
    """Run live skills beside no skill, or several offered together against the rest."""

    schema_: Literal["germline/skill-test/1"] = "germline/skill-test/1"
    dry_run: Rehearsed = False
    evaluator: str
    agent: str
    sealed_tasks: int
    least_runs: Absent[int] = ABSENT
    most_runs: Absent[int] = ABSENT
    skills: Absent[tuple[SkillTested, ...]] = ABSENT
    proposed: Absent[tuple[RetirementProposed, ...]] = ABSENT


class SkillRetireDocument(Document):
    """Take a skill off the disk; its history stays."""

    schema_: Literal["germline/skill-retire/1"] = "germline/skill-retire/1"
    dry_run: Rehearsed = False
    skill: Absent[str] = ABSENT
    removed: Absent[tuple[str, ...]] = ABSENT
    events: tuple[EventRow, ...]


class SkillRestoreDocument(Document):
    """Project a retired skill again, as it was."""

    schema_: Literal["germline/skill-restore/1"] = "germline/skill-restore/1"
    dry_run: Rehearsed = False
    skill: Absent[str] = ABSENT
    written: Absent[tuple[str, ...]] = ABSENT
    edited: Absent[bool] = ABSENT
    events: tuple[EventRow, ...]


class TriggerShare(Part):
    """A share of `n`, with its 95 % interval."""

    hits: int
    n: int
    low: float
    high: float


class TriggerRow(Part):
    """What sessions show of a description; without `claims` nothing tells where the skill is needed."""

    skill: str
    version: int
    description: str
    claims: int
    offered: int
    loaded: int
    needed: int
    precision: TriggerShare
    recall: TriggerShare
    findings: tuple[Literal["too wide", "too narrow"], ...]

    @classmethod
    def of(cls, audit: "TriggerAudit") -> "TriggerRow":
        """Read it from an audit."""
        return cls.described(
            audit,
            skill=audit.capsule.name,
            version=audit.capsule.version,
            claims=len(audit.claims),
            offered=len(audit.sessions),
            loaded=audit.precision.n,
            needed=audit.recall.n,
            precision=TriggerShare.model_validate(audit.precision),
            recall=TriggerShare.model_validate(audit.recall),
        )


class SkillTriggersDocument(Document):
    """Say whether skills are loaded in the sessions that need them, and in others."""

    schema_: Literal["germline/skill-triggers/1"] = "germline/skill-triggers/1"
    skills: tuple[TriggerRow, ...]


class SkillDescribeDocument(Document):
    """Hold another description of a skill to sessions that it was not made from."""

    schema_: Literal["germline/skill-describe/1"] = "germline/skill-describe/1"
    dry_run: Rehearsed = False
    skill: Absent[str] = ABSENT
    judged: Absent[DescriptionJudged] = ABSENT
    written: Absent[tuple[str, ...]] = ABSENT
    events: tuple[EventRow, ...]


class SeenModelRow(Part):
    """A model that logs name: its sessions, and the live skills whose measurement covers it."""

    model: str
    sessions: int
    labelled: int
    since: str
    until: str
    measured: tuple[str, ...]


class ModelsListDocument(Document):
    """List the models of sessions, and which live skills were measured under them."""

    schema_: Literal["germline/models-list/1"] = "germline/models-list/1"
    models: tuple[SeenModelRow, ...]
    unnamed: int


class ModelsCompareDocument(Document):
    """Hold live skills against two models, from sessions and kept runs."""

    schema_: Literal["germline/models-compare/1"] = "germline/models-compare/1"
    dry_run: Rehearsed = False
    skills: tuple[SkillModelsCompared, ...]
    events: tuple[EventRow, ...]
