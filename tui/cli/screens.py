"""The screens, as typer declares them; plain forms of the command are read without it (quick.py)."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from tui.cli.invocation import invocation
from tui.cli.opening import BIND, open_screens


def ui(
    ctx: typer.Context,
    *,
    at: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="What to show first: x@3, a line as in x@3:7, /signals, /review."),
    ] = "",
    served: Annotated[bool, typer.Option("--serve", help="Show them in a browser, until ctrl+c.")] = False,
    bind: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to serve: this machine alone, unless you say another.")
    ] = BIND,
) -> None:
    """Open the screens."""
    open_screens(invocation(ctx), at=at, served=served, bind=bind)


COMMANDS: Final = {"ui": ui}
