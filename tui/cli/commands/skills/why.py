"""Why: one line of a skill, and everything that led to it."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import NotFoundError
from registry.query.provenance import why as explain
from registry.query.signals import as_counted
from registry.skill_md.skill_files import main_file
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.printers.evidence import shown_of
from tui.cli.printers.why import SHOWN_EARLIER, print_file_line, print_why
from tui.reads.evidence import still_there
from tui.session.bootstrap import find_registry, open_library
from tui.text.names import split_place

if TYPE_CHECKING:
    from registry.query.library import Library
    from tui.cli.output.invocation import Invocation
    from tui.reads.skill_paths import Named


def why(
    ctx: typer.Context,
    place: Annotated[
        str,
        typer.Argument(metavar="LINE", help="As in sql-analyst:7, sql-analyst@3:7, path/SKILL.md:7, CLAUDE.md:7."),
    ],
    *,
    every: Annotated[bool, typer.Option("--all", help="Show all evidence, and all it said before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Explain one line: who, when, on what evidence, did it help?

    Each piece of evidence is looked up again in its log: `still there` means the same bytes at the same place.
    """
    call, named = invocation(ctx), split_place(place)
    with open_library(find_registry(call.registry)) as library:
        now = SystemClock().now()
        if named.path:
            from tui.reads.skill_paths import find_named, projected_number  # noqa: PLC0415 - for lines named by a path

            try:
                skill_file = find_named(library, named.path)
            except NotFoundError:
                if not _is_researched(call, library, named.path, named.line, as_json=as_json):
                    raise
                return
            number = projected_number(library, skill_file, named.line)
            capsule = skill_file.capsule
            if skill_file.path != main_file(capsule.name):
                _tell_file_line(call, library, skill_file, number, as_json=as_json)
                return
        else:
            capsule, number = library.capsule(named.name, named.ref), named.line
        story = explain(library, capsule, number, earlier=None if every or as_json else SHOWN_EARLIER + 1)
        counted = next(iter(as_counted(library, [story.signal.event])), None) if story.signal else None
        shown = shown_of(story.evidence, every=every or as_json)
        there = still_there([kept.evidence for kept in shown], library.log.maps)
        if as_json:
            from tui.documents.why import WhyDocument  # noqa: PLC0415 - for scripts alone

            call.answer(WhyDocument.of(story, there, counted))
        else:
            print_why(call, story, there, now, counted, every=every)


def _is_researched(call: Invocation, library: Library, place: str, number: int, *, as_json: bool) -> bool:
    """Answer for a line of a file outside of any skill, where experiments changed it; tells whether they did."""
    from tui.reads.researched_files import explain_researched_line, name_of_file  # noqa: PLC0415 - for such lines

    path = Path(place).expanduser()
    target = name_of_file(path, find_registry(call.registry))
    line = explain_researched_line(library, target, path, number) if path.is_file() else None
    if line is None:
        return False
    if as_json:
        from tui.documents.measurements import WhyResearchedDocument  # noqa: PLC0415 - for scripts alone

        call.answer(WhyResearchedDocument.of(target, number, line))
    else:
        from tui.cli.printers.research_table import print_researched_line  # noqa: PLC0415 - for such lines

        print_researched_line(call, target, number, line)
    return True


def _tell_file_line(call: Invocation, library: Library, named: Named, number: int, *, as_json: bool) -> None:
    """Answer for a line of a file beside SKILL.md."""
    from tui.reads.file_history import explain_file_line  # noqa: PLC0415 - for lines of other files

    line = explain_file_line(library, named, number)
    if as_json:
        from tui.documents.why import WhyDocument  # noqa: PLC0415 - for scripts alone

        call.answer(WhyDocument.of_file(named, number, line))
    else:
        print_file_line(call, named, number, line, SystemClock().now())


COMMANDS: Final = {"why": why}
