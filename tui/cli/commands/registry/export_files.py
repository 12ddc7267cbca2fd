"""Exporting what others can read: a skill at a version, as its folder or a zip; the log, as lines."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import io
import os
import sys
import zipfile
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import UsageError
from registry.actions.publish import expected_files
from registry.skill_md.disk import write_skill
from registry.skill_md.render import label
from registry.skill_md.skill_files import copy_place, write_place
from tui.cli.output.facts import say_folded
from tui.cli.output.files import write_new_chunks
from tui.cli.output.invocation import invocation, json_text
from tui.cli.output.options import AsJson, Rehearse
from tui.documents.events import ExportedEventDocument, ExportEventsDocument
from tui.documents.exports import ExportLogDocument, ExportSkillDocument
from tui.session.open_registry import find_registry, open_library, project_folder
from tui.text.names import split_skill
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.query.library import Library
    from registry.skill_md.disk import FileContent

_ZIP: Final = ".zip"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The only time that every zip may bear: the same version gives the same archive."""
_UNIX: Final = 3


def export_skill(
    ctx: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="SKILL[@V]", help="As in x, x@12, x@production, x@2026-11-01.")],
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="PLACE", help="A folder to put it in, or FILE.zip.")
    ],
    dry_run: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Write a skill at a version into a folder, or a zip.

    The bytes are those that germline projects: imported elsewhere, they are projected the same again. Nothing
    that is there is overwritten.
    """
    call = invocation(ctx)
    name, ref = split_skill(skill)
    with open_library(find_registry(call.registry)) as library:
        capsule = library.capsule(name, ref)
        files = expected_files(library.log, capsule)
    zipped = output.suffix.lower() == _ZIP
    folder = copy_place(name, output.expanduser())
    place = output.expanduser() if zipped else write_place(name, str(folder))
    if os.path.lexists(place):
        raise UsageError(f"{place} is there already, and is not overwritten", hint="-o ANOTHER-PLACE")
    if not dry_run:
        if zipped:
            write_new_chunks(place, [_zipped(copy_place(name, Path()), files)])
        else:
            write_skill(folder, files)
    if as_json:
        document = ExportSkillDocument(
            dry_run=dry_run,
            skill=name,
            version=capsule.version,
            place=str(place),
            files={path: len(files[path].body) for path in sorted(files)},
        )
        call.answer(document)
        return
    size = f"{count(len(files), 'file')}, {sum(len(file.body) for file in files.values()):,} bytes"
    say_folded(call, f"{'would be' if dry_run else 'exported':<10} ", f"{label(capsule)}, {size}, in {place}")
    if capsule.unproven:
        call.note("note       this version is unproven: a person put it there, and nobody measured it")
    at = quote(str(place))
    where = f"unzip {at}, then: germline import {name}" if zipped else f"germline import {at}"
    call.say(f"next       {where}    germline export --attest {label(capsule)}")


def _zipped(folder: Path, files: Mapping[str, FileContent]) -> bytes:
    """Pack the files below a folder, in order, with their modes and no time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo((folder / path).as_posix(), _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = files[path].mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[path].body)
    return buffer.getvalue()


def export_events(
    ctx: typer.Context,
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file; else stdout.")
    ] = None,
    skill: Annotated[str, typer.Option("--skill", metavar="SKILL", help="Only what names this skill.")] = "",
    dry_run: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Write the log as JSON lines, oldest first, with hashes and payloads.

    For other tools to read: every field of the header, the hash, and the payload as it was stored. To move a
    registry, `copy` and `backup` keep what lies beside the events as well. Without -o the lines are the answer.
    """
    call = invocation(ctx)
    if output is None and (dry_run or as_json):
        raise UsageError(
            "--dry-run and --json tell of a file: without -o, JSON lines are the answer", hint="-o FILE"
        )
    with open_library(find_registry(call.registry)) as library:
        lines = _lines(library, skill)
        if output is None:
            for line in lines:
                sys.stdout.write(line)
            return
        if os.path.lexists(output.expanduser()):
            raise UsageError(f"{output} is there already, and is not overwritten", hint="-o ANOTHER-FILE")
        if dry_run:
            written = sum(1 for _ in lines)
        else:
            written = write_new_chunks(output.expanduser(), (line.encode() for line in lines))
        head = library.log.head()
    if as_json:
        document = ExportEventsDocument(
            dry_run=dry_run, file=str(output), skill=skill or None, events=written, head=head.hash
        )
        call.answer(document)
        return
    call.say(
        f"{'would be' if dry_run else 'exported':<10} {count(written, 'event')}, {head.hash[:12]}, in {output}"
    )
    call.say("next       germline verify    germline copy . TARGET")


def export_log(
    ctx: typer.Context,
    *,
    to: Annotated[
        str, typer.Option("--to", metavar="FOLDER", help="Where; germline-log in the project if left out.")
    ] = "",
    dry_run: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Write the whole log as lines for git, a file for each skill.

    The same events give the same bytes, and git joins the lines of two clones. What others exported there stays.
    `germline import log FOLDER` merges it elsewhere.
    """
    from strategies.merge.log_folder import DEFAULT_FOLDER, export_log  # noqa: PLC0415 - for this one alone

    call = invocation(ctx)
    folder = Path(to).expanduser() if to else project_folder(call.registry) / DEFAULT_FOLDER
    with open_library(find_registry(call.registry)) as library:
        written = export_log(library.log, folder, write=not dry_run)
        head = library.log.head().hash
    if as_json:
        document = ExportLogDocument(
            dry_run=dry_run,
            folder=str(folder),
            events=written.events,
            others=written.others,
            written=written.paths,
            head=head,
        )
        call.answer(document)
        return
    others = f", beside {written.others:,} of other registries" if written.others else ""
    changed = f"{count(len(written.paths), 'file')} {'to write' if dry_run else 'written'}"
    size = f"{count(written.events, 'event')}{others}, in {folder}: {changed if written.paths else 'all in order'}"
    say_folded(call, f"{'would be' if dry_run else 'exported':<10} ", size)
    call.say(f"next       git add {quote(str(folder))}    there: germline import log {quote(folder.name)}")


def _lines(library: Library, skill: str) -> Iterator[str]:
    events = reversed(list(library.history(skill))) if skill else library.log.read()
    return (f"{json_text(ExportedEventDocument.of(event))}\n" for event in events)
