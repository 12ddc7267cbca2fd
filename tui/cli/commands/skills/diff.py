"""Differences: two versions of a skill, line by line and word by word, with what happened between them."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from registry.query.diffs import DiffLine
from tui.cli.commands.skills.log import event_line
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.printers.diff import print_files
from tui.documents.differences import DiffDocument, changed_file_rows
from tui.documents.events import LogDocument
from tui.reads.diff import changed_files
from tui.session.open_registry import find_registry, open_library
from tui.text.names import split_skill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.envelope import Envelope
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from tui.cli.output.invocation import Invocation

_TWO: Final = 2


def diff(
    ctx: typer.Context,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL[@VERSION]", help="The name of a skill, perhaps at the earlier version.")
    ],
    a: Annotated[
        str,
        typer.Argument(
            metavar="[A]", help="The earlier version: 2, production, 2026-11-01; the last but one if left out."
        ),
    ] = "",
    b: Annotated[
        str, typer.Argument(metavar="[B]", help="The later version, or SKILL@VERSION; the live one if left out.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Compare two versions by line and word, and the events between.

    Every file of the skill that differs is compared. Without colour, changed words are underlined by ^.
    """
    call = invocation(ctx)
    name, refs = _asked(skill, a, b)
    with open_library(find_registry(call.registry)) as library:
        old, new = _compared(library, name, refs)
        between = _between(library, old, new)
        files = list(changed_files(library, old, new))
    if as_json:
        events = tuple(map(LogDocument.of, between))
        document = DiffDocument(
            skill=old.name, a=old.version, b=new.version, events=events, files=changed_file_rows(files)
        )
        call.answer(document)
        return
    _print(call, old, new, between, files)


def _asked(skill: str, a: str, b: str) -> tuple[str, list[str]]:
    """Read the name of the skill, and up to two versions of it, wherever they stand; raises UsageError."""
    name, first = split_skill(skill)
    refs = [first, *(ref.removeprefix(f"{name}@") for ref in (a, b))]
    named = [ref for ref in refs if ref]
    if others := [ref for ref in named if "@" in ref]:
        raise UsageError(
            f"versions of one skill are compared: {others[0]} is none of {name}", hint=f"germline log {name}"
        )
    if len(named) > _TWO:
        raise UsageError(
            f"{len(named)} versions are named, where two are compared", hint=f"germline diff {name} 1 2"
        )
    return name, named


def _compared(library: Library, name: str, refs: Sequence[str]) -> tuple[Capsule, Capsule]:
    """Find the two versions: the live one is compared where fewer are named, with the one before where none is."""
    new = library.capsule(name, *refs[1:])
    if refs:
        return library.capsule(name, refs[0]), new
    if new.version == 1:
        raise UsageError(f"{name} has one version: there is nothing to compare", hint=f"germline show {name}")
    return library.capsule(name, str(new.version - 1)), new


def _between(library: Library, old: Capsule, new: Capsule) -> list[Envelope]:
    """List the events between two versions that are about the skill itself, oldest first."""
    low, high = sorted((old.position, new.position))
    between = []
    for envelope in library.history(new.name):
        if envelope.position <= low:
            break
        if envelope.position <= high and envelope.stream != "registry":
            between.append(envelope)
    return between[::-1]


def _print(
    call: Invocation,
    old: Capsule,
    new: Capsule,
    between: Sequence[Envelope],
    files: Sequence[tuple[str, list[DiffLine]]],
) -> None:
    paint, now = call.paint, SystemClock().now()
    call.say(paint(f"{new.name}@{old.version} → @{new.version}", "strong"))
    for envelope in between:
        call.say(event_line(envelope, now, paint))
    if not files:
        call.say("  no difference")
    print_files(call, files)


COMMANDS: Final = {"diff": diff}
