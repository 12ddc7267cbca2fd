"""Why: one line of a skill, and everything that led to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.clock import SystemClock
from registry.provenance import why as explain
from registry.recounts import as_counted
from tui.bootstrap import find_registry, open_library
from tui.cli.explained import SHOWN_EARLIER, print_why, why_json
from tui.cli.names import split_place
from tui.cli.quoted import shown_of
from tui.rereading import still_there

if TYPE_CHECKING:
    from registry.library import Library
    from tui.cli.invocation import Invocation
    from tui.cli.places import Named


def tell_line(call: Invocation, place: str, *, every: bool = False, as_json: bool = False) -> None:
    """Answer `germline why`."""
    named = split_place(place)
    with open_library(find_registry(call.registry), plain=not named.path) as library:
        now = SystemClock().now()
        if named.path:
            from registry.skill_paths import SKILL_FILE  # noqa: PLC0415 - for lines that are named by a path
            from tui.cli.places import find_named, projected_number  # noqa: PLC0415 - the same

            found = find_named(library, named.path)
            number = projected_number(library, found, named.line)
            if found.path != SKILL_FILE:
                _tell_file_line(call, library, found, number, as_json=as_json)
                return
            capsule = found.capsule
        else:
            capsule, number = library.capsule(named.name, named.ref), named.line
        told = explain(library, capsule, number, earlier=None if every or as_json else SHOWN_EARLIER + 1)
        counted = next(iter(as_counted(library, [told.signal.event])), None) if told.signal else None
        shown = shown_of(told.evidence, every=every or as_json)
        there = still_there([kept.evidence for kept in shown], library.log.checkpoints)
        if as_json:
            call.answer("why", why_json(told, there, counted))
        else:
            print_why(call, told, there, now, counted, every=every)


def _tell_file_line(call: Invocation, library: Library, named: Named, number: int, *, as_json: bool) -> None:
    """Answer for a line of a file beside SKILL.md."""
    from tui.cli.explained import file_json, print_file_line  # noqa: PLC0415 - for lines of other files
    from tui.cli.file_history import explain_file_line  # noqa: PLC0415 - the same

    line = explain_file_line(library, named, number)
    if as_json:
        call.answer("why", file_json(named, number, line))
    else:
        print_file_line(call, named, number, line, SystemClock().now())
