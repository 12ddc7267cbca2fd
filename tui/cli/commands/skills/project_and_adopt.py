"""Files on disk: written again from the log, or what a person made of them taken in."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import RefusedError, UsageError
from registry.actions.publish import (
    differences,
    edited_folder,
    keep_files,
    publish,
    require_unedited,
    standing,
    take_in_edits,
    write_out,
)
from registry.decide.commands import Adopt
from registry.skill_md.render import label
from registry.skill_md.skill_files import copy_place, main_file, write_place
from registry.state.capsule import is_skill_name
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, OneOrAll
from tui.cli.printers.blame import write_annotated
from tui.cli.printers.diff import print_files
from tui.documents.differences import changed_file_rows
from tui.documents.events import EventRow, event_rows
from tui.documents.folders import AdoptDocument, AdoptedSkill, ProjectDocument, ProjectedSkill
from tui.reads.diff import changed_files
from tui.session.bootstrap import find_registry, open_registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.query.diffs import DiffLine
    from registry.query.library import Library
    from registry.registry import Registry
    from tui.cli.output.invocation import Invocation


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
        names = [registry.capsule(skill).name] if skill else registry.names()
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


def adopt(
    ctx: typer.Context,
    skill: OneOrAll = "",
    *,
    keep_claims: Annotated[
        bool, typer.Option("--keep-claims", help="Leave the claims of changed lines standing.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take in what a person edited in the projected files.

    Unchanged lines keep their origin; a changed line that carries a claim drops it, unless --keep-claims. With
    --dry-run the edit is shown line by line.
    """
    call = invocation(ctx)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        names = [registry.capsule(skill).name] if skill else _edited(registry)
        before = registry.log.head().position
        if dry_run:
            with registry.rehearsal():
                changed = {name: _adopted(registry, name, keep_claims=keep_claims) for name in names}
                events = event_rows(since(registry, before))
            _tell_rehearsed(call, changed, events, as_json=as_json)
            return
        receipts = [(name, take_in_edits(registry, name, keep_claims=keep_claims)) for name in names]
        capsules = [registry.capsule(name) for name in names]
    if as_json:
        adopted = (
            AdoptedSkill(skill=capsule.name, version=capsule.version, events=event_rows(receipt.envelopes))
            for capsule, (_, receipt) in zip(capsules, receipts, strict=True)
        )
        call.answer(AdoptDocument(skills=tuple(adopted)))
        return
    for capsule in capsules:
        call.say(f"adopted    {label(capsule)}, unproven until measured")
        call.say(f"next       germline diff {capsule.name} {capsule.version - 1} {capsule.version}")


def _adopted(registry: Registry, name: str, *, keep_claims: bool) -> list[tuple[str, list[DiffLine]]]:
    """Adopt an edit, inside a rehearsal, and compare each file with what it was."""
    old, edited = registry.capsule(name), edited_folder(registry, name)
    keep_files(registry.log, edited)
    registry.execute(Adopt(edited, keep_claims=keep_claims))
    return list(changed_files(registry, old, registry.capsule(name)))


def _tell_rehearsed(
    call: Invocation,
    changed: Mapping[str, list[tuple[str, list[DiffLine]]]],
    events: tuple[EventRow, ...],
    *,
    as_json: bool,
) -> None:
    """Say what a person edited, line by line, and the events that would take it in."""
    if as_json:
        skills = (AdoptedSkill(skill=name, files=changed_file_rows(files)) for name, files in changed.items())
        call.answer(AdoptDocument(dry_run=True, skills=tuple(skills), events=events))
        return
    print_rehearsed(call, events)
    for name, files in changed.items():
        print_files(call, [(f"{name}/{path}" if is_skill_name(name) else name, rows) for path, rows in files])
    skill = next(iter(changed)) if len(changed) == 1 else ""
    call.say(
        f"\nnext       germline adopt {skill}".rstrip() + f"    germline project {skill}".rstrip() + " --discard"
    )


def _edited(library: Library) -> list[str]:
    """List the skills whose files a person edited; raises RefusedError where there are none."""
    edited = [name for name in library.names() if standing(library, name) == "edited"]
    if not edited:
        raise RefusedError("no projected file was edited: there is nothing to adopt", hint="germline status")
    return edited


COMMANDS: Final = {"project": project, "adopt": adopt}
