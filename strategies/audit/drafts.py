"""Drafts of an audit: a skill that is changed in memory, move by move, and what the changes come to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import GermlineError
from events.types.candidate_events import AUDITOR
from events.types.parts import FileEdit, FileEntry, NewSection, NewSkill
from registry.actions.publish import expected_files
from registry.decide.adopt import Rewrite, rewrite_of
from registry.decide.birth import as_born
from registry.decide.promote import edited, with_files
from registry.skill_md.folder import SkillFile, SkillFolder
from registry.skill_md.navigation_index import index_lines, reindexed
from registry.skill_md.skill_files import main_file
from registry.skill_md.text import Section
from registry.state.capsule import CapsuleFile
from strategies.audit.audit_types import DraftEdit
from strategies.audit.evaluators.evaluator_types import SkillPassage
from strategies.gate.file_findings import file_changes
from strategies.gate.injection import suspicious
from strategies.gate.lint import lint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from events.store.sql_log import EventLog
    from registry.state.capsule import Capsule
    from strategies.gate.lint import Limits

_MOST_FILE_BYTES: Final = 256 * 1024
"""What is looked at line by line of a file beside SKILL.md (a guess)."""


class Drafted(NamedTuple):
    """A draft after some moves: those that were made, and why others were not."""

    capsule: Capsule
    made: tuple[DraftEdit, ...]
    refused: tuple[str, ...]


def capsule_of_folder(skill: SkillFolder) -> Capsule:
    """Give a skill that is only a folder as a capsule; its files are looked for in the store.

    Raises: EditError where its sections would not be read again as they are.
    """
    sections = tuple(NewSection(title=part.title, lines=part.lines) for part in skill.sections)
    born = as_born(skill.name, NewSkill(source=skill.source, front=skill.front, sections=sections))
    files = tuple(CapsuleFile(file.entry, 0) for file in skill.files)
    return replace(born, files=files, encoding=skill.encoding, mode=skill.mode)


def passages_of(log: EventLog, capsule: Capsule) -> tuple[SkillPassage, ...]:
    """List the lines of a skill and of its other text files."""
    return passages_in(capsule, texts_beside(log, capsule))


def passages_in(capsule: Capsule, texts: Mapping[str, str]) -> tuple[SkillPassage, ...]:
    """List the lines of a skill by their identity in their gene, then those of the texts beside it by number.

    Its navigation index is left out: it is made again from those files.
    """
    main = main_file(capsule.name)
    lines = [(gene, line) for gene in capsule.genes for line in gene.lines]
    of_index = index_lines([line.text for _, line in lines])
    own = [
        SkillPassage(file=main, gene=gene.id, line=line.id, text=line.text, section=gene.title)
        for at, (gene, line) in enumerate(lines)
        if at not in of_index
    ]
    beside = [
        SkillPassage(file=path, gene="", line=number, text=line)
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(keepends=True), start=1)
    ]
    return (*own, *beside)


def texts_beside(log: EventLog, capsule: Capsule) -> dict[str, str]:
    """Read the text files beside SKILL.md, by path; very large ones are left out."""
    texts = {}
    for file in capsule.files:
        if file.entry.size_bytes > _MOST_FILE_BYTES:
            continue
        try:
            text = (log.get_blob(file.entry.blob) or b"").decode()
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            texts[file.entry.path] = text
    return texts


def drafted(log: EventLog, base: Capsule, draft: Capsule, moves: Iterable[DraftEdit], limits: Limits) -> Drafted:
    """Make moves on a draft in turn; one that does not fit any more, or that lint refuses, is left out.

    `base` is what the audit began with: all changes together are held to the limits, and none may instruct past
    its skill.
    """
    made, refused = list[DraftEdit](), list[str]()
    for move in moves:
        try:
            after = _with_move(log, draft, move)
            problem = _problem(log, base, after, move, limits)
        except GermlineError as error:  # a line that another move changed, or that a person protected
            problem = error.message
        if problem:
            refused.append(f"{move.move}, {move.evaluator} on {move.task}: {problem}")
        else:
            draft = after
            made.append(move)
    return Drafted(draft, tuple(made), tuple(refused))


def rewrite_to(log: EventLog, base: Capsule, draft: Capsule) -> Rewrite:
    """Give what makes the base say what a draft says, its index with it; raises as `rewrite_of`."""
    files = expected_files(log, draft)
    beside = tuple(SkillFile(file.entry, files[file.entry.path].body) for file in draft.files)
    folder = SkillFolder(
        name=base.name,
        source=base.source,
        encoding=base.encoding,  # type: ignore[arg-type] # a capsule holds one of them
        mode=base.mode,
        front=tuple(line.text for line in draft.front),
        sections=tuple(Section(gene.title, tuple(line.text for line in gene.lines)) for gene in draft.genes),
        files=beside,
        warnings=(),
    )
    return rewrite_of(base, reindexed(folder, (file.entry for file in base.files)))


def _with_move(log: EventLog, draft: Capsule, move: DraftEdit) -> Capsule:
    modes = {file.entry.path: file.entry.mode for file in draft.files}
    changes = list[FileEdit]()
    for path, text in move.files.items():
        entry = None
        if text is not None:
            body = text.encode()
            blob = log.put_blob(body, kind="file")
            entry = FileEntry(path=path, blob=blob, mode=modes.get(path, 0o644), size_bytes=len(body))
        changes.append(FileEdit(path=path, entry=entry))
    return with_files(edited(draft, move.edits, by=AUDITOR), changes)


def _problem(log: EventLog, base: Capsule, after: Capsule, move: DraftEdit, limits: Limits) -> str:
    """Say why a draft may not be run, "" where it may."""
    rewrite = rewrite_to(log, base, after)
    changes = file_changes(log, base, rewrite.files)
    findings = lint(base, rewrite.edits, limits, born=rewrite.born, files=changes)
    refusals = [finding.what for finding in findings if finding.severity == "refuse"]
    brought = [line for edit in move.edits for line in edit.text]
    brought += [line for text in move.files.values() if text for line in text.splitlines()]
    return "; ".join((*refusals, *suspicious([line for line in brought if _is_new(base, line)], ())))


def _is_new(base: Capsule, line: str) -> bool:
    """Tell whether a line is not one that the skill has already: a skill's own words may give orders."""
    return bool(line.strip()) and all(
        line.strip() != own.text.strip() for gene in base.genes for own in gene.lines
    )
