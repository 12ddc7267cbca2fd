"""Why: one line of a skill, and everything that led to it."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import Annotated, Final

import typer

from events.clock import SystemClock
from registry.provenance import why as explain
from registry.recounts import as_counted
from registry.skill_paths import SKILL_FILE
from tui.bootstrap import find_registry, open_library
from tui.cli.explained import file_json, print_file_line, print_why, why_json
from tui.cli.file_history import explain_file_line
from tui.cli.invocation import invocation
from tui.cli.names import split_place
from tui.cli.options import AsJson
from tui.cli.places import find_named, projected_number
from tui.rereading import still_there


def why(
    ctx: typer.Context,
    place: Annotated[
        str, typer.Argument(metavar="LINE", help="As in sql-analyst:7, sql-analyst@3:7, path/SKILL.md:7.")
    ],
    *,
    every: Annotated[bool, typer.Option("--all", help="Show every piece of evidence.")] = False,
    as_json: AsJson = False,
) -> None:
    """Explain one line: who, when, on what evidence, did it help?

    Each piece of evidence is looked up again in its log: `still there` means the same bytes at the same place.
    """
    call = invocation(ctx)
    named = split_place(place)
    with open_library(find_registry(call.registry)) as library:
        now = SystemClock().now()
        if named.path:
            found = find_named(library, named.path)
            number = projected_number(library, found, named.line)
            if found.path != SKILL_FILE:
                line = explain_file_line(library, found, number)
                if as_json:
                    call.answer("why", file_json(found, number, line))
                else:
                    print_file_line(call, found, number, line, now)
                return
            capsule = found.capsule
        else:
            capsule, number = library.capsule(named.name, named.ref), named.line
        told = explain(library, capsule, number)
        counted = next(iter(as_counted(library, [told.signal.event])), None) if told.signal else None
        there = still_there([kept.evidence for kept in told.evidence], library.log.checkpoints)
        if as_json:
            call.answer("why", why_json(told, there, counted))
        else:
            print_why(call, told, there, now, counted, every=every)


COMMANDS: Final = {"why": why}
