"""Files on disk: written anew from the log, or what a person made of them taken in."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from events.errors import RefusedError, UsageError
from registry.commands import Adopt
from registry.publish import (
    differences,
    edited_folder,
    keep_files,
    publish,
    require_unedited,
    standing,
    take_in_edits,
    write_out,
)
from registry.rendering import label
from tui.bootstrap import find_registry, open_registry
from tui.cli.annotated import write_annotated
from tui.cli.appended import event_rows, print_rehearsed, since
from tui.cli.differing import changed_files, files_json, print_files
from tui.cli.facts import say_folded
from tui.cli.invocation import invocation
from tui.cli.options import AsJson, DryRun, OneOrAll

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.diffs import DiffLine
    from registry.library import Library
    from registry.registry import Registry
    from tui.cli.invocation import Invocation


class Written(NamedTuple):
    """What was written of a skill, and where."""

    skill: str
    version: int
    folder: Path
    written: tuple[str, ...]


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
    """Write the files of skills anew from the log.

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
        for name in names:
            capsule = registry.capsule(name)
            folder = Path(to).expanduser() / name if to else Path(capsule.source)
            if dry_run:
                written = _would_write(registry, name, to=to, discard=discard)
            elif annotated:
                written = write_annotated(registry, capsule, folder)
            elif to:
                written = write_out(registry, capsule, folder)
            else:
                written = publish(registry, name, discard=discard)
            rows.append(Written(name, capsule.version, folder, written))
    if as_json:
        skills = [{**row._asdict(), "folder": str(row.folder), "written": list(row.written)} for row in rows]
        call.answer("project", {"dry_run": dry_run, "skills": skills})
        return
    for row in rows:
        verb = ("to write" if dry_run else "written") if row.written else "in order"
        files = f": {', '.join(row.written)}" if row.written else ""
        say_folded(call, f"{verb:<10} ", f"{row.skill}@{row.version} in {row.folder}{files}")


def _would_write(library: Library, name: str, *, to: str, discard: bool) -> tuple[str, ...]:
    if to:
        return ("SKILL.md", *(file.entry.path for file in library.capsule(name).files))
    if not discard:
        require_unedited(library, name)
    return tuple(one.path for one in differences(library, name) if one.kind != "added")


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
        rows = [
            {"skill": one.name, "version": one.version, "events": event_rows(receipt.envelopes)}
            for one, (_, receipt) in zip(capsules, receipts, strict=True)
        ]
        call.answer("adopt", {"skills": rows})
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
    events: Sequence[dict[str, Any]],
    *,
    as_json: bool,
) -> None:
    """Say what a person edited, line by line, and the events that would take it in."""
    if as_json:
        skills = [{"skill": name, "files": files_json(files)} for name, files in changed.items()]
        call.answer("adopt", {"dry_run": True, "skills": skills, "events": events})
        return
    print_rehearsed(call, events)
    for name, files in changed.items():
        print_files(call, [(f"{name}/{path}", rows) for path, rows in files])
    one = next(iter(changed)) if len(changed) == 1 else ""
    call.say(f"\nnext       germline adopt {one}".rstrip() + f"    germline project {one}".rstrip() + " --discard")


def _edited(library: Library) -> list[str]:
    """List the skills whose files a person edited; raises RefusedError where there are none."""
    found = [name for name in library.names() if standing(library, name) == "edited"]
    if not found:
        raise RefusedError("no projected file was edited: there is nothing to adopt", hint="germline status")
    return found


COMMANDS: Final = {"project": project, "adopt": adopt}
