"""Documents on folders: skills that come in, are written out, edited and reported on, and what they know."""

from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from tui.documents.differences import ChangedFile, FileFindingRow, finding_rows
from tui.documents.document import ABSENT, Absent, Document, OrNull, Part, Rehearsed
from tui.documents.events import EventRow, HeadRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.actions.index_skill import PlannedIndex
    from registry.skill_md.folder import SkillFolder
    from strategies.knowledge.corpus import Corpus, CorpusSource, SourceState
    from strategies.merge.merge_history import MergedSkill
    from tui.report.reads import ReportContent, SkillContent


class FirstEvent(Part):
    """The event that would begin a registry: there is nobody yet whose it is."""

    type: str
    stream: str
    summary: str
    payload: dict[str, JsonValue]


class InitDocument(Document):
    """Create a registry here; say which logs and skills could go in."""

    schema_: Literal["germline/init/1"] = "germline/init/1"
    dry_run: Rehearsed = False
    registry: str
    preset: Absent[str] = ABSENT
    split_key: Absent[str] = ABSENT
    offers: Absent[tuple[str, ...]] = ABSENT
    events: Absent[tuple[FirstEvent, ...]] = ABSENT


class ImportedSkill(Part):
    """A skill that was imported."""

    skill: str
    version: int
    source: str
    files: int
    sections: int
    warnings: tuple[str, ...]
    findings: tuple[FileFindingRow, ...]

    @classmethod
    def of(cls, skill: "SkillFolder") -> "ImportedSkill":
        """Read it from the folder that was imported."""
        from strategies.gate.file_findings import findings_in_skill  # noqa: PLC0415 - the other documents need none

        return cls(
            skill=skill.name,
            version=1,
            source=skill.source,
            files=len(skill.files) + 1,
            sections=len(skill.sections),
            warnings=tuple(skill.warnings),
            findings=finding_rows(findings_in_skill(skill)),
        )


class MovedSkill(Part):
    """A skill that is projected to another folder from now on."""

    skill: str
    source: str


class MergedSkillRow(Part):
    """What became of a skill of another registry's exported log; `version` is the live one here."""

    skill: str
    registry: str
    origin_version: int
    result: Literal["new", "version", "candidate", "aside", "known", "left"]
    version: OrNull[int]
    candidate: OrNull[str]
    place: OrNull[str]
    reason: OrNull[str]
    warnings: tuple[str, ...]
    findings: tuple[FileFindingRow, ...]

    @classmethod
    def of(cls, merged: "MergedSkill", warnings: tuple[str, ...]) -> "MergedSkillRow":
        """Read it from what a merge did."""
        from strategies.gate.file_findings import findings_in_skill  # noqa: PLC0415 - the other documents need none

        findings = findings_in_skill(merged.folder) if merged.folder else ()
        return cls.described(merged, warnings=warnings, findings=finding_rows(findings))


class ImportDocument(Document):
    """Import skills and instructions; each is projected in place."""

    schema_: Literal["germline/import/1"] = "germline/import/1"
    dry_run: Rehearsed = False
    skills: Absent[tuple[ImportedSkill, ...]] = ABSENT
    moved: Absent[tuple[MovedSkill, ...]] = ABSENT
    known: Absent[tuple[str, ...]] = ABSENT
    merged: Absent[tuple[MergedSkillRow, ...]] = ABSENT
    events: tuple[EventRow, ...]


class GepSkillRow(Part):
    """A skill that was made of genes of Evolver."""

    skill: str
    version: int
    folder: str
    genes: int
    checks: int
    records: int
    doubts: tuple[str, ...]
    asset_id_does_not_hold: tuple[str, ...]


class ImportGepDocument(Document):
    """Import genes of Evolver (GEP) as skills, unproven."""

    schema_: Literal["germline/import-gep/1"] = "germline/import-gep/1"
    dry_run: bool
    skills: tuple[GepSkillRow, ...]
    events: tuple[EventRow, ...]


class ProjectedSkill(Part):
    """The files of a skill that were written."""

    skill: str
    version: int
    folder: str
    written: tuple[str, ...]


