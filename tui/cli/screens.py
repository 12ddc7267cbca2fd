"""The screens: opened from the command line."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from events.errors import UsageError
from tui.app import GermlineApp
from tui.bootstrap import find_registry, open_library, open_registry
from tui.cli.config import read_config
from tui.cli.invocation import invocation
from tui.cli.layers import user_file
from tui.host import Settings
from tui.remembering import remember_theme


def ui(
    ctx: typer.Context,
    *,
    at: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="What to show first: x@3, a line as in x@3:7, /signals, /review."),
    ] = None,
) -> None:
    """Open the screens."""
    call = invocation(ctx)
    path = find_registry(call.registry)
    with open_library(path):
        pass  # a registry that cannot be read is told here, not on a screen that is already drawn
    if not sys.stdout.isatty():
        raise UsageError("the screens need a terminal", hint="germline status")
    config = read_config()
    settings = Settings(
        theme=config.theme,
        ascii=config.ascii or not _is_unicode(sys.stdout.encoding),
        keys=config.keys,
        seed=config.seed,
        draw_every=config.draw_every,
    )
    app = GermlineApp(
        lambda: open_library(path),
        lambda *, dry_run: open_registry(path, dry_run=dry_run),
        at=at,
        settings=settings,
        remember=_remembered,
    )
    app.run()


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "").lower().replace("-", "").startswith("utf")


def _remembered(theme: str) -> str:
    """Keep the theme that was chosen in the person's own settings; returns the file."""
    path = user_file()
    remember_theme(path, theme)
    return str(path)


COMMANDS: Final = {"ui": ui}
