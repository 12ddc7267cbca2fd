"""Opening the screens: on the registry that was named, as the settings say."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import UsageError
from tui.cli.config.layers import is_anything_set, user_file
from tui.cli.output.invocation import invocation
from tui.screens.addresses import place_of
from tui.screens.app import GermlineApp
from tui.screens.host_protocol import Settings
from tui.session.open_registry import find_registry, open_library, open_registry, project_folder, user
from tui.session.ownership import NOTED
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from tui.cli.output.invocation import Invocation
    from tui.session.open_registry import Where

BIND: Final = "127.0.0.1:8000"
"""Where the screens are served, unless another address is said: this machine alone."""


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
    open_screens(call, path, at)


def open_screens(call: Invocation, path: Where, at: str) -> None:
    """Open the screens on a registry, at an address."""
    in_browser = "TEXTUAL_DRIVER" in os.environ
    app = GermlineApp(
        lambda: open_library(path),
        lambda *, dry_run: open_registry(path, dry_run=dry_run),
        at=at,
        settings=replace(
            _settings(call.registry, is_plain=not (in_browser or _is_unicode(sys.stdout.encoding))),
            registry=str(path.absolute()) if isinstance(path, Path) else call.registry,
        ),
        remember=_remembered,
        owns_process=True,
    )
    NOTED.set(lambda text: app.notify(one_line(text), markup=False))
    app.run()


def _settings(registry: str, *, is_plain: bool) -> Settings:
    """Read what a person set for the screens; who set nothing need not wait for the check of all settings."""
    project = project_folder(registry)
    if not is_anything_set():
        return Settings(ascii=is_plain, project=project)
    from tui.cli.config.config import read_config  # noqa: PLC0415 - it knows every setting there is, and takes 0.2 s

    config = read_config()
    return Settings(
        theme=config.theme,
        ascii=config.ascii or is_plain,
        keys=config.keys,
        seed=config.seed,
        logs=config.globs,
        sources=config.sources,
        draw_every=config.draw_every,
        project=project,
        personal_data=config.personal_data,
        thresholds=config.thresholds,
    )


def _serve(call: Invocation, where: Where, bind: str, at: str) -> None:
    """Serve the screens of this registry; the processes behind the pages find it where it was found here."""
    from tui.screens.serve import address_of, serve  # noqa: PLC0415 - an extra

    place_of(at)
    address = address_of(bind)
    named = call.registry or os.environ.get("GERMLINE_REGISTRY", "")
    os.environ["GERMLINE_REGISTRY"] = str(where.absolute()) if isinstance(where, Path) else named

    def ready(url: str) -> None:
        call.say(f"serving    {url} until ctrl+c")
        call.flush()
        reads = "" if address.is_loopback else "; it is not encrypted, so the network on the way reads it"
        call.note(
            f"warning    whoever has this address can read the registry, and append to it as {user()}{reads}"
        )

    serve(address, at, ready)


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "").lower().replace("-", "").startswith("utf")


def _remembered(theme: str) -> str:
    """Keep the theme that was chosen in the person's own settings; returns the file."""
    from tui.screens.save_theme import remember_theme  # noqa: PLC0415 - most who look choose none

    path = user_file()
    remember_theme(path, theme)
    return str(path)


COMMANDS: Final = {"ui": ui}
