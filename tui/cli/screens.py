"""The screens: opened from the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from events.errors import UsageError
from tui.app import GermlineApp
from tui.bootstrap import Where, find_registry, open_library, open_registry, user
from tui.cli.config import read_config
from tui.cli.invocation import Invocation, invocation
from tui.cli.layers import user_file
from tui.host import Settings
from tui.places import place_of
from tui.remembering import remember_theme


def ui(
    ctx: typer.Context,
    *,
    at: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="What to show first: x@3, a line as in x@3:7, /signals, /review."),
    ] = None,
    served: Annotated[bool, typer.Option("--serve", help="Show them in a browser, until ctrl+c.")] = False,
    bind: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to serve: this machine alone, unless you say another.")
    ] = "127.0.0.1:8000",
) -> None:
    """Open the screens."""
    call = invocation(ctx)
    path = find_registry(call.registry)
    with open_library(path):
        pass  # a registry that cannot be read is told here, not on a screen that is already drawn
    if served:
        _serve(call, path, bind, at)
        return
    in_browser = "TEXTUAL_DRIVER" in os.environ  # set by textual-serve, whose pages are no terminals
    if not sys.stdout.isatty() and not in_browser:
        raise UsageError("the screens need a terminal", hint="germline status")
    config = read_config()
    settings = Settings(
        theme=config.theme,
        ascii=config.ascii or not (in_browser or _is_unicode(sys.stdout.encoding)),
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


def _serve(call: Invocation, where: Where, bind: str, at: str | None) -> None:
    """Serve the screens of this registry; the processes behind the pages find it where it was found here."""
    from tui.serving import address_of, serve  # noqa: PLC0415 - an extra

    place_of(at)
    address = address_of(bind)
    found = call.registry or os.environ.get("GERMLINE_REGISTRY", "")
    os.environ["GERMLINE_REGISTRY"] = str(where.absolute()) if isinstance(where, Path) else found

    def ready() -> None:
        call.note(f"serving    {address.url}, until ctrl+c")
        call.note(f"warning    whoever reaches it can read this registry, and append to it as {user()}")

    serve(address, at, ready)


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "").lower().replace("-", "").startswith("utf")


def _remembered(theme: str) -> str:
    """Keep the theme that was chosen in the person's own settings; returns the file."""
    path = user_file()
    remember_theme(path, theme)
    return str(path)


COMMANDS: Final = {"ui": ui}
