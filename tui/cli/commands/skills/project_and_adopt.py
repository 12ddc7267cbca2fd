"""Files on disk: written again from the log, or what a person made of them taken in."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from events.errors import CheckFailedError, RefusedError, UsageError
from registry.actions.hold_edits import latest_held, let_go
from registry.actions.publish import (
    differences,
    edited_folder,
    is_edited,
    keep_files,
    publish,
    require_unedited,
    take_in_edits,
    write_out,
)
from registry.decide.commands import Adopt
from registry.skill_md.skill_files import copy_place, main_file, write_place
from registry.state.capsule import is_skill_name
from strategies.gate.file_findings import findings_in_rewrite
from strategies.monitor.disk_edits import sessions_of, writers_of
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import say_facts, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll
from tui.cli.printers.blame import write_annotated
from tui.cli.printers.diff import print_files
from tui.documents.differences import changed_file_rows, finding_rows
from tui.documents.events import EventRow, event_rows
from tui.documents.folders import AdoptDocument, AdoptedSkill, FileWriterRow, ProjectDocument, ProjectedSkill
from tui.facts.candidates import finding_facts
from tui.reads.diff import changed_files
from tui.session.open_registry import find_registry, open_registry
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.query.diffs import DiffLine
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.skill_md.folder import SkillFolder
    from strategies.gate.file_findings import FileFinding
    from strategies.monitor.disk_edits import FileWriter
    from tui.cli.output.invocation import Invocation


_SHOWN_CHARS: Final = 80
"""How much of a line a refusal quotes."""


def project(
    ctx: typer.Context,
    skill: OneOrAll = "",
    *,
    to: Annotated[str, typer.Option(metavar="DIR", help="Write copies below this folder instead.")] = "",
    annotated: Annotated[
        bool, typer.Option("--annotated", help="Write the reason of each learned line beside it; needs --to.")
    ] = False,
    discard: Annotated[bool, typer.Option("--discard", help="Overwrite what a person edited.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the files of skills again from the log.

    Files that a person edited are never overwritten, unless --discard says so. No event is appended.
    """
    call = invocation(ctx)
    if annotated and not to:
        raise UsageError(
            "annotated copies are for people, not for agents: name a folder for them",
            hint="germline project --annotated --to DIR",
        )
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        names = [registry.capsule(skill).name] if skill else registry.live_names()
        rows = []
        for name in () if to else names:  # all of them or none
            registry.places.require(write_place(name, registry.capsule(name).source), name)
        for name in names:
            capsule = registry.capsule(name)
            folder = copy_place(name, Path(to).expanduser()) if to else Path(capsule.source)
            if dry_run:
                written = _would_write(registry, name, to=to, discard=discard)
            elif annotated:
                written = write_annotated(registry, capsule, folder)
            elif to:
                written = write_out(registry, capsule, folder)
            else:
                written = publish(registry, name, discard=discard)
            rows.append(ProjectedSkill(skill=name, version=capsule.version, folder=str(folder), written=written))
    if as_json:
        call.answer(ProjectDocument(dry_run=dry_run, skills=tuple(rows)))
        return
    for row in rows:
        verb = ("to write" if dry_run else "written") if row.written else "in order"
        files = f": {', '.join(row.written)}" if row.written else ""
        say_folded(call, f"{verb:<10} ", f"{row.skill}@{row.version} in {row.folder}{files}")


def _would_write(library: Library, name: str, *, to: str, discard: bool) -> tuple[str, ...]:
    if to:
        return (main_file(name), *(file.entry.path for file in library.capsule(name).files))
    if not discard:
        require_unedited(library, name)
    return tuple(difference.path for difference in differences(library, name) if difference.kind != "added")


class HandEdit(NamedTuple):
    """An edit that is to be adopted: of the projected files, or `held` aside."""

    skill: str
    held: Path | None
    edited: SkillFolder
    findings: tuple[FileFinding, ...]
    writers: tuple[FileWriter, ...]

    def row(self, **more: Any) -> AdoptedSkill:  # noqa: ANN401 - what is known of it beside
        """Describe it for scripts."""
        return AdoptedSkill(
            skill=self.skill,
            findings=finding_rows(self.findings),
            writers=tuple(map(FileWriterRow.model_validate, self.writers)),
            **more,
        )


