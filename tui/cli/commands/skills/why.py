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
from tui.session.open_registry import find_registry, open_library
from tui.text.names import split_place

if TYPE_CHECKING:
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from tui.cli.output.invocation import Invocation
    from tui.documents.why import WhyDocument
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
    call = invocation(ctx)
    named = split_place(place)
    with open_library(find_registry(call.registry)) as library:
        try:
            capsule, number, skill_file = _line_at(library, place)
        except NotFoundError:
            if not named.path or not _is_researched(call, library, named.path, named.line, as_json=as_json):
                raise
            return
        if as_json:
            call.answer(why_document(library, place))
            return
        now = SystemClock().now()
        if skill_file is not None:
            from tui.reads.file_history import explain_file_line  # noqa: PLC0415 - for lines of other files

            print_file_line(call, skill_file, number, explain_file_line(library, skill_file, number), now)
            return
        story = explain(library, capsule, number, earlier=None if every else SHOWN_EARLIER + 1)
        counted = next(iter(as_counted(library, [story.signal.event])), None) if story.signal else None
        shown = shown_of(story.evidence, every=every)
        there = still_there([kept.evidence for kept in shown], library.log.maps)
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


def why_document(library: Library, place: str) -> WhyDocument:
    """Explain a line with all there is, for scripts and agents; `place` as the command takes it."""
    from tui.documents.why import WhyDocument  # noqa: PLC0415 - for scripts alone

    capsule, number, named = _line_at(library, place)
    if named is not None:
        from tui.reads.file_history import explain_file_line  # noqa: PLC0415 - for lines of other files

        return WhyDocument.of_file(named, number, explain_file_line(library, named, number))
    story = explain(library, capsule, number, earlier=None)
    counted = next(iter(as_counted(library, [story.signal.event])), None) if story.signal else None
    return WhyDocument.of(
        story, still_there([kept.evidence for kept in story.evidence], library.log.maps), counted
    )


def _line_at(library: Library, place: str) -> tuple[Capsule, int, Named | None]:
    """Find the line that a place names; the last is None where it is one of the main file."""
    named = split_place(place)
    if not named.path:
        return library.capsule(named.name, named.ref), named.line, None
    from tui.reads.skill_paths import find_named, projected_number  # noqa: PLC0415 - for lines named by a path

    skill_file = find_named(library, named.path)
    number, capsule = projected_number(library, skill_file, named.line), skill_file.capsule
    return capsule, number, None if skill_file.path == main_file(capsule.name) else skill_file


COMMANDS: Final = {"why": why}
