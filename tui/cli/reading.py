"""Reading: a skill at any version, and the origin of each of its lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from registry.rendering import label, skill_text
from registry.sheet import Sheet
from tui.bootstrap import find_registry, open_library
from tui.cli.names import split_skill
from tui.cli.paint import harmless
from tui.figures import share
from tui.plain import takes_unicode

if TYPE_CHECKING:
    from tui.cli.invocation import Invocation


def tell_skill(call: Invocation, skill: str, *, with_blame: bool = False, as_json: bool = False) -> None:
    """Answer `germline show`."""
    name, ref = split_skill(skill)
    with open_library(find_registry(call.registry), plain=True) as library:
        if as_json or with_blame:
            from tui.cli.blamed import print_blame, skill_json  # noqa: PLC0415 - the text alone needs no events

            capsule = library.capsule(name, ref)
            if as_json:
                call.answer("show", skill_json(library, capsule))
            else:
                print_blame(call, library, capsule)
            return
        sheet = Sheet.of(library.capsule(name, ref)) if ref else library.sheet(name)
        call.note(heading(sheet))
        text = skill_text(sheet)
        watched = sys.__stdout__ is not None and sys.__stdout__.isatty()
        if watched or takes_unicode(sys.stdout):
            sys.stdout.write(harmless(text) if watched else text)
        else:
            sys.stdout.buffer.write(text.encode())  # into a file it goes as it is, whatever the locale


def heading(sheet: Sheet) -> str:
    """Say which version it is, why it came, and what was measured of it."""
    score = "not measured" if sheet.score is None else f"score {share(sheet.score)}"
    unproven = ", unproven" if sheet.unproven else ""
    return f"{label(sheet)}, {sheet.cause}, {score}{unproven}"