def adopt(
    ctx: typer.Context,
    skill: OneOrAll = "",
    *,
    held: Annotated[bool, typer.Option("--held", help="The edit that was held back last; needs SKILL.")] = False,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="Also lines that instruct an agent against its user: you saw them.")
    ] = False,
    keep_claims: Annotated[
        bool, typer.Option("--keep-claims", help="Leave the claims of changed lines standing.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take in what a person edited in the projected files.

    Unchanged lines keep their origin; a changed line that carries a claim drops it, unless --keep-claims. With
    --dry-run the edit is shown line by line, with the sessions that wrote it. What instructs an agent against its
    user, or hides something, in scripts as well, is not taken in unless --reviewed.
    """
    call = invocation(ctx)
    if held and not skill:
        raise UsageError("an edit that was held back is adopted by its skill", hint="germline adopt SKILL --held")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        names = [registry.capsule(skill).name] if skill else _edited(registry)
        edits = [_read_edit(registry, name, latest_held(registry, name) if held else None) for name in names]
        before = registry.log.head().position
        if dry_run:
            with registry.rehearsal():
                changed = {edit.skill: _adopted(registry, edit, keep_claims=keep_claims) for edit in edits}
                events = event_rows(since(registry, before))
            _tell_rehearsed(call, changed, edits, events, as_json=as_json)
            return
        if not reviewed:
            _require_harmless(edits)
        receipts = {
            edit.skill: take_in_edits(
                registry,
                edit.skill,
                keep_claims=keep_claims,
                held=edit.held,
                by=sessions_of(edit.writers),
            )
            for edit in edits
        }
        for edit in edits:
            if edit.held:
                let_go(edit.held)
        versions = {name: registry.capsule(name).version for name in names}
    if as_json:
        rows = (
            edit.row(version=versions[edit.skill], events=event_rows(receipts[edit.skill].envelopes))
            for edit in edits
        )
        call.answer(AdoptDocument(skills=tuple(rows)))
        return
    for edit in edits:
        name, version = edit.skill, versions[edit.skill]
        call.say(f"adopted    {name}@{version}, unproven until measured")
        say_facts(call, finding_facts(edit.findings))
        call.say(f"next       germline diff {name} {version - 1} {version}")


def _read_edit(registry: Registry, name: str, held: Path | None) -> HandEdit:
    """Read an edit, what a person should look at in it, and which sessions wrote it."""
    capsule = registry.capsule(name)
    edited = edited_folder(registry, name, held)
    findings = findings_in_rewrite(registry.log, capsule, edited)
    return HandEdit(name, held, edited, findings, writers_of(registry, [capsule])[name])


def _adopted(registry: Registry, edit: HandEdit, *, keep_claims: bool) -> list[tuple[str, list[DiffLine]]]:
    """Adopt an edit, inside a rehearsal, and compare each file with what it was."""
    old = registry.capsule(edit.skill)
    keep_files(registry.log, edit.edited)
    registry.execute(Adopt(edit.edited, keep_claims, sessions_of(edit.writers)))
    return list(changed_files(registry, old, registry.capsule(edit.skill)))


def _require_harmless(edits: Sequence[HandEdit]) -> None:
    """Raise CheckFailedError for lines that instruct an agent against its user, or hide something."""
    instructing = [
        (edit.skill, finding) for edit in edits for finding in edit.findings if finding.level == "quarantine"
    ]
    if instructing:
        skill, finding = instructing[0]
        more = f", and {count(len(instructing) - 1, 'more line')}" if instructing[1:] else ""
        text = one_line(finding.text)[:_SHOWN_CHARS]
        line = f"{finding.what} in {skill}/{finding.path}:{finding.line}, {text!r}{more}"
        aside = " --held" if any(edit.held for edit in edits) else ""
        raise CheckFailedError(
            f"nothing is adopted unseen that holds {line}",
            hint=f"germline adopt {skill}{aside} --dry-run    germline adopt {skill}{aside} --reviewed",
        )


def _tell_edits(call: Invocation, edits: Sequence[HandEdit]) -> None:
    """Say who wrote an edit, as far as sessions tell, and what a person should look at in it."""
    for edit in edits:
        for session in sessions_of(edit.writers):
            tools = dict.fromkeys(
                f"{writer.tool} {writer.path}" for writer in edit.writers if writer.session == session
            )
            say_folded(call, "written by ", f"session {session[:12]}: {', '.join(tools)}")
        if not edit.writers:
            unknown = "no session that was read: a person, a program, or a session that was not scanned"
            say_folded(call, "written by ", unknown)
        say_facts(call, finding_facts(edit.findings))


def _tell_rehearsed(
    call: Invocation,
    changed: Mapping[str, list[tuple[str, list[DiffLine]]]],
    edits: Sequence[HandEdit],
    events: tuple[EventRow, ...],
    *,
    as_json: bool,
) -> None:
    """Say what a person edited, line by line, and the events that would take it in."""
    if as_json:
        skills = (edit.row(files=changed_file_rows(changed[edit.skill])) for edit in edits)
        call.answer(AdoptDocument(dry_run=True, skills=tuple(skills), events=events))
        return
    print_rehearsed(call, events)
    for name, files in changed.items():
        print_files(call, [(f"{name}/{path}" if is_skill_name(name) else name, rows) for path, rows in files])
    call.say()
    _tell_edits(call, edits)
    skill = edits[0].skill if len(edits) == 1 else ""
    if edits[0].held:
        call.say(f"next       germline adopt {skill} --held    rm -r {quote(str(edits[0].held))}")
        return
    call.say(
        f"next       germline adopt {skill}".rstrip() + f"    germline project {skill}".rstrip() + " --discard"
    )


def _edited(library: Library) -> list[str]:
    """List the skills whose files a person edited; raises RefusedError where there are none."""
    edited = [name for name in library.names() if is_edited(library, name)]
    if not edited:
        raise RefusedError("no projected file was edited: there is nothing to adopt", hint="germline status")
    return edited


COMMANDS: Final = {"project": project, "adopt": adopt}
