"""The screens: opened from the command line."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from events.errors import UsageError
from tui.app import run
from tui.bootstrap import find_registry, open_library
from tui.cli.invocation import invocation


def ui(
    ctx: typer.Context,
    *,
    at: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="What to show first: a skill, or a line as in x@3:7.")
    ] = None,
) -> None:
    """Open the screens."""
    call = invocation(ctx)
    path = find_registry(call.registry)
    with open_library(path):
        pass  # a registry that cannot be read is told here, not on a screen that is already drawn
    if not sys.stdout.isatty():
        raise UsageError("the screens need a terminal", hint="germline status")
    run(str(path), at=at)


COMMANDS: Final = {"ui": ui}