class ProjectDocument(Document):
    """Write the files of skills again from the log."""

    schema_: Literal["germline/project/1"] = "germline/project/1"
    dry_run: bool
    skills: tuple[ProjectedSkill, ...]


class FileWriterRow(Part):
    """A call of a session that wrote to a file of a skill; `at` is "" where the log does not say when."""

    path: str
    session: str
    tool: str
    at: str


class AdoptedSkill(Part):
    """A skill whose edits were taken in, or line by line what a dry run would take in.

    `findings` are what a person should look at in the lines that it gains, `writers` the calls that wrote them.
    """

    skill: str
    version: Absent[int] = ABSENT
    events: Absent[tuple[EventRow, ...]] = ABSENT
    files: Absent[tuple[ChangedFile, ...]] = ABSENT
    findings: tuple[FileFindingRow, ...] = ()
    writers: tuple[FileWriterRow, ...] = ()


class AdoptDocument(Document):
    """Take in what a person edited in the projected files."""

    schema_: Literal["germline/adopt/1"] = "germline/adopt/1"
    dry_run: Rehearsed = False
    skills: tuple[AdoptedSkill, ...]
    events: Absent[tuple[EventRow, ...]] = ABSENT


class ProtectDocument(Document):
    """Forbid edits of lines, until they are released."""

    schema_: Literal["germline/protect/1"] = "germline/protect/1"
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]


class ReleaseDocument(Document):
    """End the protection of lines."""

    schema_: Literal["germline/release/1"] = "germline/release/1"
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]


class RevertDocument(Document):
    """Go back to the text of an earlier version, by a new event."""

    schema_: Literal["germline/revert/1"] = "germline/revert/1"
    dry_run: Rehearsed = False
    skill: Absent[str] = ABSENT
    to: Absent[int] = ABSENT
    version: Absent[int] = ABSENT
    written: Absent[tuple[str, ...]] = ABSENT
    events: tuple[EventRow, ...]


class ReportedSkill(Part):
    """How much of a skill a report shows, and how much it leaves out."""

    skill: str
    version: int
    lines: int
    versions: int
    versions_summed: int
    events: int
    events_left_out: int
    candidates: int
    candidates_left_out: int
    evidence: int
    evidence_left_out: int
    evidence_erased: int
    tasks: int
    tasks_left_out: int

    @classmethod
    def of(cls, shown: "SkillContent") -> "ReportedSkill":
        """Count what the report shows of a skill."""
        return cls(
            skill=shown.capsule.name,
            version=shown.capsule.version,
            lines=len(shown.lines),
            versions=len(shown.versions),
            versions_summed=shown.summed.versions if shown.summed else 0,
            events=len(shown.events),
            events_left_out=shown.events_total - len(shown.events),
            candidates=len(shown.candidates),
            candidates_left_out=shown.candidates_total - len(shown.candidates),
            evidence=sum(len(signal.evidence) for signal in shown.signals),
            evidence_left_out=sum(signal.more for signal in shown.signals),
            evidence_erased=sum(len(signal.erased) for signal in shown.signals),
            tasks=len(shown.trends.tasks.rows),
            tasks_left_out=shown.trends.tasks.left_out,
        )


class ReportDocument(Document):
    """Write one HTML page of all there is to say; no network."""

    schema_: Literal["germline/report/1"] = "germline/report/1"
    file: str
    size_bytes: int
    at: str
    head: HeadRow
    skills: tuple[ReportedSkill, ...]
    dry_run: Rehearsed = False

    @classmethod
    def of(cls, shown: "ReportContent", file: "Path", size_bytes: int, *, dry_run: bool) -> "ReportDocument":
        """Describe a page of so many bytes."""
        return cls(
            file=str(file),
            size_bytes=size_bytes,
            at=shown.now,
            head=HeadRow.model_validate(shown.head),
            skills=tuple(map(ReportedSkill.of, shown.skills)),
            dry_run=dry_run,
        )


IndexState = Literal["current", "written", "removed", "stale", "none"]
"""What became of an index; `stale` is one that `--check` finds out of date, `none` one that nothing needs."""


