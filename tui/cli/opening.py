"""Opening the screens: on the registry that was named, as the settings say."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import UsageError
from tui.app import GermlineApp
from tui.bootstrap import find_registry, open_library, open_registry, user
from tui.cli.layers import is_anything_said, user_file
from tui.host import Settings
from tui.places import place_of

if TYPE_CHECKING:
    from tui.bootstrap import Where
    from tui.cli.invocation import Invocation

BIND: Final = "127.0.0.1:8000"
"""Where the screens are served, unless another address is said: this machine alone."""

_YOUNG_AT_REST: Final = 2_000
"""Objects made between two looks for garbage, at rest: Textual leaves 1,000 holding each other with each frame."""


def open_screens(call: Invocation, *, at: str = "", served: bool = False, bind: str = BIND) -> None:
    """Open the screens in this terminal, else in a browser."""
    path = find_registry(call.registry)
    with open_library(path):
        pass  # a registry that cannot be read is told here, not on a screen that is already drawn
    if served:
        _serve(call, path, bind, at)
        return
    in_browser = "TEXTUAL_DRIVER" in os.environ  # set by textual-serve, whose pages are no terminals
    if not sys.stdout.isatty() and not in_browser:
        raise UsageError("the screens need a terminal", hint="germline status")
    app = GermlineApp(
        lambda: open_library(path),
        lambda *, dry_run: open_registry(path, dry_run=dry_run),
        at=at,
        settings=_settings(is_plain=not (in_browser or _is_unicode(sys.stdout.encoding))),
        remember=_remembered,
        at_rest=calm,
    )
    app.run()


def calm() -> None:
    """Search for garbage often, and only among what is made from here on.

    As seldom as entry.py has it, and among all that was loaded, a search held up one jump in 50 for 50 to 130 ms;
    so it takes 1 to 17 (measured 2026-11-22). The price: what the first screen was made of is kept to the end.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG_AT_REST)


def _settings(*, is_plain: bool) -> Settings:
    """Read what a person set for the screens; who set nothing need not wait for the check of all settings."""
    if not is_anything_said():
        return Settings(ascii=is_plain)
    from tui.cli.config import read_config  # noqa: PLC0415 - it knows every setting there is, and takes 0.2 s

    config = read_config()
    return Settings(
        theme=config.theme,
        ascii=config.ascii or is_plain,
        keys=config.keys,
        seed=config.seed,
        draw_every=config.draw_every,
    )


def _serve(call: Invocation, where: Where, bind: str, at: str) -> None:
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
    from tui.remembering import remember_theme  # noqa: PLC0415 - most who look choose none

    path = user_file()
    remember_theme(path, theme)
    return str(path)
