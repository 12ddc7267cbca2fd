"""The navigation index of a skill of several files, or of a folder of skills."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, NotFoundError, UsageError
from registry.actions.index_skill import (
    plan_in_folder,
    plan_in_registry,
    plan_in_skill,
    record_index,
    write_index,
)
from registry.decide.commands import Reindex
from registry.skill_md.folder import read_skill
from registry.skill_md.rules import CHARACTERS_PER_TOKEN
from registry.skill_md.skill_files import SKILL_FILE
from tui.cli.output.facts import say_fact, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.events import event_rows
from tui.documents.folders import IndexDocument
from tui.reads.skill_paths import find_named
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.actions.index_skill import PlannedIndex
    from tui.cli.output.invocation import Invocation
    from tui.documents.events import EventRow
    from tui.documents.folders import IndexState
    from tui.session.open_registry import Where


def index(
    ctx: typer.Context,
    place: Annotated[
        str, typer.Argument(metavar="SKILL|FOLDER", help="A skill, by name or path, or a folder of skills.")
    ],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether it is up to date: exit code 3 where it is not.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the index out again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the index, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Lead agents to the right passage of a skill's files.

    A table of words and passages at the end of SKILL.md, made from the files beside it, without a model; it says
    what it does not cover. For a skill in the registry it is a new version, else the file is written. A folder of
    skills has its index in INDEX.md.
    """
    call = invocation(ctx)
    if check and (remove or dry_run):
        raise UsageError(
            "--check changes nothing: it goes with no other option", hint="germline index SKILL --check"
        )
    registered = _registered(call, place)
    events: tuple[EventRow, ...] = ()
    if registered is None:
        planned = _plan_on_disk(Path(place).expanduser(), remove=remove)
        if planned.changes and not check and not dry_run:
            write_index(planned)
    else:
        planned, events = _in_registry(*registered, remove=remove, writes=not check, dry_run=dry_run)
    state = _state(planned, check=check)
    if as_json:
        call.answer(IndexDocument.of(planned, state, events, dry_run=dry_run))
    else:
        _print(call, planned, state, events, dry_run=dry_run)
    if state == "stale":
        raise CheckFailedError(
            f"the index in {planned.file} is out of date", hint=f"germline index {quote(place)}"
        )


def _registered(call: Invocation, place: str) -> tuple[Where, str] | None:
    """Name the registry and the skill that is meant, None where no registry knows it."""
    try:
        where = find_registry(call.registry)
    except NotFoundError:
        if call.registry:
            raise
        return None
    with open_library(where) as library:
        if Path(place).is_dir() and not (Path(place) / SKILL_FILE).is_file():
            return None
        try:
            return where, find_named(library, place).capsule.name
        except NotFoundError:
            if Path(place).exists():
                return None
            raise


def _plan_on_disk(path: Path, *, remove: bool) -> PlannedIndex:
    folder = path.parent if path.name == SKILL_FILE else path
    if not folder.is_dir():
        raise NotFoundError(f"there is no skill and no folder {path}", hint="germline status")
    if (folder / SKILL_FILE).is_file():
        return plan_in_skill(read_skill(folder), folder, remove=remove)
    return plan_in_folder(folder, remove=remove)


def _in_registry(
    where: Where, name: str, *, remove: bool, writes: bool, dry_run: bool
) -> tuple[PlannedIndex, tuple[EventRow, ...]]:
    """Plan an index, and record it where `writes`; a dry run gives the events that it would append."""
    with open_registry(where, dry_run=dry_run or not writes) as registry:
        planned, skill = plan_in_registry(registry, name, remove=remove)
        if not writes or not planned.changes:
            return planned, ()
        if not dry_run:
            return planned, event_rows(record_index(registry, skill).envelopes)
        with registry.rehearsal():
            return planned, event_rows(registry.execute(Reindex(skill)).envelopes)


def _state(planned: PlannedIndex, *, check: bool) -> IndexState:
    if not planned.changes:
        return "current" if planned.is_there else "none"
    if check:
        return "stale"
    return "written" if planned.puts_one else "removed"


def _print(
    call: Invocation, planned: PlannedIndex, state: IndexState, events: Sequence[EventRow], *, dry_run: bool
) -> None:
    """Say what became of the index, then what it leads to and what it does not cover."""
    rows = planned.index.rows
    if dry_run:
        call.say("dry run: nothing was changed")
    what = {
        "current": f"{planned.file} has its index, up to date",
        "written": f"index in {planned.file}",
        "removed": f"no index in {planned.file} any more",
        "stale": f"the index in {planned.file} is not that of its files",
        "none": f"{planned.file} has no index and needs none: no other file has words to look for",
    }[state]
    say_fact(call, state, what)
    if state == "removed":
        return
    if rows:
        tokens = len("\n".join(planned.index.lines)) // CHARACTERS_PER_TOKEN
        files = len({row.path for row in rows})
        say_fact(
            call, "covers", f"{count(len(rows), 'passage')} of {count(files, 'file')}, about {tokens:,} tokens"
        )
    if planned.index.uncovered:
        say_fact(call, "without", ", ".join(f"{path} ({why})" for path, why in planned.index.uncovered))
    if planned.index.unnamed:
        say_fact(call, "nowhere", f"words of the description: {', '.join(planned.index.unnamed)}")
    if dry_run and planned.puts_one:
        for line in planned.index.lines:
            if line:
                say_folded(call, "  ", line)
            else:
                call.say("")
    if events:
        call.say(f"next       germline show {events[0].stream.partition(':')[2]} --blame")


COMMANDS: Final = {"index": index}