class IndexedPassage(Part):
    """A passage with the words that lead to it; lines count from 1."""

    keywords: tuple[str, ...]
    path: str
    title: str
    first: int
    last: int


class UncoveredFile(Part):
    """A file to which no row leads, and why."""

    path: str
    why: str


class IndexDocument(Document):
    """Make the index of a skill's files, or of a folder of skills: which passage to open for which words."""

    schema_: Literal["germline/index/1"] = "germline/index/1"
    file: str
    state: IndexState
    rows: tuple[IndexedPassage, ...]
    uncovered: tuple[UncoveredFile, ...]
    unnamed: tuple[str, ...]
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]

    @classmethod
    def of(
        cls, planned: "PlannedIndex", state: IndexState, events: "Sequence[EventRow]", *, dry_run: bool
    ) -> "IndexDocument":
        """Describe an index as it was planned; a draft has no events."""
        return cls(
            file=str(planned.file),
            state=state,
            rows=tuple(map(IndexedPassage.model_validate, planned.index.rows)),
            uncovered=tuple(map(UncoveredFile.model_validate, planned.index.uncovered)),
            unnamed=planned.index.unnamed,
            dry_run=dry_run,
            events=tuple(events),
        )


class KnowledgeSource(Part):
    """A source that is kept: its path from the project and in the skill, when it was read, how it is now.

    `state` and `stale`, the lines of kept passages that it no longer has, are there where it was compared.
    """

    source: str
    path: str
    sha256: str
    read: str
    passages: int
    state: Absent[Literal["current", "changed", "missing"]] = ABSENT
    stale: Absent[tuple[str, ...]] = ABSENT

    @classmethod
    def of(cls, source: "CorpusSource") -> "KnowledgeSource":
        """Read it from the list that the skill carries."""
        return cls(**source.model_dump(exclude={"passages"}), passages=len(source.passages))

    @classmethod
    def compared(cls, compared: "SourceState") -> "KnowledgeSource":
        """Read it with how the source is now."""
        stale = tuple(f"{passage.first}-{passage.last} {passage.title}" for passage in compared.stale)
        return cls.of(compared.source).model_copy(update={"state": compared.state, "stale": stale})


class UnkeptSource(Part):
    """A source of which nothing is kept, and why."""

    source: str
    why: str


def unkept_rows(corpus: "Corpus") -> tuple[UnkeptSource, ...]:
    """List the sources of which nothing is kept."""
    return tuple(UnkeptSource(source=each.source, why=each.why) for each in corpus.left_out)


class KnowledgeAddDocument(Document):
    """Propose sources as the knowledge of a skill: a candidate, until runs or a person decide."""

    schema_: Literal["germline/knowledge-add/1"] = "germline/knowledge-add/1"
    dry_run: Rehearsed = False
    skill: str
    candidate: str
    sources: tuple[KnowledgeSource, ...]
    left_out: tuple[UnkeptSource, ...]
    removed: tuple[str, ...]
    events: tuple[EventRow, ...]


class KnowledgeListDocument(Document):
    """List the knowledge of skills."""

    schema_: Literal["germline/knowledge-list/1"] = "germline/knowledge-list/1"
    skills: dict[str, tuple[KnowledgeSource, ...]]
    left_out: dict[str, tuple[UnkeptSource, ...]]


class KnowledgeCheckDocument(Document):
    """Compare the knowledge of skills with its sources."""

    schema_: Literal["germline/knowledge-check/1"] = "germline/knowledge-check/1"
    skills: dict[str, tuple[KnowledgeSource, ...]]
    stale: int


class KnowledgeRemoveDocument(Document):
    """Take sources out of the knowledge of a skill, or erase them for good."""

    schema_: Literal["germline/knowledge-remove/1"] = "germline/knowledge-remove/1"
    dry_run: Rehearsed = False
    skill: Absent[str] = ABSENT
    version: Absent[int] = ABSENT
    final: Absent[bool] = ABSENT
    events: tuple[EventRow, ...]
