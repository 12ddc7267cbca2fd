"""Reading: a skill at any version, and the origin of each of its lines."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from registry.skill_md.render import skill_text
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.printers.blame import heading, print_blame
from tui.session.open_registry import find_registry, open_library
from tui.text.ascii_fallback import takes_unicode
from tui.text.names import split_skill
from tui.text.terminal_text import harmless


def show(
    ctx: typer.Context,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL[@VERSION]", help="As in x, x@12, x@production, x@2026-11-01.")
    ],
    *,
    with_blame: Annotated[bool, typer.Option("--blame", help="Put the origin of each line beside it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a skill at any version; with --blame, line by line."""
    call = invocation(ctx)
    name, ref = split_skill(skill)
    with open_library(find_registry(call.registry)) as library:
        capsule = library.capsule(name, ref)
        if as_json or with_blame:
            if as_json:
                from tui.documents.skills import ShowDocument  # noqa: PLC0415 - for scripts alone

                call.answer(ShowDocument.of(library, capsule))
            else:
                print_blame(call, library, capsule)
            return
        call.note(heading(capsule))
        text = skill_text(capsule)
        watched = sys.__stdout__ is not None and sys.__stdout__.isatty()
        if watched or takes_unicode(sys.stdout):
            sys.stdout.write(harmless(text) if watched else text)
        else:
            sys.stdout.buffer.write(text.encode())  # into a file it goes as it is, whatever the locale


COMMANDS: Final = {"show": show}
